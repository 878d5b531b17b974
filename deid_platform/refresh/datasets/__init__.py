"""Datasets of the note store: their schemas, and results of earlier runs that still hold.

    tables      schemas, and the way between rows and records
    deliveries  which deliveries a dataset holds
    derived     small datasets that are kept beside large ones
    reuse       rows of earlier runs, in place of what did not change

Does not belong here: the store (`store/`), or what any dataset means.
"""

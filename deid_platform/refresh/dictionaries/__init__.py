"""The dictionaries as datasets: what detection looks up, and what engineers may add.

    record     the dictionaries of today, sealed
    proposals  phrases that are often hidden and may be clinical

Does not belong here: looking something up (`lexicon/`, `detection/`).
"""

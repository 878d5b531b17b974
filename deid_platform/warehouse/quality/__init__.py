"""Figures in the warehouse: held-out sets and each look at them, the laboratory's figures, judges.

Does not belong here: measuring them (`bench/`).
"""

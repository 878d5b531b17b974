"""Figures in the warehouse: held-out sets and each look at them, the laboratory's figures, judges.

    held_out  sets that figures are measured on, and each look at them
    lab       the laboratory's figures, and the words that they may use
    judges    language models that judge releases

Does not belong here: measuring them (`bench/`).
"""

"""How well identifiers were found: spans and words against gold, with intervals.

    tokens, token_scores, characters, span_scores   what is counted
    scores, bootstrap, paired                       scores, their intervals, and differences of two detectors
    missed_by_risk, name_groups, by_length          by kind and risk, by whose name it is, by length
    misses, agreement, ablation, contributions      what was missed; annotators; what each source adds
    sampling, design_weights                        the stratified test set, and scores for all notes from it
    indirect_scores                                 planted indirect identifiers
    files                                           a gold file at the command line

Does not belong here: what a released text still shows (`evaluation/disclosure`), or what it lost (`retention`).
"""

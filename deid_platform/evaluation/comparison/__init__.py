"""Detectors of any kind on the same notes, without a warehouse.

    notes_read       notes of a command's argument, with gold or without
    named_detectors  which detectors a command line names
    claimed          scores on the labels that a detector claims
    comparison       what each hides
    side_by_side     all of it together: `deid compare`

Does not belong here: comparisons that are recorded (`bench/leaderboard`).
"""

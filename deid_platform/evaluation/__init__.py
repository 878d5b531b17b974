"""Evaluation: how well identifiers were found, whether any is left, and what of the medicine is.

    scores            spans and words against gold, with intervals
    released          released texts beside their notes
    retention         what is left of the medicine
    disclosure        what a reader could learn of patients
    experiments       corpora, speed, other formats, usefulness
    panel             judges on identifiers
    comparison        detectors on the same notes
    sources           on whose notes a figure was measured
    release_measures  every measure of a release, in one table

Belongs here: measurements of detectors and of redacted notes. Does not belong here: anything that a detector could
share, so that a measurement never repeats the error it is to find.
"""

"""Measures of corpora and of detectors that papers report beside scores.

    corpus_statistics  what a gold set is made of
    efficiency         speed, memory and money
    perturbations      a note in another format; `stability` what that changes
    utility            what a release is still good for

Does not belong here: scores (`evaluation/scores`), or training models (`training/`).
"""

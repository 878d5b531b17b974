"""De-identifiers of others, each in an interpreter of its own, behind the interface of detectors.

Belongs here: calling them, and what they claim to find. Does not belong here: scoring them
(`evaluation/comparison/claimed.py`, `benchmarks/peers.py`), or spans that another detector has already written to a
file (`corpora/given_spans.py`).
"""

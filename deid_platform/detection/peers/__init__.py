"""De-identifiers of others, each in an interpreter of its own, behind the interface of detectors.

    spans     what a peer finds in a text
    claims    which of our labels each claims to find
    adapters  runs one peer, in an interpreter that has it
    process   a peer as a detector, in a process of its own
    variants  variants of peers, as Aghakasiri 2025 measured them

Belongs here: calling them, and what they claim to find. Does not belong here: scoring them
(`evaluation/comparison/claimed.py`, `benchmarks/peers.py`), or spans that another detector has already written to a
file (`corpora/given_spans.py`).
"""

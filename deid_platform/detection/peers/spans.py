"""What a peer finds in a text.

Belongs here: the record. Does not belong here: the labels that a kind covers (`claims.py`).
"""

from __future__ import annotations

from typing import NamedTuple


class PeerSpan(NamedTuple):
    """A place that a peer hides: code points, end exclusive, and the peer's own name for what is there."""

    start: int
    end: int
    kind: str

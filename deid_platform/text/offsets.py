"""Intervals of code points in a text.

Belongs here: trimming and bounding an interval. Does not belong here: what an interval means, or spans that overlap
(`detection/resolve/merge.py`).
"""

from __future__ import annotations


def trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The interval without the white space at its ends, or None if nothing else is in it."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None

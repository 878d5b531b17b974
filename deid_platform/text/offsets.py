"""Intervals of code points in a text, and the way back from a text of which something was deleted.

Belongs here: arithmetic of offsets. Does not belong here: what an interval means, or spans that overlap
(`detection/resolve/merge.py`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass


def trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The interval without the white space at its ends, or None if nothing else is in it."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def bounded(text: str, start: int, end: int) -> bool:
    """Whether an interval of a text does not begin or end inside a word or a number."""
    if start and text[start - 1].isalnum() and text[start].isalnum():
        return False
    return not (end < len(text) and text[end].isalnum() and text[end - 1].isalnum())


@dataclass(frozen=True, slots=True, repr=False)
class Rewritten:
    """A text of which something was deleted, and the way back to its offsets.

    Attributes:
        text: What is left.
        cuts: Positions in `text` before which something was deleted.
        shifts: How many code points were deleted up to each cut; one longer than `cuts`.
    """

    text: str
    cuts: tuple[int, ...] = ()
    shifts: tuple[int, ...] = (0,)

    def origin(self, position: int) -> int:
        """The offset in the original text of an offset in `text`."""
        return position + self.shifts[bisect_right(self.cuts, position)] if self.cuts else position

    def __repr__(self) -> str:
        return "<Rewritten>"


def without(text: str, deleted: Iterable[tuple[int, int]]) -> Rewritten:
    """A text less some ascending, disjoint stretches of it."""
    cuts: list[int] = []
    shifts = [0]
    kept: list[str] = []
    last = 0
    for start, end in deleted:
        kept.append(text[last:start])
        cuts.append(start - shifts[-1])
        shifts.append(shifts[-1] + end - start)
        last = end
    if not cuts:
        return Rewritten(text)
    kept.append(text[last:])
    return Rewritten("".join(kept), tuple(cuts), tuple(shifts))

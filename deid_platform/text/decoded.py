"""A text of which stretches were replaced, and the way between its offsets and those of the text as written.

Belongs here: the arithmetic of offsets. Does not belong here: what is replaced with what (the other modules of this
room).

A replaced stretch is whole or not at all: an interval that touches what stands in its place covers all of it, so that
no half of an escape is ever left.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

Edit = tuple[int, int, str]
"""A stretch of a text, start and end, and what is read in its place."""


@dataclass(frozen=True, slots=True, repr=False)
class _Layer:
    """The stretches of one pass over a text: where they stood before it, and where what replaced them stands."""

    old_starts: tuple[int, ...]
    old_ends: tuple[int, ...]
    new_starts: tuple[int, ...]
    new_ends: tuple[int, ...]

    def back(self, start: int, end: int) -> tuple[int, int]:
        return _moved(start, end, self.new_starts, self.new_ends, self.old_starts, self.old_ends)

    def forth(self, start: int, end: int) -> tuple[int, int]:
        return _moved(start, end, self.old_starts, self.old_ends, self.new_starts, self.new_ends)


def _moved(
    start: int,
    end: int,
    starts: tuple[int, ...],
    ends: tuple[int, ...],
    target_starts: tuple[int, ...],
    target_ends: tuple[int, ...],
) -> tuple[int, int]:
    """An interval from one side of a layer to the other, widened to the whole of each stretch that it touches."""
    first = bisect_right(starts, start) - 1
    last = bisect_right(starts, end - 1) - 1
    if first >= 0:
        start = target_starts[first] if start < ends[first] else start - ends[first] + target_ends[first]
    if last >= 0:
        end = target_ends[last] if end <= ends[last] else end - ends[last] + target_ends[last]
    return start, end


@dataclass(frozen=True, slots=True, repr=False)
class Decoded:
    """What a text reads as.

    Attributes:
        text: The readable text; the very text as written where nothing was replaced.
        layers: One a pass, the first one first.
    """

    text: str
    layers: tuple[_Layer, ...] = ()

    def __repr__(self) -> str:
        return f"<Decoded: {len(self.layers)} layers>"

    def replacing(self, edits: Iterable[Edit]) -> Decoded:
        """This text after one more pass.

        Args:
            edits: Ascending, disjoint and not empty, in the offsets of `text`.
        """
        kept: list[str] = []
        places: list[tuple[int, int, int, int]] = []
        last = length = 0
        for start, end, replacement in edits:
            kept += (self.text[last:start], replacement)
            length += start - last
            places.append((start, end, length, length + len(replacement)))
            length += len(replacement)
            last = end
        if not places:
            return self
        kept.append(self.text[last:])
        return Decoded("".join(kept), (*self.layers, _Layer(*zip(*places, strict=True))))

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The interval of the text as written that a non-empty interval of `text` reads."""
        for layer in reversed(self.layers):
            start, end = layer.back(start, end)
        return start, end

    def shown(self, start: int, end: int) -> tuple[int, int] | None:
        """The interval of `text` that reads a non-empty interval of the text as written; None if it shows nothing."""
        for layer in self.layers:
            start, end = layer.forth(start, end)
            if start >= end:
                return None
        return start, end

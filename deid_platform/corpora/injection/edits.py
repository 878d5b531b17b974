"""A carrier's text with pieces put in, and the exact spans of those that are identifiers.

Belongs here: applying edits. Does not belong here: deciding on them (`weaving.py`, `filling.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from deid_platform.labels import Label
from deid_platform.notes import Span

SOURCE = "injected"


class Piece(NamedTuple):
    """Text that is put in.

    Attributes:
        text: As it is written.
        label: What identifier it is; None for words.
        way: The way of writing it is an example of; empty for a filled slot.
    """

    text: str
    label: Label | None = None
    way: str = ""


class Edit(NamedTuple):
    """What stands in a place of the carrier from now on.

    Attributes:
        start: First code point that goes.
        end: One past the last; equal to `start` where nothing goes.
        pieces: What comes.
    """

    start: int
    end: int
    pieces: tuple[Piece, ...]


def applied(text: str, edits: Iterable[Edit]) -> tuple[str, tuple[Span, ...], tuple[str, ...]]:
    """The text after all edits, its identifiers in order, and the way of each.

    Of two edits that meet, the one that begins first stands, and of insertions in one place the first given. An
    insertion at the very edge of a replaced place stands beside it.
    """
    parts: list[str] = []
    spans: list[Span] = []
    ways: list[str] = []
    at = length = 0
    for edit in _apart(edits):
        parts.append(text[at : edit.start])
        length += edit.start - at
        for piece in edit.pieces:
            parts.append(piece.text)
            if piece.label is not None:
                _add(spans, ways, piece, length)
            length += len(piece.text)
        at = edit.end
    parts.append(text[at:])
    return "".join(parts), tuple(spans), tuple(ways)


def _add(spans: list[Span], ways: list[str], piece: Piece, length: int) -> None:
    """The span of a piece, without white space around it; one that touches another of its label is part of that."""
    bare = piece.text.strip()
    if bare and piece.label is not None:
        start = length + len(piece.text) - len(piece.text.lstrip())
        if spans and spans[-1].end == start and spans[-1].label is piece.label:
            start = spans.pop().start
            ways.pop()
        end = length + len(piece.text.rstrip())
        spans.append(Span(start, end, piece.label, source=SOURCE))
        ways.append(piece.way)


def _apart(edits: Iterable[Edit]) -> Sequence[Edit]:
    kept: list[Edit] = []
    end = 0
    # Sorting is stable: insertions in one place stay in the order given, before what is replaced there.
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start >= end:
            kept.append(edit)
            end = edit.end
    return kept

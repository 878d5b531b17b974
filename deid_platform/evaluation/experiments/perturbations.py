"""The same note in another format, with its gold carried along exactly.

Belongs here: ways to change a text that change nothing of what it says, and where its spans are afterwards. Does not
belong here: what a detector makes of it (`stability.py`).

Each code point of the text becomes a string, perhaps none, and something may be put before it. So a span is where its
code points went, whatever grew or shrank: "ß" in capitals is two letters, a date written otherwise is one span still.
What is put in at a span's edge is outside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from enum import StrEnum
from itertools import accumulate

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.lexicon.month_names import month_words
from deid_platform.notes import Note, Span
from deid_platform.surrogates.date_shapes import read_date

_LANGUAGES = ("en", "it", "es", "fr", "de")
WIDTH = 60
"""Columns after which a line is broken at the next space."""


class Perturbation(StrEnum):
    """How the format changes."""

    UPPER = "upper case"
    LOWER = "lower case"
    LINE_ENDS = "line ends of Windows"
    WRAPPED = "lines broken at 60 columns"
    SPACING = "spaces doubled"
    NO_BREAK = "spaces that do not break"
    BULLETS = "a bullet before each line"
    DATES = "dates written otherwise"


class _Pieces:
    """What each code point becomes, and what is put before it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.becomes = list(text)
        self.before = [""] * (len(text) + 1)

    def joined(self, spans: Sequence[Span]) -> tuple[str, tuple[Span, ...]]:
        """The new text, and the spans in it."""
        pieces = [before + piece for before, piece in zip(self.before, [*self.becomes, ""], strict=True)]
        begins = [0, *accumulate(map(len, pieces))]
        moved = tuple(
            Span(
                begins[span.start] + len(self.before[span.start]), begins[span.end], span.label, span.score, span.source
            )
            for span in spans
        )
        return "".join(pieces), moved


def perturbed(note: Note, gold: Sequence[Span], how: Perturbation) -> tuple[str, tuple[Span, ...]]:
    """A note's text in another format, and its gold there; both as they were if there is nothing to change.

    Args:
        note: The note; its language says how its dates are read.
        gold: What is an identifier in it.
        how: What changes.

    Raises:
        DeidError: `span-bounds` if a span reaches outside the text.
    """
    if any(span.end > len(note.text) for span in gold):
        raise DeidError(Code.SPAN_BOUNDS, "evaluation")
    pieces = _Pieces(note.text)
    if how is Perturbation.DATES:
        _rewrite_dates(pieces, note, gold)
    else:
        _CHANGES[how](pieces)
    return pieces.joined(gold)


def _upper(pieces: _Pieces) -> None:
    pieces.becomes = [character.upper() for character in pieces.text]


def _lower(pieces: _Pieces) -> None:
    pieces.becomes = [character.lower() for character in pieces.text]


def _line_ends(pieces: _Pieces) -> None:
    for at, character in enumerate(pieces.text):
        if character == "\n" and pieces.text[at - 1 : at] != "\r":
            pieces.becomes[at] = "\r\n"


def _wrapped(pieces: _Pieces) -> None:
    column = 0
    for at, character in enumerate(pieces.text):
        column = 0 if character == "\n" else column + 1
        if character == " " and column > WIDTH:
            pieces.becomes[at], column = "\n", 0


def _doubled(pieces: _Pieces) -> None:
    pieces.becomes = ["  " if character == " " else character for character in pieces.text]


def _no_break(pieces: _Pieces) -> None:
    pieces.becomes = ["\u00a0" if character == " " else character for character in pieces.text]


def _bullets(pieces: _Pieces) -> None:
    bare = True
    for at, character in enumerate(pieces.text):
        if bare and not character.isspace():
            pieces.before[at], bare = "- ", False
        bare = bare or character == "\n"


def _rewrite_dates(pieces: _Pieces, note: Note, gold: Sequence[Span]) -> None:
    """Full dates in figures get the month's name, those with its name become year-month-day; times stay as they are."""
    for span in gold:
        written = note.text[span.start : span.end]
        if span.label is not Label.DATE or ":" in written:
            continue
        with suppress(ValueError):
            found = read_date(written, note.language, note.note_date)
            if found is not None and found.full:
                named = ("month", "mon") in found.fields
                pieces.becomes[span.start] = found.day.isoformat() if named else _in_words(found.day, note.language)
                pieces.becomes[span.start + 1 : span.end] = [""] * (span.end - span.start - 1)


def _in_words(day: date, language: str) -> str:
    months = month_words(language[:2] if language[:2] in _LANGUAGES else "en", short=False)
    return f"{day.day} {months[day.month - 1]} {day.year}"


_CHANGES: dict[Perturbation, Callable[[_Pieces], None]] = {
    Perturbation.UPPER: _upper,
    Perturbation.LOWER: _lower,
    Perturbation.LINE_ENDS: _line_ends,
    Perturbation.WRAPPED: _wrapped,
    Perturbation.SPACING: _doubled,
    Perturbation.NO_BREAK: _no_break,
    Perturbation.BULLETS: _bullets,
}

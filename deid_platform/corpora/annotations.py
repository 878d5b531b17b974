"""From annotations as a file has them to the spans of a note, or to what is wrong with them.

Belongs here: what holds in every format: bounds, labels, surfaces, overlaps. Does not belong here: how a format writes
an annotation (`gold.py` for JSON lines, `formats/`), or which labels there are (`schemes.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deid_platform.corpora import Reason
from deid_platform.corpora.rows import text_fault
from deid_platform.corpora.schemes import Scheme
from deid_platform.notes import Span

_SAID = {
    Reason.MISSING_NOTE_ID: "no note_id",
    Reason.MISSING_GOLD: "no spans",
    Reason.EMPTY_TEXT: "no text",
    Reason.SPAN_OVERLAP: "a span overlaps another",
    Reason.SPAN_MISMATCH: "a span does not hold the surface beside it",
    Reason.ABSENT_ENTITY: "an entity is not in the text",
}


@dataclass(frozen=True, slots=True, repr=False)
class Annotation:
    """One annotation.

    Attributes:
        pieces: Start and end of each of its pieces, in code points, end exclusive; several if it is discontinuous.
        label: In the scheme of its file.
        surface: The text that it says it holds, the pieces joined by spaces; None if it says none.
        place: The line on which it stands, from 1.
    """

    pieces: tuple[tuple[int, int], ...]
    label: str
    surface: str | None
    place: int

    def __repr__(self) -> str:
        return "<Annotation>"


class GoldFaultError(Exception):
    """Why a note is no gold; carries no value of it.

    Attributes:
        reason: Why.
        place: The line of what is wrong, if that is an annotation.
        said: The same in words.
    """

    def __init__(self, reason: Reason, place: int | None = None, said: str | None = None) -> None:
        self.reason = reason
        self.place = place
        self.said = said or _SAID.get(reason, "not of this form")
        super().__init__(reason.value)


@dataclass(frozen=True, slots=True)
class Marked:
    """The spans of a note, in order, and how many annotations are not among them."""

    spans: tuple[Span, ...]
    no_identifiers: int = 0
    known_errors: int = 0


def spans_of(
    annotations: Iterable[Annotation], text: str | None, scheme: Scheme, *, exact: bool, overlaps: bool = False
) -> Marked:
    """The spans that annotations make.

    The pieces of a discontinuous annotation become one span where only white space stands between them, as where an
    annotation runs over the end of a line, and a span each where something stands there that is not annotated.

    Args:
        annotations: In any order.
        text: The note's; None if the file has spans alone.
        scheme: Of their labels.
        exact: Whether a surface has to be that of the text code point by code point; else only its words, since some
            formats cannot hold line breaks in a surface.
        overlaps: Whether spans may overlap.

    Raises:
        GoldFaultError: What is wrong with the first annotation that cannot be used.
    """
    found: list[tuple[Span, int]] = []
    no_identifiers = known_errors = 0
    for annotation in annotations:
        if annotation.label not in scheme.labels:
            raise GoldFaultError(Reason.UNKNOWN_LABEL, annotation.place)
        for start, end in annotation.pieces:
            if fault := misplaced(start, end, text):
                raise GoldFaultError(Reason.SPAN_OUT_OF_RANGE, annotation.place, f"a span {fault}")
        surface = annotation.surface
        if text is not None:
            held = " ".join(text[start:end] for start, end in annotation.pieces)
            if surface is not None and (surface != held if exact else surface.split() != held.split()):
                raise GoldFaultError(Reason.SPAN_MISMATCH, annotation.place)
            surface = held
        label = scheme.labels[annotation.label]
        if label is None or scheme.no_identifier(annotation.label, surface or ""):
            no_identifiers += 1
        elif surface is not None and scheme.known_error(annotation.label, surface):
            known_errors += 1
        else:
            pieces = _joined(annotation.pieces, text)
            found += [(Span(start, end, label, source="gold"), annotation.place) for start, end in pieces]
    found.sort()
    if not overlaps:
        for (one, _), (other, place) in pairwise(found):
            if one.overlaps(other):
                raise GoldFaultError(Reason.SPAN_OVERLAP, place)
    return Marked(tuple(span for span, _ in found), no_identifiers, known_errors)


def check_text(text: str, max_chars: int) -> None:
    """Refuses a text that no feed would take.

    Raises:
        GoldFaultError: If it would not.
    """
    if reason := text_fault(text, max_chars=max_chars):
        raise GoldFaultError(reason)


def misplaced(start: int, end: int, text: str | None) -> str | None:
    """What is wrong with offsets, in words; a `TypeError` if they are no whole numbers."""
    if type(start) is not int or type(end) is not int:
        raise TypeError
    if start < 0:
        return "begins before the text"
    if start >= end:
        return "is empty or reversed"
    return "ends past the text" if text is not None and end > len(text) else None


def _joined(pieces: Sequence[tuple[int, int]], text: str | None) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if text is not None and joined and not text[joined[-1][1] : start].strip() and start >= joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined

"""Spans of another detector, instead of the platform's own.

Belongs here: reading them and fitting them to their notes. Does not belong here: gold, which is never a detector's
(`gold.py`), or what becomes of the spans.

    {"note_id": ..., "spans": [[start, end, label], ...]}

Offsets are code points, end exclusive. A span may go on with a number, its score from 0 to 1, and with a text, which is
then compared with that of the note. Other keys are left aside. A note in which nothing was found has a line without
spans: a note without a line was not looked at.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deid_platform.corpora.annotations import misplaced
from deid_platform.corpora.gold import SCHEME
from deid_platform.corpora.schemes import scheme_of
from deid_platform.corpora.tables import unrepeated
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span


@dataclass(frozen=True, slots=True, repr=False)
class _Given:
    """The spans of one line, each with the text that it says it holds."""

    line: int
    spans: tuple[tuple[Span, str | None], ...]


@dataclass(frozen=True, slots=True, repr=False)
class GivenSpans:
    """The spans of a file, by note; made by `read`."""

    _by_note: Mapping[str, _Given]

    def __repr__(self) -> str:
        return "<GivenSpans>"

    def __contains__(self, note: Note) -> bool:
        return note.note_id.strip() in self._by_note

    @classmethod
    def read(cls, path: Path, *, scheme: str = SCHEME) -> GivenSpans:
        """The spans of a file of JSON lines, plain or gzipped.

        Args:
            path: The file.
            scheme: Which label names it uses: a key of `labels.CROSSWALKS`.

        Raises:
            DeidError: `scheme-unknown`, `label-unknown` with the line's number, `feed-unreadable`, `spans-invalid` with
                the line's number and the reason.
        """
        labels = scheme_of(scheme).labels
        by_note: dict[str, _Given] = {}
        for number, line in _lines(path):
            try:
                row = json.loads(line, object_pairs_hook=unrepeated)
                note_id = _id(row["note_id"])
                spans = [_span(span, number, labels) for span in row["spans"]]
                given = _Given(number, tuple(span for span in spans if span is not None))
            except (ValueError, TypeError, KeyError, RecursionError):
                raise _invalid(number, "not of this form") from None
            if note_id in by_note:
                raise _invalid(number, "a second line of one note")
            by_note[note_id] = given
        return cls(by_note)

    def of(self, note: Note) -> tuple[Span, ...]:
        """The spans of a note that has a line, as they were given: they may overlap.

        Raises:
            DeidError: `spans-invalid` with the line's number if one ends past the text or holds another text than is
                said.
        """
        given = self._by_note[note.note_id.strip()]
        for span, surface in given.spans:
            if fault := misplaced(span.start, span.end, note.text):
                raise _invalid(given.line, f"a span {fault}")
            if surface is not None and note.text[span.start : span.end] != surface:
                raise _invalid(given.line, "a span does not hold the text beside it")
        return tuple(span for span, _ in given.spans)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, each with its number, from 1."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, line
    except (OSError, EOFError, UnicodeDecodeError):
        raise DeidError(Code.FEED_UNREADABLE, "spans") from None


def _span(given: Any, number: int, labels: Mapping[str, Label | None]) -> tuple[Span, str | None] | None:
    """A span with its text; None if its label is deliberately no identifier."""
    start, end, label, *more = given
    if label not in labels:
        raise DeidError(Code.LABEL_UNKNOWN, f"line {number}")
    if fault := misplaced(start, end, None):
        raise _invalid(number, f"a span {fault}")
    score, surface = math.nan, None
    for member in more:
        if isinstance(member, str):
            surface = member
        elif type(member) in (int, float) and 0 <= member <= 1:
            score = float(member)
        else:
            raise _invalid(number, "a span has a score that is not from 0 to 1")
    ours = labels[label]
    return None if ours is None else (Span(start, end, ours, score, "given"), surface)


def _id(value: object) -> str:
    if isinstance(value, str):
        return value.strip()  # as an id of a note is read
    if type(value) is int:
        return str(value)
    raise TypeError


def _invalid(number: int, fault: str) -> DeidError:
    return DeidError(Code.SPANS_INVALID, f"line {number}: {fault}")

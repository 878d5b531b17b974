"""Gold spans from JSON lines, for the bench and for `deid evaluate`.

Belongs here: reading gold that someone planted or annotated. Does not belong here: making it, or scoring
against it. Gold never comes from a detector's own output.

    {"note_id": ..., "spans": [[start, end, label], ...], "clinical": [[start, end], ...]?, "text": ...?}

Offsets are code points, end exclusive; a fourth member of a span, the surface, is checked when it is there.
`clinical` marks terms that must survive. `text` and the note's other fields may stand beside them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from deid_platform.errors import Code, DeidError
from deid_platform.labels import CROSSWALKS, Label
from deid_platform.notes import Note, Span

SCHEME = "i2b2-2014"


@dataclass(frozen=True, slots=True, repr=False)
class Gold:
    """One note's gold. `note` is None where the file gives spans alone."""

    note_id: str
    spans: tuple[Span, ...]
    clinical: tuple[tuple[int, int], ...] = ()
    note: Note | None = None

    def __repr__(self) -> str:
        return "<Gold>"


def read_gold(
    path: Path, *, scheme: str = SCHEME, columns: Mapping[str, str] | None = None, with_text: bool = False
) -> Iterator[Gold]:
    """Reads a gold file, plain or gzipped, line by line.

    Args:
        path: JSON lines.
        scheme: Which label names it uses: a key of `labels.CROSSWALKS`.
        columns: Key to field of the note, as `rows.Shape.columns` has it; by default each key is its field's name.
        with_text: Whether a line without a text is a fault.

    Raises:
        DeidError: `gold-missing` if there is no such file, `scheme-unknown`, `label-unknown` with the line's number for
            a label that the scheme has not, `gold-invalid` with the line's number and the reason for anything else.
    """
    labels = labels_of(scheme)
    if not path.exists():
        raise DeidError(Code.GOLD_MISSING)
    for number, line in numbered_lines(path, "gold"):
        gold = _gold(line, f"line {number}", labels, columns or {})
        if with_text and gold.note is None:
            raise DeidError(Code.GOLD_INVALID, f"line {number}: no text")
        yield gold


def labels_of(scheme: str) -> Mapping[str, Label]:
    """The label names of a scheme.

    Raises:
        DeidError: `scheme-unknown`.
    """
    labels = CROSSWALKS.get(scheme)
    if labels is None:
        raise DeidError(Code.SCHEME_UNKNOWN, ", ".join(sorted(CROSSWALKS)))
    return labels


def numbered_lines(path: Path, role: str) -> Iterator[tuple[int, str]]:
    """The lines of a text file, plain or gzipped, that are not blank, each with its number, from 1.

    Raises:
        DeidError: `feed-unreadable` with the role if the file cannot be read to its end.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, line
    except (OSError, EOFError, UnicodeDecodeError):
        raise DeidError(Code.FEED_UNREADABLE, role) from None


def _gold(line: str, where: str, labels: Mapping[str, Label], columns: Mapping[str, str]) -> Gold:
    try:
        row: dict[str, Any] = {columns.get(key, key): value for key, value in json.loads(line).items()}
        text = row.get("text")
        spans = tuple(sorted(_span(span, text, where, labels) for span in row["spans"]))
        clinical = tuple((start, end) for start, end in row.get("clinical", ()))
        if any(fault := misplaced(start, end, text) for start, end in clinical):
            raise DeidError(Code.GOLD_INVALID, f"{where}: a clinical term {fault}")
        note_id = str(row["note_id"])
        note = None if text is None else _note(note_id, text, row)
    except KeyError as error:
        # One of ours, and no value of the file.
        raise DeidError(Code.GOLD_INVALID, f"{where}: no {error.args[0]}") from None
    except (ValueError, TypeError, AttributeError):
        raise DeidError(Code.GOLD_INVALID, f"{where}: not of this form") from None
    return Gold(note_id, spans, clinical, note)


def _span(span: Any, text: str | None, where: str, labels: Mapping[str, Label]) -> Span:
    start, end, label, *surface = span
    if label not in labels:
        raise DeidError(Code.LABEL_UNKNOWN, where)
    if fault := misplaced(start, end, text):
        raise DeidError(Code.GOLD_INVALID, f"{where}: a span {fault}")
    if text is not None and surface and text[start:end] != surface[0]:
        raise DeidError(Code.GOLD_INVALID, f"{where}: a span does not hold the surface beside it")
    return Span(start, end, labels[label], source="gold")


def misplaced(start: int, end: int, text: str | None) -> str | None:
    """What is wrong with offsets, in words; a `TypeError` if they are no whole numbers."""
    if type(start) is not int or type(end) is not int:
        raise TypeError
    if start < 0:
        return "begins before the text"
    if start >= end:
        return "is empty or reversed"
    return "ends past the text" if text is not None and end > len(text) else None


def _note(note_id: str, text: str, row: Mapping[str, Any]) -> Note:
    when = row.get("note_date")
    return Note(
        note_id,
        text,
        patient_id=row.get("patient_id"),
        provider_id=row.get("provider_id"),
        note_type=row.get("note_type"),
        note_date=date.fromisoformat(when) if when else None,
        language=row.get("language") or row.get("lang") or "en",
    )

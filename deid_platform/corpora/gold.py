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


def read_gold(path: Path, *, scheme: str = SCHEME) -> Iterator[Gold]:
    """Reads a gold file, plain or gzipped, line by line.

    Args:
        path: JSON lines.
        scheme: Which label names it uses: a key of `labels.CROSSWALKS`.

    Raises:
        DeidError: `gold-missing` if there is no such file, `label-unknown` for a label or scheme without a
            crosswalk, `input-invalid` with the line's number for anything else.
    """
    labels = CROSSWALKS.get(scheme)
    if labels is None:
        raise DeidError(Code.LABEL_UNKNOWN, "scheme")
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _gold(line, f"line {number}", labels)
    except FileNotFoundError:
        raise DeidError(Code.GOLD_MISSING) from None
    except (OSError, EOFError, UnicodeDecodeError):
        raise DeidError(Code.FEED_UNREADABLE, "gold") from None


def _gold(line: str, where: str, labels: Mapping[str, Label]) -> Gold:
    try:
        row: dict[str, Any] = json.loads(line)
        text = row.get("text")
        spans = []
        for start, end, label, *surface in row["spans"]:
            if label not in labels:
                raise DeidError(Code.LABEL_UNKNOWN, where)
            if text is not None and (end > len(text) or (surface and text[start:end] != surface[0])):
                raise DeidError(Code.SPAN_BOUNDS, where)
            spans.append(Span(start, end, labels[label], source="gold"))
        clinical = tuple((start, end) for start, end in row.get("clinical", ()))
        note_id = str(row["note_id"])
        note = None if text is None else _note(note_id, text, row)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DeidError(Code.INPUT_INVALID, where) from None
    return Gold(note_id, tuple(sorted(spans)), clinical, note)


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

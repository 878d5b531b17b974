"""Files of a delivery as this platform writes them, byte for byte the same from the same notes.

Belongs here: notes as JSON lines, topics as CSV. Does not belong here: which notes (`hospital/feed.py`,
`injection/feed.py`), or reading them (`tables.py`).
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, fields
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from deid_platform.notes import Facility, Note, Patient, Provider, Withdrawal


def note_line(note: Note) -> str:
    """A note as a line of JSON."""
    row = {
        "note_id": note.note_id,
        "patient_id": note.patient_id,
        "encounter_id": note.encounter_id,
        "provider_id": note.provider_id,
        "site": note.site,
        "note_type": note.note_type,
        "note_date": note.note_date.isoformat() if note.note_date else None,
        "language": note.language,
        "text": note.text,
    }
    return json.dumps(row, ensure_ascii=False) + "\n"


@contextmanager
def gzip_text(path: Path) -> Iterator[TextIO]:
    """A gzipped text file whose bytes depend on its text alone."""
    # No file name and no time in the header, so that the bytes depend on the spec alone.
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
        TextIOWrapper(packed, encoding="utf-8", newline="") as text,
    ):
        yield text


def write_table(
    path: Path,
    kind: type[Patient] | type[Provider] | type[Facility] | type[Withdrawal],
    rows: Iterable[Patient | Provider | Facility | Withdrawal],
) -> None:
    """Writes rows of one kind as CSV with a header."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow([field.name for field in fields(kind)])
        table.writerows(["" if value is None else value for value in astuple(row)] for row in rows)

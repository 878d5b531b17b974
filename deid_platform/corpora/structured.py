"""Rows of tables beside the notes, each as a short text with the places of its identifiers.

Belongs here: from a row's cells to lines `name: value`, a line a column that is released. Does not belong here: what
the policy makes of a value (`refresh/redact/structured_rows.py`).

As a text a row goes the way of a note: the same surrogates and shifts, the same leak check, the same gate. A column
that nobody mapped is not in the text, so that nothing can release it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.formats.delimited import Tables
from deid_platform.corpora.tables import Row
from deid_platform.labels import Label
from deid_platform.notes import Span

PREFIX = "structured:"
"""How the type of a row begins, where notes have theirs; the table's name follows."""
_FILE = re.compile(r"structured-([a-z][a-z0-9_]{0,29})(?:[.-].*)?\.(?:jsonl|csv|parquet|xls[xm])(?:\.(?:gz|zst))?")
_CELL_CHARS = 10_000
SOURCE = "mapping"
"""What found the identifiers of a row."""


@dataclass(frozen=True)
class StructuredTable:
    """How one table is released.

    Attributes:
        name: The table's.
        row: The column that tells rows apart.
        patient: The column with the patient's id.
        labels: Source column -> the label of its values; None for values that are kept.
        names: Source column -> its name in research.
    """

    name: str
    row: str
    patient: str
    labels: Mapping[str, Label | None]
    names: Mapping[str, str]

    def kept_back(self, columns: Iterable[str]) -> list[str]:
        """Those of a file's columns that are not released."""
        return [column for column in columns if column not in self.labels and column not in (self.row, self.patient)]


@dataclass(frozen=True, slots=True)
class StructuredRow:
    """One row.

    Attributes:
        note_id: The table's name and the row's id, under which its versions are one.
        text: Its lines.
        spans: Where its identifiers stand.
    """

    note_id: str = field(repr=False)
    table: str
    patient_id: str = field(repr=False)
    text: str = field(repr=False)
    spans: tuple[Span, ...] = field(repr=False)


def table_of(file_name: str) -> str | None:
    """The table that a file has rows of, by its name: `structured-labs.csv`, `structured-labs-2.jsonl.gz`."""
    match = _FILE.fullmatch(file_name)
    return match[1] if match else None


def read_structured(
    files: Iterable[tuple[StructuredTable, Path]], tables: Tables, spool: Path | None
) -> Iterator[StructuredRow | Rejection]:
    """The rows of files, each id once; a rejection says which row it is about, as one of a note does.

    A row without the patient's id is refused, since nobody could withdraw it, and so is one without its own.
    """
    seen: set[str] = set()
    for ordinal, (table, path) in enumerate(files):
        rows = tables.rows(path, Role.NOTES, max_chars=_CELL_CHARS, spool=spool)
        yield from rows_of(table, rows, seen, ordinal=ordinal)


def rows_of(
    table: StructuredTable, rows: Iterable[Row], seen: set[str], *, ordinal: int = 0
) -> Iterator[StructuredRow | Rejection]:
    """The rows of one table that can be used, and why the others cannot.

    Args:
        table: How it is released.
        rows: Place and cells of each, or why it cannot be read.
        seen: Ids that came before, to which those of these rows are added.
        ordinal: Which of the table's files it is, from 0.
    """
    named, place = f"structured-{table.name}[{ordinal}]", 0
    try:
        for place, cells in rows:
            made = cells if isinstance(cells, Reason) else _row(table, cells)
            known = None if isinstance(cells, Reason) else _row_id(table, cells)
            if not isinstance(made, Reason) and made.note_id in seen:
                made = Reason.DUPLICATE_ID
                known = None
            if isinstance(made, Reason):
                yield Rejection(Role.NOTES, named, place, made, known)
            else:
                seen.add(made.note_id)
                yield made
    except BrokenFileError as error:
        yield Rejection(Role.NOTES, named, place + 1, error.reason)


def _row_id(table: StructuredTable, cells: Mapping[str, object]) -> str | None:
    value = _shown(cells.get(table.row))
    return f"{PREFIX}{table.name}/{value}" if value and not isinstance(value, Reason) else None


def _row(table: StructuredTable, cells: Mapping[str, object]) -> StructuredRow | Reason:
    note_id, patient = _row_id(table, cells), _shown(cells.get(table.patient))
    if note_id is None or not patient or isinstance(patient, Reason):
        return patient if isinstance(patient, Reason) else Reason.MISSING_ID
    if not table.labels.keys() <= cells.keys():
        return Reason.UNKNOWN_COLUMN
    text, spans = "", []
    for column, label in table.labels.items():
        value = _shown(cells[column])
        if label is Label.DATE and value and not isinstance(value, Reason):
            value = _day(value)
        if isinstance(value, Reason):
            return value
        if not value:
            continue
        text += f"{table.names[column]}: "
        if label is not None:
            spans.append(Span(len(text), len(text) + len(value), label, 1.0, SOURCE))
        text += f"{value}\n"
    return StructuredRow(note_id, table.name, patient, text, tuple(spans)) if text else Reason.EMPTY_TEXT


def _shown(cell: object) -> str | Reason:
    """A cell on one line; empty where it is missing."""
    match cell:
        case None:
            return ""
        case Reason():
            return cell
        case str():
            if "\0" in cell:
                return Reason.NUL_CHARACTER
            return Reason.TEXT_TOO_LONG if len(cell) > _CELL_CHARS else " ".join(cell.split())
        case bool():
            return str(cell).lower()
        case int():
            return str(cell)
        case float():
            return repr(cell) if math.isfinite(cell) else Reason.MALFORMED_ROW
        case date():
            return cell.isoformat()
        case _:
            return Reason.MALFORMED_ROW


def _day(value: str) -> str | Reason:
    try:
        return datetime.fromisoformat(value).date().isoformat()
    except ValueError:
        return Reason.IMPOSSIBLE_DATE

"""What the tables of MIMIC-III and MIMIC-IV-Note share: CSV with known columns, and gold from placeholders.

Belongs here: reading such a table as rows of a feed or as notes with gold. Does not belong here: which tables there are
(`mimic3.py`, `mimic4.py`), or placeholders (`corpora/placeholders.py`).

Dates of MIMIC are moved into the years 2100 to 2210: a note's would be refused as a day of the future, so notes come
without one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from deid_platform.corpora import Format, Reason, Rejection, Role
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.gold_files import gold_files, refused
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.placeholders import Placeholder
from deid_platform.corpora.rows import text_fault
from deid_platform.corpora.tables import Row, table_rows
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Span

Placeholders = Callable[[str], Iterable[Placeholder]]
_WHOLE = re.compile(r"(\d+)\.0")  # how some exports write an id that may be missing
_NAMED = re.compile(r"(?P<table>[a-z]+)\.csv(?:\.(?P<compression>gz|zst))?", re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        roles: What it has rows of.
        columns: Its column, in small letters, to the platform's field; other columns are left aside.
    """

    roles: tuple[Role, ...]
    columns: Mapping[str, str]


@dataclass(frozen=True)
class Mimic(FileFormat):
    """A release of MIMIC.

    Attributes:
        tables: Name of the file, in small letters, to what it holds.
        placeholders: Finds those of a text.
        cells: What else a row says, from its role and its cells by column in small letters; None if it is no row of
            that role.
    """

    called: ClassVar[str] = "are called as the tables of MIMIC and end in .csv"

    tables: Mapping[str, Table]
    placeholders: Placeholders
    cells: Callable[[Role, Mapping[str, object], dict[str, object]], dict[str, object] | None]

    def roles(self, file_name: str) -> tuple[Role, ...]:
        """The roles of the table that a file's name says."""
        match = _NAMED.fullmatch(file_name)
        table = self.tables.get(match["table"].lower()) if match else None
        return table.roles if table else ()

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        """The rows of one role, streamed; a row's place is its line."""
        del spool
        for number, row in _table(path, max_chars):
            cells = row if isinstance(row, Reason) else self._cells(path, role, row)
            if cells is not None:
                yield number, cells

    def _cells(self, path: Path, role: Role, row: Mapping[str, object]) -> dict[str, object] | None:
        match = _NAMED.fullmatch(path.name)
        table = self.tables[match["table"].lower()] if match else None
        lowered = {column.lower(): value for column, value in row.items()}
        named = {field: _plain(lowered.get(column)) for column, field in table.columns.items()} if table else {}
        return self.cells(role, lowered, named)

    def read(self, path: Path, *, scheme: str) -> Iterator[Gold | Rejection]:
        """Notes whose spans are their placeholders, whole; those of a type that nobody knows are counted.

        The scheme is that of the placeholders, whatever is given.
        """
        del scheme
        seen: set[str] = set()
        folder, names = gold_files(path, lambda name: Role.NOTES in self.roles(name))
        for ordinal, name in enumerate(names):
            number = 0
            try:
                for number, cells in self.rows(folder / name, Role.NOTES, max_chars=MAX_CHARS, spool=None):
                    yield self._gold(ordinal, number, cells, seen)
            except BrokenFileError as broken:
                yield refused(ordinal, number + 1, broken.reason, None)

    def _gold(
        self, ordinal: int, number: int, cells: Mapping[str, object] | Reason, seen: set[str]
    ) -> Gold | Rejection:
        if isinstance(cells, Reason):
            return refused(ordinal, number, cells, None)
        note_id, text = str(cells.get("note_id") or ""), str(cells.get("text") or "")
        if not note_id:
            return refused(ordinal, number, Reason.MISSING_NOTE_ID, None)
        if note_id in seen:
            return refused(ordinal, number, Reason.DUPLICATE_NOTE_ID, note_id)
        seen.add(note_id)
        if fault := text_fault(text, max_chars=MAX_CHARS):
            return refused(ordinal, number, fault, note_id)
        found = list(self.placeholders(text))
        spans = tuple(Span(p.start, p.end, p.label, source="gold") for p in found if p.label is not None)
        patient, kind = (str(cells[name]) if cells.get(name) else None for name in ("patient_id", "note_type"))
        note = Note(note_id, text, patient_id=patient, note_type=kind)
        return Gold(note_id, spans, note=note, unknown_types=sum(not place.known for place in found))

    def write(self, notes: Iterable[Gold], path: Path) -> int:
        """Never: the placeholders of MIMIC say less than gold does.

        Raises:
            DeidError: `format-unknown`.
        """
        del notes, path
        raise DeidError(Code.FORMAT_UNKNOWN, "mimic")


def _table(path: Path, max_chars: int) -> Iterator[Row]:
    match = _NAMED.fullmatch(path.name)
    if match is None or not path.is_file():
        raise BrokenFileError(Reason.UNREADABLE_FILE)
    return table_rows(path, Format.CSV, (match["compression"] or "").lower() or None, max_chars=max_chars)


def _plain(value: object) -> object:
    if isinstance(value, str) and (whole := _WHOLE.fullmatch(value.strip())):
        return whole[1]
    return value

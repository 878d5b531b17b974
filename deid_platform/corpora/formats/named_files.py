"""Files that are a note each: which note a file is.

Belongs here: the table `documents` beside such files, and the id of a file that no table names. Does not belong here:
what a file says (`scan.py`, `documents.py`).

`documents.csv` (or `.jsonl`, `.parquet`, in one file or several: `documents-2.csv.gz`) has a column `file` with a
file's name, and the columns of notes but `text`. Where there is such a table, a file that it does not name has no id
and is refused, and so is one that it names twice, since nobody can say whose letter it is.

Without such a table a file's id is a prefix and the first 32 digits of the SHA-256 of its bytes. A file's name would
not do: it may be a patient's, and where a scanner counts its files, the same name is another patient's letter tomorrow.
So the id stays when a file is renamed or delivered again, and a letter that is written anew is another note.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from deid_platform.corpora import Reason
from deid_platform.corpora.decoding import BrokenFileError, chunks
from deid_platform.corpora.formats.delimited import written_as
from deid_platform.corpora.tables import Row, table_rows

_TABLE = re.compile(r"documents(?:[.-].*)?\.(?:jsonl|csv|parquet)(?:\.(?:gz|zst))?", re.IGNORECASE)
_TABLE_CHARS = 100_000  # of a row of the table, which holds no text
_ID_DIGITS = 32


def is_table(file_name: str) -> bool:
    """Whether a file is a table that says which note a file is, by its name."""
    return _TABLE.fullmatch(file_name) is not None


def cells_of(path: Path, encoding: str, prefix: str) -> Mapping[str, object] | Reason:
    """What is known of a file's note but its text; nothing where a table does not name it.

    Args:
        path: The file in its delivery's folder.
        encoding: Of the tables.
        prefix: Of the id where there is no table.
    """
    tables = _tables(path.parent)
    if tables:
        named = _named(tables, encoding).get(_name(path.name), ())
        return Reason.DUPLICATE_ID if len(named) > 1 else named[0] if named else {}
    digest = hashlib.sha256()
    try:
        for chunk in chunks(path, None) if path.is_file() else ():
            digest.update(chunk)
    except BrokenFileError as error:
        return error.reason
    return {"note_id": f"{prefix}-{digest.hexdigest()[:_ID_DIGITS]}"}


def rows_without_file(path: Path, spool: Path | None, encoding: str) -> Iterator[Row]:
    """The rows of a table that cannot be read, and those whose file is not there."""
    files = {_name(other.name) for other in path.parent.iterdir()}
    rows = table_rows(path, *written_as(path), max_chars=_TABLE_CHARS, spool=spool, encoding=encoding)
    for place, cells in rows:
        if isinstance(cells, Reason):
            yield place, cells
        elif not isinstance(file := cells.get("file"), str) or not file.strip():
            yield place, {**_without_file(cells), "text": Reason.MALFORMED_ROW}
        elif _name(file) not in files:
            yield place, {**_without_file(cells), "text": Reason.BROKEN_ATTACHMENT}


_Stamp = tuple[Path, int, int]


def _tables(folder: Path) -> tuple[_Stamp, ...]:
    """The tables of a folder, with what changes when they do."""
    found = sorted(path for path in folder.iterdir() if is_table(path.name) and (path.is_file() or path.is_symlink()))
    return tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in found)


@lru_cache(maxsize=1)  # each file of a delivery asks
def _named(tables: tuple[_Stamp, ...], encoding: str) -> Mapping[str, tuple[Mapping[str, object], ...]]:
    """The rows of each file by its name."""
    named: dict[str, tuple[Mapping[str, object], ...]] = {}
    for path, *_ in tables:
        try:
            rows = table_rows(path, *written_as(path), max_chars=_TABLE_CHARS, encoding=encoding)
            for _, cells in rows:
                if not isinstance(cells, Reason) and isinstance(file := cells.get("file"), str):
                    named[_name(file)] = (*named.get(_name(file), ()), _without_file(cells))
        except BrokenFileError:  # reading the table itself says so; its other files have no id
            continue
    return named


def _without_file(cells: Mapping[str, object]) -> dict[str, object]:
    return {column: cell for column, cell in cells.items() if column not in ("file", "text")}


def _name(file: str) -> str:
    """A file's name as it is compared: systems disagree on how an accent is written."""
    return unicodedata.normalize("NFC", file.strip())

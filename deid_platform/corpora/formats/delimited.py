"""Tables by role (`notes`, `patients`, `providers`, `facilities`, `withdrawn`, `rejoined`): JSONL, CSV, Parquet, .xlsx.

Belongs here: which file holds what. Does not belong here: how a table is written (`corpora/tables.py`).

A file's name begins with its role and ends with its format, plain or with `.gz` or `.zst` behind; a role may come in
parts: `notes-0001.jsonl.gz`. A file that claims a role but is of no known format is refused, since silence would lose
its rows. People name parts in other ways too, `withdrawn_2.csv` or `notes (1).csv`, and a file of withdrawals
`withdrawals.csv`: that claims the role where the rest of the name is a table's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deid_platform.corpora import Format, Reason, Role
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.encodings import UTF8
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.tables import Row, table_rows
from deid_platform.errors import Code, DeidError

_ROLE = re.compile(rf"({'|'.join(Role)})(?:[.-]|$)", re.IGNORECASE)
_NEARLY = re.compile(rf"({'|'.join(Role)})[^a-z]|(withdraw|rejoin)", re.IGNORECASE)
_STEMS = {"withdraw": Role.WITHDRAWN, "rejoin": Role.REJOINED}
_TABLE = re.compile(r"\.(?:jsonl|csv|parquet|xls[xmb]?|ods)(?:\.(?:gz|zst))?$", re.IGNORECASE)
_FORMAT = re.compile(r"\.(?:(jsonl|csv|parquet)(?:\.(gz|zst))?|(xls[xm]))$")


@dataclass(frozen=True)
class Tables(FileFormat):
    """The format `files`.

    Attributes:
        encoding: Of those that are text, unless a file says another by a byte order mark.
        numbers: Whether whole numbers in cells of a workbook stand for their digits.
    """

    encoding: str = UTF8
    numbers: bool = False

    def roles(self, file_name: str) -> tuple[Role, ...]:
        """The role that the name begins with."""
        match = _ROLE.match(file_name) or (_TABLE.search(file_name) and _NEARLY.match(file_name))
        if not match:
            return ()
        said = match[match.lastindex or 1].lower()
        return (_STEMS[said] if said in _STEMS else Role(said),)

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        """The rows of a table; all of them are of its role."""
        del role
        try:
            yield from table_rows(
                path,
                *written_as(path),
                max_chars=max_chars,
                spool=spool,
                encoding=self.encoding,
                numbers=self.numbers,
            )
        except DeidError as error:
            if error.code is not Code.DOCUMENT_READER_MISSING:
                raise
            raise BrokenFileError(Reason.UNSUPPORTED_CONTENT) from None


def written_as(path: Path) -> tuple[str, str | None]:
    """The table format and the compression that a file's name says; an empty format where it says none."""
    match = _FORMAT.search(path.name)
    # A FIFO or a folder of that name would block or fail in ways of its own.
    if match is None or not path.is_file():
        return "", None
    return (Format.XLSX, None) if match[3] else (match[1], match[2])


FEED = Tables()

"""Documents and mails: a folder of .docx, .rtf, .eml and .msg files, each of which is one note.

Belongs here: which files are documents. Does not belong here: which note a document is (`named_files.py`), how it is
read (`office/`). A document that no table names has an id that begins with `document-`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.encodings import UTF8
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.named_files import cells_of, is_table, rows_without_file
from deid_platform.corpora.office import Limits, RefusedDocumentError
from deid_platform.corpora.office.documents import OTHERS, READERS, document_text
from deid_platform.corpora.tables import Row
from deid_platform.errors import Code, DeidError

_PREFIX = "document"


@dataclass(frozen=True)
class Documents(FileFormat):
    """The format `documents`.

    Attributes:
        encoding: Of the table that tells documents apart.
        limits: What one document may take.
    """

    names_tell: ClassVar[bool] = True
    called: ClassVar[str] = "end in .docx, .docm, .rtf, .eml or .msg"
    place: ClassVar[str] = "document, or line of its table"

    encoding: str = UTF8
    limits: Limits = field(default_factory=Limits)

    def roles(self, file_name: str) -> tuple[Role, ...]:
        """Documents, and the table that tells them apart, have notes."""
        known = Path(file_name).suffix.lower() in (READERS.keys() | OTHERS)
        return (Role.NOTES,) if known or is_table(file_name) else ()

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        """The one note of a document, whose place is 1; of a table the rows that are of no document."""
        del role, max_chars
        if is_table(path.name):
            yield from rows_without_file(path, spool, self.encoding)
            return
        cells = cells_of(path, self.encoding, _PREFIX)
        if isinstance(cells, Reason):
            yield 1, cells
        else:
            yield 1, {**cells, "text": self._text(path)} if cells else {"note_id": None}

    def _text(self, path: Path) -> str | Reason:
        try:
            return document_text(path, self.limits)
        except RefusedDocumentError as refused:
            return refused.reason
        except DeidError as error:
            if error.code is not Code.DOCUMENT_READER_MISSING:
                raise
            return Reason.UNSUPPORTED_CONTENT


FEED = Documents()

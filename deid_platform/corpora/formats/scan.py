"""Scanned and printed letters: a folder of PDF, PNG, TIFF and JPEG files, each of which is one note.

Belongs here: which file is which note. Does not belong here: how a file is read (`scans/`).

`documents.csv` beside the letters (or `.jsonl`, `.parquet`, in one file or several: `documents-2.csv.gz`) says which
note a file is: column `file` with its name, and the columns of notes but `text`. Where there is such a table, a file
that it does not name has no id and is refused, and so is one that it names twice, since nobody can say whose letter
it is.

Without such a table a letter's id is `scan-` and the first 32 digits of the SHA-256 of its bytes. A file's name would
not do: it may be a patient's, and where a scanner counts its files, the same name is another patient's letter tomorrow.
So the id stays when a file is renamed or delivered again, and a letter that is scanned anew is another note.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.decoding import BrokenFileError, chunks
from deid_platform.corpora.encodings import UTF8
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.delimited import written_as
from deid_platform.corpora.scans.documents import read_document
from deid_platform.corpora.scans.opening import IMAGES, PDF
from deid_platform.corpora.scans.pages import Limits, Page, RefusedPageError
from deid_platform.corpora.scans.recognition import Engine
from deid_platform.corpora.tables import Row, table_rows
from deid_platform.errors import Code, DeidError
from deid_platform.languages import UNDETERMINED

_TABLE = re.compile(r"documents(?:[.-].*)?\.(?:jsonl|csv|parquet)(?:\.(?:gz|zst))?", re.IGNORECASE)
# Images that are not read, so that they are refused rather than passed over.
_OTHERS = frozenset({".avif", ".bmp", ".djvu", ".gif", ".heic", ".heif", ".jp2", ".webp"})
_LETTERS = frozenset({PDF, *IMAGES})
_TABLE_CHARS = 100_000  # of a row of the table, which holds no text
_ID_DIGITS = 32


@dataclass(frozen=True)
class Scans(FileFormat):
    """The format `scan`.

    Attributes:
        engine: What recognises characters.
        language: Of letters whose row says none, for recognition.
        limits: What one letter may take.
    """

    names_tell: ClassVar[bool] = True

    engine: Engine = Engine.TESSERACT
    language: str = "en"
    encoding: str = UTF8
    """Of the table that tells letters apart."""
    limits: Limits = field(default_factory=Limits)

    def roles(self, file_name: str) -> tuple[Role, ...]:
        """Letters, and the table that tells them apart, have notes."""
        known = Path(file_name).suffix.lower() in _LETTERS | _OTHERS
        return (Role.NOTES,) if known or _TABLE.fullmatch(file_name) else ()

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        """The one note of a letter, whose place is 1, or the page that refuses it; of a table the rows that are of no
        letter.
        """
        del role, max_chars
        if _TABLE.fullmatch(path.name):
            yield from _rows_without_letter(path, spool, self.encoding)
            return
        cells = _cells(path, self.encoding)
        if isinstance(cells, Reason):
            yield 1, cells
        elif not cells:
            yield 1, {"note_id": None}
        else:
            page, text = self._text(path, cells)
            yield page, {**cells, "text": text}

    def pages(self, path: Path) -> tuple[Page, ...]:
        """The pages of a letter as `rows` reads them: see `word_boxes`."""
        cells = _cells(path, self.encoding)
        language = self._language({} if isinstance(cells, Reason) else cells)
        return read_document(path, language, engine=self.engine, limits=self.limits).pages

    def _text(self, path: Path, cells: Mapping[str, object]) -> tuple[int, str | Reason]:
        """The page and the text of a letter, or the page that refuses it and why."""
        if not path.is_file():
            return 1, Reason.UNREADABLE_FILE
        try:
            language = self._language(cells)
            return 1, read_document(path, language, engine=self.engine, limits=self.limits).text
        except RefusedPageError as refused:
            return refused.page, refused.reason
        except DeidError as error:
            if error.code is not Code.SCAN_READER_MISSING:
                raise
            return 1, Reason.UNSUPPORTED_CONTENT

    def _language(self, cells: Mapping[str, object]) -> str:
        said = cells.get("language")
        given = said.strip() if isinstance(said, str) and not isinstance(said, Reason) else ""
        return self.language if given in ("", UNDETERMINED) else given


def word_boxes(path: Path, scans: Scans | None = None) -> tuple[Page, ...]:
    """The pages of a letter, each with its words: places in the note's text, boxes on the page, confidences.

    Pixels are those of the page as it is looked at, upright and with square pixels: of a PDF, drawn at 300 dots an
    inch; of an image, its own.

    Args:
        path: A letter in its delivery's folder.
        scans: How the feed reads it.

    Raises:
        DeidError: `scan-reader-missing` with the package that is not installed.
        RefusedPageError: where reading refuses the letter.
    """
    return (scans or FEED).pages(path)


def _cells(path: Path, encoding: str) -> Mapping[str, object] | Reason:
    """What is known of a letter but its text; nothing where a table does not name it."""
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
    return {"note_id": f"scan-{digest.hexdigest()[:_ID_DIGITS]}"}


def _rows_without_letter(path: Path, spool: Path | None, encoding: str) -> Iterator[Row]:
    """The rows of a table that cannot be read, and those whose letter is not there."""
    letters = {_name(other.name) for other in path.parent.iterdir()}
    rows = table_rows(path, *written_as(path), max_chars=_TABLE_CHARS, spool=spool, encoding=encoding)
    for place, cells in rows:
        if isinstance(cells, Reason):
            yield place, cells
        elif not isinstance(file := cells.get("file"), str) or not file.strip():
            yield place, {**_without_file(cells), "text": Reason.MALFORMED_ROW}
        elif _name(file) not in letters:
            yield place, {**_without_file(cells), "text": Reason.BROKEN_ATTACHMENT}


_Stamp = tuple[Path, int, int]


def _tables(folder: Path) -> tuple[_Stamp, ...]:
    """The tables of a folder, with what changes when they do."""
    found = sorted(
        path for path in folder.iterdir() if _TABLE.fullmatch(path.name) and (path.is_file() or path.is_symlink())
    )
    return tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in found)


@lru_cache(maxsize=1)  # each letter of a delivery asks
def _named(tables: tuple[_Stamp, ...], encoding: str) -> Mapping[str, tuple[Mapping[str, object], ...]]:
    """The rows of each letter by its name."""
    named: dict[str, tuple[Mapping[str, object], ...]] = {}
    for path, *_ in tables:
        try:
            rows = table_rows(path, *written_as(path), max_chars=_TABLE_CHARS, encoding=encoding)
            for _, cells in rows:
                if not isinstance(cells, Reason) and isinstance(file := cells.get("file"), str):
                    named[_name(file)] = (*named.get(_name(file), ()), _without_file(cells))
        except BrokenFileError:  # reading the table itself says so; its other letters have no id
            continue
    return named


def _without_file(cells: Mapping[str, object]) -> dict[str, object]:
    return {column: cell for column, cell in cells.items() if column not in ("file", "text")}


def _name(file: str) -> str:
    """A file's name as it is compared: systems disagree on how an accent is written."""
    return unicodedata.normalize("NFC", file.strip())


FEED = Scans()

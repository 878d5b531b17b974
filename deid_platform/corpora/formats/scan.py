"""Scanned and printed letters: a folder of PDF, PNG, TIFF and JPEG files, each of which is one note.

Belongs here: which files are letters. Does not belong here: which note a file is (`named_files.py`), how a file is read
(`scans/`). A letter that no table names has an id that begins with `scan-`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.encodings import UTF8
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.named_files import cells_of, is_table, rows_without_file
from deid_platform.corpora.scans.documents import read_document
from deid_platform.corpora.scans.opening import IMAGES, PDF
from deid_platform.corpora.scans.pages import Limits, Page, RefusedPageError
from deid_platform.corpora.scans.recognition import Engine
from deid_platform.corpora.tables import Row
from deid_platform.errors import Code, DeidError
from deid_platform.languages import UNDETERMINED

# Images that are not read, so that they are refused rather than passed over.
_OTHERS = frozenset({".avif", ".bmp", ".djvu", ".gif", ".heic", ".heif", ".jp2", ".webp"})
_LETTERS = frozenset({PDF, *IMAGES})
_PREFIX = "scan"


@dataclass(frozen=True)
class Scans(FileFormat):
    """The format `scan`.

    Attributes:
        engine: What recognises characters.
        language: Of letters whose row says none, for recognition.
        limits: What one letter may take.
    """

    names_tell: ClassVar[bool] = True
    called: ClassVar[str] = "end in .pdf, .png, .tif, .tiff, .jpg or .jpeg"
    place: ClassVar[str] = "page of a letter, or line of its table"

    engine: Engine = Engine.TESSERACT
    language: str = "en"
    encoding: str = UTF8
    """Of the table that tells letters apart."""
    limits: Limits = field(default_factory=Limits)

    def roles(self, file_name: str) -> tuple[Role, ...]:
        """Letters, and the table that tells them apart, have notes."""
        known = Path(file_name).suffix.lower() in _LETTERS | _OTHERS
        return (Role.NOTES,) if known or is_table(file_name) else ()

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        """The one note of a letter, whose place is 1, or the page that refuses it; of a table the rows that are of no
        letter.
        """
        del role, max_chars
        if is_table(path.name):
            yield from rows_without_file(path, spool, self.encoding)
            return
        cells = cells_of(path, self.encoding, _PREFIX)
        if isinstance(cells, Reason):
            yield 1, cells
        elif not cells:
            yield 1, {"note_id": None}
        else:
            page, text = self._text(path, cells)
            yield page, {**cells, "text": text}

    def pages(self, path: Path) -> tuple[Page, ...]:
        """The pages of a letter as `rows` reads them: see `word_boxes`."""
        cells = cells_of(path, self.encoding, _PREFIX)
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


FEED = Scans()

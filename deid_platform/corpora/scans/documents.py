"""A file as a text: its pages in their order, from their text layers or by recognition.

Belongs here: reading whole documents. Does not belong here: which note a document is (`formats/scan.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from deid_platform.corpora import Reason
from deid_platform.corpora.scans.opening import pages_of
from deid_platform.corpora.scans.pages import Document, Limits, Page, RefusedPageError
from deid_platform.corpora.scans.recognition import Engine, recognised

_LIMITS = Limits()


def read_document(
    path: Path, language: str = "en", *, engine: Engine = Engine.TESSERACT, limits: Limits = _LIMITS
) -> Document:
    """A file's text, with a box for each of its words.

    A document is read whole or not at all: a page that is missing would be one that nobody looks for.

    Args:
        path: PDF, PNG, TIFF or JPEG, as its name ends.
        language: The note's, as a BCP 47 tag; `und` is read as English.
        engine: What recognises characters where a page has no text layer.
        limits: What it may take.

    Raises:
        DeidError: `scan-reader-missing` with the package that is not installed.
        RefusedPageError: with the number of the page that cannot be read, and the reason.
    """
    return Document.of(_read(path, language, engine, limits))


def _read(path: Path, language: str, engine: Engine, limits: Limits) -> Iterator[Page]:
    for number, page in enumerate(pages_of(path, limits), start=1):
        if isinstance(page, Page):
            yield page
            continue
        try:
            read = recognised(page.image, language, engine=engine, seconds=limits.seconds, dpi=page.dpi)
        except RefusedPageError as refused:
            raise RefusedPageError(refused.reason, number) from None
        if read.confidence < limits.confidence:
            raise RefusedPageError(Reason.ILLEGIBLE, number)
        yield read

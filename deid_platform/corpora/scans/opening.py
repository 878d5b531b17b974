"""What a file's pages are: text layers of a PDF, or images.

Belongs here: opening PDF, PNG, TIFF and JPEG within limits, and how that fails. Does not belong here: recognition
(`recognition.py`).

A file is hostile until it has been read: sizes are looked at before anything is decoded, only these formats are tried,
and no message of a library goes any further.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deid_platform.corpora import Reason
from deid_platform.corpora.scans.pages import Limits, Page, RefusedPageError
from deid_platform.corpora.scans.recognition import DPI
from deid_platform.corpora.scans.text_layer import layer_of
from deid_platform.errors import Code, DeidError

if TYPE_CHECKING:
    from PIL.Image import Image

PDF = ".pdf"
IMAGES = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".jpg": "JPEG", ".jpeg": "JPEG"}
"""File endings to Pillow's names of formats."""
_POINTS = 72
_PLAUSIBLE_DPI = (50, 2400)


@dataclass(frozen=True, slots=True, repr=False)
class Picture:
    """A page that is an image.

    Attributes:
        image: Decoded, upright as far as the file says how it was held.
        dpi: Dots an inch, if the file says so.
    """

    image: Image
    dpi: float | None

    def __repr__(self) -> str:
        return "<Picture>"


def pages_of(path: Path, limits: Limits) -> Iterator[Page | Picture]:
    """A file's pages in their order, one at a time.

    Args:
        path: Of one of the formats, as its name ends.
        limits: What it may take.

    Raises:
        DeidError: `scan-reader-missing` if the libraries of the extra `scan` are not installed.
        RefusedPageError: with the page's number: `locked_file`, `unreadable_file`, `limit_exceeded`; after the pages
            before it.
    """
    ending = path.suffix.lower()
    if ending == PDF:
        return _of_pdf(path, limits)
    if ending in IMAGES:
        return _of_image(path, IMAGES[ending], limits)
    raise RefusedPageError(Reason.UNSUPPORTED_CONTENT)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise DeidError(Code.SCAN_READER_MISSING, "extra scan") from None


def _of_pdf(path: Path, limits: Limits) -> Iterator[Page | Picture]:
    pdfium, raw = _library("pypdfium2"), _library("pypdfium2.raw")
    try:
        handle = path.open("rb")
    except OSError:
        raise RefusedPageError(Reason.UNREADABLE_FILE) from None
    # pypdfium2 closes a handle only of a document that it could open.
    with handle:
        try:
            document = pdfium.PdfDocument(handle)
        except pdfium.PdfiumError as error:
            locked = error.err_code == raw.FPDF_ERR_PASSWORD
            raise RefusedPageError(Reason.LOCKED_FILE if locked else Reason.UNREADABLE_FILE) from None
        try:
            yield from _pages(document, pdfium, raw, limits)
        finally:
            document.close()


def _pages(document: Any, pdfium: Any, raw: Any, limits: Limits) -> Iterator[Page | Picture]:
    if not len(document):
        raise RefusedPageError(Reason.UNREADABLE_FILE)
    for number in range(1, len(document) + 1):
        if number > limits.pages:
            raise RefusedPageError(Reason.LIMIT_EXCEEDED, number)
        try:
            page = document[number - 1]
            try:
                yield layer_of(page, raw, DPI) or _drawn(page, raw, limits, number)
            finally:
                page.close()
        except (pdfium.PdfiumError, OSError, ValueError, MemoryError):
            raise RefusedPageError(Reason.UNREADABLE_FILE, number) from None


def _drawn(page: Any, raw: Any, limits: Limits, number: int) -> Picture:
    """A PDF's page as an image, at 300 dots an inch."""
    width, height = page.get_size()
    sizes = [(width * DPI / _POINTS, height * DPI / _POINTS)]
    # An image of any size may lie on a page of any other, and drawing decodes it whole.
    sizes += [image.get_px_size() for image in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE])]
    if any(wide * high > limits.pixels for wide, high in sizes):
        raise RefusedPageError(Reason.LIMIT_EXCEEDED, number)
    return Picture(page.render(scale=DPI / _POINTS, grayscale=True).to_pil(), DPI)


def _of_image(path: Path, image_format: str, limits: Limits) -> Iterator[Picture]:
    images = _library("PIL.Image")
    # By its handle: of a file by its name, Pillow maps what is not compressed, and scrambles it if it is to be turned.
    with _decoded(images, 1, partial(path.open, "rb")) as handle:
        file = _decoded(images, 1, lambda: images.open(handle, formats=[image_format]))
        for number in count(1):
            picture = _decoded(images, number, partial(_frame, file, number, limits))
            if picture is None:
                return
            yield picture


def _frame(file: Any, number: int, limits: Limits) -> Picture | None:
    """One page of an image; None behind the last. To ask how many there are would read them all."""
    try:
        file.seek(number - 1)
    except EOFError:
        if number > 1:
            return None
        raise
    if number > limits.pages or file.width * file.height > limits.pixels:
        raise RefusedPageError(Reason.LIMIT_EXCEEDED, number)
    return _upright(file)


def _decoded(images: Any, number: int, decode: Callable[[], Any]) -> Any:
    """What Pillow makes of a page, or the refusal of that page: its own messages quote the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", images.DecompressionBombWarning)
            return decode()
    except (images.DecompressionBombError, images.DecompressionBombWarning):
        raise RefusedPageError(Reason.LIMIT_EXCEEDED, number) from None
    except (OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, ArithmeticError, MemoryError):
        raise RefusedPageError(Reason.UNREADABLE_FILE, number) from None


def _upright(file: Any) -> Picture:
    """One frame in grey, turned as the camera says, with square pixels: a fax has more of them across than down."""
    operations = _library("PIL.ImageOps")
    across, down = (_plausible(value) for value in file.info.get("dpi", (0, 0)))
    image = operations.exif_transpose(_grey(file))
    if across and down and not 0.8 < across / down < 1.25:
        wide, high = max(across, down) / across, max(across, down) / down
        image = image.resize((round(image.width * wide), round(image.height * high)))
    return Picture(image, max(across, down) or None)


def _grey(file: Any) -> Any:
    """In grey, on white paper where it is transparent; what has more than 256 greys keeps the upper ones of each."""
    if file.mode.startswith("I;16"):
        return file.point(lambda grey: grey / 256).convert("L")
    if not file.has_transparency_data:
        return file.convert("L")
    images = _library("PIL.Image")
    drawn = file.convert("RGBA")
    paper = images.new("RGBA", drawn.size, "white")
    paper.alpha_composite(drawn)
    paper.info = file.info  # which tells how it was held
    return paper.convert("L")


def _plausible(dpi: Any) -> float:
    low, high = _PLAUSIBLE_DPI
    return float(dpi) if low <= dpi <= high else 0.0

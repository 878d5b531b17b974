"""Character recognition: an image of a page in, words with their boxes and confidences out.

Belongs here: running Tesseract or docTR. Does not belong here: opening files
(`opening.py`), and what is done with a page that was read badly (`documents.py`).

Tesseract is given the image by its standard input and answers by its standard output: a temporary file would leave a
letter in a folder that nobody protects.
"""

from __future__ import annotations

import csv
import io
import math
import shutil
import subprocess
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deid_platform.corpora import Reason
from deid_platform.corpora.scans.pages import Mark, Page, RefusedPageError, laid_out
from deid_platform.errors import Code, DeidError
from deid_platform.languages import UNDETERMINED, released_language
from deid_platform.runtime.environment import harmless_environment

if TYPE_CHECKING:
    from PIL.Image import Image

DPI = 300
"""Dots an inch at which recognition works best; pages of a PDF are drawn so."""
_COARSE = 200  # below that, an image is enlarged
_MOST_PIXELS = 40_000_000  # of an enlarged image
_SHORT_SIDE = 8.27  # inches, of A4
# A note's language to Tesseract's data of it, which Debian packs as tesseract-ocr-CODE.
_DATA = {
    "bn": "ben", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng", "es": "spa", "fi": "fin",
    "fr": "fra", "hu": "hun", "it": "ita", "nl": "nld", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "sv": "swe",
    "tr": "tur",
}  # fmt: skip
_ORIENTATION = "osd"
_LISTING_SECONDS = 30


class Engine(StrEnum):
    """What recognises characters."""

    TESSERACT = "tesseract"
    DOCTR = "doctr"


def recognised(image: Image, language: str, *, engine: Engine, seconds: float, dpi: float | None = None) -> Page:
    """The page that an image shows.

    Args:
        image: Grey or coloured.
        language: The note's, as a BCP 47 tag; `und` is read as English.
        engine: What recognises.
        seconds: Time that it may take; docTR knows none.
        dpi: Dots an inch, if the file says so.

    Raises:
        DeidError: `scan-reader-missing` with the package if the engine, or its data of that language, is not installed.
        RefusedPageError: `limit_exceeded` if time runs out, `unreadable_file` if the engine fails,
            `unsupported_content` for a language that the engine does not read.
    """
    if engine is Engine.DOCTR:
        return laid_out(_doctr(image), image.width, image.height)
    data = _DATA.get(released_language("en" if language == UNDETERMINED else language))
    if data is None:
        raise RefusedPageError(Reason.UNSUPPORTED_CONTENT)
    scale = _scale(image, dpi)
    larger = image if scale == 1 else image.resize((round(image.width * scale), round(image.height * scale)))
    return laid_out(_tesseract(larger, data, seconds, scale), image.width, image.height)


def languages_read() -> frozenset[str]:
    """The languages of which Tesseract's data is installed, by its own names; empty where Tesseract is not."""
    program = shutil.which("tesseract")
    return frozenset() if program is None else _installed(program)


@cache
def _installed(program: str) -> frozenset[str]:
    try:
        listed = subprocess.run(  # noqa: S603
            [program, "--list-langs"],
            capture_output=True,
            check=False,
            timeout=_LISTING_SECONDS,
            env=harmless_environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return frozenset(listed.stdout.decode(errors="replace").split("\n")[1:]) - {""}


def _scale(image: Image, dpi: float | None) -> float:
    """How much larger an image has to be to be read well.

    What a file says of its dots is often wrong (72, whatever they are), and never too high for a page.
    """
    dots = max(dpi or 0.0, min(image.size) / _SHORT_SIDE)
    wanted = 1.0 if dots >= _COARSE else DPI / dots
    return max(1.0, min(wanted, math.sqrt(_MOST_PIXELS / (image.width * image.height))))


def _tesseract(image: Image, data: str, seconds: float, scale: float) -> list[Mark]:
    program = shutil.which("tesseract")
    installed = languages_read()
    if program is None or not installed:
        raise DeidError(Code.SCAN_READER_MISSING, "tesseract-ocr") from None
    if data not in installed:
        raise DeidError(Code.SCAN_READER_MISSING, f"tesseract-ocr-{data}") from None
    drawn = io.BytesIO()
    image.convert("L").save(drawn, "PPM")
    # 1 turns a page that lies on its side or stands on its head, for which it needs the data of orientation.
    segmentation = "1" if _ORIENTATION in installed else "3"
    command = [program, "stdin", "stdout", "-l", data, "--dpi", str(DPI), "--psm", segmentation]
    try:
        done = subprocess.run(  # noqa: S603
            [*command, "-c", "tessedit_create_tsv=1"],
            input=drawn.getvalue(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            # Its threads disturb each other where several pages are read at once.
            env={**harmless_environment(), "OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired:
        raise RefusedPageError(Reason.LIMIT_EXCEEDED) from None
    except OSError:
        raise RefusedPageError(Reason.UNREADABLE_FILE) from None
    if done.returncode:
        raise RefusedPageError(Reason.UNREADABLE_FILE)
    return _marks(done.stdout.decode(errors="replace"), scale)


def _marks(table: str, scale: float) -> list[Mark]:
    """The words of Tesseract's table, whose lines are in reading order."""
    marks = []
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (row["text"] or "").strip()
        if row["level"] == "5" and text:
            left, top, width, height = (round(int(row[side]) / scale) for side in ("left", "top", "width", "height"))
            confidence = min(max(float(row["conf"]) / 100, 0.0), 1.0)
            place = row["block_num"], row["par_num"], row["line_num"]
            marks.append(Mark(text, *place, (left, top, width, height), confidence))
    return marks


def _doctr(image: Image) -> list[Mark]:
    import numpy as np

    read = _doctr_model()([np.asarray(image.convert("RGB"))])
    marks = []
    for number, block in enumerate(read.pages[0].blocks):
        for line_number, line in enumerate(block.lines):
            for word in line.words:
                corners = ((round(x * image.width), round(y * image.height)) for x, y in word.geometry)
                (left, top), (right, bottom) = corners
                box = (left, top, right - left, bottom - top)
                marks.append(Mark(word.value, number, 0, line_number, box, float(word.confidence)))
    return [mark for mark in marks if mark.text.strip()]


@cache
def _doctr_model() -> Any:
    """Built once a process: it holds two networks."""
    try:
        models = import_module("doctr.models")
    except ImportError:
        raise DeidError(Code.SCAN_READER_MISSING, "python-doctr") from None
    return models.ocr_predictor(pretrained=True)

"""A text as pages of a letter, to measure what recognition makes of a text whose gold is known.

Belongs here: laying a text out on paper, and paper as a file. Does not belong here: wear (`degrade.py`).

Nothing is written on a page but the text: what a letterhead or a page number said would be in no gold.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont

_PAPER = (8.27, 11.69)  # inches, A4
_MARGIN = 1.0  # inches, at either side and below
_HEAD = 1.8  # above the first page's text, where a letterhead is
_LINE = 1.35  # height of a line in sizes of the type
_POINTS = 72


class Face(StrEnum):
    """A typeface, by the name of its file: those that matplotlib brings."""

    TYPEWRITER = "DejaVuSansMono.ttf"
    SERIF = "DejaVuSerif.ttf"
    SANS = "DejaVuSans.ttf"


def render(text: str, *, face: Face = Face.SERIF, points: float = 11, dpi: int = 300) -> list[Image]:
    """The pages of a letter in grey: a text's own lines, broken at spaces where they are too long.

    Args:
        text: The text.
        face: The typeface.
        points: Size of the type.
        dpi: Dots an inch.
    """
    from PIL import Image, ImageDraw

    size = round(points * dpi / _POINTS)
    font = _font(face, size)
    width, height = (round(side * dpi) for side in _PAPER)
    left, step = round(_MARGIN * dpi), round(size * _LINE)
    bottom = height - left - step
    pages: list[Image.Image] = []
    top = height
    for line in _lines(text, font, width - 2 * left):
        if top > bottom:
            top = round((_MARGIN if pages else _HEAD) * dpi)
            pages.append(Image.new("L", (width, height), 255))
        ImageDraw.Draw(pages[-1]).text((left, top), line, font=font, fill=0)
        top += step
    return pages


def write_pdf(pages: Sequence[Image], path: Path, *, dpi: int = 300) -> None:
    """Writes pages as a PDF of images without a text layer; the same pages give the same bytes.

    Args:
        pages: At least one.
        path: The file.
        dpi: Dots an inch.
    """
    first, *rest = pages
    epoch = time.gmtime(0)
    first.save(
        path, "PDF", save_all=True, append_images=rest, resolution=dpi, creationDate=epoch, modDate=epoch, title=""
    )


@cache
def _font(face: Face, size: int) -> FreeTypeFont:
    import matplotlib as mpl
    from PIL import ImageFont

    return ImageFont.truetype(Path(mpl.get_data_path(), "fonts", "ttf", face), size)


def _lines(text: str, font: FreeTypeFont, width: int) -> Iterator[str]:
    for line in text.expandtabs(4).splitlines():
        rest = line.rstrip()
        while font.getlength(rest) > width:
            cut = _last_that_fits(rest, font, width)
            yield rest[:cut]
            rest = rest[cut:].lstrip()
        yield rest


def _last_that_fits(line: str, font: FreeTypeFont, width: int) -> int:
    """Where a line is broken: behind the last word that fits, or within a word that fits on no line."""
    low, high = 1, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if font.getlength(line[:middle]) <= width else (low, middle - 1)
    indent = len(line) - len(line.lstrip())
    space = line.rfind(" ", indent, low + 1)
    return space if space > indent else low

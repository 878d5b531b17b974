"""Wear: what a copier, a fax and a scanner do to a page.

Belongs here: drawn distortions of an image. Does not belong here: what recognition makes of it (`recognition.py`).
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from deid_platform.surrogates.dice import Dice

if TYPE_CHECKING:
    from PIL.Image import Image

_TENTHS = 1000


@dataclass(frozen=True)
class Wear:
    """How much of what; where it says up to, the page's own draw decides.

    Attributes:
        turned: Degrees by which the page lies askew, up to, either way.
        scale: Of its resolution, what is left of it: a fax has a half.
        blurred: Radius of the blur in pixels, up to.
        specks: Specks on a million pixels, black on paper and white on ink.
        contrast: What is left of the contrast, at least, 0 to 1.
        quality: Of the JPEG that it is kept as, 1 to 95.
        threshold: Grey from which a pixel is paper, 0 to 255, where the page is black and white alone.
    """

    turned: float
    scale: float
    blurred: float
    specks: int
    contrast: float
    quality: int
    threshold: int | None = None


class Level(StrEnum):
    """How worn a page is."""

    SCAN = "scan"
    """A print on an office scanner."""
    COPY = "copy"
    """A grey photocopy, scanned askew."""
    FAX = "fax"
    """A fax in black and white."""


WEAR: dict[Level, Wear] = {
    Level.SCAN: Wear(turned=0.5, scale=1.0, blurred=1.0, specks=20, contrast=0.8, quality=70),
    Level.COPY: Wear(turned=1.5, scale=0.66, blurred=2.0, specks=300, contrast=0.45, quality=40),
    Level.FAX: Wear(turned=2.0, scale=0.42, blurred=2.2, specks=700, contrast=0.6, quality=35, threshold=150),
}


def degrade(image: Image, seed: object, wear: Wear = WEAR[Level.COPY]) -> Image:
    """A worn page of the same size, in grey; the same image, seed and wear give the same page on every machine that
    has the same Pillow.

    Args:
        image: The page in grey.
        seed: Names the draws: a page's own.
        wear: How much.
    """
    from PIL import Image, ImageFilter

    dice = Dice("wear", seed)
    askew = wear.turned * (2 * _share(dice) - 1)
    page = image.rotate(askew, resample=Image.Resampling.BICUBIC, fillcolor=255)
    page = page.filter(ImageFilter.GaussianBlur(wear.blurred * (0.5 + _share(dice) / 2)))
    page = _speckled(page, wear.specks, dice)
    contrast = wear.contrast + (1 - wear.contrast) * _share(dice) / 2
    # Copies turn grey from either side: paper darkens and ink pales.
    page = page.point([round(128 + (grey - 128) * contrast) for grey in range(256)])
    if wear.scale < 1:
        coarse = tuple(max(1, round(side * wear.scale)) for side in page.size)
        page = page.resize((coarse[0], coarse[1]), Image.Resampling.BILINEAR)
    page = _as_jpeg(page, wear.quality)
    if wear.threshold is not None:
        limit = wear.threshold
        page = page.point([255 if grey >= limit else 0 for grey in range(256)])
    return page if page.size == image.size else page.resize(image.size, Image.Resampling.BILINEAR)


def _share(dice: Dice) -> float:
    return dice.between(0, _TENTHS) / _TENTHS


def _speckled(page: Image, a_million: int, dice: Dice) -> Image:
    """With specks of one to three pixels."""
    from PIL import ImageDraw

    draw = ImageDraw.Draw(page)
    for _ in range(page.width * page.height * a_million // 1_000_000):
        left, top, size = dice.between(0, page.width - 1), dice.between(0, page.height - 1), dice.between(0, 2)
        draw.rectangle((left, top, left + size, top + size), fill=255 if dice.chance(0.3) else 0)
    return page


def _as_jpeg(page: Image, quality: int) -> Image:
    from PIL import Image

    kept = io.BytesIO()
    page.save(kept, "JPEG", quality=quality)
    return Image.open(kept).convert("L")

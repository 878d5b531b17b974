"""The text that a PDF's page carries, character by character with its box.

Belongs here: taking it, and telling whether it is the page's text. Does not belong here: drawing a page (`opening.py`).

Characters come in the order in which the file writes them, which is the reading order in what word processors and
record systems print.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deid_platform.corpora.scans.pages import Page, Word

_WORD = re.compile(r"\S+")
# What a font without a table of characters leaves: no letters.
_UNUSABLE = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08\x0b-\x1f\x7f]")
_UNUSABLE_SHARE = 0.1
_COVERED = 0.5  # share of the page from which an image may be the page itself
_STAMP_WORDS = 25  # a page that is an image may carry as many as a stamp or a fax's head
_POINTS = 72


def layer_of(page: Any, raw: Any, dpi: int) -> Page | None:
    """A page's own text, or None where its image has to be read.

    That is so where there is no text, where a tenth of it is no characters, or where an image covers half the page and
    the text is no longer than a stamp: 25 words. A scan that was recognised before, with its text behind the
    image, has more.

    Args:
        page: Of pypdfium2.
        raw: Its module of PDFium's own functions.
        dpi: Dots an inch of the boxes.
    """
    width, height = (max(1, round(side * dpi / _POINTS)) for side in page.get_size())
    characters = page.get_textpage()
    try:
        text, places = _characters(characters, raw)
        found = list(_WORD.finditer(text))
        usable = sum(len(word[0]) for word in found)
        if not usable or len(_UNUSABLE.findall(text)) > _UNUSABLE_SHARE * usable:
            return None
        if len(found) <= _STAMP_WORDS and _image_share(page, raw) >= _COVERED:
            return None
        corners = _Corners(page, raw, characters, width, height)
        boxes = (_box(corners, places[word.start() : word.end()]) for word in found)
        words = tuple(Word(word.start(), word.end(), *box) for word, box in zip(found, boxes, strict=True))
    finally:
        characters.close()
    return Page(width, height, text, words, recognised=False)


def _characters(textpage: Any, raw: Any) -> tuple[str, list[int]]:
    """The text, and for each of its code points the character of the page that it is."""
    text: list[str] = []
    places: list[int] = []
    for at in range(textpage.count_chars()):
        for character in _written(raw.FPDFText_GetUnicode(textpage, at)):
            if text and "\ud800" <= text[-1] <= "\udbff" and "\udc00" <= character <= "\udfff":
                text[-1] = (text[-1] + character).encode("utf-16", "surrogatepass").decode("utf-16")
            else:
                text.append(character)
                places.append(at)
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text), places


def _written(code: int) -> str:
    """How a character of the page is written: a carriage return says nothing, a broken word has its hyphen back."""
    match code:
        case 0x0D | 0:
            return ""
        case 0x02 | 0xFFFE:
            return "-\n"
        case 0x09 | 0x0A:
            return chr(code)
        case _:
            return chr(code) if code >= 0x20 else "\ufffd"


@dataclass(frozen=True, slots=True)
class _Corners:
    """Two opposite corners of a character's box, in pixels of the page as it is looked at, which may be turned."""

    page: Any
    raw: Any
    textpage: Any
    width: int
    height: int

    def of(self, place: int) -> Iterator[tuple[int, int]]:
        left, bottom, right, top = self.textpage.get_charbox(place)
        for x, y in ((left, top), (right, bottom)):
            at = ctypes.c_int(), ctypes.c_int()
            self.raw.FPDF_PageToDevice(self.page, 0, 0, self.width, self.height, 0, x, y, *map(ctypes.byref, at))
            yield at[0].value, at[1].value


def _box(corners: _Corners, places: list[int]) -> tuple[int, int, int, int]:
    """Left, top, width and height of the box around characters."""
    found = [corner for place in places for corner in corners.of(place)]
    left, top = min(x for x, _ in found), min(y for _, y in found)
    return left, top, max(x for x, _ in found) - left, max(y for _, y in found) - top


def _image_share(page: Any, raw: Any) -> float:
    """Share of the page that its largest image covers."""
    width, height = page.get_size()
    areas = [0.0]
    for image in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]):
        left, bottom, right, top = image.get_bounds()
        areas.append((right - left) * (top - bottom))
    return max(areas) / max(float(width * height), 1.0)

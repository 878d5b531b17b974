"""What a page is once it has been read: its text, and where on it each word stands.

Belongs here: the records and their limits. Does not belong here: how a page is read (`recognition.py`,
`text_layer.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from deid_platform.corpora import Reason

PAGE_BREAK = "\n\n"
"""What stands between two pages in a document's text. A form feed would hide a line's beginning from detection."""


class RefusedPageError(Exception):
    """A page, and with it its document, that is not read; carries the reason and the page's number, from 1, alone."""

    def __init__(self, reason: Reason, page: int = 1) -> None:
        self.reason = reason
        self.page = page
        super().__init__(reason.value, page)


@dataclass(frozen=True)
class Limits:
    """What one document may take. A document over a limit is refused whole.

    Attributes:
        pages: Pages of a document.
        pixels: Pixels of a page, and of an image on it.
        seconds: Time for character recognition on a page.
        confidence: Least mean confidence of a page's words, 0 to 1, weighted by their length. On pages below the
            default, half of the identifiers and more were read as something else (docs/scans.md).
    """

    pages: int = 200
    pixels: int = 80_000_000  # A3 at 600 dots an inch has 70 million
    seconds: float = 120.0
    confidence: float = 0.7


@dataclass(frozen=True, slots=True, repr=False)
class Word:
    """A word's place in the text and on its page.

    Attributes:
        start: First code point in the text.
        end: One past the last.
        left: Left edge in pixels of the page.
        top: Upper edge, from above.
        width: Width in pixels.
        height: Height in pixels.
        confidence: Of its reading, 0 to 1; 1 where a text layer says it.
    """

    start: int
    end: int
    left: int
    top: int
    width: int
    height: int
    confidence: float = 1.0

    def __repr__(self) -> str:
        return "<Word>"


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """One page that was read.

    Attributes:
        width: Of the page in pixels: those of the file's image, or of a PDF's page at 300 dots an inch.
        height: Likewise.
        text: What stands on it, in reading order.
        words: Its words; their places in the text are those of the page, or of the document once it is in one.
        recognised: Whether characters were recognised on an image, rather than taken from a text layer.
    """

    width: int
    height: int
    text: str
    words: tuple[Word, ...]
    recognised: bool

    def __repr__(self) -> str:
        return "<Page>"

    @property
    def confidence(self) -> float:
        """The mean confidence of its words, weighted by their length; 1 for a page without a word."""
        length = sum(word.end - word.start for word in self.words)
        weighed = sum(word.confidence * (word.end - word.start) for word in self.words)
        return weighed / length if length else 1.0


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A file that was read.

    Attributes:
        text: Its pages' texts, joined by `PAGE_BREAK`.
        pages: Its pages; the words' places are those in `text`.
    """

    text: str
    pages: tuple[Page, ...]

    def __repr__(self) -> str:
        return "<Document>"

    @classmethod
    def of(cls, pages: Iterable[Page]) -> Document:
        """The document that pages make in their order."""
        placed: list[Page] = []
        at = 0
        for page in pages:
            at += len(PAGE_BREAK) if placed else 0
            words = tuple(replace(word, start=word.start + at, end=word.end + at) for word in page.words)
            placed.append(replace(page, words=words))
            at += len(page.text)
        return cls(PAGE_BREAK.join(page.text for page in placed), tuple(placed))


@dataclass(frozen=True, slots=True, repr=False)
class Mark:
    """A word on an image, before it has a place in a text.

    Attributes:
        text: The word.
        block: Which block of the page it is in, a column or a part of one: any value that no other block has.
        paragraph: Which paragraph of the block, likewise.
        line: Which line of the paragraph, likewise.
        box: Left, top, width and height in pixels.
        confidence: 0 to 1.
    """

    text: str
    block: object
    paragraph: object
    line: object
    box: tuple[int, int, int, int]
    confidence: float

    def __repr__(self) -> str:
        return "<Mark>"


def laid_out(marks: Sequence[Mark], width: int, height: int) -> Page:
    """The page that words on an image make: a space between words, a new line for each line, a blank one between
    paragraphs.

    Args:
        marks: In the order in which recognition gives them.
        width: Of the image in pixels.
        height: Likewise.
    """
    parts: list[str] = []
    words: list[Word] = []
    at = 0
    marks = in_reading_order(marks)
    for before, mark in zip([None, *marks], marks, strict=False):
        if before is not None:
            same = (before.block, before.paragraph) == (mark.block, mark.paragraph)
            gap = "\n\n" if not same else " " if before.line == mark.line else "\n"
            parts.append(gap)
            at += len(gap)
        parts.append(mark.text)
        words.append(Word(at, at + len(mark.text), *mark.box, mark.confidence))
        at += len(mark.text)
    return Page(width, height, "".join(parts), tuple(words), recognised=True)


def in_reading_order(marks: Sequence[Mark]) -> list[Mark]:
    """Words with their blocks from top to bottom, column by column.

    Recognition may give a line behind a paragraph that stands below it. So a block goes before the first one that is
    below it in the same column: one that shares half the width of the narrower of the two. On a page that lies on its
    side or stands on its head, above is not before, and blocks stay as they are.
    """
    blocks: dict[object, list[Mark]] = {}
    for mark in marks:
        blocks.setdefault(mark.block, []).append(mark)
    if not _upright(marks):
        return [mark for block in blocks.values() for mark in block]
    ordered: list[tuple[_Bounds, list[Mark]]] = []
    for block in blocks.values():
        bounds = _Bounds.of(block)
        below = (at for at, (other, _) in enumerate(ordered) if bounds.above(other))
        ordered.insert(next(below, len(ordered)), (bounds, block))
    return [mark for _, block in ordered for mark in block]


def _upright(marks: Sequence[Mark]) -> bool:
    """Whether lines go from left to right."""
    lines = [
        (before.box[0], mark.box[0])
        for before, mark in pairwise(marks)
        if (before.block, before.paragraph, before.line) == (mark.block, mark.paragraph, mark.line)
    ]
    return 2 * sum(left < right for left, right in lines) > len(lines)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The box around a block, in pixels."""

    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def of(cls, marks: Iterable[Mark]) -> _Bounds:
        lefts, tops, widths, heights = zip(*(mark.box for mark in marks), strict=True)
        rights = (left + width for left, width in zip(lefts, widths, strict=True))
        return cls(min(lefts), min(tops), max(rights), max(map(sum, zip(tops, heights, strict=True))))

    def above(self, other: _Bounds) -> bool:
        """Whether it ends above where the other begins, in the same column."""
        shared = min(self.right, other.right) - max(self.left, other.left)
        narrower = min(self.right - self.left, other.right - other.left)
        return self.bottom <= other.top and 2 * shared >= narrower > 0

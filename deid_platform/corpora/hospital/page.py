"""The page on which a note is set.

Belongs here: text under way and the places of what is planted in it. Does not belong here: what to write
(`compose`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from deid_platform.corpora.hospital.spec import Document, Shape, Style
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

GOLD_SOURCE = "planted"


class _Copied(NamedTuple):
    """A stretch of the page: its bounds in code points, and those of its gold and clinical terms in their lists."""

    text: tuple[int, int]
    gold: tuple[int, int]
    clinical: tuple[int, int]


class Page:
    """Text under way, with the spans planted in it.

    Args:
        newline: What a line break is written as.
        width: Where a longer line is broken, in code points; only with "\n", which takes the place of a space.
    """

    def __init__(self, newline: str = "\n", width: int | None = None) -> None:
        self._newline = newline
        self._width = width if newline == "\n" else None
        self._parts: list[str] = []
        # What stands between the text so far and the next, if a next comes.
        self.gap = ""
        self._term: int | None = None
        self.length = 0
        self._gold: list[Span] = []
        self._shapes: list[Shape | None] = []
        self._ways: list[str | None] = []
        self._clinical: list[tuple[int, int]] = []
        self._begun = (0, 0, 0)
        self._copied: _Copied | None = None

    def put(self, text: str, label: Label | None = None, shape: Shape | None = None, way: str | None = None) -> None:
        """Write; with a label, plant. Spaces at the end of plain text wait: nothing may come after them."""
        if not text:
            return
        if label is not None:
            self._settle()
            start = self.length
            self._raw(text)
            self._gold.append(Span(start, self.length, label, 1.0, GOLD_SOURCE))
            self._shapes.append(shape)
            self._ways.append(way)
            return
        body = text.rstrip(" ")
        if body:
            if self.gap:
                body = body.lstrip(" ")
            self._settle()
            self._raw(body)
        if len(body) < len(text) and not self.gap:
            self.gap = text[len(text.rstrip(" ")) :]

    @property
    def last(self) -> str:
        """The last character so far; empty on an empty page."""
        return self._parts[-1][-1:] if self._parts else ""

    def term(self, *, begins: bool) -> None:
        """Begin or end a clinical term."""
        if begins:
            self._settle()
            self._term = self.length
        elif self._term is not None:
            if self.length > self._term:
                self._clinical.append((self._term, self.length))
            self._term = None

    def copy(self, sign: str) -> None:
        """Begin (`<`) or end (`>`) what is to be copied, or write it again (`<>`), with all that is planted in it."""
        if sign == "<":
            self._settle()
            self._begun = (self.length, len(self._gold), len(self._clinical))
        elif sign == ">":
            (start, gold, clinical), end = self._begun, self.length
            self._copied = _Copied((start, end), (gold, len(self._gold)), (clinical, len(self._clinical)))
        elif self._copied is not None and self._copied.text[0] < self._copied.text[1]:
            self._settle()
            text, gold_, terms = self._copied
            by = self.length - text[0]
            for number in range(*gold_):
                span = self._gold[number]
                self._gold.append(replace(span, start=span.start + by, end=span.end + by))
                self._shapes.append(self._shapes[number])
                self._ways.append(self._ways[number])
            self._clinical.extend((start + by, end + by) for start, end in self._clinical[slice(*terms)])
            again = "".join(self._parts)[slice(*text)]
            self._parts.append(again)
            self.length += len(again)

    def _settle(self) -> None:
        gap, self.gap = self.gap, ""
        if self.length:
            self._raw(gap)
        elif gap.strip():
            self._raw(gap.lstrip("\n"))

    def _raw(self, text: str) -> None:
        if "\n" in text:
            text = text.replace("\n", self._newline)
        self._parts.append(text)
        self.length += len(text)

    def document(self, note: Note, style: Style = Style.TEMPLATED) -> Document:
        """The finished note: `note` with this page's text, and what was planted."""
        text = "".join(self._parts)
        if self._width is not None:
            text = "\n".join(_broken(line, self._width) for line in text.split("\n"))
        return Document(
            note=replace(note, text=text),
            gold=tuple(self._gold),
            clinical=tuple(self._clinical),
            shapes=tuple(self._shapes),
            ways=tuple(self._ways),
            style=style,
        )


def _broken(line: str, width: int) -> str:
    """The line with a break in place of the last single space before each `width`; no place in it moves."""
    at = 0
    while len(line) - at > width:
        space = line.rfind(" ", at + 1, at + width + 1)
        if space < 0 or " " in (line[space - 1], line[space + 1 : space + 2]):
            return line
        line = line[:space] + "\n" + line[space + 1 :]
        at = space + 1
    return line

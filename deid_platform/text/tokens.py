"""A note as one line of whole words: the form in which names and terms of the topics are looked up.

Belongs here: that line, and the way back to the note's offsets. Does not belong here: what any of the words means.

In the line every word stands between two single spaces, so that " ng " is a whole word and never a part of
one; hyphens, apostrophes, dots and line breaks part words as spaces do: "Smith-Jones", "Smith Jones" and
"SMITH,\\nJONES" are the same two words.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from deid_platform.text.fold import fold
from deid_platform.text.offsets import Rewritten, trim, without

_CHUNK = 1 << 20  # code points split into words at once, so that a huge note costs no huge list
_BLANK = {point: " " for point in range(128) if not chr(point).isalnum()}
_NO_WORD = regex.compile(r"[^\p{L}\p{M}\p{N}]")
_RUN = regex.compile(r" {2,}")
# Between two words of one name: "Lopez, Maria", "Smith-Jones", "john.smith", or a line break.
_INSIDE_A_NAME = regex.compile(r"[._^]|[ \t]*[,'’\-–—/]?[ \t]*(?:\r?\n[ \t]*)?")
# After the full stop of a sentence stand two spaces, after that of an initial one.
AFTER_INITIAL = regex.compile(r"[ \t\-]*(?:\r?\n[ \t]*)?|\.[ \t]?\-?(?:\r?\n[ \t]*)?")


class Words:
    """The line of words of one note. Its `repr` shows nothing of the note.

    Attributes:
        text: The line, with a space at both ends.
        note: The note's text as it was written.
    """

    def __init__(self, text: str, folded: Rewritten) -> None:
        spaced = f" {blanked(folded.text)} "
        line = without(spaced, ((run.start() + 1, run.end()) for run in _RUN.finditer(spaced)))
        self.text = line.text
        self.note = text
        self._to_folded = line.origin
        self._to_note = folded.origin

    def __repr__(self) -> str:
        return "<Words>"

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where words of the line stand in the note: (start, end), end exclusive."""
        first, last = self._to_note(self._to_folded(start) - 1), self._to_note(self._to_folded(end) - 1)
        return trim(self.note, first, last) or (first, max(last, first + 1))

    def surface(self, start: int, end: int) -> str:
        """Words of the line as the note writes them."""
        first, last = self.place(start, end)
        return self.note[first:last]

    def gap(self, end: int, start: int) -> str:
        """What the note writes between a word that ends and a later word that starts there."""
        return self.note[self.place(end - 1, end)[1] : self.place(start, start + 1)[0]]

    def joins(self, end: int, start: int) -> bool:
        """Whether what the note writes between two neighbouring words of the line may stand inside one name."""
        gap = self.gap(end, start)
        if _INSIDE_A_NAME.fullmatch(gap):
            return True
        initial = self.text[end - 2] == " "
        return initial and AFTER_INITIAL.fullmatch(gap) is not None

    def before(self, start: int) -> int:
        """Where the word before a word of the line starts; `start - 1` is its end."""
        return self.text.rfind(" ", 0, start - 1) + 1 if start > 1 else start

    def after(self, end: int) -> int:
        """Where the word after a word of the line ends; `end + 1` is its start."""
        following = self.text.find(" ", end + 1)
        return following if following >= 0 else end

    def each(self) -> Iterator[set[str]]:
        """The words of the line, a bounded stretch of it at a time."""
        start = 0
        while start < len(self.text):
            stop = self.text.find(" ", start + _CHUNK)
            yield set(self.text[start : stop if stop >= 0 else None].split())
            start = stop if stop >= 0 else len(self.text)


def line_of(term: str) -> str:
    """A term in the form of the line, without spaces around it."""
    if term.isascii() and term.isalnum():
        return term.lower()
    return " ".join(blanked(fold(term).text).split())


def blanked(folded: str) -> str:
    """A folded text with a space for all that is no letter and no digit."""
    return folded.translate(_BLANK) if folded.isascii() else _NO_WORD.sub(" ", folded)

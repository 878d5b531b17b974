"""One note made ready for detection: its text, its folded text and its numbers, each computed once.

Belongs here: what several components need of a text before they look for anything. Does not belong
here: rules about what is an identifier.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache

import regex

from deid_platform.detection.spans import trim
from deid_platform.notes import Note

# A run of digit groups such as a phone number in any writing; separators are short, so that a column of
# lab values on several lines is not one chain.
_CHAIN = regex.compile(r"\d+(?:[ \t().\-–/]{1,3}\d+)*")
_GROUP = regex.compile(r"\d+")
# Deleted by folding: the rest of a run of spaces, combining accents, soft hyphens and zero-width characters.
_DROPPED = regex.compile(r"(?<= ) +|[\u0300-\u036f\u00ad\u200b-\u200d\u2060\ufeff]+")
_MAX_GROUPS = 6
_WHITE_SPACE = {ord(c): " " for c in "\t\n\v\f\r"}


@lru_cache(maxsize=1)
def _fold_table() -> dict[int, str]:
    """Code point to one folded character: lower case, no Latin accent, plain quotes, dashes and spaces."""
    table = dict(_WHITE_SPACE)
    for point in (*range(0x41, 0x5B), *range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        base = unicodedata.normalize("NFKD", chr(point))[0].lower()
        if len(base) == 1:
            table[point] = base
    table |= {ord(a): b for a, b in zip("ØøŁłĐđÞþıİ", "oollddttii", strict=True)}
    table |= dict.fromkeys(map(ord, "‘’ʼ´"), "'")
    table |= dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
    table |= dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000\u2028\u2029\u0085"), " ")
    # A lone surrogate cannot be encoded, and the automaton takes UTF-8.
    table |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
    return table


def _lower(text: str) -> str:
    """Lower case of the same length: "İ".lower() has two code points, and a few others grow as well."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)


@dataclass(frozen=True, slots=True, repr=False)
class Folded:
    """A text in the form in which terms are compared, and the way back to its offsets.

    Attributes:
        text: Lower case, Latin accents removed, every run of white space one space.
        cuts: Folded positions at which something was deleted before.
        shifts: How many code points were deleted up to each cut; one longer than `cuts`.
    """

    text: str
    cuts: tuple[int, ...] = ()
    shifts: tuple[int, ...] = (0,)

    def origin(self, position: int) -> int:
        """The offset in the original text of a folded offset."""
        return position + self.shifts[bisect_right(self.cuts, position)] if self.cuts else position

    def __repr__(self) -> str:
        return "<Folded>"


def fold(text: str) -> Folded:
    """Folds a text for comparison: case, Latin accents, quotes, dashes and white space do not count."""
    plain = text.lower().translate(_WHITE_SPACE) if text.isascii() else _lower(text.translate(_fold_table()))
    cuts: list[int] = []
    shifts = [0]
    kept: list[str] = []
    last = 0
    for match in _DROPPED.finditer(plain):
        start, end = match.span()
        kept.append(plain[last:start])
        cuts.append(start - shifts[-1])
        shifts.append(shifts[-1] + end - start)
        last = end
    if not cuts:
        return Folded(plain)
    kept.append(plain[last:])
    return Folded("".join(kept), tuple(cuts), tuple(shifts))


@lru_cache(maxsize=65536)
def fold_term(term: str) -> str:
    """A dictionary's term in the same form as a folded text, without space around it."""
    return fold(term).text.strip()


class Reading:
    """A note under detection. Its `repr` shows nothing of the note."""

    def __init__(self, note: Note) -> None:
        self.note = note
        self.text = note.text
        self._holds: dict[str, bool] = {}

    def __repr__(self) -> str:
        return "<Reading>"

    @cached_property
    def folded(self) -> Folded:
        """The folded text."""
        return fold(self.text)

    @cached_property
    def numbers(self) -> tuple[tuple[int, int, str], ...]:
        """Every number of 4 to 15 digits, alone or across separators: (start, end, digits).

        "(617) 555-0123" yields "617", "617555", "6175550123" and so on as far as they have four digits, so
        that a known number is found in whatever way it is written.
        """
        found: list[tuple[int, int, str]] = []
        for chain in _CHAIN.finditer(self.text):
            if chain.end() - chain.start() < 4:
                continue
            groups = [g.span() for g in _GROUP.finditer(self.text, chain.start(), chain.end())]
            for i, (start, _) in enumerate(groups):
                digits = ""
                for group_start, end in groups[i : i + _MAX_GROUPS]:
                    digits += self.text[group_start:end]
                    if len(digits) > 15:
                        break
                    if len(digits) >= 4:
                        # The bracket of an area code belongs to the number.
                        opened = start and self.text[start - 1] == "(" and ")" in self.text[start:end]
                        found.append((start - 1 if opened else start, end, digits))
        return tuple(found)

    def holds(self, pattern: str) -> bool:
        """Whether a cheap pattern occurs in the text; searched once a note."""
        known = self._holds.get(pattern)
        if known is None:
            known = self._holds[pattern] = regex.search(pattern, self.text) is not None
        return known

    def interval(self, start: int, end: int) -> tuple[int, int] | None:
        """The original interval, without white space at its ends, of a folded one."""
        return trim(self.text, self.folded.origin(start), self.folded.origin(end))


def bounded(text: str, start: int, end: int) -> bool:
    """Whether an interval of a text does not begin or end inside a word or a number."""
    if start and text[start - 1].isalnum() and text[start].isalnum():
        return False
    return not (end < len(text) and text[end].isalnum() and text[end - 1].isalnum())

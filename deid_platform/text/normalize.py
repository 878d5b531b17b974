"""One text made ready for searching: folded, and its numbers, each computed once.

Belongs here: what several detectors need of a text before they look for anything. Does not belong
here: rules about what is an identifier.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property, lru_cache

import regex

from deid_platform.text.deobfuscate import INVISIBLE, Rewritten, has_controls, latinised, without
from deid_platform.text.offsets import trim

# A run of digit groups such as a phone number in any writing; separators are short, so that a column of
# lab values on several lines is not one chain.
_CHAIN = regex.compile(r"\d+(?:[ \t().\-–/]{1,3}\d+)*")
_GROUP = regex.compile(r"\d+")
# The end of a line between two digits, with what a number broken there shows: "617-555-⏎0142", "(617)⏎555-0142".
_BREAK = regex.compile(r"(?<=\d((?:[ \t]?[-–]|[.)/])?)([ \t]{0,8}\r?))\n[ \t]{0,8}([(\-–]?)(?=\d)")
_LONE_RETURN = regex.compile(r"\r(?!\n)")
# Deleted by folding: the rest of a run of spaces, combining accents, soft hyphens and invisible characters.
_DROPPED = regex.compile(rf"(?<= ) +|[\u0300-\u036f\u00ad{INVISIBLE}]+")
_MAX_GROUPS = 6
_MAX_DIGITS = 15
# How the groups of a number are long that a line may end in without a hyphen: telephone, SSN, payment card.
_GROUPINGS = frozenset({(3, 3, 4), (1, 3, 3, 4), (3, 2, 4), (4, 4, 4, 4), (4, 6, 5)})
_LEAST_BROKEN = 6  # digits of a number that is looked for across the end of a line
_LONGEST_GROUPED = 40  # code points of it on either line
_SPACES = regex.compile("  +")
_WHITE_SPACE = "\t\n\v\f\r"


@lru_cache(maxsize=1)
def _fold_table() -> dict[int, str]:
    """Code point to one folded character: lower case, no Latin accent, plain quotes, dashes and spaces."""
    table = dict.fromkeys(map(ord, _WHITE_SPACE), " ")
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


def fold(text: str) -> Rewritten:
    """Folds a text for comparison: case, Latin accents, quotes, dashes, disguises and white space do not count."""
    if not text.isascii() or has_controls(text):
        shown = _lower(latinised(text).translate(_fold_table()))
        return without(shown, (match.span() for match in _DROPPED.finditer(shown)))
    shown = text.lower()
    for white in _WHITE_SPACE:  # faster than a translation, by far
        shown = shown.replace(white, " ")
    return without(shown, ((m.start() + 1, m.end()) for m in _SPACES.finditer(shown)))


@lru_cache(maxsize=65536)
def fold_term(term: str) -> str:
    """A dictionary's term in the same form as a folded text, without space around it."""
    return fold(term).text.strip()


class NormalizedText:
    """A text with the forms in which it is searched. Its `repr` shows nothing of it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return "<Reading>"

    @cached_property
    def folded(self) -> Rewritten:
        """The folded text."""
        return fold(self.text)

    @cached_property
    def chains(self) -> tuple[tuple[int, int], ...]:
        """Every run of digit groups with short separators between them, on one line."""
        return tuple(chain.span() for chain in _CHAIN.finditer(self.text))

    @cached_property
    def numbers(self) -> tuple[tuple[int, int, str], ...]:
        """Every number of 4 to 15 digits, alone or across separators: (start, end, digits).

        "(617) 555-0123" yields "617", "617555", "6175550123" and so on as far as they have four digits, so
        that a known number is found in whatever way it is written, digit by digit and over the end of a line too.
        """
        found: list[tuple[int, int, str]] = []
        for first, last in self.chains:
            if last - first < 4:
                continue
            groups = [g.span() for g in _GROUP.finditer(self.text, first, last)]
            for i, (start, _) in enumerate(groups):
                digits = ""
                for count, (group_start, end) in enumerate(groups[i : i + _MAX_DIGITS], 1):
                    digits += self.text[group_start:end]
                    # Many groups are one number only if each is a single digit.
                    if len(digits) > _MAX_DIGITS or (count > _MAX_GROUPS and len(digits) > count):
                        break
                    if len(digits) >= 4:
                        found.append((self._opening(start, end), end, digits))
        for stop, start, marked in self.breaks:
            found.extend(self._across(stop, start, marked=marked))
        return tuple(found)

    @cached_property
    def breaks(self) -> tuple[tuple[int, int, bool], ...]:
        """Every end of a line between two digits: what stands between them, and whether a hyphen or the like does."""
        text = _LONE_RETURN.sub("\n", self.text) if "\r" in self.text else self.text
        return tuple((m.start() - len(m[1]) - len(m[2]), m.end(), bool(m[1] or m[3])) for m in _BREAK.finditer(text))

    def _across(self, stop: int, start: int, *, marked: bool) -> Iterator[tuple[int, int, str]]:
        """The numbers that begin before the end of a line and go on after it."""
        text = self.text
        i = bisect_left(self.chains, (stop, 0)) - 1
        first, last = self.chains[i][0], self.chains[i + 1][1]
        before = [g.span() for g in _GROUP.finditer(text, max(first, stop - _LONGEST_GROUPED), stop)][-_MAX_GROUPS:]
        after = [g.span() for g in _GROUP.finditer(text, start, min(last, start + _LONGEST_GROUPED))][:_MAX_GROUPS]
        for k in range(len(before)):
            for j in range(1, len(after) + 1):
                groups = [text[a:b] for a, b in (*before[k:], *after[:j])]
                digits = "".join(groups)
                if _LEAST_BROKEN <= len(digits) <= _MAX_DIGITS and (marked or tuple(map(len, groups)) in _GROUPINGS):
                    begin, end = before[k][0], after[j - 1][1]
                    yield self._opening(begin, end), end, digits

    def _opening(self, start: int, end: int) -> int:
        """Where a number starts: with the bracket of its area code."""
        return start - 1 if start and self.text[start - 1] == "(" and ")" in self.text[start:end] else start

    def interval(self, start: int, end: int) -> tuple[int, int] | None:
        """The original interval, without white space at its ends, of a folded one."""
        return trim(self.text, self.folded.origin(start), self.folded.origin(end))


def bounded(text: str, start: int, end: int) -> bool:
    """Whether an interval of a text does not begin or end inside a word or a number."""
    if start and text[start - 1].isalnum() and text[start].isalnum():
        return False
    return not (end < len(text) and text[end].isalnum() and text[end - 1].isalnum())

"""One text made ready for searching: folded, and its numbers, each computed once.

Belongs here: what several detectors need of a text before they look for anything. Does not belong
here: rules about what is an identifier.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

import regex

from deid_platform.text.fold import fold
from deid_platform.text.offsets import Rewritten, trim
from deid_platform.text.tokens import Words

# A run of digit groups such as a phone number in any writing; separators are short, so that a column of
# lab values on several lines is not one chain.
_CHAIN = regex.compile(r"\d+(?:[ \t().\-–/]{1,3}\d+)*")
_GROUP = regex.compile(r"\d+")
# The end of a line between two digits, with what a number broken there shows: "617-555-⏎0142", "(617)⏎555-0142".
_BREAK = regex.compile(r"(?<=\d((?:[ \t]?[-–]|[.)/])?)([ \t]{0,8}\r?))\n[ \t]{0,8}([(\-–]?)(?=\d)")
_LONE_RETURN = regex.compile(r"\r(?!\n)")
_MAX_GROUPS = 6
_MAX_DIGITS = 15
# How the groups of a number are long that a line may end in without a hyphen: telephone, SSN, payment card.
_GROUPINGS = frozenset({(3, 3, 4), (1, 3, 3, 4), (3, 2, 4), (4, 4, 4, 4), (4, 6, 5)})
_LEAST_BROKEN = 6  # digits of a number that is looked for across the end of a line
_LONGEST_GROUPED = 40  # code points of it on either line


class NormalizedText:
    """A text with the forms in which it is searched. Its `repr` shows nothing of it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    @cached_property
    def folded(self) -> Rewritten:
        """The folded text."""
        return fold(self.text)

    @cached_property
    def words(self) -> Words:
        """The text as one line of words."""
        return Words(self.text, self.folded)

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

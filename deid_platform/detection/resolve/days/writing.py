"""How a note writes its days: the day or the month first, in which months, and whether "3/7" is three days.

Belongs here: what the whole note shows. Does not belong here: what stands around one pair of numbers (`claims.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from deid_platform.detection.api import Candidate, Evidence
from deid_platform.detection.resolve.days.claims import (
    ADDED_FROM,
    CLAIMED,
    UNREAD,
    Verdict,
    is_claimed,
    is_duration,
    weight,
)
from deid_platform.detection.rules.en.dates import is_day
from deid_platform.labels import Label
from deid_platform.lexicon.month_names import months_of

_FULL = regex.compile(r"(?<!\d)(\d{1,2})[/.\-](\d{1,2})[/.\-]((?:19|20)?\d\d)(?!\d)")
_YEAR_FIRST = regex.compile(r"(?<!\d)(?:19|20)\d\d[\-/]?(\d\d)[\-/]?(\d\d)(?!\d)")
_PAIR = regex.compile(r"(?<![\w./\-])(\d{1,2})/(\d{1,2})(?![\w/.\-])")
_OF_TIME = regex.compile(r"(?<!\p{L})(?:h|ore?|hora|at|um|[àa])\.?[ ]\Z", regex.IGNORECASE)
_DIGITS = regex.compile(r"\d+")
_TIMES = regex.compile(r"(?<![\d.])(?:[01]?\d|2[0-3])\.[345]\d(?![\d.%])")
_AT_LINES = regex.compile(
    r"(?m)^(?:0?[1-9]|[12]\d|3[01])\.(?:0[1-9]|1[0-2])[ \t]+(?:\p{L}|[012]?\d[h:]).*(?:\n.*){1,40}^(?:0?[1-9]"
    r"|[12]\d|3[01])\.(?:0[1-9]|1[0-2])[ \t]"
)
_WEEKS = regex.compile(r"(?<![\d/])\d{1,2}/52\b")
_DAYS = regex.compile(r"(?<![\d/])[2-57]/7\b")
_WORD = regex.compile(r"\p{L}{3,}")
_CENTURY = range(10, 40)  # short years that notes of today have
_BEFORE, _AFTER = 6, 3  # years around the note's own


@dataclass(frozen=True)
class Writing:
    """How a note writes its days.

    Attributes:
        day_first: Whether the day stands first; None if the note does not show it.
        months: Those of its days.
        years: Its years, in two digits.
        signs: What it puts between day and month: a stroke, and a full stop or a hyphen if it writes whole dates with
            it and no times of day.
        ordinals: Whether day and month end in a full stop, as German writes them ("9.5."), with commas in decimals.
        durations: Whether it writes "3/7" for three days and "2/52" for two weeks.
    """

    day_first: bool | None
    months: frozenset[int]
    years: frozenset[int]
    signs: frozenset[str]
    ordinals: bool
    durations: bool

    @classmethod
    def of(cls, text: str, language: str, candidates: Sequence[Candidate]) -> Writing:
        """What a note shows, with the days that rules found in it."""
        full = [(int(m[1]), int(m[2]), int(m[3][-2:])) for m in _FULL.finditer(text)]
        first = _day_first([(a, b) for a, b, _ in full]) if language == "en" else True
        founded = [c for c in candidates if c.label is Label.DATE and c.evidence is not Evidence.PREDICTED]
        months = {month for a, b, _ in full for month in _months(a, b, first)}
        months |= {int(m[1]) for m in _YEAR_FIRST.finditer(text) if is_day(int(m[1]), int(m[2]))}
        for candidate in founded:
            months |= set(_months_told(text[candidate.start : candidate.end], first))
        signs = {"/", *(sign for sign in ".-" if first and _writes_with(text, sign))}
        durations = bool(_WEEKS.search(text)) or len(_DAYS.findall(text)) > 1
        years = frozenset(y for *_, y in full if y in _CENTURY)
        ordinals = language[:2] == "de"
        signs |= {"."} if ordinals else set()
        return cls(first, frozenset(months), years, frozenset(signs), ordinals, durations)

    def verdict(self, text: str, start: int, end: int) -> Verdict:
        """How surely two numbers are a month and a day, or a month and a year; below 0 if they are not."""
        a, b = (int(number) for number in _DIGITS.findall(text, start, end))
        sign = next(sign for sign in "/.-" if sign in text[start:end])
        if self.durations and self.day_first is not False and is_duration(text, start, a, b):
            return CLAIMED
        if sign == "/" and is_claimed(text, start, end, a, b):
            return CLAIMED
        read = list(_months(a, b, self.day_first))
        if sign not in self.signs or (not read and not self._is_month_of_year(a, b)):
            return UNREAD
        if is_claimed(text, start, end, a, b):
            return CLAIMED
        near = not read or any((month - known) % 12 in (0, 1, 11) for month in read for known in self.months)
        surely = weight(text, start, end, a, b) + 2 * near
        if sign == "/":
            return surely if self.months else min(surely + 1, ADDED_FROM - 1)
        if sign == "." and self.ordinals and text[end : end + 1] == ".":
            return max(surely, ADDED_FROM)
        if not near or (sign == "." and (text[end - 2] == "." or _OF_TIME.search(text, max(0, start - 8), start))):
            return UNREAD
        return surely if sign == "." else min(surely, ADDED_FROM - 1)

    def _is_month_of_year(self, month: int, year: int) -> bool:
        """Whether a note that writes the day first means a month and a short year: "05/25"."""
        if not self.day_first or not self.years or not 1 <= month <= 12 or year <= 12:
            return False
        return min(self.years) - _BEFORE <= year <= max(self.years) + _AFTER


def _writes_with(text: str, sign: str) -> bool:
    """Whether a note writes whole dates with a sign, and no times of day."""
    whole = any(sign in match[0] for match in _FULL.finditer(text)) or (sign == "." and _AT_LINES.search(text))
    return bool(whole) and not (sign == "." and len(_TIMES.findall(text)) > 1)


def _day_first(full: Sequence[tuple[int, int]]) -> bool | None:
    days = sum(a > 12 >= b for a, b in full) - sum(b > 12 >= a for a, b in full)
    return None if days == 0 else days > 0


def _months(a: int, b: int, day_first: bool | None) -> Iterator[int]:
    """The months that two numbers may name."""
    if day_first is not False and is_day(b, a):
        yield b
    if day_first is not True and is_day(a, b):
        yield a


def _months_told(surface: str, day_first: bool | None) -> Iterator[int]:
    for word in _WORD.findall(surface):
        yield from months_of(word)
    for match in _PAIR.finditer(surface):
        a, b = int(match[1]), int(match[2])
        if max(a, b) > 12:
            yield from _months(a, b, day_first)

"""Years that tell that somebody is over 89: in a tag, or in a date that was moved, which moves them by little.

Belongs here: the years that a date may tell, however it is written. Does not belong here: ages in words and numbers
(`shapes.py`), or the patient's date of birth where it was left (`births.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import date

from deid_platform.leakcheck.births import birth_date_left
from deid_platform.leakcheck.columns import OLDEST_SHOWN_AGE
from deid_platform.leakcheck.comparable import ComparableText, fold
from deid_platform.text import readable

_RUN = re.compile(r"[0-9]+")
_OLDEST = 125
_YEARS_AHEAD = 5
_CUE_REACH = 40
_CUE = re.compile(
    r"(?:(?<![a-z])(?:d\.?\s?o\.?\s?b|born|nat[oa]|nascita|nacid[oa]|nacimiento|nee?|naissance|geb[a-z]{0,12})"
    r"|birth[a-z_ -]{0,8})"
    r"[^a-z0-9]{0,8}(?:(?:on|in|il|el|le|am|value)[^a-z0-9]{1,4})?\Z"
)

# Of "12-28-31" the last is a year: days are joined otherwise than the month is to them.
_TWO_DAYS = re.compile(
    r"(?<![0-9])(?<![0-9]-)(?<![0-9][-–] )(?P<one>[0-9]{1,2})(?:st|nd|rd|th|\.)?"
    r"(?: ?[-–—&] ?| (?:to|through|thru|until|till|and|al|a|au|et|e|y|bis|und) )(?:the |el |il |le )?"
    r"(?P<two>[0-9]{2})(?:st|nd|rd|th|\.)?(?![0-9]|[-–/.][0-9])"
)


def tag_tells(year: int, written: date, births: Collection[date]) -> bool:
    """Whether a year in a tag tells that somebody is over 89, or that the patient was over 89 by then."""
    return _old(year, written) or any(year - born.year > OLDEST_SHOWN_AGE for born in births)


def date_tells(text: str, start: int, end: int, written: date, births: Collection[date]) -> bool:
    """Whether a date of the original tells that somebody is over 89.

    Args:
        text: The original.
        start: Where the date begins in it.
        end: Where it ends.
        written: When the note was written.
        births: Dates of birth of the note's patient.
    """
    shown = ComparableText(readable(text[start:end]).text)
    runs = _RUN.findall(shown.folded)
    told = [born for born in births if birth_date_left(born, shown) or _are(runs, born)]
    if any(_old(born.year, written) for born in told):
        return True
    born_then = _CUE.search(fold(readable(text[max(0, start - _CUE_REACH) : start]).text)) is not None
    if any(_old(year, written) for run in runs for year in _long_years(run, born_then=born_then)):
        return True
    if told or any(len(run) == 4 for run in runs):
        return False
    shorts = _short_years(runs, shown.folded, born_then=born_then)
    return any(_short_tells(int(short), written, born_then=born_then) for short in shorts)


def _are(runs: list[str], born: date) -> bool:
    """Whether three numbers are a date of birth with two digits of its year, in whatever order."""
    pairs = [runs[0][:2], runs[0][2:4], runs[0][4:]] if [len(run) for run in runs] == [6] else runs
    return sorted(map(int, pairs)) == sorted((born.year % 100, born.month, born.day))


def _old(year: int, written: date) -> bool:
    return written.year - year > OLDEST_SHOWN_AGE


def _long_years(run: str, *, born_then: bool) -> Iterator[int]:
    """The years of four digits in a run of digits: alone, or where the rest is a day, a month or a time."""
    if len(run) == 4:
        orders: tuple[tuple[int, str, str], ...] = ((0, "01", "01"),)
    elif len(run) == 6:
        # "190312" is the 19th of March or a day of 2019, unless somebody was born then.
        orders = ((0, run[4:], "01"),) if born_then or not 1 <= int(run[2:4]) <= 12 else ()
    elif len(run) == 7:
        orders = ((0, "01", "01"),) if 1 <= int(run[4:]) <= 366 else ()
    else:
        orders = ((0, run[4:6], run[6:8]), (4, run[2:4], run[:2]), (4, run[:2], run[2:4]))
    for place, month, day in orders:
        year = run[place : place + 4]
        with suppress(ValueError):  # no such day
            date(2000, int(month), int(day))
            if year[:2] in ("18", "19", "20"):
                yield int(year)


def _short_years(runs: list[str], folded: str, *, born_then: bool) -> Iterator[str]:
    """The two digits of a date that may be its year: the last number, or either end of six digits."""
    for run in runs:
        one, two, three = run[:2], run[2:4], run[4:]
        if len(run) != 6:
            continue
        last = _is_day(one, two) or _is_day(two, one)
        if last:
            yield three
        if _is_day(two, three) and (born_then or not last):
            yield one
    parted = len(runs) == 3 or (len(runs) == 2 and re.search("[a-z]{3}", folded) is not None)
    if parted and len(runs[-1]) == 2 and (born_then or not _two_days(folded)):
        yield runs[-1]


def _two_days(folded: str) -> bool:
    """Whether the last two numbers are days of one month: "March 28-31", "12/28-31", "dal 28 al 31 dicembre"."""
    match = _TWO_DAYS.search(folded)
    return match is not None and 0 < int(match["one"]) < int(match["two"]) <= 31


def _is_day(month: str, day: str) -> bool:
    return 1 <= int(month) <= 12 and 1 <= int(day) <= 31


def _short_tells(short: int, written: date, *, born_then: bool) -> bool:
    """Whether two digits are a year of the last century: by what stands before, or since they lie ahead of the note."""
    year = 1900 + short
    ahead = 2000 + short > written.year + (0 if born_then else _YEARS_AHEAD)
    return _old(year, written) and written.year - year <= _OLDEST and (born_then or ahead)

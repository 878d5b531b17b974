"""Whether all full dates of a note were moved by one number of days.

Belongs here: reading them before and after, in every order that the whole note allows. Does not belong here: true dates
that were left (`shifts.py`).

A day and a month that were taken for each other make intervals false: who knows a true one, "reviewed on day 8", learns
what was confused, and from that the shift.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

_ISO = re.compile(r"((?:19|20)[0-9]{2})-([0-9]{2})-([0-9]{2})")
_NUMBERS = re.compile(r"([0-9]{1,2})([/.-])([0-9]{1,2})\2((?:19|20)[0-9]{2})")
_SHORT_YEAR = re.compile(r"([0-9]{1,2}([/.-])[0-9]{1,2}\2)([0-9]{2})")
_DAY_FIRST, _MONTH_FIRST = True, False
Pair = tuple[str, str]


def confused(replaced: Iterable[Pair]) -> bool:
    """Whether no one number of days leads from a note's full dates to what stands in their places.

    Args:
        replaced: Dates as they were written and as they were moved; others are passed over.
    """
    certain: set[int] = set()
    numbers: dict[bool, list[Pair]] = {True: [], False: []}
    for old, new in replaced:
        if _ISO.fullmatch(old) and _ISO.fullmatch(new):
            moved = _between(_iso(old), _iso(new))
            certain |= set() if moved is None else {moved}
        elif (form := _NUMBERS.fullmatch(old)) and _NUMBERS.fullmatch(new):
            numbers[form[2] == "."].append((old, new))
    if len(certain) > 1:
        return True
    return any(_no_order(pairs, certain) for pairs in numbers.values() if pairs)


def full_days(written: Iterable[str]) -> frozenset[date]:
    """The days that full dates in numbers name, in either order."""
    days: set[date | None] = set()
    for surface in written:
        text = _SHORT_YEAR.sub(r"\g<1>20\3", surface) if _SHORT_YEAR.fullmatch(surface) else surface
        if _ISO.fullmatch(text):
            days.add(_iso(text))
        elif _NUMBERS.fullmatch(text):
            days |= {_read(text, order) for order in (_DAY_FIRST, _MONTH_FIRST)}
    return frozenset(day for day in days if day is not None)


def _no_order(pairs: list[Pair], certain: set[int]) -> bool:
    possible = []
    for order in (_DAY_FIRST, _MONTH_FIRST):
        moved = {_between(_read(old, order), _read(new, order)) for old, new in pairs}
        if None not in moved:
            possible.append(moved)
    if possible:
        return all(len(moved | certain) > 1 for moved in possible)
    # Written in both orders: what can be read in one alone still moves with the rest.
    alone = [
        {_between(_read(old, order), _read(new, order)) for order in (_DAY_FIRST, _MONTH_FIRST)} - {None}
        for old, new in pairs
    ]
    return len({moved for each in alone if len(each) == 1 for moved in each} | certain) > 1


def _between(old: date | None, new: date | None) -> int | None:
    return None if old is None or new is None else (new - old).days


def _iso(text: str) -> date | None:
    return _day(*map(int, text.split("-")))


def _read(text: str, day_first: bool) -> date | None:
    one, _, two, year = _NUMBERS.fullmatch(text).groups()  # type: ignore[union-attr]
    return _day(int(year), int(two if day_first else one), int(one if day_first else two))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:  # no such day
        return None

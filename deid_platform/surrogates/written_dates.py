"""A date in a text moved by a number of days, and written as it was.

Belongs here: the shapes in which notes write dates, and rewriting one in place: order, separators, month names,
ordinals, two-digit years and times of day stay as they are; zeros before a digit go by the shape, since kept where they
stood they would tell of the original. Does not belong here: how far a patient's dates move (`dates.py`) or which dates
a policy moves (`redaction/`).

A full date moves exactly. One without a year or month is placed next to the note's own date and moves exactly from
there; one without a day moves as its middle does, or as a full date of the same month or year in the same note does,
and is written at the precision that it had. It may come out as it went in ("March 2019" by a week): a tag there would
tell that the shift is a small one. Holidays and named days, and whatever fits no shape or no calendar ("323/20",
"2/30/2019"), have no shifted form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache

from deid_platform.lexicon.month_names import WEEKDAY_WORDS, lengths_of, read_month, write_month
from deid_platform.surrogates.date_order import NOTHING_SAID, DateOrder, DateWriting, possible_orders
from deid_platform.surrogates.date_shapes import (
    GAP,
    MONTH,
    OF,
    WEEKDAY,
    YEAR4,
    Found,
    Habits,
    any_of,
    dated,
    habits_of,
    read_date,
    rewritten,
    suffix_of,
    year_of,
)

_LONGEST = 80
_NO_DATE = re.compile(r"(?:the\s+)?(?:4th|fourth)\s+of\s+july", re.IGNORECASE)
_DECADE = re.compile(r"(?:the\s+)?(?:(?:early|mid|late)[\s-]+)?(?:(?:1[89]|20)[0-9]|[2-9])0['’]?s", re.IGNORECASE)
_DOTTED = re.compile(r"[0-9]{1,2}\s?\.")
_WHEN_IN = re.compile(r"early|mid|late|the\s", re.IGNORECASE)
_WEEKDAY_ALONE = re.compile(any_of(WEEKDAY_WORDS), re.IGNORECASE)
_BETWEEN = re.compile(
    r"\s*(?:-{1,2}|–|—)\s*|\s+(?:to|through|thru|until|till|and|al|a|au|et|e|y|bis|und)\s+|\s*[&/]\s*", re.IGNORECASE
)
_DAY_TO_DAY = re.compile(r"(?P<month>[0-9]{1,2})/(?P<day>[0-9]{1,2})(?P<between>\s?[-–]\s?)(?P<day2>[0-9]{1,2})")
_MONTH_DAYS = re.compile(
    WEEKDAY + MONTH + r"(?P<dot>\.?\s*)(?P<day>[0-9]{1,2})(?P<suffix>st|nd|rd|th)?"
    r"(?P<between>\s*(?:-|–|&)\s*|\s+(?:to|through|thru|and)\s+)(?P<day2>[0-9]{1,2})(?P<suffix2>st|nd|rd|th)?"
    r"(?:\s*,?\s*" + YEAR4 + r")?",
    re.IGNORECASE,
)  # fmt: skip
_DAYS_MONTH = re.compile(
    WEEKDAY + r"(?P<day>[0-9]{1,2})(?P<suffix>st|nd|rd|th|\.)?"
    r"(?P<between>\s*(?:-|–|&|/)\s*|\s+(?:to|and|al|a|au|bis)\s+)"
    r"(?P<day2>[0-9]{1,2})(?P<suffix2>st|nd|rd|th|\.)?(?P<dot>\s*" + OF + r")" + MONTH + r"(?:\.?" + GAP + OF
    + YEAR4 + r")?",
    re.IGNORECASE,
)  # fmt: skip


def shift_text(
    surface: str,
    days: int,
    *,
    language: str = "en",
    note_date: date | None = None,
    beside: Iterable[str] = (),
    writing: DateWriting = NOTHING_SAID,
) -> str | None:
    """A written date, or a range of two, moved by a number of days and written as it was.

    Args:
        surface: The span's own text: "3/4/19", "Monday, March 4, 2019", "11/93", "2/14-2/17", "4 marzo 2019".
        days: How far, negative for back. With anything but whole weeks, no date with a day of the week is moved.
        language: The note's.
        note_date: When the note was written: places what lacks a year or month.
        beside: The note's dates as they are written, which show the writer's habits where this one does not, and with
            which one without a day moves: "3/4/2019, in March 2019" stay in one month.
        writing: How the site writes dates in numbers.

    Returns:
        The text moved, which for a date without a day may be the text itself; None where no date can be read, where
        nothing tells which number is the day, where it is a holiday, or where the calendar ends.
    """
    core = surface.strip()
    if not core or len(core) > _LONGEST:
        return None
    dates, read = tuple(beside), language.casefold()
    moved = {
        _moved_by(core, days, read, note_date, dates, order, writing.zeros)
        for order in possible_orders(
            dates or (core,), read, note_date, writing.order, dotted=_DOTTED.match(core) is not None
        )
    }
    one = moved.pop()
    return None if one is None or moved else surface.replace(core, one, 1)


def _moved_by(
    core: str,
    days: int,
    language: str,
    near: date | None,
    dates: tuple[str, ...],
    order: DateOrder,
    zeros: bool | None,
) -> str | None:
    """A date moved as one order has it; None where there is no such day."""
    habits = replace(habits_of(dates), zeros=zeros)
    try:
        anchor = _anchor(core, dates, language, near, order) if len(dates) > 1 else None
        return _moved(core, timedelta(days=days), language, near, order, habits, anchor)
    except (OverflowError, ValueError):
        return None


@lru_cache(maxsize=1024)
def _anchor(core: str, dates: tuple[str, ...], language: str, near: date | None, order: DateOrder) -> date | None:
    """The more precise date of the note with which one without a day moves: of those in its month or year, the one that
    lies next to its middle; None where there is none.

    Moved by themselves, the two would say by their distance where in the month the day was, and so how far it moved.
    """
    found = read_date(core, language, near, order)
    if found is None or _tells_day(found):
        return None
    read = (_read(text.strip(), language, near, order) for text in dates)
    within = [other for other in read if other is not None and _lies_in(other, found)]
    best = min(within, key=lambda other: (-len(other.fields), abs(other.day - found.day)), default=None)
    return None if best is None else best.day


def _tells_day(found: Found) -> bool:
    return any(kind == "day" for kind, _ in found.fields)


def _lies_in(date_: Found, period: Found) -> bool:
    """Whether a date is more precise than a month or a year, and lies in it."""
    if len(date_.fields) <= len(period.fields) or date_.day.year != period.day.year:
        return False
    return date_.day.month == period.day.month or not any(kind == "month" for kind, _ in period.fields)


def _read(core: str, language: str, near: date | None, order: DateOrder) -> Found | None:
    try:
        return read_date(core, language, near, order) if 0 < len(core) <= _LONGEST else None
    except ValueError:  # no such day
        return None


@lru_cache(maxsize=1024)
def _moved(
    core: str,
    by: timedelta,
    language: str,
    near: date | None,
    order: DateOrder,
    habits: Habits,
    anchor: date | None = None,
) -> str | None:
    if any(map(str.isalpha, core)):
        if _NO_DATE.fullmatch(core):
            return None
        if _DECADE.fullmatch(core):
            return core
        if _WEEKDAY_ALONE.fullmatch(core):
            return core if by.days % 7 == 0 else None
    found = read_date(core, language, near, order)
    if found is not None:
        if not _may_move(found.match, by) or _finer_than_told(found):
            return None
        return rewritten(found, (anchor or found.day) + by, language, habits)
    return _moved_range(core, by, language, near, order, habits)


def _finer_than_told(found: Found) -> bool:
    """Whether a year or a month has a word that says when in it, which cannot be moved."""
    part = found.match.groupdict().get("part") or ""
    return _WHEN_IN.match(part) is not None


def _may_move(match: re.Match[str], by: timedelta) -> bool:
    return not match["wd"] or by.days % 7 == 0


def _moved_range(
    core: str, by: timedelta, language: str, near: date | None, order: DateOrder, habits: Habits
) -> str | None:
    for shape, month_first in ((_MONTH_DAYS, True), (_DAYS_MONTH, False)):
        if match := shape.fullmatch(core):
            return _moved_days(match, by, language, near, habits, month_first=month_first)
    if match := _DAY_TO_DAY.fullmatch(core):
        return _moved_end(match, by, language, near, order, habits)
    for between in _BETWEEN.finditer(core):
        one, two = core[: between.start()], core[between.end() :]
        last = read_date(two, language, near, order)
        # "March 3 to April 5, 2019", "2/14-2/17/19": the year is told once, at the end.
        first = read_date(one, language, last.day if last is not None and not _has_year(one) else near, order)
        if first is None or last is None or first.day > last.day or not _alike(first, last):
            continue
        if not (_may_move(first.match, by) and _may_move(last.match, by)):
            return None
        ends = (
            rewritten(first, first.day + by, language, habits),
            rewritten(last, last.day + by, language, habits),
        )
        return between.group().join(ends)
    return None


def _moved_end(
    match: re.Match[str], by: timedelta, language: str, near: date | None, order: DateOrder, habits: Habits
) -> str | None:
    """Two days of one month in numbers: "3/14-19". Where they come to lie in two months, both are named."""
    first, last = (read_date(f"{match['month']}/{match[day]}", language, near, order) for day in ("day", "day2"))
    if first is None or last is None or first.day >= last.day or not (_tells_day(first) and _tells_day(last)):
        return None  # "1/40" is January 1940
    if not all(("month", "first") in found.fields for found in (first, last)):
        return None  # with the day first, the second number is no day of the same month
    one, two = (rewritten(found, found.day + by, language, habits) for found in (first, last))
    same_month = one.partition("/")[0] == two.partition("/")[0]
    return f"{one}{match['between']}{two.partition('/')[2] if same_month else two}"


def _has_year(text: str) -> bool:
    return re.search(r"[0-9]{4}|['’][0-9]{2}|[/.-][0-9]{1,2}[/.-][0-9]{2}$", text) is not None


def _alike(first: Found, last: Found) -> bool:
    """Whether two dates are told at one precision, but for the year, which the second may tell for both."""
    one, two = ({kind for kind, _ in found.fields} for found in (first, last))
    return one - {"year"} == two - {"year"} and (one == two or "year" in two)


def _moved_days(
    match: re.Match[str], by: timedelta, language: str, near: date | None, habits: Habits, *, month_first: bool
) -> str | None:
    """Two days of one month: "March 3-5, 2019". Where they come to lie in two months, both are named."""
    groups = {name: text for name, text in match.groupdict().items() if text is not None}
    name = read_month(groups["mon"], language=language)
    if name is None or not _may_move(match, by):
        return None
    if habits.short is not None and len(lengths_of(groups["mon"])) > 1:
        name = name._replace(short=habits.short)
    year = year_of(groups, near)
    one, two = (dated(match, year, name.month, int(groups[group]), [], near) for group in ("day", "day2"))
    if one is None or two is None or one.day >= two.day:
        return None
    first, last = one.day + by, two.day + by
    if first.year != last.year and year is not None:
        return None
    names = [write_month(day.month, groups["mon"], name) for day in (first, last)]
    written = [
        f"{day.day}{_ending(day.day, groups.get(suffix))}" for day, suffix in ((first, "suffix"), (last, "suffix2"))
    ]
    head, tail = match.string[: match.start("mon" if month_first else "day")], ""
    if year is not None:
        tail = match.string[
            match.end("suffix2" if month_first and match["suffix2"] else "day2" if month_first else "mon") :
        ]
        tail = tail.replace(groups["year"], f"{last.year:04d}")
    apart = names[0] != names[1]
    if month_first:
        second = f"{names[1]}{groups['dot']}{written[1]}" if apart else written[1]
        return f"{head}{names[0]}{groups['dot']}{written[0]}{groups['between']}{second}{tail}"
    first_text = f"{written[0]}{groups['dot']}{names[0]}" if apart else written[0]
    return f"{head}{first_text}{groups['between']}{written[1]}{groups['dot']}{names[1]}{tail}"


def _ending(day: int, like: str | None) -> str:
    if like is None or like == ".":
        return like or ""
    return suffix_of(day, like)

"""The shapes in which notes write a date: reading one, and writing another day the same way.

Belongs here: one date, of whatever precision, in numbers or in words. Does not belong here: ranges of two, or how far
a date moves (`written_dates.py`).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache

from deid_platform.lexicon.month_names import (
    MONTH_WORDS,
    ORDINAL_WORDS,
    WEEKDAY_WORDS,
    MonthName,
    lengths_of,
    ordinal,
    read_month,
    read_ordinal,
    write_month,
    write_ordinal,
)
from deid_platform.surrogates.date_order import DateOrder, usual_order

_YEARS_AHEAD = 5
_LINK = re.compile(r"\bde\b", re.IGNORECASE)
_FIRST_NO_DAY = 32
_FIRST_YEAR, _LAST_YEAR = 1800, 2200
# Where neither the date nor the note has a year, any ordinary one will do, and a leap year for the 29th of February.
_ANY_YEAR, _ANY_LEAP_YEAR = 2001, 2000


def any_of(words: Iterable[str]) -> str:
    """An alternation, the longest first; where a word has a space, any white space will do."""
    return "|".join(re.sub(r"\\ ", r"\\s", re.escape(word)) for word in sorted(words, key=len, reverse=True))


MONTH = f"(?P<mon>{any_of(MONTH_WORDS)})"
WEEKDAY = rf"(?P<wd>(?:{any_of(WEEKDAY_WORDS)})\.?,?\s+)?"
ZONES = (
    "(?:EST|EDT|CST|CDT|MST|MDT|PST|PDT|AST|ADT|AKST|AKDT|NST|NDT|NZST|NZDT|AEST|AEDT|ACST|ACDT|CET|CEST|EET|EEST|WET"
    "|WEST|MEZ|MESZ|BST|GMT|IST)"
)
"""Names of zones that tell summer time from winter time."""
_TIME = (
    r"(?P<time>(?:\s*,?\s*(?:at\s+|@\s*)?|T)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    rf"\s*(?:[ap]\.?m\.?|hrs?|uhr|Z)?(?:(?P<offset>\s*(?:\(?{ZONES}\)?|\+[0-9]{{2}}(?::?[0-9]{{2}})?"
    # "10:15-11:00" are two times.
    r"|(?:(?<=:[0-9]{2}:[0-9]{2})|(?<=T[0-9]{2}:[0-9]{2})|(?<=\.[0-9]{3}))-[0-9]{2}:?[0-9]{2}))|-[0-9]{2}:[0-9]{2})?)?"
)
YEAR4 = r"(?P<year>(?:1[89]|20|21)[0-9]{2})"
_YEAR = rf"(?:{YEAR4}|['’]?(?P<short>[0-9]{{2}}))"
_FIRST, _SECOND = r"(?P<first>[0-9]{1,2})", r"(?P<second>[0-9]{1,2})"
_DAY = r"(?P<day>[0-9]{1,2})(?:\s?(?P<suffix>st|nd|rd|th|er|[°ºª]))?(?![0-9])"
_IN_WORDS = f"(?P<words>{any_of(ORDINAL_WORDS)})"
OF = r"(?:(?:of|de|del|dell['’])\s*)?"
_THE = r"(?:(?:the|il|le|el|den)\s+)?"
GAP = r"(?:\s*,\s*|\s*[-/.]\s*|\s+)"
_MARK = r"\s?[-/.,\\]{1,2}\s?"
_PART = r"(?:(?P<part>early|mid|late|the\s+(?:beginning|middle|end)\s+of|circa|ca\.?|about)[\s-]+(?:of\s+|in\s+)?)?"

_LETTERS = re.compile(r"[^\W\d_]{3,}")

# With digits alone: most dates are. Of two shapes that fit, the first that a calendar could hold counts.
_NUMBERS = (
    # "3/14-19" are two days, unless both marks are one.
    _FIRST + r"\s?(?P<mark>[-/.\\]){1,2}\s?" + _SECOND + r"\s?(?P=mark){1,2}\s?" + _YEAR,
    _FIRST + _MARK + _SECOND + _MARK + YEAR4,
    _FIRST + r"\s?[-/.]\s?" + _SECOND + r"\.?",
    YEAR4 + r"(?P<sep>[-/.\s])" + _FIRST + r"(?P=sep)" + _SECOND,
    YEAR4 + r"(?P<first>[0-9]{2})(?P<second>[0-9]{2})"
    r"(?:T?[0-9]{4}(?:[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|(?P<from_utc>[+-][0-9]{4}))?)?",
    r"(?P<first>[0-9]{2})(?P<second>[0-9]{2})" + YEAR4,
    r"(?P<first>[0-9]{2})(?P<second>[0-9]{2})(?P<short>[0-9]{2})",
    _FIRST + r"\s" + _SECOND + r"\s" + _YEAR,
    r"(?P<first>[0-9]{1,2})\s?[-/.]{1,2}\s?" + YEAR4,
    YEAR4 + r"\s?[-/]\s?(?P<first>[0-9]{2})",
    r"(?P<first>[0-9]{1,2})\s?[-/]\s?(?:(?P<short>3[2-9]|[4-9][0-9])|['’](?P<quoted>[0-9]{2}))",
)
_WORDS = (
    _PART + MONTH + r"(?:\.?\s*(?:,\s*|/\s*)?(?:of\s+|del?\s+)?|\.?-)(?:" + YEAR4 + r"|['’](?P<short>[0-9]{2}))",
    MONTH + r"[-/](?P<short>[0-9]{2})",
    MONTH + r"(?P<sep>[-/])" + _DAY + r"(?P=sep)" + _YEAR,
    YEAR4 + r"(?P<sep>[-/\s])" + MONTH + r"\.?(?P=sep)" + _DAY,
    # "May 14-16" are two days: only a year of four digits stands behind a hyphen.
    MONTH
    + r"(?:\.?\s*,?\s*(?:the\s+)?|-)"
    + _DAY
    + r"(?:(?:\s*,\s*|\s*[-/]\s*(?=[0-9]{4})|\.?\s+)"
    + OF
    + _YEAR
    + r")?",
    _THE + _DAY + r"\.?\s*-?/?\s*" + OF + MONTH + r"\.?(?:" + GAP + r"?" + OF + _YEAR + r")?",
    MONTH + r"\s+(?:the\s+)?" + _IN_WORDS + r"(?:" + GAP + YEAR4 + r")?",
    r"(?:the\s+)?" + _IN_WORDS + r"\s+(?:of\s+)?" + MONTH + r"(?:" + GAP + YEAR4 + r")?",
    r"(?:the\s+)?(?P<day>[0-9]{1,2})(?P<suffix>st|nd|rd|th)",
    r"the\s+" + _IN_WORDS,
    _PART + MONTH + r"\.?",
    _PART + r"['’]?" + YEAR4,
)


@cache
def _shapes(*, of_numbers: bool) -> tuple[re.Pattern[str], ...]:
    """What a date may look like, of numbers alone or with words; compiled where a date is read at all."""
    weekday, shapes = (r"(?P<wd>)", (*_NUMBERS, YEAR4)) if of_numbers else (WEEKDAY, (*_NUMBERS, *_WORDS))
    return tuple(re.compile(weekday + shape + _TIME, re.IGNORECASE) for shape in shapes)


@dataclass(frozen=True, slots=True, repr=False)
class Found:
    """One date as it is written.

    Attributes:
        match: Its fields.
        day: The day, or the middle of what is meant.
        fields: Where each of day, month and year stands: the group's name.
    """

    match: re.Match[str]
    day: date
    fields: tuple[tuple[str, str], ...]

    @property
    def full(self) -> bool:
        """Whether it tells day, month and year."""
        return len(self.fields) == 3


@lru_cache(maxsize=1024)
def read_date(core: str, language: str, near: date | None, order: DateOrder | None = None) -> Found | None:
    """One date, by the first shape that the text fits and that a calendar could hold; None if there is none.

    Args:
        core: The text without white space around it.
        language: The note's, in small letters.
        near: When the note was written.
        order: Which of two numbers is the day, unless that is impossible; by default what is usual in the language.

    Raises:
        ValueError: A part of it cannot be.
    """
    order = order or usual_order(language)
    for shape in _shapes(of_numbers=not any(map(str.isalpha, core))):
        match = shape.fullmatch(core)
        found = None if match is None else _placed(match, language, near, order)
        if found is not None:
            return found
    return None


def _placed(match: re.Match[str], language: str, near: date | None, order: DateOrder) -> Found | None:
    groups = {name: text for name, text in match.groupdict().items() if text is not None}
    year = year_of(groups, near)
    fields = [("year", name) for name in ("year", "short", "quoted") if name in groups]
    if "mon" in groups:
        name = _month(match, language)
        if name is None:
            return None
        month, fields = name.month, [*fields, ("month", "mon")]
        day = _day_of(groups)
        if day is None:
            return Found(match, _middle(year, month, near), tuple(fields))
        return dated(match, year, month, day, [*fields, ("day", "words" if "words" in groups else "day")], near)
    if "second" in groups:
        for month_group in ("first", "second") if _month_first(groups, match, order) else ("second", "first"):
            day_group = "second" if month_group == "first" else "first"
            month, day = int(groups[month_group]), int(groups[day_group])
            found = dated(match, year, month, day, [*fields, ("month", month_group), ("day", day_group)], near)
            if found is not None:
                return found
        return None
    if "first" in groups:
        month = int(groups["first"])
        return Found(match, _middle(year, month, near), (*fields, ("month", "first"))) if 1 <= month <= 12 else None
    day = _day_of(groups)
    if day is not None:
        nearest = _nearest_day(day, near)
        return None if nearest is None else Found(match, nearest, (("day", "words" if "words" in groups else "day"),))
    # A year alone moves as its middle.
    return None if year is None else Found(match, date(year, 7, 2), tuple(fields))


def _hyphened(match: re.Match[str]) -> bool:
    """Whether a month's name is joined to what is beside it, or stands before a full stop: then it is abbreviated."""
    return _joined(match) or match.string[match.end("mon") : match.end("mon") + 1] == "."


def _joined(match: re.Match[str]) -> bool:
    start, end = match.span("mon")
    before = match.string[start - 1 : start]
    return match.string[end : end + 1] == "-" or before == "-" or before.isdigit()


def _month_first(groups: dict[str, str], match: re.Match[str], order: DateOrder) -> bool:
    year_first = "year" in groups and match.start("year") < match.start("first")
    return year_first or order is DateOrder.MONTH_FIRST


def dated(
    match: re.Match[str], year: int | None, month: int, day: int, fields: list[tuple[str, str]], near: date | None
) -> Found | None:
    """A day with its month, in the year that is told or in the one that puts it next to the note."""
    if not 1 <= month <= 12 or day < 1:
        return None
    if year is None:
        leap = (month, day) == (2, 29)
        years = _years_about(near, 8 if leap else 1) if near else iter((_ANY_LEAP_YEAR if leap else _ANY_YEAR,))
    else:
        years = iter((year,))
    possible = [date(y, month, day) for y in years if day <= monthrange(y, month)[1]]
    if not possible:
        return None
    chosen = min(possible, key=lambda d: abs(d - near)) if near and year is None else possible[0]
    return Found(match, chosen, tuple(fields))


def _years_about(near: date, reach: int) -> Iterator[int]:
    # The next 29th of February may lie eight years away.
    yield from range(max(1, near.year - reach), min(9998, near.year + reach) + 1)


def year_of(groups: dict[str, str], near: date | None) -> int | None:
    """The year that a date tells; of two digits, the latest that lies at most a few years after the note."""
    if "year" in groups:
        year = int(groups["year"])
        if not _FIRST_YEAR <= year <= _LAST_YEAR:
            raise ValueError
        return year
    short = groups.get("short") or groups.get("quoted")
    if short is None:
        return None
    latest = near.year + _YEARS_AHEAD if near else 2049
    return latest - (latest - int(short)) % 100


def _day_of(groups: dict[str, str]) -> int | None:
    if "words" in groups:
        return read_ordinal(groups["words"])
    return int(groups["day"]) if "day" in groups else None


def _middle(year: int | None, month: int, near: date | None) -> date:
    if year is not None:
        return date(year, month, 15)
    if near is None:
        return date(_ANY_YEAR, month, 15)
    return min((date(near.year + y, month, 15) for y in (-1, 0, 1)), key=lambda d: abs(d - near))


def _nearest_day(day: int, near: date | None) -> date | None:
    """The day of the month that lies next to the note."""
    if near is None or not 1 <= day <= 31:
        return None
    around = (near + timedelta(days=n) for n in range(-31, 32))
    return min((d for d in around if d.day == day), key=lambda d: abs(d - near), default=None)


@dataclass(frozen=True, slots=True)
class Habits:
    """How a note writes its dates, where one of them alone does not show it.

    "4 May" among abbreviated months has an abbreviation too. Were each written anew by itself, the odd one out would
    tell which month it was.

    Attributes:
        short: Whether names of months are abbreviated.
        zeros: Whether a zero stands before a digit where the shape leaves it open; None: with the day first alone.
    """

    short: bool | None = None
    zeros: bool | None = None


@lru_cache(maxsize=1024)
def habits_of(dates: tuple[str, ...]) -> Habits:
    """The habits that the dates of a note show; None where none does."""
    words = (lengths_of(word) for text in dates for word in _LETTERS.findall(text))
    short = next((next(iter(lengths)) for lengths in words if len(lengths) == 1), None)
    return Habits(short)


def rewritten(found: Found, moved: date, language: str, habits: Habits) -> str:
    """The text with each of its fields written anew.

    Args:
        found: The date as it is written.
        moved: What it becomes.
        language: The note's, in small letters.
        habits: How the note writes its dates.

    Raises:
        ValueError: A month with a year of two digits comes to lie in a year that would be read as a day ("9/31").
    """
    match = found.match
    if [group for _, group in found.fields] == ["short", "first"] and moved.year % 100 < _FIRST_NO_DAY:
        raise ValueError
    values = {"year": moved.year, "month": moved.month, "day": moved.day}
    pieces = [
        (*match.span(group), _field(found, group, values[kind], language, habits)) for kind, group in found.fields
    ]
    if any(group == "day" for _, group in found.fields) and match["suffix"]:
        pieces.append((*match.span("suffix"), suffix_of(moved.day, match["suffix"])))
    # Summer time or winter time would tell the season of the original.
    for zone in ("offset", "from_utc"):
        if not match.groupdict().get(zone):
            continue
        start, end = match.span(zone)
        pieces.append((len(match.string[:start].rstrip()), end, ""))
    text = match.string
    for start, end, written in sorted(pieces, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def _month(match: re.Match[str], language: str) -> MonthName | None:
    linked = _LINK.search(match.string) is not None
    return read_month(match["mon"], language=language, hyphened=_hyphened(match), linked=linked)


def _field(found: Found, group: str, value: int, language: str, habits: Habits) -> str:
    match = found.match
    was = match[group]
    if group == "mon":
        name = _month(match, language)
        assert name is not None  # noqa: S101 - it was read a moment ago
        if habits.short is not None and len(lengths_of(was)) > 1 and not _hyphened(match):
            name = name._replace(short=habits.short)
        return write_month(value, was, name)
    if group == "words":
        return write_ordinal(value, was)
    if group == "year":
        return f"{value:04d}"
    if group in ("short", "quoted"):
        return f"{value % 100:02d}"
    return f"{value:02d}" if _padded(found, habits) else str(value)


def _padded(found: Found, habits: Habits) -> bool:
    """Whether a number of one digit is written with a zero before it: as the shape and the site have it, whatever the
    original had (`date_order.py`)."""
    match, groups = found.match, found.match.groupdict()
    if groups.get("mon"):  # "March 5", but "05-MAR-2019"
        return _joined(match)
    if "first" not in groups or match.string[:4].isdigit():  # "the 9th", "2019-03-04"
        return match.string[:4].isdigit()
    together = groups.get("second") is not None and match.end("first") == match.start("second")
    return together or (("day", "first") in found.fields if habits.zeros is None else habits.zeros)


def suffix_of(day: int, like: str) -> str:
    """The ending of an ordinal number, in the language and case of another one's."""
    if like.casefold() in ("st", "nd", "rd", "th"):
        ending = ordinal(day)[-2:]
        return ending.upper() if like.isupper() else ending
    # Romance languages have an ordinal for the first alone.
    return like if day == 1 else ""

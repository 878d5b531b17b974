"""What may remain of a date: its year, unless the year tells that somebody is over 89.

Belongs here: reading the year out of a span's own text. Does not belong here: shifting dates
(`surrogates/dates.py`) or finding them (`detection/`).

A date is read by a closed list of shapes, numeric and English, in words too. What fits none of them ("323/20",
"3/4", "the 9th", "11/12") has no year that could be kept, and becomes a tag.

Source: 45 CFR 164.514(b)(2)(i)(C): all elements of dates except the year, and the year too where it is
indicative of an age over 89.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from deid_platform.text.numerals import spoken

OLDEST_KEPT_AGE = 89
# A two-digit year up to so many years after the note is taken for the future (appointments, expiry dates).
_YEARS_AHEAD = 5

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
_TIME = (
    r"(?:(?:\s*,?\s*(?:at\s+)?|T)\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?\s*(?:[ap]\.?m\.?|hrs?|Z|[+-]\d{2}:?\d{2})?)?"
)
_YEAR4 = r"(?P<year>(?:1[89]|20)[0-9]{2})"
_YEAR = r"(?:" + _YEAR4 + r"|['’]?(?P<short>[0-9]{2}))"
_FIRST, _SECOND = r"(?P<first>[0-9]{1,2})", r"(?P<second>[0-9]{1,2})"
_DAY = r"[0-9]{1,2}(?:st|nd|rd|th)?"
# A season is finer than a year: the year alone is kept.
_SEASON = (
    r"(?:the\s+)?(?:(?:early|mid|late)[\s-]+)?(?:(?:spring|summer|fall|autumn|winter)(?:time)?|primavera|estate|autunno"
    r"|inverno|verano|otoño|invierno|printemps|été|automne|hiver|frühjahr|frühling|sommer|herbst)"
    r"[\s,-]*(?:(?:of|in|del?|des\s+jahres)\s+)?(?:the\s+year\s+)?"
)

_SHAPES = tuple(
    re.compile(_WEEKDAY + shape + _TIME, re.IGNORECASE)
    for shape in (
        r"(?:(?:early|mid|late|q[1-4]|fy)[\s-]*(?:of\s+)?)?" + _YEAR4,
        _SEASON + _YEAR4,
        _YEAR4 + r"\s?(?P<sep>[-/.\s])\s?" + _FIRST + r"\s?(?P=sep)\s?" + _SECOND,
        _YEAR4 + r"(?P<first>[0-9]{2})(?P<second>[0-9]{2})(?:[0-9]{4}(?:[0-9]{2})?)?",
        _FIRST + r"\s?(?P<sep>[-/.\s])\s?" + _SECOND + r"\s?(?P=sep)\s?" + _YEAR,
        r"(?P<first>0?[1-9]|1[0-2])\s?[-/.]\s?" + _YEAR4,
        # Month and two-digit year only where the year cannot be a day: 11/93, never 11/12.
        r"(?P<first>0?[1-9]|1[0-2])\s?[-/]\s?(?:(?P<short>3[2-9]|[4-9][0-9])|['’](?P<quoted>[0-9]{2}))",
        _MONTH + r"[\s-]*" + _DAY + r"(?:\s*,\s*|\s*-\s*|\s+)(?:of\s+)?" + _YEAR,
        _DAY + r"(?:\s*-\s*|\s+)?(?:of\s+)?" + _MONTH + r"(?:\s*,\s*|\s*-\s*|\s+)?(?:of\s+)?" + _YEAR,
        _MONTH + r"(?:\s*,\s*|\s*[-/]\s*|\s+)(?:of\s+)?(?:" + _YEAR4 + r"|['’](?P<short>[0-9]{2}))",
    )
)
_LONGEST = 120
_FILLING = re.compile(r"\b(?:the|day(?=\s+of))\s+|,(?=\s*,)|(?<=[a-z])\s(?=,)", re.IGNORECASE)
_DECADE = re.compile(r"(?:the\s+)?(?:(?:early|mid|late)[\s-]+)?(?P<year>(?:1[89]|20)[0-9]0)['’]?s", re.IGNORECASE)
# A year of four digits by itself, and at either end of a date in one run of digits: with what follows of a month, a day
# of the year or a time of day. Of eight digits and more, one reading alone can be a date.
_TOLD = re.compile(
    r"(?<![0-9])(?P<alone>(?:1[89]|20)[0-9]{2})(?![0-9])"
    r"|(?<![0-9])(?P<first>(?:1[89]|20)[0-9]{2})(?:[0-3][0-9]{2}(?![0-9])|(?:0[1-9]|1[0-2])[0-3][0-9])"
    r"|(?<![0-9])[0-3][0-9][0-3][0-9](?P<last>(?:1[89]|20)[0-9]{2})"
    r"|(?<![0-9])(?P<month>(?:1[89]|20)[0-9]{2})(?:0[1-9]|1[0-2])(?![0-9])"
)
_YEARS = re.compile(r"((?:1[89]|20)[0-9]{2})\s*(?:-|–|to|through|and|/)\s*((?:1[89]|20)[0-9]{2})", re.IGNORECASE)


def kept_year(text: str, *, note_date: date, birth_date: date | None = None, near_birth: bool = False) -> str | None:
    """The year of a date, or None where none can be read or none may be kept.

    Args:
        text: The span's own text.
        note_date: When the note was written: places two-digit years in a century.
        birth_date: The patient's, where the topics know it.
        near_birth: Whether the text before the span speaks of a birth. A two-digit year is then not
            placed in a century, since "3/4/19" would otherwise show the birth year of a person of 100.

    Returns:
        "2019", "1990s", "2018-2019", or None.
    """
    text = text.strip()
    if pair := _YEARS.fullmatch(text):
        years = [int(pair[1]), int(pair[2])]
        return None if any(reveals_age(y, note_date, birth_date) for y in years) else f"{years[0]}-{years[1]}"
    if decade := _DECADE.fullmatch(text):
        first = int(decade["year"])
        # Its last year counts for the patient's own age, its first for anybody's birth.
        hidden = reveals_age(first, note_date, birth_date) or reveals_age(first + 9, note_date, birth_date)
        return None if hidden else f"{first}s"
    for shape in _SHAPES:
        match = shape.fullmatch(text)
        if match is None or not _possible(match):
            continue
        found = match.groupdict()
        if found.get("year"):
            year = int(found["year"])
        else:
            placed = _placed(int(found.get("short") or found["quoted"]), note_date, birth_date, near_birth)
            if placed is None:
                return None
            year = placed
        return None if reveals_age(year, note_date, birth_date) else str(year)
    said = in_numbers(text)
    return None if said == text else kept_year(said, note_date=note_date, birth_date=birth_date, near_birth=near_birth)


def in_numbers(text: str) -> str:
    """A date with its words for numbers in digits: "the third of March nineteen fifty" is "3 of March 1950"."""
    said = spoken(text) if len(text) <= _LONGEST else text
    return text if said == text else _FILLING.sub("", said).strip()


def years_told(text: str, *, near_birth: bool) -> Iterator[int]:
    """Every year of four digits that a date may tell, however it is run together: "19310309", "03091931", "1931068".

    Args:
        text: The span's own text.
        near_birth: Whether the text before it speaks of a birth. Elsewhere "190312" is a day in March rather than a
            month of 1903.
    """
    for match in _TOLD.finditer(text):
        year = int(next(year for year in match.groups() if year is not None))
        if match["month"] is None or near_birth or not 1 <= year % 100 <= 12:
            yield year


def reveals_age(year: int, note_date: date, birth_date: date | None) -> bool:
    """Whether a year may tell that somebody is over 89.

    That is any year so long before the note that whoever was born in it is over 89, relatives included,
    and any year in which the patient is over 89: in the record of a person of 95, this year shows the
    age as soon as another note shows the birth year.
    """
    if note_date.year - year > OLDEST_KEPT_AGE:
        return True
    return birth_date is not None and year - birth_date.year > OLDEST_KEPT_AGE


def _possible(match: re.Match[str]) -> bool:
    """Whether the numbers beside the year can be a month and a day, in either order."""
    found = match.groupdict()
    numbers = [int(found[name]) for name in ("first", "second") if found.get(name)]
    return not numbers or (0 < min(numbers) <= 12 and 0 < max(numbers) <= 31)


def _placed(short: int, note_date: date, birth_date: date | None, near_birth: bool) -> int | None:
    """The latest year that ends in `short` and lies at most a few years after the note."""
    latest = note_date.year + _YEARS_AHEAD
    year = latest - (latest - short) % 100
    earlier = year - 100
    born_then = birth_date is not None and birth_date.year == earlier
    if near_birth and birth_date is None and note_date.year - earlier <= 125:
        born_then = True
    return None if born_then else year

"""A known date of birth in a text, in numbers or in words.

Belongs here: the ways in which one date is written. Does not belong here: dates in general (`shapes.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise

from deid_platform.leakcheck.comparable import ComparableText

_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_LENGTH = 24
_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTHS = {name: i for i, month in enumerate(_MONTH_NAMES, 1) for name in (month, month[:3], month[:4])}
_NOT_IN_DATES = frozenset(("st", "nd", "rd", "th", "of"))
_CUE_WORDS = frozenset(("dob", "born", "birth", "birthday", "birthdays", "birthdate"))
_CUE = re.compile(r"\b(?:d\.?o\.?b|birth\s?days?|birth\s?date|date of birth|born)\b")
_CUE_REACH = 24
_SHORT_YEAR = re.compile(r"['’]\d\d(?!\d)")
_UNITS = (
    "", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = (
    "", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip


def birth_date_left(born: date, reading: ComparableText) -> bool:
    """Whether a text shows a date of birth: in the usual orders, with a two-digit year, in words, or its day and
    month beside a word for birth."""
    return _numeric(born, reading.folded) or _spoken(born, reading.line) or _birthday(born, reading)


def _numeric(born: date, folded: str) -> bool:
    long_year, short_year = f"{born.year:04d}", f"{born.year % 100:02d}"
    if short_year not in folded:
        return False
    month, day = f"{born.month:02d}", f"{born.day:02d}"
    compact = {
        order
        for year in (long_year, short_year)
        for order in (year + month + day, month + day + year, day + month + year)
    }
    tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(folded)]
    tokens = [token for token in tokens if token[0] not in _NOT_IN_DATES]
    for place, (token, _, _) in enumerate(tokens):
        if token in compact:
            return True
        if token not in (long_year, short_year):
            continue
        for window, orders in (
            (tokens[place : place + 3], ((born.year, born.month, born.day),)),
            (
                tokens[max(0, place - 2) : place + 1],
                ((born.month, born.day, born.year), (born.day, born.month, born.year)),
            ),
        ):
            if len(window) == 3 and _is_date(window, orders, folded, short=token == short_year):
                return True
    return False


def _is_date(
    window: Sequence[tuple[str, int, int]], orders: Sequence[tuple[int, int, int]], folded: str, *, short: bool
) -> bool:
    """Whether three neighbouring tokens are a date in one of the orders."""
    if window[2][2] - window[0][1] > _LENGTH:
        return False
    values = tuple(_value(token) for token, _, _ in window)
    if not any(all(a in (b, b % 100 if b > 99 else b) for a, b in zip(values, o, strict=True)) for o in orders):
        return False
    between = folded[window[0][2] : window[1][1]] + folded[window[1][2] : window[2][1]]
    # Three small numbers in a row are a table unless a separator or a month's name makes them a date.
    return not short or any(token in _MONTHS for token, _, _ in window) or re.search("[/.-]", between) is not None


def _value(token: str) -> int:
    return _MONTHS.get(token) or (int(token) if token.isdecimal() and len(token) <= 4 else -1)


def _spoken(born: date, line: str) -> bool:
    """The date with its day, its year or both in words, as a dictation leaves it."""
    month = _MONTH_NAMES[born.month - 1]
    if f" {month} " not in line:
        return False
    years = (*_year_words(born.year), str(born.year))
    days = (_ordinal_words(born.day), _number_words(born.day), f"{born.day} {_suffix(born.day)}", str(born.day))
    return any(
        f" {order} " in line
        for year in years
        for day in days
        for order in (
            f"{month} {day} {year}",
            f"{month} the {day} {year}",
            f"{day} {month} {year}",
            f"{day} of {month} {year}",
            f"{day} day of {month} {year}",
        )
    )


def _number_words(number: int) -> str:
    return _UNITS[number] if number < 20 else f"{_TENS[number // 10]} {_UNITS[number % 10]}".strip()


def _ordinal_words(number: int) -> str:
    if number <= 20:
        return _ORDINALS[number]
    return "thirtieth" if number == 30 else f"{_TENS[number // 10]} {_ORDINALS[number % 10]}"


def _suffix(number: int) -> str:
    return "th" if 10 < number < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _year_words(year: int) -> Iterator[str]:
    century, rest = divmod(year, 100)
    if year // 1000 == 2 and century == 20:
        yield f"two thousand {_number_words(rest)}".strip()
        yield f"two thousand and {_number_words(rest)}".strip()
    if rest:
        yield f"{_number_words(century)} {'oh ' if rest < 10 else ''}{_number_words(rest)}"


def _birthday(born: date, reading: ComparableText) -> bool:
    """The day and the month beside a word for birth: "birthday 3/4"."""
    if _CUE_WORDS.isdisjoint(reading.words) and " d o b " not in reading.line:
        return False
    orders = ((born.month, born.day), (born.day, born.month))
    for cue in _CUE.finditer(reading.folded):
        found = _TOKEN.finditer(reading.folded, cue.end(), cue.end() + _CUE_REACH)
        for one, two in pairwise(m for m in found if m.group() not in _NOT_IN_DATES):
            between = reading.folded[one.end() : two.start()]
            joined = between in ("/", "-", ".") or not _MONTHS.keys().isdisjoint((one.group(), two.group()))
            if joined and (_value(one.group()), _value(two.group())) in orders:
                return True
    return False


def tells_day_and_month(text: str) -> bool:
    """Whether a date tells a day and its month: more than "March 2019", "11/93" or "the 9th"."""
    tokens = _TOKEN.findall(_SHORT_YEAR.sub(" 2000", text.casefold()))
    numbers = [token for token in tokens if token.isdecimal()]
    years = [n for n in numbers if len(n) == 4 or (len(n) == 2 and int(n) > 31)]
    # Any longer word may be a month's, in whatever language.
    months = sum(word.isalpha() and len(word) >= 3 and word != "the" for word in tokens)
    others = len(numbers) - len(years)
    # "3/2019-5/2019" has two numbers beside its years.
    return any(len(n) > 4 for n in numbers) or (months > 0 and others > 0) or others >= max(2, 1 + len(years))

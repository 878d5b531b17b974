"""A known date of birth in a text, in numbers or in words of the languages of `text/numerals.py`.

Belongs here: the ways in which one date is written. Does not belong here: dates in general (`shapes.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from itertools import accumulate, pairwise, permutations

from deid_platform.leakcheck.comparable import GAP, NAME_GAP, ComparableText
from deid_platform.leakcheck.said import MONTHS, Row

_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
# Digits that stand alone or in pairs, one beside another.
_APART = re.compile(rf"(?<!\d)\d{{1,2}}(?:(?:[^\w{GAP}{NAME_GAP}]|_){{1,4}}\d{{1,2}}(?!\d)){{3,}}")
_ROMAN = {
    month: n for n, month in enumerate(("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"), 1)
}
_LENGTH = 24
_PARTS = 3
_LONGEST_YEAR = 4
_NOT_IN_DATES = frozenset(("st", "nd", "rd", "th", "of", "de", "del", "di", "den", "er"))
_CUE_WORDS = frozenset(
    """
    dob born birth birthday birthdays birthdate nacido nacida nacio nacimiento cumpleanos nato nata nascita compleanno
    ne nee naissance anniversaire geboren geburtsdatum geburtstag geb
    """.split()  # noqa: SIM905 - a list literal would fill a screen
)
_CUE = re.compile(
    r"\b(?:d[. ]?o[. ]?b|birth\s?days?|birth\s?date|date of birth|born|nacid[oa]|nacio|nacimiento|cumpleanos|nat[oa]|"
    r"nascita|compleanno|nee?|naissance|anniversaire|geboren|geburts(?:datum|tag)|geb)\b"
)
_CUE_REACH = 24
_SHORT_YEAR = re.compile(r"['’]\d\d(?!\d)")


def birth_date_left(born: date, reading: ComparableText) -> bool:
    """Whether a text shows a date of birth: in the usual orders, with a two-digit year, in words, or its day and
    month beside a word for birth."""
    return (
        _numeric(born, reading.folded)
        or _spaced(born, reading.folded)
        or _spoken(born, reading.said)
        or _birthday(born, reading)
    )


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


def _spaced(born: date, folded: str) -> bool:
    """The date with something between its digits, as in the boxes of a form: "0 3 0 9 1 9 3 1"."""
    month, day, year, short = f"{born.month:02d}", f"{born.day:02d}", f"{born.year:04d}", f"{born.year % 100:02d}"
    dates = (year + month + day, month + day + year, day + month + year)
    alone = {short + month + day, month + day + short, day + month + short}
    alone |= {f"{one}{two}{year}" for one, two in permutations((born.month, born.day))}
    for run in _APART.finditer(folded):
        digits = _DIGITS.findall(run.group())
        joined = "".join(digits)
        if joined in alone and len(joined) == len(digits):
            return True
        starts = {0, *accumulate(map(len, digits))}
        if any(joined.find(date_) in starts for date_ in dates):
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
    return not short or any(token in MONTHS for token, _, _ in window) or re.search("[/.-]", between) is not None


def _value(token: str) -> int:
    return MONTHS.get(token) or _ROMAN.get(token) or (int(token) if token.isdecimal() and len(token) <= 4 else -1)


def _spoken(born: date, rows: Iterable[Row]) -> bool:
    """The date with some of it in words, as dictated: "March fourth, nineteen fifty", "three four fifty"."""
    if not rows:
        return False
    day, month = {str(born.day), f"{born.day:02}"}, {str(born.month), f"{born.month:02}"}
    year = {str(born.year), f"{born.year % 100:02}"}
    return any(
        _reads(row, place, parts)
        for row in rows
        for parts in ((month, day, year), (day, month, year), (year, month, day))
        for place in range(len(row) - len(parts) + 1)
    )


def _reads(row: Row, place: int, parts: Sequence[Collection[str]]) -> bool:
    """Whether a row tells the parts of a date from a place on, each in one number or digit by digit."""
    ends = {place}
    for part in parts:
        ends = {end for start in ends for end in _ends(row, start, part)}
    return any(_tells(row[place:end]) for end in ends)


def _ends(row: Row, start: int, part: Collection[str]) -> Iterator[int]:
    joined = ""
    for end in range(start, min(len(row), start + _LONGEST_YEAR)):
        joined += row[end].digits
        if joined in part:
            yield end + 1


def _tells(date_: Row) -> bool:
    """Whether numbers that fit a date are likely to be one: in words, and more than four digits said one by one."""
    if not any(item.spelled for item in date_):
        return False
    digits = sum(len(item.digits) for item in date_)
    return len(date_) == _PARTS or any(item.month for item in date_) or digits > _LONGEST_YEAR


def _birthday(born: date, reading: ComparableText) -> bool:
    """The day and the month beside a word for birth, "birthday 3/4", or the year and the month, "DOB 195003"."""
    if _CUE_WORDS.isdisjoint(reading.words) and " d o b " not in reading.line:
        return False
    orders = ((born.month, born.day), (born.day, born.month))
    months = {f"{born.year:04}{born.month:02}", f"{born.month:02}{born.year:04}"}
    for cue in _CUE.finditer(reading.folded):
        if not months.isdisjoint(_DIGITS.findall(reading.folded, cue.end(), cue.end() + _CUE_REACH)):
            return True
        found = _TOKEN.finditer(reading.folded, cue.end(), cue.end() + _CUE_REACH)
        for one, two in pairwise(m for m in found if m.group() not in _NOT_IN_DATES):
            between = reading.folded[one.end() : two.start()]
            joined = between in ("/", "-", ".") or not MONTHS.keys().isdisjoint((one.group(), two.group()))
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

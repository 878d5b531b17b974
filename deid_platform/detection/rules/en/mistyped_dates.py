"""Validators of dates with a typing error: a separator or a digit lost, doubled, swapped or wrong, a month misspelt.

Belongs here: the validators that `dates.yaml` for such dates names. Does not belong here: correct dates (`dates.py`).

A date may have one error: the rest must still be a day, a month and a year.
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.dates import (
    NUMBER,
    is_cued,
    is_day,
    is_month_day,
    is_numbered,
    is_year,
)
from deid_platform.detection.rules.engine.validator import Interval, validator

_MISREAD = str.maketrans("OoIl|SBZ", "00111582")
_RARELY_MISREAD = regex.compile(r"(?<!\d)[SBZ]+(?!\d)")
_CENTURIES = range(1900, 2100)
_WORD = regex.compile(r"\p{L}{3,}")
_SENTENCE_GOES_ON = regex.compile(r"[ \t]*(?:[.,;)\]\r\n]|$)")
_MOST_FRONT = 4  # digits of a day and a month

# "on 215/97" is no pressure, if nothing before it speaks of one.
_DAY_TOLD = regex.compile(r"\b(?i:on|dated?|since|until)[ :]{1,3}$")
_PRESSURE = regex.compile(r"\b(?i:bp|pressures?|hypertens\w*|systolic|sbp|readings?|vitals?|range[sd]?)\b")


@validator
def lost_slash(text: str, start: int, end: int) -> Interval | None:
    """A date that lost one slash: "323/19", "2/142019", "2/1419"; not a blood pressure or a dose."""
    first, second = NUMBER.findall(text, start, end)[:2]
    if is_numbered(text, start):
        return None
    if len(first) >= 3:
        high, low = int(first), int(second)
        pressure = 70 <= high <= 260 and 20 <= low <= 140 and high - low <= 150
        told = _DAY_TOLD.search(text, max(0, start - 12), start) and not _PRESSURE.search(
            text, max(0, start - 40), start
        )
        return (start, end) if _is_day_run(first) and (told or not pressure) else None
    day, year = (second[:-4], second[-4:]) if len(second) > 4 else (second[:-2], second[-2:])
    sound = len(year) == 2 or is_year(int(year))
    return (start, end) if sound and day and is_month_day(int(first), int(day)) else None


@validator
def misread_date(text: str, start: int, end: int) -> Interval | None:
    """A date in which a letter stands for the digit that it looks like: "O3/l4/2019", "2O19-03-14"."""
    surface = text[start:end]
    numbers = [int(n) for n in NUMBER.findall(surface.translate(_MISREAD))]
    if len(numbers) != 3 or sum(c.isdigit() for c in surface) < 3 or _RARELY_MISREAD.search(surface):
        return None
    if numbers[0] > 99:
        return (start, end) if numbers[0] in _CENTURIES and is_month_day(*numbers[1:]) else None
    short = numbers[2] <= 99
    if short and ("/" not in surface or surface.startswith(("O2", "o2"))):
        return None  # oxygen, roman numerals
    return (start, end) if is_month_day(*numbers[:2]) and (is_year(numbers[2]) or short) else None


@validator
def mistyped_date(text: str, start: int, end: int) -> Interval | None:
    """Day, month and year with one error: "3/4,2019", "022/03/2019", "0/314/2019", "3/14/201", "3/14/2109"."""
    surface = text[start:end]
    first, second, *rest = NUMBER.findall(surface)
    year = "".join(rest)  # "3/14/20 19"
    if is_numbered(text, start):
        return None
    if len(year) == 4 and int(year) in _CENTURIES:
        return (start, end) if _is_near_day(first, second) else None
    if len(year) == 2:  # "05/007/24"
        doubled = any(len(n) == 3 and n.startswith("0") for n in (first, second))
        return (start, end) if doubled and surface.count("/") == 2 and _is_near_day(first, second) else None
    same = len(rest) == 1 and 2 in (surface.count("/"), surface.count("-"))
    sound = (len(year) == 4 and "/" in surface) or _is_near_year(year)
    return (start, end) if same and sound and is_month_day(int(first), int(second)) else None


@validator
def mistyped_iso_date(text: str, start: int, end: int) -> Interval | None:
    """Year, month and day with one error; a day that does not exist ("2019-13-40") only after a word of dates."""
    numbers = NUMBER.findall(text, start, end)
    if is_numbered(text, start):
        return None
    cued = is_cued(text, start)
    if len(numbers) == 2:
        year, rest = ("", "")
        joined = "".join(numbers)
        year, rest = joined[:4], joined[4:]
        return (start, end) if cued and int(year) in _CENTURIES and is_month_day(int(rest[:2]), int(rest[2:])) else None
    year, month, day = numbers[:3]
    if len(year) != 4:
        return (start, end) if cued and _is_near_year(year) and is_month_day(int(month), int(day)) else None
    near = int(month) <= 99 and int(day) <= 99
    return (start, end) if _is_near_day(month, day) or (cued and near) else None


@validator
def mistyped_written_date(text: str, start: int, end: int) -> Interval | None:
    """A month's name with a day and a year of which one has an error: "March 144, 2019", "March l4, 2O19"."""
    surface = _WORD.sub(" ", text[start:end])
    read = surface.translate(_MISREAD)
    numbers = NUMBER.findall(read)
    if len(numbers) == 1:  # "March 32019"
        numbers = [numbers[0][:-4], numbers[0][-4:]]
    day, year = numbers[:2]
    if not 1 <= len(day) <= 3:
        return None
    exact = len(year) == 4 and int(year) in _CENTURIES
    if len(year) == 3 and not _SENTENCE_GOES_ON.match(text, end):
        return None  # "March 14, 201 patients"
    sound = 1 <= int(day) <= 31
    if not exact:
        swapped = len(year) == 4 and _is_swapped_year(year)
        return (start, end) if sound and (swapped or (len(year) != 4 and _is_near_year(year))) else None
    one_too_many = len(day) == 3 and any(1 <= int(day[:i] + day[i + 1 :]) <= 31 for i in range(3))
    return (start, end) if sound or one_too_many or int(day) <= 99 else None


def _is_day_run(digits: str) -> bool:
    """Whether two to four digits without a separator are a month and a day: "323", "1214", "31"."""
    return any(is_day(int(digits[:i]), int(digits[i:])) for i in (1, 2) if 0 < len(digits) - i <= 2)


def _is_near_day(first: str, second: str) -> bool:
    """Whether two groups of digits are a month and a day, but for one digit too many or a separator out of place."""
    if len(first) <= 2 and len(second) <= 2 and is_month_day(int(first), int(second)):
        return True
    shorter = [(first[:i] + first[i + 1 :], second) for i in range(len(first)) if len(first) == 3]
    shorter += [(first, second[:i] + second[i + 1 :]) for i in range(len(second)) if len(second) == 3]
    if any(len(a) <= 2 and len(b) <= 2 and is_month_day(int(a), int(b)) for a, b in shorter):
        return True
    joined = first + second
    return len(joined) <= _MOST_FRONT and max(len(first), len(second)) == 3 and _is_day_run(joined)


def _is_near_year(digits: str) -> bool:
    """Whether digits are a year that lost or gained one: "201", "20199"."""
    if len(digits) == 3:
        return digits[0] in "02" or digits.startswith("19")
    return len(digits) == 5 and any(int(digits[:i] + digits[i + 1 :]) in _CENTURIES for i in range(5))


def _is_swapped_year(digits: str) -> bool:
    """Whether four digits are a year of which two neighbours changed places: "2109", "0219"."""
    return any(int(digits[:i] + digits[i + 1] + digits[i] + digits[i + 2 :]) in _CENTURIES for i in range(3))

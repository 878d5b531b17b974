"""Validators of ages: whether a number is an age over 89, or a year that reveals one.

Belongs here: the validators that `ages.yaml` names. Does not belong here: patterns (`ages.yaml`).
"""

from __future__ import annotations

from datetime import UTC, datetime

import regex

from deid_platform.detection.rules.en.dates import numbers_in
from deid_platform.detection.rules.engine.validator import Interval, validator

# Age of those who leave school: a class of 1947 was born in 1929.
_SCHOOL_LEAVING_AGE = 18
_SCHOOL_YEARS = 6  # for which a pupil speaks of the class to leave with
_OLDEST_KEPT_AGE = 89
_TEMPERATURE = regex.compile(
    r"\b(?:t|tm|tmax|tcurrent|temps?|temperatures?|fever\w*|febrile|afebrile|degrees|heat\w*|rectal|oral|axillary"
    r"|tympanic|temporal|water|needle|gauge|rooms?|rm|bed|unit|apt|weights?|wt|length)\b",
    regex.IGNORECASE,
)
# What is in the nineties without being an age.
_VITAL = regex.compile(
    r"\b(?:hr|heart[ ]rate|pulse|rate|bp|sbp|dbp|systolics?|diastolics?|pressures?|map|sats?|saturations?|saturating"
    r"|satting|spo2|sao2|o2|oxygen|glucose|sugars?|bs|fs|temps?|temperatures?|weight)\b[^.;\r\n]{0,30}$",
    regex.IGNORECASE,
)


@validator
def old_age(text: str, start: int, end: int) -> Interval | None:
    """A number of years over 89, which HIPAA counts among the identifiers."""
    return (start, end) if 90 <= numbers_in(text, start, end)[0] <= 125 else None


@validator
def old_age_not_heat(text: str, start: int, end: int) -> Interval | None:
    """An age over 89 before F or M, where nothing before it speaks of a temperature in Fahrenheit."""
    measured = _TEMPERATURE.search(text, max(0, start - 24), start)
    return None if measured else old_age(text, start, end)


@validator
def old_age_written(text: str, start: int, end: int) -> Interval | None:
    """An age over 89 in digits; one in words is such by its pattern."""
    return old_age(text, start, end) if text[start].isdigit() else (start, end)


@validator
def old_age_unmeasured(text: str, start: int, end: int) -> Interval | None:
    """As `old_age_written`, where nothing before it speaks of a pulse, a pressure or a temperature."""
    return None if is_measured(text, start) else old_age_written(text, start, end)


def is_measured(text: str, start: int) -> bool:
    """Whether something before a number speaks of a pulse, a pressure or a temperature."""
    vital = _VITAL.search(text, max(0, start - 48), start) or _TEMPERATURE.search(text, max(0, start - 24), start)
    return vital is not None


@validator
def old_decade(text: str, start: int, end: int) -> Interval | None:
    """A decade of life beyond the eighties, where nothing before it speaks of a pulse or a pressure."""
    return None if _VITAL.search(text, max(0, start - 48), start) else (start, end)


@validator
def birth_year(text: str, start: int, end: int) -> Interval | None:
    """A year of birth of a person who is over 89 today; whether that was so in the note, the policy decides.

    Two digits may always be of the last century.
    """
    year = numbers_in(text, start, end)[0]
    return (start, end) if birth_year_of(year + 1900 if year < 100 else year) else None


def birth_year_of(year: int) -> bool:
    """Whether whoever was born in a year is over 89 today."""
    return 1850 <= year < datetime.now(UTC).year - _OLDEST_KEPT_AGE


@validator
def school_year(text: str, start: int, end: int) -> Interval | None:
    """A school-leaving year of a person who is over 89 today; recent two-digit years count as 20xx."""
    year, today = numbers_in(text, start, end)[0], datetime.now(UTC).year
    if year < 100:
        year += 2000 if year <= today % 100 + _SCHOOL_YEARS else 1900
    return (start, end) if 1850 <= year < today - _OLDEST_KEPT_AGE + _SCHOOL_LEAVING_AGE else None

"""How notes write dates.

Belongs here: one date to one way of writing it. Does not belong here: which date (`chart`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date

from deid_platform.lexicon.month_names import ordinal
from deid_platform.surrogates.dice import Dice

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_SHORT = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_ONES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_WORDS = (
    *_ONES,
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth"),
    *("nineteenth", "twentieth", *(f"twenty-{one}" for one in _ONES[:9]), "thirtieth", "thirty-first"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def parts(day: date) -> dict[str, str]:
    """The pieces of a date by the tokens that stand for them in a pattern (`forms`)."""
    return {
        "YYYY": str(day.year),
        "YY": f"{day.year % 100:02d}",
        "Month": _MONTHS[day.month - 1],
        "Mon": _SHORT[day.month - 1],
        "MM": f"{day.month:02d}",
        "M": str(day.month),
        "Rom": _ROMAN[day.month - 1],
        "DD": f"{day.day:02d}",
        "D": str(day.day),
        "Do": ordinal(day.day),
        "Word": _WORDS[day.day - 1],
    }


def _typo(day: date, dice: Dice) -> str:
    """A slash lost, doubled or swallowed by a digit: what a hurried hand leaves."""
    year = f"{day.year % 100:02d}"
    return dice.pick(
        (
            f"{day.month}{day.day:02d}/{year}",
            f"{day.month}/{day.day:02d}{year}",
            f"{day.month}//{day.day}/{year}",
            f"{day.month}/{day.day}/2{day.year}",
            f"{day.month}/{day.day}/{year[0]}{year}",
        )
    )


# A note's own style, from which {note.any} and its like draw.
COMMON = ("us", "us0", "us2", "long", "medium", "iso", "hyphen")

WAYS: Mapping[str, Callable[[date, Dice], str]] = {
    "us": lambda d, _: f"{d.month}/{d.day}/{d.year}",
    "us0": lambda d, _: f"{d.month:02d}/{d.day:02d}/{d.year}",
    "us2": lambda d, _: f"{d.month}/{d.day}/{d.year % 100:02d}",
    "iso": lambda d, _: d.isoformat(),
    "long": lambda d, _: f"{_MONTHS[d.month - 1]} {d.day}, {d.year}",
    "medium": lambda d, _: f"{_SHORT[d.month - 1]} {d.day}, {d.year}",
    "hyphen": lambda d, _: f"{d.day:02d}-{_SHORT[d.month - 1]}-{d.year}",
    "short": lambda d, _: f"{d.month}/{d.day}",
    "named": lambda d, _: f"{_MONTHS[d.month - 1]} {ordinal(d.day)}",
    "slashed_month": lambda d, _: f"{d.month}/{d.year % 100:02d}",
    "month_year": lambda d, dice: f"{dice.pick((_MONTHS, _SHORT))[d.month - 1]} {d.year}",
    "day": lambda d, _: ordinal(d.day),
    "typo": _typo,
}

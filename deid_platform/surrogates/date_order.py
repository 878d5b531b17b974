"""Which of two numbers is the day, and whether a zero stands before a digit.

Belongs here: what a note, its language and the site tell of how its dates are written. Does not belong here: reading
or moving a date (`date_shapes.py`, `written_dates.py`).

"06/04/2022" is the 6th of April or the 4th of June, and moved as the wrong one it makes intervals false and tells of
the shift. Of what decides, the first that says anything counts: a day over 12 in the note, a date with dots, a date
that is the note's own, the language with its region, and the site's setting with the language. Where two of one step,
or the note's own date and the site, contradict each other, or none says anything, either order is possible.

Zeros go by the order and the setting, and never by the note. Kept where they stood, "12/25/2019" would become
"1/8/2020" in a note that writes "03/04/2019", and tell that both its numbers had two digits: a few such dates tell the
shift.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import lru_cache


class DateOrder(StrEnum):
    """Which number comes first where a date is written in numbers with the year last."""

    DAY_FIRST = "dmy"
    MONTH_FIRST = "mdy"


EITHER = (DateOrder.MONTH_FIRST, DateOrder.DAY_FIRST)
_PAIR = re.compile(
    r"(?<![0-9./-])(?P<one>[0-9]{1,2})\s?(?P<mark>[/.-])\s?(?P<two>[0-9]{1,2})"
    r"(?:\s?(?P=mark)\s?(?P<year>[0-9]{4}|[0-9]{2}))?(?P<dot>\.?)(?![0-9])"
)
_DAY_FIRST = frozenset(("it", "es", "fr", "de", "pt", "ca", "nl", "da", "nb", "no", "pl", "ro", "el", "tr", "cs", "fi"))
_MONTH_FIRST_REGIONS = frozenset(("us", "ph", "pr"))
# Where both are usual.
_EITHER_REGIONS = frozenset(("ca", "za", "ke"))


@dataclass(frozen=True, slots=True)
class DateWriting:
    """How a site writes dates in numbers, as far as it says so.

    Attributes:
        order: Which number is the day; None where the notes alone tell.
        zeros: Whether a zero stands before a digit; by default with the day first and not with the month first.
    """

    order: DateOrder | None = None
    zeros: bool | None = None

    @classmethod
    def of(cls, order: str | None, zeros: bool | None) -> DateWriting:
        """What settings say."""
        return cls(None if order is None else DateOrder(order), zeros)

    @property
    def parts(self) -> tuple[str, str]:
        """What names it in a digest."""
        return str(self.order), str(self.zeros)


NOTHING_SAID = DateWriting()


def usual_order(language: str) -> DateOrder:
    """The order that is usual in a language: for reading where nothing hangs on it."""
    told = _of_language(language.casefold())
    return DateOrder.MONTH_FIRST if told is None and language[:2].casefold() == "en" else told or DateOrder.DAY_FIRST


@lru_cache(maxsize=1024)
def possible_orders(
    dates: tuple[str, ...], language: str, near: date | None, said: DateOrder | None, *, dotted: bool = False
) -> tuple[DateOrder, ...]:
    """The orders that a date of a note may have: one, or both where nothing decides.

    Args:
        dates: The note's dates as they are written.
        language: The note's, in small letters.
        near: When the note was written.
        said: What the site says.
        dotted: Whether the date has dots: such dates and others may differ in a note, as where a device wrote some.
    """
    pairs = [pair for text in dates for pair in _PAIR.finditer(text)]
    alike = [pair for pair in pairs if (pair["mark"] == ".") is dotted]
    own = set(_own(pairs, near))
    if own and said is not None:
        # One date in a few thousand is the note's own by chance, with its numbers exchanged.
        own.add(said)
    for told in (set(_over_twelve(alike)), set(_over_twelve(pairs)), set(_dotted(pairs)), own):
        if told:
            return EITHER if len(told) == 2 else tuple(told)
    usual = _of_language(language)
    if _region(language) and usual is not None:
        return (usual,)
    both = {order for order in (usual, said) if order is not None}
    return tuple(both) if len(both) == 1 else EITHER


def undecided(surface: str, dates: tuple[str, ...], language: str, near: date | None, said: DateOrder | None) -> bool:
    """Whether nothing says which number of a date is the day, where that makes a difference.

    Args:
        surface: The date.
        dates: The note's dates as they are written, this one among them.
        language: The note's.
        near: When the note was written.
        said: What the site says.
    """
    pair = _PAIR.search(surface)
    if pair is None or max(int(pair["one"]), int(pair["two"])) > 12 or pair["one"] == pair["two"]:
        return False
    return len(possible_orders(dates, language.casefold(), near, said, dotted=pair["mark"] == ".")) > 1


def _over_twelve(pairs: list[re.Match[str]]) -> Iterator[DateOrder]:
    for pair in pairs:
        one, two = int(pair["one"]), int(pair["two"])
        if 12 < one <= 31 and 1 <= two <= 12:
            yield DateOrder.DAY_FIRST
        elif 12 < two <= 31 and 1 <= one <= 12:
            yield DateOrder.MONTH_FIRST


def _dotted(pairs: list[re.Match[str]]) -> Iterator[DateOrder]:
    return (DateOrder.DAY_FIRST for pair in pairs if pair["mark"] == "." and (pair["year"] or pair["dot"]))


def _own(pairs: list[re.Match[str]], near: date | None) -> Iterator[DateOrder]:
    if near is None or near.day == near.month:
        return
    for pair in pairs:
        if pair["year"] in (f"{near.year:04d}", f"{near.year % 100:02d}"):
            numbers = int(pair["one"]), int(pair["two"])
            if numbers == (near.day, near.month):
                yield DateOrder.DAY_FIRST
            elif numbers == (near.month, near.day):
                yield DateOrder.MONTH_FIRST


def _region(language: str) -> str:
    return language.replace("_", "-")[2:].partition("-")[2][:2]


def _of_language(language: str) -> DateOrder | None:
    tongue, region = language[:2], _region(language)
    if region in _MONTH_FIRST_REGIONS:
        return DateOrder.MONTH_FIRST
    if region in _EITHER_REGIONS or (tongue == "en" and not region):
        return None
    return DateOrder.DAY_FIRST if tongue == "en" or tongue in _DAY_FIRST else None

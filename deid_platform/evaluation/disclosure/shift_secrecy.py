"""How many date shifts remain possible to a reader who knows something of one event from elsewhere.

Belongs here: counting the shifts that fit what is known and what is shown. Does not belong here: which shifts there are
(`surrogates/dates.py`).

The reader knows all possible shifts and how a written date is moved, which is public, and not the secret. Every shift
is as likely as another, so that what is left of the secret is the number of those that fit: two to the power of so many
bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import log2
from random import Random

from deid_platform.surrogates.dates import POSSIBLE_WEEKS, DateShift
from deid_platform.surrogates.written_dates import shift_text

Fits = Callable[[date, date], bool]
"""Whether what is known of a true day fits another day as well."""

FITS: dict[str, Fits] = {
    "nothing": lambda *_: True,
    "its month, of whichever year": lambda true, other: other.month == true.month,
    "its year": lambda true, other: other.year == true.year,
    "that it was no later than today, of a note of today": lambda true, other: other <= true,
    "its month and year": lambda true, other: (other.year, other.month) == (true.year, true.month),
    "its day": lambda true, other: other == true,
}
"""What may be known of one event, from the least to the most."""


@dataclass(frozen=True, slots=True)
class Secrecy:
    """What is left of a secret shift, over events and shifts.

    Attributes:
        mean: How many shifts remain possible, on average.
        bits: Their binary logarithm, on average.
        told: Share of cases in which one shift remains.
    """

    mean: float
    bits: float
    told: float


def left_by_knowledge(by: DateShift, fits: Fits, days: Iterable[date]) -> Secrecy:
    """What is left to a reader who sees one shifted day and knows something of the true one.

    Args:
        by: Among which shifts the patient's is.
        fits: What is known.
        days: True days, each of which is moved by every shift.
    """
    shifts = [timedelta(weeks=weeks) for weeks in POSSIBLE_WEEKS[by]]
    return _secrecy([sum(fits(day, day + moved - other) for other in shifts) for day in days for moved in shifts])


def left_by_pairs(by: DateShift, written: str, pairs: int, days: Sequence[date], *, seed: int = 0) -> Secrecy:
    """What is left where one note names an event in part and another in full, of several events of a patient.

    Args:
        by: Among which shifts the patient's is.
        written: How the first note writes it, as `strftime` has it: "%B %Y", "%Y".
        pairs: How many events.
        days: True days to draw from; every shift gets events of its own.
        seed: Of the days that are drawn.
    """
    dice, remaining = Random(seed), []  # noqa: S311 - no secret of anybody's
    for shift in POSSIBLE_WEEKS[by]:
        possible = list(POSSIBLE_WEEKS[by])
        for day in dice.sample(days, pairs):
            shown, in_part = day + timedelta(weeks=shift), shift_text(day.strftime(written), 7 * shift)
            possible = [
                weeks
                for weeks in possible
                if shift_text((shown - timedelta(weeks=weeks)).strftime(written), 7 * weeks) == in_part
            ]
        remaining.append(len(possible))
    return _secrecy(remaining)


def _secrecy(remaining: Sequence[int]) -> Secrecy:
    count = len(remaining)
    return Secrecy(sum(remaining) / count, sum(map(log2, remaining)) / count, remaining.count(1) / count)

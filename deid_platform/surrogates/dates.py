"""The date shift: one secret, whole number of weeks a patient.

Belongs here: how far, with whom, and the shifted structured date. Does not belong here: dates inside texts
(`written_dates.py`).

The shift is an HMAC of the patient alone, so that intervals between a patient's notes stay exact, in
every delivery and on every machine, and whoever withdraws and takes part again keeps theirs. Whole weeks keep
weekdays true. A newborn moves with the mother, whose own notes tell of the birth: two shifts would tell of each other.

Where topics name the mother only after a newborn's first notes were released, its dates move anew, in all of its notes:
a refresh makes the earlier ones again, for which it goes by the links of all deliveries and not by those known then.
Until that is done the warehouse shows the notes of one shift alone, so that no release ever shows two of one patient.

A policy chooses among two sets of shifts. `weeks` moves by up to a year, through all seasons. `season` moves by about a
whole number of years: the day of the year moves by 1 to 20 days, so that flu stays in winter. It leaves fewer shifts,
and years tell more of them: docs/policies.md has the figures. The two are drawn apart, and no secret shows both.

Where a trial or a registry has drawn offsets already, they stand in the place of the keyed ones (`GivenShifts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Note, Topics

MAX_WEEKS = 52
_MOST_YEARS = 5
# From a whole number of years. None at all would leave "March 14" where it stands; three weeks are a quarter of a
# season.
_LEAST_DAYS, _MOST_DAYS = 1, 20
_DAYS_A_YEAR = 365.25


class DateShift(StrEnum):
    """How far a patient's dates may move."""

    WEEKS = "weeks"
    SEASON = "season"


def _near_whole_years(years: int) -> Iterator[int]:
    """The numbers of weeks that come near a whole number of years, the least first."""
    for year in range(1, years + 1):
        middle = round(year * _DAYS_A_YEAR / 7)
        for weeks in range(middle - 4, middle + 5):
            if _LEAST_DAYS <= abs(7 * weeks - year * _DAYS_A_YEAR) <= _MOST_DAYS:
                yield weeks


def season_weeks(years: int = _MOST_YEARS) -> tuple[int, ...]:
    """All shifts by up to so many years that keep the season, in weeks, those back first."""
    ahead = tuple(_near_whole_years(years))
    return (*(-weeks for weeks in reversed(ahead)), *ahead)


POSSIBLE_WEEKS: dict[DateShift, tuple[int, ...]] = {
    DateShift.WEEKS: (*range(-MAX_WEEKS, 0), *range(1, MAX_WEEKS + 1)),
    DateShift.SEASON: season_weeks(),
}
"""Every possible shift in weeks, those back first: 104 and 56."""
# Two sets of shifts from one number would tell of each other.
_PURPOSE = {DateShift.WEEKS: "date-shift", DateShift.SEASON: "date-shift-season"}


MOST_GIVEN_DAYS = 3_660
"""How far an offset from outside may move dates, back or ahead: ten years."""


@dataclass(frozen=True)
class GivenShifts:
    """Offsets that somebody outside drew, in place of the keyed ones: a trial's, a registry's.

    Attributes:
        days: Patient -> how many days the dates of its notes move. No household shares one: whoever drew them knows.
        digest: Of the file that they are from.
        keyed_if_missing: Whether a patient who is not named has the keyed shift; else nothing says how far.
    """

    days: Mapping[str, int] = field(repr=False)
    digest: str
    keyed_if_missing: bool = False

    def lacks(self, patient_id: str | None) -> bool:
        """Whether nothing says how far the dates of a note of this patient move."""
        return not self.keyed_if_missing and patient_id not in self.days


def shift_scope(topics: Topics | None, patient_id: str) -> str:
    """Whose shift a patient's dates share: the mother's where topics link them, and hers in turn; else their own.

    A link that only a former row tells still holds: dates must not move apart again. Links that go in a circle name
    the same one for everybody in it.
    """
    seen = [patient_id]
    while topics is not None:
        rows = topics.patients_known_as(seen[-1])
        mother = next((row.mother_id for row in rows if row.mother_id), None)
        if mother is None:
            break
        if mother in seen:
            return min(seen[seen.index(mother) :])
        seen.append(mother)
    return seen[-1]


def shift_days(keyring: Keyring, patient_id: str, by: DateShift = DateShift.WEEKS) -> int:
    """How many days a patient's dates move, back or ahead, in whole weeks, never 0.

    Args:
        keyring: Signs the shift.
        patient_id: As `shift_scope` resolves it.
        by: Among which shifts.
    """
    return _days(keyring.mac(_PURPOSE[by], patient_id), by)


def note_shift_days(
    keyring: Keyring,
    topics: Topics | None,
    note: Note,
    by: DateShift = DateShift.WEEKS,
    given: GivenShifts | None = None,
) -> int:
    """How many days the dates of a note move, in its text and beside it: as its patient's, else by the note itself.

    Raises:
        DeidError: `offsets-invalid` if offsets were given, none for this patient, and none is to be drawn.
    """
    if given is not None and given.lacks(note.patient_id):
        raise DeidError(Code.OFFSETS_INVALID)
    if given is not None and note.patient_id is not None and note.patient_id in given.days:
        return given.days[note.patient_id]
    if note.patient_id is None:
        return _days(keyring.mac(f"{_PURPOSE[by]}-note", note.note_id), by)
    return shift_days(keyring, shift_scope(topics, note.patient_id), by)


def shifted(
    keyring: Keyring,
    topics: Topics | None,
    note: Note,
    by: DateShift = DateShift.WEEKS,
    given: GivenShifts | None = None,
) -> date | None:
    """A note's date, moved with its patient.

    Args:
        keyring: Signs the shift.
        topics: Say who shares whose shift; of all that is known, lest a patient be moved two ways.
        note: The note; one without a patient moves by its own `note_id`.
        by: Among which shifts.
        given: Offsets from outside.

    Returns:
        The shifted date, if the shift is keyed on the same day of the week; None where the note has none, or where the
        calendar ends (years 1 and 9999).
    """
    if note.note_date is None:
        return None
    try:
        return note.note_date + timedelta(days=note_shift_days(keyring, topics, note, by, given))
    except OverflowError:
        return None


def _days(mac: bytes, by: DateShift) -> int:
    # At most 104 outcomes from 64 bits: the bias is below 1e-17.
    possible = POSSIBLE_WEEKS[by]
    return 7 * possible[int.from_bytes(mac[:8], "big") % len(possible)]

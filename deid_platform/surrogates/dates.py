"""The date shift: one secret, whole number of weeks a patient.

Belongs here: how far, with whom, and the shifted structured date. Does not belong here: dates inside texts
(`written_dates.py`).

The shift is an HMAC of the patient alone, so that intervals between a patient's notes stay exact, in
every delivery and on every machine, and whoever withdraws and takes part again keeps theirs. Whole weeks keep
weekdays true. A newborn moves with the mother, whose own notes tell of the birth: two shifts would tell of each other.

Where topics name the mother only after a newborn's first notes were released, its dates move anew, in all of its notes:
a refresh makes the earlier ones again, for which it goes by the links of all deliveries and not by those known then.
Until that is done the warehouse shows the notes of one shift alone, so that no release ever shows two of one patient.
"""

from __future__ import annotations

from datetime import date, timedelta

from deid_platform.keys import Keyring
from deid_platform.notes import Note, Topics

MAX_WEEKS = 52


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


def shift_days(keyring: Keyring, patient_id: str) -> int:
    """How many days a patient's dates move: 7 to 364 days back or ahead, in whole weeks, never 0.

    Args:
        keyring: Signs the shift.
        patient_id: As `shift_scope` resolves it.
    """
    return _days(keyring.mac("date-shift", patient_id))


def note_shift_days(keyring: Keyring, topics: Topics | None, note: Note) -> int:
    """How many days the dates of a note move, in its text and beside it: as its patient's, else by the note itself."""
    if note.patient_id is None:
        return _days(keyring.mac("date-shift-note", note.note_id))
    return shift_days(keyring, shift_scope(topics, note.patient_id))


def shifted(keyring: Keyring, topics: Topics | None, note: Note) -> date | None:
    """A note's date, moved with its patient.

    Args:
        keyring: Signs the shift.
        topics: Say who shares whose shift; of all that is known, lest a patient be moved two ways.
        note: The note; one without a patient moves by its own `note_id`.

    Returns:
        The shifted date, on the same day of the week; None where the note has none, or where the calendar ends
        (years 1 and 9999).
    """
    if note.note_date is None:
        return None
    try:
        return note.note_date + timedelta(days=note_shift_days(keyring, topics, note))
    except OverflowError:
        return None


def _days(mac: bytes) -> int:
    # 104 outcomes from 64 bits: the bias is below 1e-17. 0..51 are weeks back, 52..103 weeks ahead.
    step = int.from_bytes(mac[:8], "big") % (2 * MAX_WEEKS)
    weeks = step - MAX_WEEKS if step < MAX_WEEKS else step - MAX_WEEKS + 1
    return 7 * weeks

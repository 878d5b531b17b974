"""What a policy lets through of a note's structured date.

Belongs here: the columns beside the text that redaction changes. Does not belong here: ids, which
become keys (`keys.py`), and the text (`redact.py`).
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from deid_platform.keys import Keyring
from deid_platform.notes import Note, Topics
from deid_platform.redaction.policy import NoteDateRule, Policy
from deid_platform.redaction.years import reveals_age
from deid_platform.surrogates.dates import GivenShifts, shifted


class ReleasedDate(NamedTuple):
    """A note's date as research may see it: a year, a day (shifted, unless the policy keeps dates), or neither."""

    year: int | None = None
    day: date | None = None


def released_date(
    note: Note,
    policy: Policy,
    keyring: Keyring,
    *,
    birth_date: date | None = None,
    topics: Topics | None = None,
    given: GivenShifts | None = None,
) -> ReleasedDate:
    """The note's date under a policy.

    Under `year`, a year in which the patient is over 89 is withheld, as it is in the text. Under `shift`
    only the shifted day is given: a true year beside it would narrow the shift down.

    Args:
        note: The note.
        policy: Says what remains.
        keyring: Signs the shift.
        birth_date: The patient's, where the topics know it.
        topics: Say which patients share a shift.
        given: Offsets of dates from outside.
    """
    if note.note_date is None or policy.note_date is NoteDateRule.DROP:
        return ReleasedDate()
    if policy.note_date is NoteDateRule.SHIFT:
        return ReleasedDate(day=shifted(keyring, topics, note, policy.date_shift, given))
    if policy.note_date is NoteDateRule.KEEP:
        return ReleasedDate(day=note.note_date)
    if reveals_age(note.note_date.year, note.note_date, birth_date):
        return ReleasedDate()
    return ReleasedDate(year=note.note_date.year)

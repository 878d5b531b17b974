"""What a policy lets through of a note's structured date.

Belongs here: the columns beside the text that redaction changes. Does not belong here: ids, which
become keys (`keys.py`), and the text (`redact.py`).
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from deid_platform.keys import Keyring
from deid_platform.notes import Note
from deid_platform.redaction.policy import NoteDateRule, Policy
from deid_platform.redaction.years import reveals_age
from deid_platform.surrogates.dates import shifted


class ReleasedDate(NamedTuple):
    """A note's date as research may see it: a year, a shifted day, or neither."""

    year: int | None = None
    day: date | None = None


def released_date(note: Note, policy: Policy, keyring: Keyring, *, birth_date: date | None = None) -> ReleasedDate:
    """The note's date under a policy.

    Under `year`, a year in which the patient is over 89 is withheld, as it is in the text. Under `shift`
    only the shifted day is given: a true year beside it would narrow the shift down.
    """
    if note.note_date is None or policy.note_date is NoteDateRule.DROP:
        return ReleasedDate()
    if policy.note_date is NoteDateRule.SHIFT:
        return ReleasedDate(day=shifted(keyring, note.note_date, patient_id=note.patient_id, note_id=note.note_id))
    if reveals_age(note.note_date.year, note.note_date, birth_date):
        return ReleasedDate()
    return ReleasedDate(year=note.note_date.year)

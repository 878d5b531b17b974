"""What the columns beside a note's text tell.

Belongs here: a judgement on the values that will be staged with the text. Does not belong here: the text
(`check.py`), or whether the values are well formed (the expectations over staging).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from deid_platform.leakcheck.kinds import LeakKind
from deid_platform.notes import Note, Patient
from deid_platform.redaction.policy import NoteDateRule, Policy

OLDEST_SHOWN_AGE = 89
_LANGUAGE = re.compile(r"[a-z]{2}|und")
# A key has 26 random characters: a shorter id would be found in one by chance.
_TELLING_IN_KEY = 8
_TELLING_IN_WORD = 5


@dataclass(frozen=True, slots=True, repr=False)
class Released:
    """The values that are released beside a note's text, as far as they are known where it is checked.

    Attributes:
        note_type: As shown.
        language: As shown.
        note_year: As shown.
        shifted_date: As shown.
        site: The institution's name in the warehouse.
        keys: The keyed ids of note, patient, encounter and provider.
        offset: The days by which the patient's dates move where somebody outside drew them; else whole weeks.
    """

    note_type: str | None = None
    language: str | None = None
    note_year: int | None = None
    shifted_date: date | None = None
    site: str | None = None
    keys: tuple[str, ...] = ()
    offset: int | None = None

    def __repr__(self) -> str:
        return "<Released>"


def columns_left(note: Note, own: Sequence[Patient], released: Released, policy: Policy) -> Iterator[LeakKind]:
    """The columns that tell what the policy hides; the type is read as a text by the caller.

    Args:
        note: The original.
        own: All rows of the note's patient.
        released: What is to be staged.
        policy: Says what may remain of the note's date.
    """
    ids = [i for i in (note.note_id, note.patient_id, note.encounter_id, note.provider_id) if i]
    ids += [number for row in own for number in (row.mrn, row.ssn, row.email) if number]
    if released.language is not None and not _LANGUAGE.fullmatch(released.language):
        yield LeakKind.COLUMN_LANGUAGE
    if released.note_type is not None and _holds(released.note_type, ids, _TELLING_IN_WORD):
        yield LeakKind.COLUMN_TYPE
    if released.site is not None and _holds(released.site, ids, _TELLING_IN_WORD):
        yield LeakKind.COLUMN_SITE
    if any(_holds(key, ids, _TELLING_IN_KEY) for key in released.keys):
        yield LeakKind.COLUMN_KEY
    if released.shifted_date is not None and not _is_allowed(released.shifted_date, note, policy, released.offset):
        yield LeakKind.COLUMN_DATE
    if released.note_year is not None and _tells(released.note_year, note, own, policy):
        yield LeakKind.COLUMN_YEAR


def _holds(value: str, ids: Sequence[str], telling: int) -> bool:
    shown = value.casefold()
    return any(shown == i.casefold() or (len(i) >= telling and i.casefold() in shown) for i in ids)


def _is_allowed(day: date, note: Note, policy: Policy, offset: int | None) -> bool:
    """Whether the policy lets a day through: another one, by whole weeks or the offset; or the note's own."""
    if policy.note_date is NoteDateRule.SHIFT and note.note_date is not None:
        moved = (day - note.note_date).days
        return moved != 0 and (moved % 7 == 0 if offset is None else moved == offset)
    return policy.note_date is NoteDateRule.KEEP and day == note.note_date


def _tells(year: int, note: Note, own: Sequence[Patient], policy: Policy) -> bool:
    """Whether a year tells more than the policy lets through: it is not the note's, or shows an age over 89."""
    if policy.note_date is not NoteDateRule.YEAR or note.note_date is None or year != note.note_date.year:
        return True
    return any(row.birth_date is not None and year - row.birth_date.year > OLDEST_SHOWN_AGE for row in own)

"""MIMIC-III: NOTEEVENTS, and PATIENTS and CAREGIVERS where they lie beside it, as CSV.

Belongs here: its tables and columns. Does not belong here: reading them (`mimic.py`).

A note that a clinician has marked as an error (ISERROR 1) is no note, and withdraws an older version of itself. Who the
patients are nobody may know: the topics hold ids, sex and moved birth dates alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from deid_platform.corpora import Role
from deid_platform.corpora.formats.mimic import Mimic, Table
from deid_platform.corpora.placeholders import mimic3_placeholders

_ERROR = "1"
_TABLES = {
    "noteevents": Table(
        (Role.NOTES, Role.WITHDRAWN),
        {
            "row_id": "note_id",
            "subject_id": "patient_id",
            "hadm_id": "encounter_id",
            "cgid": "provider_id",
            "category": "note_type",
            "text": "text",
        },
    ),
    "patients": Table((Role.PATIENTS,), {"subject_id": "patient_id", "gender": "sex", "dob": "birth_date"}),
    "caregivers": Table((Role.PROVIDERS,), {"cgid": "provider_id", "label": "title"}),
}


def _cells(role: Role, row: Mapping[str, object], named: dict[str, object]) -> dict[str, object] | None:
    if role not in (Role.NOTES, Role.WITHDRAWN):
        return named
    wrong = str(row.get("iserror") or "").strip().removesuffix(".0") == _ERROR
    if role is Role.WITHDRAWN:
        return {"note_id": named["note_id"]} if wrong else None
    return None if wrong else named


FEED = GOLD = Mimic(_TABLES, mimic3_placeholders, _cells)

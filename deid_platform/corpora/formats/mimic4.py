"""MIMIC-IV-Note: discharge and radiology, as CSV.

Belongs here: its tables and columns. Does not belong here: reading them (`mimic.py`).

Of its blanks only those that the words before them tell are gold (`corpora/placeholders.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from deid_platform.corpora import Role
from deid_platform.corpora.formats.mimic import Mimic, Table
from deid_platform.corpora.placeholders import mimic4_placeholders

_COLUMNS = {
    "note_id": "note_id",
    "subject_id": "patient_id",
    "hadm_id": "encounter_id",
    "note_type": "note_type",
    "text": "text",
}
_NOTES = Table((Role.NOTES,), _COLUMNS)
_TYPES = {"DS": "discharge summary", "AD": "discharge addendum", "RR": "radiology report", "AR": "radiology addendum"}


def _cells(role: Role, row: Mapping[str, object], named: dict[str, object]) -> dict[str, object] | None:
    del role, row
    kind = named.get("note_type")
    return {**named, "note_type": _TYPES.get(kind, kind)} if isinstance(kind, str) else named


FEED = GOLD = Mimic({"discharge": _NOTES, "radiology": _NOTES}, mimic4_placeholders, _cells)

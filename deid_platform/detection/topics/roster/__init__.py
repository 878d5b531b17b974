"""The roster: finds the note's own patient by name in every spelling, birth date, address, contacts and numbers.

    variants, nicknames              what is searched for; nicknames that no list has
    search                           one pass over a note, then what resembles a name
    misspelling, initials, mentions  words that only resemble a name
    births                           dates of birth
    unspaced                         scripts without spaces

Belongs here: current and former rows of the topics about the note's patient, and the relatives that these rows name.
Does not belong here: other people (`topics/gazetteer.py`).

The roster always wins: what it finds is never recovered as clinical, so that a patient named Bruce stays
hidden on the line of the Bruce protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from deid_platform.detection.api import Candidate, Document
from deid_platform.detection.topics.roster.births import date_forms
from deid_platform.detection.topics.roster.search import SOURCE, Entry
from deid_platform.notes import Topics

__all__ = ["SOURCE", "Roster", "date_forms"]

_CACHED_PATIENTS = 256


class Roster:
    """Finds the patient of each note, by the note's `patient_id`.

    Args:
        topics: Only the patients are used.
    """

    def __init__(self, topics: Topics) -> None:
        self._known_as = topics.patients_known_as
        self._entry = lru_cache(maxsize=_CACHED_PATIENTS)(Entry)

    def __repr__(self) -> str:
        return "<Roster>"

    def detect(self, documents: Sequence[Document]) -> list[list[Candidate]]:
        """Occurrences of each note's own patient; see `Detector`."""
        return [self._find(document) for document in documents]

    def _find(self, document: Document) -> list[Candidate]:
        rows = self._known_as(document.note.patient_id)
        return self._entry(rows).find(document) if rows else []

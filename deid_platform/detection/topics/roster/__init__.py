"""Finds the note's own patient: every part of the name in every writing, birth date, address, contacts, numbers.

Belongs here: what the topics say, and once said, about the one patient whose note it is, and about the relatives
that the patient's row names. Does not belong here: other people (`gazetteer.py`).

The roster always wins: what it finds is never given back as clinical, so that a patient named Bruce stays
hidden on the line of the Bruce protocol.

Reading order: `variants.py` says what is looked for, `search.py` looks; `misspelling.py`, `initials.py` and
`mentions.py` decide about what only resembles a name, `births.py` knows dates, `unspaced.py` scripts without spaces.
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

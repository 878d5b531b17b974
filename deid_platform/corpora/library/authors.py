"""Who wrote the library, and which part of the work each author's notes serve.

Belongs here: the list of authors, reading their notes and topics. Does not belong here: the notation
(`formats/marked.py`), or making more notes of one (`refill.py`).

An author's notes serve one purpose alone: a share of one author's ways is not another author. Nobody who trains a model
or writes rules reads the notes of a sealed author; their digest is fixed in the tests.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path

from deid_platform.corpora import Rejection
from deid_platform.corpora.formats.marked import ENDING, MarkedNote, marked_notes
from deid_platform.corpora.gold import SCHEME
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.notes import Facility, Patient, Provider, Topics

NAME = "library"
"""What gold and training call these notes."""
FOLDER = Path(str(resources.files(__package__) / "data"))


class Use(StrEnum):
    """What an author's notes serve."""

    TRAINING = "training"
    THRESHOLDS = "thresholds"
    TEST = "test"
    SEALED = "sealed"
    """A test whose notes nobody reads who trains a model or writes rules."""


@dataclass(frozen=True)
class Author:
    """One author.

    Attributes:
        name: Of the folder: language, country, place.
        language: ISO 639-1.
        use: What the notes serve.
        institution: As whose clinicians the author writes.
    """

    name: str
    language: str
    use: Use
    institution: str

    @property
    def folder(self) -> Path:
        """Where the notes are."""
        return FOLDER / self.name


@cache
def authors(*uses: Use, language: str | None = None) -> tuple[Author, ...]:
    """The authors of these uses, of all unless any is named, in the order of the list."""
    with (FOLDER / "authors.tsv").open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t")
        everybody = [Author(r["author"], r["language"], Use(r["use"]), r["institution"]) for r in rows]
    wanted = uses or tuple(Use)
    return tuple(one for one in everybody if one.use in wanted and language in (None, one.language))


def author(name: str) -> Author:
    """An author by name.

    Raises:
        DeidError: `corpus-unknown` with the nearest name.
    """
    known = {one.name: one for one in authors()}
    if name not in known:
        raise DeidError(Code.CORPUS_UNKNOWN, did_you_mean(name, known))
    return known[name]


def notes_by(one: Author) -> Iterator[MarkedNote]:
    """An author's notes in order, each a note of the author's name: its id and its patient's begin with it.

    Raises:
        DeidError: `gold-invalid` with the file's name if a note cannot be read.
    """
    for item in marked_notes(one.folder, scheme=SCHEME):
        if isinstance(item, Rejection):
            raise DeidError(Code.GOLD_INVALID, f"{one.name}/{item.note_id}: line {item.row}, {item.reason}")
        yield _named(item, one.name)


def _named(item: MarkedNote, name: str) -> MarkedNote:
    gold, patient = item.gold, item.patient
    if gold.note is None:
        return item
    note_id = f"{name}/{gold.note_id}"
    patient_id = f"{name}/{patient.patient_id}" if patient else None
    note = replace(gold.note, note_id=note_id, patient_id=patient_id, site=name)
    return replace(
        item,
        gold=replace(gold, note_id=note_id, note=note),
        patient=patient and replace(patient, patient_id=patient_id or ""),
        providers=tuple(replace(row, provider_id=f"{name}/{row.provider_id}") for row in item.providers),
        facilities=tuple(replace(row, facility_id=f"{name}/{row.facility_id}") for row in item.facilities),
    )


def topics_of(notes: Iterable[MarkedNote]) -> Topics:
    """What the master index knows of the patients, staff and institutions of notes.

    Where several headers have a row of one id, the last one stands.
    """
    patients: dict[str, Patient] = {}
    providers: dict[str, Provider] = {}
    facilities: dict[str, Facility] = {}
    for note in notes:
        if note.patient is not None:
            patients[note.patient.patient_id] = note.patient
        providers |= {row.provider_id: row for row in note.providers}
        facilities |= {row.facility_id: row for row in note.facilities}
    return Topics(patients=patients, providers=providers, facilities=facilities)


def digest(one: Author) -> str:
    """SHA-256 over an author's files in order, by which a sealed author's notes are fixed."""
    total = hashlib.sha256()
    for path in sorted(one.folder.glob(f"*{ENDING}")):
        total.update(f"{path.name}\n".encode() + path.read_bytes())
    return total.hexdigest()

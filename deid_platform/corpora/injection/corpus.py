"""A whole surrogate corpus: carriers in, notes with exact gold and their topics out.

Belongs here: the specification, the order of work over a corpus, worker processes. Does not belong here: one note's
edits (`filling.py`, `weaving.py`) or where carriers come from (`corpora/catalogue.py`).

A corpus has two parts that share no name of a person, no way of writing and no carrier: the training part, from the
sets of ways that are open, and the test part, from the set that is sealed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from itertools import islice
from typing import ClassVar

from deid_platform.corpora.gold import Gold
from deid_platform.corpora.injection.anchors import age_of, sex_of
from deid_platform.corpora.injection.carriers import Carrier
from deid_platform.corpora.injection.chart import Chart
from deid_platform.corpora.injection.edits import applied
from deid_platform.corpora.injection.filling import filled
from deid_platform.corpora.injection.institution import Institution
from deid_platform.corpora.injection.patients import PatientFile
from deid_platform.corpora.injection.ways import OPEN, SEALED, SECTIONS, Ways, ways_of
from deid_platform.corpora.injection.weaving import Density, woven
from deid_platform.corpora.injection.words import LANGUAGES
from deid_platform.corpora.noise import NoiseSpec, noisy
from deid_platform.engine.workers import Answer, Job, Task, answer, answers
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Facility, Note, Patient, Provider, Span
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import locale
from deid_platform.surrogates.pools import Share

_BATCH = 64  # carriers; fixed, since patients are shared within a batch
_MOST_NOTES = 3  # of one patient
_SAME_PATIENT = 0.35
_FIRST_DAY, _DAYS = date(2014, 1, 1), 4200


class Part(StrEnum):
    """Which of the two parts of a corpus."""

    TRAINING = "training"
    TEST = "test"


@dataclass(frozen=True)
class InjectionSpec:
    """What to make of carriers.

    Attributes:
        corpus: The carriers' name; part of the seed.
        locale: Whose people, places and numbers, one of `LOCALES`.
        part: Decides ways, names and carriers.
        weave: Whether identifiers are woven in, beside filling the carriers' own slots.
        seed: The same seed gives the same notes.
        staff: Clinicians of the institution.
        clinics: Hospitals and clinics.
        density: How much is woven in.
        sets: The sets of ways; those of the part unless given.
        noise: What a scanner or a hurried hand does to finished notes; nothing unless given.
    """

    corpus: str
    locale: str
    part: Part = Part.TEST
    weave: bool = True
    seed: int = 7
    staff: int = 240
    clinics: int = 30
    density: Density = field(default_factory=Density)
    sets: tuple[str, ...] = ()
    noise: NoiseSpec | None = None

    @property
    def share(self) -> Share:
        """The share of the names of people."""
        return Share.HELD_OUT if self.part is Part.TEST else Share.TRAINING

    @property
    def ways(self) -> tuple[str, ...]:
        """The sets of ways."""
        return self.sets or ((SEALED,) if self.part is Part.TEST else OPEN)

    def institution(self) -> Institution:
        """Staff and clinics of the corpus."""
        name = f"{self.seed}/{self.corpus}/{self.locale}/{self.part}"
        prefix = f"{self.part}-"
        return Institution(locale(self.locale), self.share, name, staff=self.staff, clinics=self.clinics, prefix=prefix)


@dataclass(frozen=True, slots=True, repr=False)
class Injected:
    """A note with its gold.

    Attributes:
        note: The note, with the ids of its patient and its author.
        gold: Its identifiers, in order, never overlapping.
        ways: For each the way of writing that it is an example of; empty for a filled slot.
        patient: The patient's row of the topics.
    """

    note: Note
    gold: tuple[Span, ...]
    ways: tuple[str, ...]
    patient: Patient

    def __repr__(self) -> str:
        return "<Injected>"


def part_of(note_id: str) -> Part:
    """The part that a carrier is for, where its corpus has no split of its own: by a hash of its id, half and half."""
    return Part.TEST if hashlib.sha256(note_id.encode()).digest()[0] & 1 else Part.TRAINING


def inject(spec: InjectionSpec, carriers: Iterable[Carrier], *, workers: int = 1) -> Iterator[Injected]:
    """The surrogate notes of carriers, in their order, streamed.

    Args:
        spec: What to make.
        carriers: Of the spec's part.
        workers: Worker processes; the result does not depend on them.

    Raises:
        DeidError: `locale-unknown`, `input-invalid`; `surrogate-failed` if a carrier could not be filled: a corpus that
            silently lacks notes would flatter.
    """
    locale(spec.locale)
    job = _Injection(spec)
    batches = _batches(carriers)
    for results, _ in answers(job, batches, workers) if workers > 1 else _in_process(job, batches):
        for result in results:
            if result is None:
                raise DeidError(Code.SURROGATE_FAILED, spec.corpus)
            yield result


def _in_process(job: _Injection, batches: Iterable[list[Carrier]]) -> Iterator[Answer[Injected | None]]:
    task = job.build()
    return (answer(job, task, batch) for batch in batches)


def staff_of(spec: InjectionSpec) -> tuple[list[Provider], list[Facility]]:
    """The topics of a corpus's institution."""
    institution = spec.institution()
    return [staff.row() for staff in institution.staff], [clinic.row() for clinic in institution.clinics]


def _batches(carriers: Iterable[Carrier]) -> Iterator[list[Carrier]]:
    items = iter(carriers)
    while batch := list(islice(items, _BATCH)):
        yield batch


@dataclass(frozen=True)
class _Injection(Job[Carrier, Injected | None]):
    """Makes one spec's notes."""

    spec: InjectionSpec
    fault: ClassVar[Code] = Code.SURROGATE_FAILED

    def build(self) -> _Injecting:
        return _Injecting(self.spec)

    def failed(self, item: Carrier) -> None:
        """Nothing of it is shown."""


class _Injecting(Task[Carrier, Injected | None]):
    """One process's institution and ways."""

    def __init__(self, spec: InjectionSpec) -> None:
        self._spec = spec
        self._institution = spec.institution()
        self._ways: dict[str, Ways] = {}
        if spec.weave:
            # A set that is not there is said here: of what a note raises, nothing is told.
            self._ways_in(LANGUAGES[0])

    def __call__(self, batch: Sequence[Carrier]) -> list[Injected | None]:
        latest: dict[tuple[str, str], tuple[PatientFile, int]] = {}
        return [self._one(carrier, latest) for carrier in batch]

    def _one(self, carrier: Carrier, latest: dict[tuple[str, str], tuple[PatientFile, int]]) -> Injected:
        note, spec = carrier.note, self._spec
        language = note.language[:2] if note.language[:2] in LANGUAGES else LANGUAGES[0]
        dice = Dice(spec.seed, spec.corpus, spec.locale, spec.part, note.note_id)
        day = _FIRST_DAY + timedelta(days=dice.between(0, _DAYS))
        patient = self._patient(note, language, day, dice, latest)
        chart = Chart(self._institution, patient, day=day, dice=dice, language=language)
        edits = filled(carrier, chart, self._institution)
        if spec.weave:
            edits += woven(note.text, chart, self._ways_in(language), spec.density)
        text, gold, ways = applied(note.text, edits)
        named = Note(
            note_id=note.note_id,
            text=text,
            patient_id=patient.patient_id,
            provider_id=chart.author.provider_id,
            site=spec.corpus,
            note_type=note.note_type,
            note_date=day,
            language=note.language,
        )
        if spec.noise is not None:
            worse = noisy(Gold(note.note_id, gold, note=named), spec.noise).gold
            named, gold = worse.note or named, worse.spans
        return Injected(named, gold, ways, patient.row())

    def _patient(
        self, note: Note, language: str, day: date, dice: Dice, latest: dict[tuple[str, str], tuple[PatientFile, int]]
    ) -> PatientFile:
        """The source's patient, else one who may have had a note in this batch before."""
        if note.patient_id is not None:
            return self._of_source(note.patient_id, language)
        sex = sex_of(note.text, language) or ("F" if dice.chance(0.5) else "M")
        joined = dice.chance(_SAME_PATIENT)
        key = (language, sex)
        known, notes = latest.get(key, (None, 0))
        if known is not None and joined and notes < _MOST_NOTES:
            latest[key] = (known, notes + 1)
            return known
        age = age_of(note.text, language) or dice.between(18, 88)
        made = PatientFile(self._institution, _keyed(note.note_id), sex=sex, age=age, day=day, language=language)
        latest[key] = (made, 1)
        return made

    def _of_source(self, patient_id: str, language: str) -> PatientFile:
        """A patient of the source's: all that is drawn depends on the id alone, since notes come in any order."""
        dice = Dice(self._spec.seed, "patient of", patient_id)
        sex = "F" if dice.chance(0.5) else "M"
        age = dice.between(18, 88)
        return PatientFile(self._institution, _keyed(patient_id), sex=sex, age=age, day=_FIRST_DAY, language=language)

    def _ways_in(self, language: str) -> Ways:
        """The ways of all sets of the spec in a language."""
        found = self._ways.get(language)
        if found is None:
            sets = [ways_of(name, language) for name in self._spec.ways]
            found = self._ways[language] = {s: tuple(way for ways in sets for way in ways[s]) for s in SECTIONS}
        return found


def _keyed(source_id: str) -> str:
    return f"P{hashlib.sha256(source_id.encode()).hexdigest()[:8]}"

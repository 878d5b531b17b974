"""How many notes and patients still show a direct identifier, exactly, and what that is at a site's notes a patient.

Belongs here: counts of what an adversary would be shown, with exact bounds. Does not belong here: whom he could find by
it (`linkage.py`), or whether he can tell it from surrogates (`plain_sight.py`).

Scores of words do not say how many patients are exposed. Murugadoss 2024 (supplement, before supplementary table 1)
does: 6 of 14,631 patients had a name left, 0.0004, on 15,716 notes, which is about one note each. Nobody releases one
note each. With a chance of p a note, and notes that leak independently of one another, 1 - (1 - p)^n of the patients
with n notes have a leak: at 400 notes a patient, 6 of 14,631 becomes 15%, and its exact upper bound 30%.

Independence is an assumption and the worse case of two: the same nickname tends to be missed in all notes of a patient,
and if a patient's notes leaked all together or not at all, the share would be p at any n. The truth lies between. Only
a sample with a site's own notes a patient says where.

Bounds are those of Clopper and Pearson 1934 (Biometrika 26:404), at least 95% whatever the share, so 0 of n has an
upper bound too (about 3.7 / n). They take what is counted as drawn independently. Patients are; for the notes of a few
patients the bounds are too narrow, and the bootstrap of `evaluation/scores/scores.py` stands beside them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import betaincinv

from deid_platform.evaluation.scores.missed_by_risk import ReadNote
from deid_platform.evaluation.scores.scores import count_note
from deid_platform.labels import DIRECT_IDENTIFIERS, Label

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Exact:
    """A share with exact bounds.

    Attributes:
        value: None of none.
        low: Lower bound of Clopper and Pearson, at 95%.
        high: Upper bound.
        hits: Numerator.
        total: Denominator.
    """

    value: float | None
    low: float
    high: float
    hits: int
    total: int


@dataclass(frozen=True, slots=True)
class Exposure:
    """What is left of direct identifiers.

    Attributes:
        notes: Share of notes in which a direct identifier is left in part or whole, of all notes.
        patients: Share of patients of whom at least one note is such.
        notes_a_patient: Mean, in the sample.
    """

    notes: Exact
    patients: Exact
    notes_a_patient: float


@dataclass(frozen=True, slots=True)
class ExposureNote:
    """One note.

    Attributes:
        leaks: Whether a direct identifier of it is left in part or whole.
        cluster: The patient; None makes the note a patient of its own.
    """

    leaks: bool
    cluster: str | None = field(default=None, repr=False)


def exposure_note(note: ReadNote, labels: Sequence[Label] = DIRECT_IDENTIFIERS) -> ExposureNote:
    """Whether a note leaks: a gold span of the labels is not covered to its last letter and digit."""
    direct = [span for span in note.gold if span.label in labels]
    return ExposureNote(count_note(note.text, direct, note.predicted).leaks, note.cluster)


def exposure(notes: Iterable[ExposureNote]) -> Exposure:
    """Counts notes and patients that leak, with exact bounds."""
    patients: dict[tuple[bool, object], bool] = defaultdict(bool)
    leaking = total = 0
    for index, note in enumerate(notes):
        patients[(False, index) if note.cluster is None else (True, note.cluster)] |= note.leaks
        leaking, total = leaking + note.leaks, total + 1
    return Exposure(
        exact(leaking, total), exact(sum(patients.values()), len(patients)), total / len(patients) if patients else 0.0
    )


def exact(hits: int, total: int, confidence: float = CONFIDENCE) -> Exact:
    """A share with the bounds of Clopper and Pearson; 0 and 1 where nothing was counted.

    Raises:
        ValueError: If there are more hits than were counted.
    """
    if not 0 <= hits <= total:
        raise ValueError("more hits than were counted")
    tail = (1 - confidence) / 2
    low = float(betaincinv(hits, total - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, total - hits, 1 - tail)) if hits < total else 1.0
    return Exact(hits / total if total else None, low, high, hits, total)


def at_notes_a_patient(a_note: Exact, notes: float | Sequence[float]) -> Exact:
    """The share of patients with a leak at a site's notes a patient, if notes leak independently; see the module.

    Args:
        a_note: The share of notes that leak, or of patients of about one note each; its counts are kept.
        notes: Notes of each of the site's patients, or one number for all. The mean of uneven numbers overstates.
    """
    of_each = np.atleast_1d(np.asarray(notes, dtype=np.float64))

    def at_least_one(p: float) -> float:
        return float(np.mean(1 - (1 - p) ** of_each))

    value = None if a_note.value is None else at_least_one(a_note.value)
    return Exact(value, at_least_one(a_note.low), at_least_one(a_note.high), a_note.hits, a_note.total)

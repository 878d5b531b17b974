"""How much of what a detector finds depends on the format of the note (MedDeID, arXiv 2609.10049).

Belongs here: the same notes scored in two formats. Does not belong here: the formats (`perturbations.py`).

A name is a name in capitals, behind a bullet and over a line's end. Each perturbation changes one thing of every note
and nothing of what it says; its gold is carried along, so nothing has to be annotated again. The difference of recall
is paired: a note that is hard either way does not count as unstable. It is clustered by patient, which holds the
notes of a patient, and so both forms of a note, together. Notes that a perturbation leaves as they are (without a date
to rewrite) are left out of its row: they would water it down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from deid_platform.evaluation.experiments.perturbations import Perturbation, perturbed
from deid_platform.evaluation.released.released import NoteRelease
from deid_platform.evaluation.scores.bootstrap import RESAMPLES
from deid_platform.evaluation.scores.paired import Difference, difference
from deid_platform.evaluation.scores.scores import NoteCounts, count_note
from deid_platform.notes import Note, Span

Find = Callable[[Sequence[Note]], Sequence[Sequence[Span]]]
"""What a detector finds in each of some notes."""


@dataclass(frozen=True, slots=True)
class Stability:
    """What one perturbation does.

    Attributes:
        perturbation: Which.
        notes: Notes that it changes.
        recall: Recall of words with it less recall without, on those notes; negative where it hides less.
        precision: The same of precision.
    """

    perturbation: Perturbation
    notes: int
    recall: Difference
    precision: Difference


def stability(
    notes: Sequence[tuple[Note, Sequence[Span]]],
    find: Find,
    *,
    perturbations: Iterable[Perturbation] = tuple(Perturbation),
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Stability]:
    """Scores each perturbation against the notes as they are.

    Args:
        notes: Each with its gold.
        find: The detector; it is asked once for the notes as they are and once for each perturbation.
        perturbations: Which to try.
        resamples: Bootstrap resamples over patients.
        seed: Of the resampling.
    """
    before = _counts(notes, find)
    found: list[Stability] = []
    for how in perturbations:
        changed: list[tuple[Note, Sequence[Span]]] = []
        plain: list[NoteCounts] = []
        for (note, gold), counts in zip(notes, before, strict=True):
            text, moved = perturbed(note, gold, how)
            if text != note.text:
                changed.append((replace(note, text=text), moved))
                plain.append(counts)
        after = _counts(changed, find)
        recall, precision = (
            difference(after, plain, measure, resamples=resamples, seed=seed) for measure in ("recall", "precision")
        )
        found.append(Stability(how, len(changed), recall, precision))
    return found


def of_texts(releases: Iterable[NoteRelease]) -> Find:
    """A detector that is known by what it released: of notes in any format, those that were released alone.

    Args:
        releases: Notes as they are and in other formats, with what was released of each.
    """
    known = {(it.note.note_id, it.note.text): [place.span() for place in it.places] for it in releases}
    return lambda notes: [known[note.note_id, note.text] for note in notes]


def _counts(notes: Sequence[tuple[Note, Sequence[Span]]], find: Find) -> list[NoteCounts]:
    spans = find([note for note, _ in notes]) if notes else []
    return [
        count_note(note.text, gold, predicted, cluster=note.patient_id)
        for (note, gold), predicted in zip(notes, spans, strict=True)
    ]

"""A model made the site's own with marked notes, and whether it is better than the one in use.

Belongs here: learning from what people marked, and the comparison on notes that were kept back. Does not belong here:
how a model is trained (`training/adapting.py`), or what decides in the end: the bench measures, and the gate compares
with the detector in force (`refresh/staging/detector_in_force.py`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from deid_platform.bench.leaderboard.training import measured_on
from deid_platform.detection.registry import SHIPPED
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.paired import Difference, difference
from deid_platform.evaluation.scores.scores import NoteCounts, Scores, count_note, summarise
from deid_platform.notes import Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.deliveries import deliveries_of
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.topics.as_of import topics_as_of
from deid_platform.review.annotation.adaptation.members import Marked, marked
from deid_platform.training.adapting import adapted
from deid_platform.training.calibration import WORTH
from deid_platform.training.labelled import Labelled
from deid_platform.training.plan import text_digest as plain_digest_of
from deid_platform.training.presets import PRESETS
from deid_platform.training.uncertainty import Part

if TYPE_CHECKING:
    from deid_platform.training.fine_tuning import Progress

CANDIDATE = "candidate"
"""What is behind the name of the folder of a model that was not found better."""


@dataclass(frozen=True)
class Comparison:
    """The detector with the new model beside the one in use, on the same notes.

    Attributes:
        before: Scores of the one in use.
        after: Of the new one.
        recall: After less before.
        precision: The same.
    """

    before: Scores
    after: Scores
    recall: Difference
    precision: Difference

    @property
    def better(self) -> bool:
        """Whether the new one misses no more, and is worth more: a missed word weighs as much as 5.7 hidden in vain."""
        missed, was_missed = (_less(scores.recall.hits, scores.recall.total) for scores in (self.after, self.before))
        wrong, was_wrong = (
            _less(scores.precision.hits, scores.precision.total) for scores in (self.after, self.before)
        )
        return missed <= was_missed and _cost(missed, wrong) < _cost(was_missed, was_wrong)


def _less(hits: int, total: int) -> int:
    return total - hits


def _cost(missed: int, wrong: int) -> float:
    """As the thresholds have it (`training/calibration.py`)."""
    return missed * (1 - WORTH) / WORTH + wrong


@dataclass(frozen=True)
class Adapted:
    """What came of it.

    Attributes:
        folder: Of the new model.
        learned: Notes of the site that it learned from.
        thresholds: Notes of the site beside which its thresholds were chosen.
        comparison: With the detector in use.
    """

    folder: Path
    learned: int
    thresholds: int
    comparison: Comparison


def adapt(site: Site, *, told: Callable[[Progress], object] = lambda _: None) -> Adapted:
    """Trains a model on what people marked, compares it, and puts it into its folder if it is better.

    The folder is that of `[training]`; a model that is not better stays beside it, as `NAME.candidate`.

    Raises:
        DeidError: `settings-invalid` for a preset of `transformers`; `input-empty` naming the part of which nobody
            marked a note; `training-on-test` if the bench measures on a note that was marked; `extra-missing` without
            torch; what training raises.
    """
    asked = site.settings.training
    preset = PRESETS[asked.preset or "site"]
    if preset.transformers:
        raise DeidError(Code.SETTINGS_INVALID, "training.preset: the shipped model is not of that kind")
    every = marked(site)
    of = {part: [it for it in every if it.member.part is part] for part in Part}
    for part in (Part.LEARN, Part.COMPARE):
        if not of[part]:
            raise DeidError(Code.INPUT_EMPTY, f"no marked note to {part.value}")
    measured = measured_on(site)
    if seen := sum(plain_digest_of(it.note.text) in measured for it in every):
        raise DeidError(Code.TRAINING_ON_TEST, f"{seen:,} of {len(every):,} notes")
    preset = replace(preset, seed=asked.seed, epochs=asked.epochs or preset.epochs)
    folder = site.settings.path(asked.folder)
    candidate = folder.with_name(f"{folder.name}.{CANDIDATE}")
    shutil.rmtree(candidate, ignore_errors=True)
    start = asked.start or SHIPPED
    adapted(_labelled(of[Part.LEARN]), _labelled(of[Part.THRESHOLDS]), candidate, start=start, preset=preset, told=told)
    comparison = compared(site, of[Part.COMPARE], candidate)
    if comparison.better:
        shutil.rmtree(folder, ignore_errors=True)
        candidate.rename(folder)
    return Adapted(
        folder if comparison.better else candidate,
        len(of[Part.LEARN]),
        len(of[Part.THRESHOLDS]),
        comparison,
    )


def _labelled(some: Sequence[Marked]) -> list[Labelled]:
    return [Labelled(it.member.note.key, "site", "", it.note.text, it.spans) for it in some]


def compared(site: Site, notes: Sequence[Marked], folder: Path) -> Comparison:
    """The configured detector and the same with another model in place of its own, with the newest topics of each feed.

    Args:
        site: The installation.
        notes: From which neither model learned.
        folder: Of the other model.
    """
    before, after = (_counts(site, notes, models) for models in (None, (str(folder),)))
    settings = site.settings.bench

    def scores(counts: Sequence[NoteCounts]) -> Scores:
        return summarise(counts, resamples=settings.resamples, seed=settings.seed)

    def less(measure: str) -> Difference:
        return difference(after, before, measure, resamples=settings.resamples, seed=settings.seed)

    return Comparison(scores(before), scores(after), less("recall"), less("precision"))


def _counts(site: Site, notes: Sequence[Marked], models: tuple[str, ...] | None) -> list[NoteCounts]:
    """What a detector finds; the notes are in the order of their feeds."""
    made: list[NoteCounts] = []
    for feed in sorted({it.member.note.feed for it in notes}):
        mine = [it for it in notes if it.member.note.feed == feed]
        newest = deliveries_of(site.store, tables.RAW_NOTES, feed)[-1]
        spec = site.spec(topics_as_of(site.store, newest))
        spec = spec if models is None else replace(spec, models=models)
        found = site.engine.detect_in_two_passes(spec, lambda mine=mine: [it.note for it in mine])  # type: ignore[misc]
        for it, (note, detection) in zip(mine, found, strict=True):
            spans: Sequence[Span] = detection.spans or ()  # a note on which it fails counts as nothing found
            made.append(count_note(note.text, it.spans, spans, cluster=note.patient_id or it.member.note.key))
    return made

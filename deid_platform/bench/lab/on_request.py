"""What the laboratory measures on request alone: it takes minutes, or hangs on the machine.

Belongs here: which notes, and which figures of stability, utility and cost go to `quality`. Does not belong here: any
formula (`evaluation/`), or what every refresh measures (`bench/lab/measures.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from time import perf_counter
from typing import ClassVar

from deid_platform.bench.gate.consistency import marks_young
from deid_platform.bench.gate.gold_topics import sealed_topics
from deid_platform.bench.gate.held_out import look_at_bench
from deid_platform.bench.lab.notes import gold_notes
from deid_platform.bench.lab.release import ReleasedGold, released_notes
from deid_platform.detection import DetectorSpec, NoteDetector
from deid_platform.detection.models.loading import Models
from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.detection.two_pass import Detection, SecondPass, first_pass
from deid_platform.engine.engines import build, found_in, is_lost
from deid_platform.engine.warm_up import made_up_note
from deid_platform.engine.workers import Job, Task, answers
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.experiments.efficiency import Run, efficiency, machine_cost, peak_bytes
from deid_platform.evaluation.experiments.stability import Find, stability
from deid_platform.evaluation.experiments.utility import Example, learnable
from deid_platform.evaluation.scores.tokens import word_offsets
from deid_platform.keys import plain_digest
from deid_platform.notes import Note, Span, Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.runtime.model_seconds import Ran
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.quality.held_out import Purpose
from deid_platform.warehouse.quality.lab import TASKS, LabScore, MeasuredOn, record_lab_scores
from deid_platform.warehouse.server.roles import Role

_BATCH = 64  # notes that the detector reads together


@dataclass(frozen=True)
class Measured:
    """Figures that were asked for.

    Attributes:
        gold: What they were measured on.
        detector_digest: Whose they are.
        policy_digest: Under which policy; empty where none has a part in it.
        scores: Inputs -> figures.
        look: The number of the look at the gold that they are of; None of cost, for which nobody looks at gold.
    """

    gold: str
    detector_digest: str
    policy_digest: str
    scores: dict[str, list[LabScore]]
    look: int | None


def record(site: Site, measured: Measured) -> int:
    """Writes the figures to quality.lab_score; earlier ones stay.

    Returns:
        How many there are.
    """
    for inputs, scores in measured.scores.items():
        on = MeasuredOn(
            *(site.spec(None).name, measured.detector_digest, measured.gold, inputs),
            policy_digest=measured.policy_digest,
            look=measured.look,
        )
        record_lab_scores(site.warehouse.engine(Role.GATEKEEPER), on, scores)
    return sum(map(len, measured.scores.values()))


def measure_stability(site: Site) -> Measured:
    """What recall and precision lose in other formats of the same notes, with topics and on the text alone.

    Raises:
        DeidError: `not-materialized` without gold; what detection raises.
    """
    gold, sample = _sample(site)
    look = look_at_bench(site, site.spec(None).detector_digest, Purpose.LABORATORY)
    resamples = site.settings.bench.resamples

    def figures(spec: DetectorSpec) -> Iterator[LabScore]:
        for row in stability(sample, _in_two_passes(spec, site.models), resamples=resamples):
            for measure, it in (("recall_difference", row.recall), ("precision_difference", row.precision)):
                yield LabScore("stability", measure, it.value, it.low, it.high, row.notes, row.perturbation.value)

    return _of_specs(site, gold, {inputs: list(figures(spec)) for inputs, spec in _specs(site).items()}, look.number)


def _in_two_passes(spec: DetectorSpec, models: Models) -> Find:
    """What the detector finds in some notes, built once for all formats; nothing in a note on which it raises."""
    detector, second = build(spec, models), SecondPass(spec.cross_note_search)

    def detect(notes: Iterable[Note]) -> Iterator[Detection]:
        for batch in tables.batched(notes, _BATCH):
            for note, spans in zip(batch, _found(detector, batch), strict=True):
                yield Detection(0, spans, mentions=mentioned_in(note.text, spans or ()))

    def find(notes: Sequence[Note]) -> list[Sequence[Span]]:
        return [second(it).spans or () for it in first_pass(detect, lambda: notes)]

    return find


def _found(detector: NoteDetector, notes: Sequence[Note]) -> list[tuple[Span, ...] | None]:
    try:
        return list(found_in(detector, notes))
    except Exception as error:  # whatever it raised may quote a note
        if is_lost(error):
            raise DeidError(Code.DEVICE_LOST) from None
        if len(notes) == 1:
            return [None]
        return [spans for note in notes for spans in _found(detector, [note])]


def measure_cost(site: Site) -> Measured:
    """Speed, memory and money of the configured detector, in a process of its own, with topics and on the text alone.

    Raises:
        DeidError: `not-materialized` without gold; `detector-failed`.
    """
    gold, sample = _sample(site)
    notes = tuple(note for note, _ in sample)
    price = site.settings.bench.price_per_hour

    def figures(spec: DetectorSpec) -> Iterator[LabScore]:
        job: Job[Sequence[Note], Run | None] = _Timing(spec)
        batches: list[list[Sequence[Note]]] = [[notes]] * site.settings.bench.cost_runs
        with closing(answers(job, iter(batches), 1)) as found:
            answered = list(found)
        for _, ran in answered:
            if isinstance(ran, Ran):
                site.models.seconds.add(ran)
        runs = [run for results, _ in answered for run in results]
        if None in runs:
            raise DeidError(Code.DETECTOR_FAILED)
        yield from of_runs([run for run in runs if run is not None], price)

    return _of_specs(site, gold, {inputs: list(figures(spec)) for inputs, spec in _specs(site).items()}, None)


def of_runs(runs: Sequence[Run], price_per_hour: float | None) -> Iterator[LabScore]:
    """The figures of some runs over the same notes."""
    found = efficiency(runs)
    yield LabScore("cost", "words_per_second", found.words_per_second)
    if found.words_per_second_sd is not None:
        yield LabScore("cost", "words_per_second_deviation", found.words_per_second_sd)
    yield LabScore("cost", "seconds_per_note", found.seconds_per_note)
    if found.gpu_seconds_per_note:
        yield LabScore("cost", "gpu_seconds_per_note", found.gpu_seconds_per_note)
    if found.peak_bytes is not None:
        yield LabScore("cost", "peak_mb", found.peak_bytes / 1e6)
    if price_per_hour is not None:
        yield LabScore("cost", "cost_per_10000_notes", machine_cost(found.seconds_per_note, price_per_hour))


@dataclass(frozen=True)
class _Timing(Job[Sequence[Note], Run | None]):
    """One run over some notes, an item."""

    spec: DetectorSpec
    fault: ClassVar[Code] = Code.DETECTOR_FAILED

    def build(self) -> _Timed:
        return _Timed(self.spec)

    def failed(self, item: Sequence[Note]) -> None:  # noqa: ARG002 - nothing of it is shown
        return None


class _Timed(Task[Sequence[Note], Run | None]):
    """Builds the detector for each run, so that none has what an earlier one kept of the same notes."""

    def __init__(self, spec: DetectorSpec) -> None:
        self._spec = spec
        self._models = Models()

    def __call__(self, batch: Sequence[Sequence[Note]]) -> list[Run | None]:
        return [timed(self._spec, notes, self._models) for notes in batch]

    def report(self) -> Ran:
        return self._models.seconds.take()


def timed(spec: DetectorSpec, notes: Sequence[Note], models: Models | None = None) -> Run:
    """A run over some notes by a detector that is built and warm, note by note as the first pass reads them.

    The peak of memory is this process's, which holds the detector alone if nothing else ran in it.
    """
    detector = build(spec, models)
    found_in(detector, [made_up_note().note])
    words = sum(len(word_offsets(note.text)) for note in notes)
    began = perf_counter()
    found_in(detector, notes)
    seconds = perf_counter() - began
    return Run(len(notes), words, seconds, gpus=int(spec.device.startswith("cuda")), peak_bytes=peak_bytes())


def measure_utility(site: Site) -> Measured:
    """Tasks learned on gold notes as they are and as they would be released, with topics.

    Raises:
        DeidError: `not-materialized` without detections; what `ReleaseSpec.build` raises.
    """
    manifest = site.store.required(tables.DETECTIONS, tables.ALL)
    digest = manifest.meta["detector_digest"]
    look = look_at_bench(site, digest, Purpose.LABORATORY)
    notes = list(gold_notes(site, Inputs.TOPICS.value))
    released = list(released_notes(site, notes, _topics(site)))
    labels = ([it.note.note_type for it in released], [it.gold.condition for it in released])
    scores = [
        score
        for task, of_each in zip(TASKS, labels, strict=True)
        for score in _of_task(task, released, of_each, site.settings.bench.resamples)
    ]
    scores_by_inputs = {Inputs.TOPICS.value: scores}
    return Measured(manifest.meta["gold"], digest, site.policy.digest, scores_by_inputs, look.number)


def _of_task(
    task: str, released: Sequence[ReleasedGold], labels: Sequence[str | None], resamples: int
) -> Iterator[LabScore]:
    """A task's figures; none where there is too little to learn from."""
    examples = [
        Example(it.note.text, it.text, label, it.note.patient_id) for it, label in zip(released, labels, strict=True)
    ]
    found = learnable(task, examples, resamples=resamples)
    if found is None:
        return
    for measure in ("raw", "released", "transferred"):
        yield LabScore("utility", f"score_{measure}", getattr(found, measure), n=found.notes, subject=task)
    yield LabScore("utility", "most_frequent", found.most_frequent, n=found.notes, subject=task)
    for measure, it in (("difference", found.loss), ("difference_transferred", found.transfer_loss)):
        yield LabScore("utility", measure, it.value, it.low, it.high, found.notes, task)


def _sample(site: Site) -> tuple[str, list[tuple[Note, tuple[Span, ...]]]]:
    """Whose gold it is, and so many of its notes as may be read anew, always the same."""
    manifest = site.store.required(tables.GOLD_NOTES, tables.ALL)
    rows = sorted(site.store.rows(tables.GOLD_NOTES, tables.ALL), key=lambda row: plain_digest(row["note_id"]))
    some = rows[: site.settings.bench.on_request_notes]
    return manifest.meta["gold"], [(tables.from_row(Note, row), tables.spans_of(row["gold"])) for row in some]


def _topics(site: Site) -> Topics:
    return sealed_topics(site.store)


def _specs(site: Site) -> Mapping[str, DetectorSpec]:
    specs = {Inputs.TOPICS.value: site.spec(_topics(site)), Inputs.TEXT.value: site.spec(None)}
    # Answers that are kept would cost nothing and be the same each time.
    young = site.policy.hides_ages and marks_young(site.store)
    return {inputs: replace(spec.asking_anew(), young_unmarked=not young) for inputs, spec in specs.items()}


def _of_specs(site: Site, gold: str, scores: dict[str, list[LabScore]], look: int | None) -> Measured:
    return Measured(gold, site.spec(None).detector_digest, "", scores, look)

"""Runs a detector, or another task, over many notes: in this process, or in worker processes.

Belongs here: batches and their order. Does not belong here: the detector as a task (`detection_job.py`), processes
(`workers.py`), other machines (`ray_engine.py`), detection itself, or where notes come from and spans go to.

Fail closed: a note on which the detector raises, or which kills its worker, comes back with an error
and without spans, so that the caller quarantines it; its neighbours in the batch are tried one by one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from deid_platform.detection import DetectorSpec, NoteDetector
from deid_platform.detection.models.loading import Models
from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.detection.two_pass import Detection, SecondPass, first_pass
from deid_platform.engine.detection_job import DetectionJob, Report, on_one_server, outcomes_in
from deid_platform.engine.gc_freeze import freeze_gc
from deid_platform.engine.workers import Answer, Job, answer, answers, built
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Span
from deid_platform.runtime.stopping import check

Item = TypeVar("Item")
Result = TypeVar("Result")

PRELOADED = ("__main__", "deid_platform.engine.preloaded")
"""Modules that the server of forks imports once."""


@dataclass(frozen=True)
class Engine(ABC):
    """Where tasks run.

    Attributes:
        workers: Processes of a machine.
        batch_size: Notes that travel to a worker together.
        models: Loads the models of this process, and counts the seconds in which those of all processes ran.
    """

    workers: int = 1
    batch_size: int = 64
    models: Models = field(default_factory=Models, compare=False, repr=False, kw_only=True)

    def detect(
        self,
        spec: DetectorSpec,
        notes: Iterable[Note],
        *,
        on_batch: Callable[[int], None] | None = None,
        on_reuse: Callable[[TemplateCounts], None] | None = None,
        tagging: bool = False,
    ) -> Iterator[Detection]:
        """Detects in a stream of notes and keeps their order; each note is read by itself.

        Args:
            spec: Built once.
            notes: Read as needed; at most two batches a worker are held.
            tagging: Whether indirect identifiers are tagged too, where the spec says who tags them: of no score.
            on_batch: Called with the number of notes of each finished batch.
            on_reuse: Called with what of each finished batch was recurring template text.

        Yields:
            One `Detection` a note, in input order.

        Raises:
            DeidError: If the detector cannot be built at all (for example `detector-unknown`); `settings-invalid` if
                several processes would each load its language model; `device-lost` if the process that runs its models
                on a card, or its language model on this machine, has ended.
            KeyboardInterrupt: Between two batches, if the process was asked to stop.
        """

        def heard(report: Report) -> None:
            self.models.seconds.add(report.ran)
            if on_reuse is not None:
                on_reuse(report.reused)

        with self._served(spec) as (spec, check_device):
            found = self.run(DetectionJob(spec, tagging, self.models), notes, on_batch=on_batch, on_report=heard)
            for index, detection in enumerate(found):
                if detection.error is not None:
                    check_device()
                yield replace(detection, index=index)

    @abstractmethod
    def _served(self, spec: DetectorSpec) -> AbstractContextManager[tuple[DetectorSpec, Callable[[], None]]]:
        """The detector as workers build it, and what tells that the processes on a card still live."""

    def detect_in_two_passes(
        self,
        spec: DetectorSpec,
        notes: Callable[[], Iterable[Note]],
        *,
        spool: Path | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> Iterator[tuple[Note, Detection]]:
        """Detects in a set of notes, also what only the other notes of a patient tell; see `detection.two_pass`.

        Args:
            spec: The detector.
            notes: Gives the notes, twice and both times the same.
            spool: Folder for a file without a name that holds what was found between the passes.
            on_batch: Called with the number of notes of each finished batch of the first pass.

        Yields:
            Each note with its outcome, in the order of the notes.

        Raises:
            DeidError: `input-invalid` if the notes were not the same twice; what `detect` raises.
        """
        second = SecondPass(spec.cross_note_search)
        for item in first_pass(partial(self.detect, spec, on_batch=on_batch), notes, spool=spool):
            yield item.note, second(item)

    def run(
        self,
        job: Job[Item, Result],
        items: Iterable[Item],
        *,
        on_batch: Callable[[int], None] | None = None,
        on_report: Callable[[Any], None] | None = None,
    ) -> Iterator[Result]:
        """Runs a task over a stream of items and keeps their order.

        Args:
            job: Built once, if there is any item.
            items: Read as needed; at most two batches a worker are held.
            on_batch: Called with the number of items of each finished batch.
            on_report: Called with what the task reports of each finished batch.

        Yields:
            One result an item, in input order.

        Raises:
            DeidError: If the task cannot be built at all.
            KeyboardInterrupt: Between two batches, if the process was asked to stop.
        """
        batches = _batches(items, self.batch_size)
        first = next(batches, None)
        if first is None:
            # Nothing to do: nothing is built and no process started.
            return
        batches = chain([first], batches)
        # Whoever holds on to an exception holds on to the workers too, if they are not ended here.
        with closing(self._answers(job, batches)) as found:
            for results, report in found:
                # First, since whoever takes the results may stop at one of them.
                if on_report is not None and report is not None:
                    on_report(report)
                check()
                yield from results
                if on_batch is not None:
                    on_batch(len(results))

    @abstractmethod
    def _answers(self, job: Job[Item, Result], batches: Iterator[list[Item]]) -> Generator[Answer[Result], None, None]:
        """The answers to batches, in their order; at most two batches a worker are held."""


@dataclass(frozen=True)
class LocalEngine(Engine):
    """This machine: with one worker, this process."""

    @contextmanager
    def _served(self, spec: DetectorSpec) -> Iterator[tuple[DetectorSpec, Callable[[], None]]]:
        with (
            spec.for_workers(self.workers).counted() as spec,
            on_one_server(spec, self.models)
            if self.workers > 1
            else nullcontext((spec, partial(spec.check, self.models))) as found,
        ):
            yield found

    def _answers(self, job: Job[Item, Result], batches: Iterator[list[Item]]) -> Generator[Answer[Result], None, None]:
        if self.workers > 1:
            return _in_workers(job, batches, self.workers)
        return _in_process(job, batches)


def _batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def _in_process(job: Job[Item, Result], batches: Iterator[list[Item]]) -> Generator[Answer[Result], None, None]:
    task = built(job.build, job.fault)
    with ExitStack() as frozen:
        for number, batch in enumerate(batches):
            if number == 1:
                # Of one batch alone, a full collection costs more than it spares.
                frozen.enter_context(freeze_gc())
            yield answer(job, task, batch)


def _in_workers(
    job: Job[Item, Result], batches: Iterator[list[Item]], workers: int
) -> Generator[Answer[Result], None, None]:
    # Topics may be held here too, and nothing else is built.
    with freeze_gc(), closing(answers(job, batches, workers, preload=PRELOADED)) as found:
        yield from found


def found_in(detector: NoteDetector, notes: Sequence[Note]) -> list[tuple[Span, ...]]:
    """What a detector finds in some notes.

    Raises:
        Exception: Whatever it raises; it may quote a note.
        DeidError: Why a note could not be read; `detector-failed` for spans that overlap or lie outside the text.
    """
    spans: list[tuple[Span, ...]] = []
    for outcome in outcomes_in(detector, notes):
        if isinstance(outcome, Code):
            raise DeidError(outcome)
        spans.append(outcome)
    return spans


def is_lost(error: Exception) -> bool:
    """Whether the process that a detector needs has ended, which says nothing of the note that was read."""
    return isinstance(error, DeidError) and error.code is Code.DEVICE_LOST


def build(spec: DetectorSpec, models: Models | None = None) -> NoteDetector:
    """The detector of a spec, in this process.

    Args:
        spec: The detector.
        models: Loads its models; some of its own unless given.

    Raises:
        DeidError: `detector-failed` for whatever raises; what `spec.build` raises.
    """
    return built(partial(spec.build, models), Code.DETECTOR_FAILED)


def detect_in(detector: NoteDetector, note: Note) -> tuple[Span, ...]:
    """What a detector finds in one note.

    Raises:
        DeidError: Why it could not read the note; `device-lost` if it can read none any more; `detector-failed` for
            whatever else raises, and for spans that overlap or lie outside the text.
    """
    try:
        (outcome,) = outcomes_in(detector, [note])
    except Exception as error:  # whatever it raised may quote the note
        raise DeidError(Code.DEVICE_LOST if is_lost(error) else Code.DETECTOR_FAILED) from None
    if isinstance(outcome, Code):
        raise DeidError(outcome)
    return outcome

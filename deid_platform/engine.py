"""Runs a detector, or another task, over many notes: in this process, or in worker processes.

Belongs here: batches, order and the detector as a task. Does not belong here: processes (`workers.py`), other machines
(`ray_engine.py`), detection itself, or where notes come from and spans go to.

Fail closed: a note on which the detector raises, or which kills its worker, comes back with an error
and without spans, so that the caller quarantines it; its neighbours in the batch are tried one by one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from deid_platform.detection import DetectorSpec, NoteDetector
from deid_platform.detection.api import NotesFailedError
from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.detection.resolve.merge import well_formed
from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.detection.two_pass import Detection, SecondPass, first_pass
from deid_platform.errors import Code, DeidError
from deid_platform.gc_freeze import freeze_gc
from deid_platform.keys import plain_digest
from deid_platform.notes import IndirectMention, Note, Span
from deid_platform.stopping import check
from deid_platform.warm_up import made_up_note
from deid_platform.workers import Answer, Job, Task, answer, answers, built

if TYPE_CHECKING:
    from deid_platform.detection.chat.indirect import IndirectTags

Item = TypeVar("Item")
Result = TypeVar("Result")

PRELOADED = ("__main__", "deid_platform.detection.rules.__main__")
"""Modules that the server of forks imports once."""


@dataclass(frozen=True)
class Engine(ABC):
    """Where tasks run.

    Attributes:
        workers: Processes of a machine.
        batch_size: Notes that travel to a worker together.
    """

    workers: int = 1
    batch_size: int = 64

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
        with self._served(spec) as (spec, check_device):
            found = self.run(_DetectionJob(spec, tagging), notes, on_batch=on_batch, on_report=on_reuse)
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
                check()
                yield from results
                if on_report is not None and report is not None:
                    on_report(report)
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
            _on_one_server(spec) if self.workers > 1 else nullcontext((spec, spec.check)) as found,
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


@contextmanager
def _on_one_server(spec: DetectorSpec) -> Iterator[tuple[DetectorSpec, Callable[[], None]]]:
    """The detector as several workers of a machine build it, and what checks that the processes they share live."""
    server = spec.network_server()
    if server is None:
        yield spec, spec.check
        return
    with server:
        yield replace(spec, served=server.served), server.check


@dataclass(frozen=True)
class _DetectionJob(Job[Note, Detection]):
    """The first pass over notes."""

    spec: DetectorSpec
    tagging: bool = False
    fault: ClassVar[Code] = Code.DETECTOR_FAILED

    @property
    def digest(self) -> str:
        return plain_digest(super().digest, self.spec.detector_digest, str(self.tagging))

    @property
    def on_card(self) -> bool:
        return self.spec.on_card

    @contextmanager
    def shared(self) -> Iterator[tuple[_DetectionJob, Callable[[], None]]]:
        with _on_one_server(self.spec) as (spec, check_device):
            yield replace(self, spec=spec), check_device

    def build(self) -> _Detecting:
        tags = self.spec.indirect.build() if self.tagging and self.spec.indirect is not None else None
        return _Detecting(self.spec.build(), tags)

    def failed(self, item: Note) -> Detection:  # noqa: ARG002 - nothing of it is shown
        return Detection(0, None, self.fault)


class _Detecting(Task[Note, Detection]):
    """A detector, and what each note tells about the other notes of its patient."""

    def __init__(self, detector: NoteDetector, tags: IndirectTags | None = None) -> None:
        self._detector = detector
        self._tags = tags
        self._counted = self._reused()

    def __call__(self, batch: Sequence[Note]) -> list[Detection]:
        found = self._detected(batch)
        return found if self._tags is None else self._tagged(batch, found, self._tags)

    def _tagged(self, batch: Sequence[Note], found: Sequence[Detection], tags: IndirectTags) -> list[Detection]:
        """What was found with the indirect identifiers; a note without them fails, and one that failed is not read."""
        read = [note for note, each in zip(batch, found, strict=True) if each.error is None]
        outcomes = iter(tags(read))
        return [each if each.error is not None else _with_tags(each, next(outcomes)) for each in found]

    def _detected(self, batch: Sequence[Note]) -> list[Detection]:
        return [
            Detection(0, None, outcome)
            if isinstance(outcome, Code)
            else Detection(0, outcome, mentions=mentioned_in(note.text, outcome))
            for note, outcome in zip(batch, outcomes_in(self._detector, batch), strict=True)
        ]

    def warm_up(self) -> None:
        self._detected([made_up_note().note])
        self.report()

    def report(self) -> TemplateCounts:
        before, self._counted = self._counted, self._reused()
        return self._counted.since(before)

    def _reused(self) -> TemplateCounts:
        return self._detector.reused


def _with_tags(found: Detection, outcome: tuple[IndirectMention, ...] | Code) -> Detection:
    return Detection(0, None, outcome) if isinstance(outcome, Code) else replace(found, indirect=outcome)


def outcomes_in(detector: NoteDetector, notes: Sequence[Note]) -> Sequence[tuple[Span, ...] | Code]:
    """What a detector finds in each of some notes, or why it could not read that one.

    Raises:
        Exception: Whatever else it raises; it may quote a note.
        DeidError: `detector-failed` for spans that overlap or lie outside the text.
    """
    found: Sequence[tuple[Span, ...] | Code]
    try:
        found = detector.detect(notes)
    except NotesFailedError as failed:
        found = failed.outcomes
    if len(found) != len(notes) or not all(
        isinstance(each, Code) or well_formed(each, len(note.text)) for each, note in zip(found, notes, strict=True)
    ):
        raise DeidError(Code.DETECTOR_FAILED)
    return found


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


def build(spec: DetectorSpec) -> NoteDetector:
    """The detector of a spec, in this process.

    Raises:
        DeidError: `detector-failed` for whatever raises; what `spec.build` raises.
    """
    return built(spec.build, Code.DETECTOR_FAILED)


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

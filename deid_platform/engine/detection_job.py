"""Detection as a task of workers: a batch of notes in, what is found in each out.

Belongs here: the job that builds a detector, what the workers of a machine share, and what a batch reports. Does not
belong here: batches and their order (`engine/engines.py`), processes (`workers.py`), or detection itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from deid_platform.detection import DetectorSpec, NoteDetector
from deid_platform.detection.api import NotesFailedError
from deid_platform.detection.models.loading import Models
from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.detection.resolve.merge import well_formed
from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.detection.two_pass import Detection
from deid_platform.engine.warm_up import made_up_note
from deid_platform.engine.workers import Job, Task
from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.notes import IndirectMention, Note, Span
from deid_platform.runtime.model_seconds import Ran

if TYPE_CHECKING:
    from deid_platform.detection.chat.indirect import IndirectTags


@contextmanager
def on_one_server(spec: DetectorSpec, models: Models) -> Iterator[tuple[DetectorSpec, Callable[[], None]]]:
    """The detector as several workers of a machine build it, and what checks that the processes they share live."""
    server = spec.network_server()
    if server is None:
        yield spec, partial(spec.check, models)
        return
    with server:
        yield replace(spec, served=server.served), server.check


@dataclass(frozen=True)
class DetectionJob(Job[Note, Detection]):
    """The first pass over notes."""

    spec: DetectorSpec
    tagging: bool = False
    models: Models = field(default_factory=Models)
    """Of this process; where the job is sent to another, that one's."""
    fault: ClassVar[Code] = Code.DETECTOR_FAILED

    @property
    def digest(self) -> str:
        """See `Job`."""
        return plain_digest(super().digest, self.spec.detector_digest, str(self.tagging))

    @property
    def on_card(self) -> bool:
        """See `Job`."""
        return self.spec.on_card

    @contextmanager
    def shared(self) -> Iterator[tuple[DetectionJob, Callable[[], None]]]:
        """See `Job`."""
        with on_one_server(self.spec, self.models) as (spec, check_device):
            yield replace(self, spec=spec), check_device

    def build(self) -> _Detecting:
        """See `Job`."""
        tags = self.spec.indirect.build(self.models) if self.tagging and self.spec.indirect is not None else None
        return _Detecting(self.spec.build(self.models), self.models, tags)

    def failed(self, item: Note) -> Detection:  # noqa: ARG002 - nothing of it is shown
        """See `Job`."""
        return Detection(0, None, self.fault)


class Report(NamedTuple):
    """What a worker tells of a batch.

    Attributes:
        reused: What was recurring template text.
        ran: Seconds in which models ran, which nobody else tells of.
    """

    reused: TemplateCounts
    ran: Ran


class _Detecting(Task[Note, Detection]):
    """A detector, and what each note tells about the other notes of its patient."""

    def __init__(self, detector: NoteDetector, models: Models, tags: IndirectTags | None) -> None:
        self._detector = detector
        self._models = models
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

    def report(self) -> Report:
        before, self._counted = self._counted, self._reused()
        return Report(self._counted.since(before), self._models.seconds.take())

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

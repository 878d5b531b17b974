"""What a worker process does with the notes of one request: both passes, redaction and the leak check.

Belongs here: the request as it travels to a process, and the task that is built there once. Does not belong here: HTTP,
or what any of the steps does.

The rows of patients that a request brings are known for that request alone: their gazetteer, roster and leak check are
built beside those of the service, in about a millisecond, and what the service has loaded stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from deid_platform.deidentify.release_note import NoteReleaser, ReleaseSpec
from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Detector
from deid_platform.detection.models.loading import Models
from deid_platform.detection.pipeline import Pipeline, Stage, detecting
from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.detection.topics.gazetteer import Gazetteer
from deid_platform.detection.topics.roster import Roster
from deid_platform.detection.two_pass import Detection, PatientMentionIndex, SecondPass
from deid_platform.engine.detection_job import outcomes_in
from deid_platform.engine.warm_up import made_up_note
from deid_platform.engine.workers import Job, Task
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.redaction.policy import Policy

_BEFORE_ROSTER = ("rules", "propagation", "staff_initials", "gazetteer", "roster")


@dataclass(frozen=True, slots=True, repr=False)
class Asked:
    """The notes of one request.

    Attributes:
        notes: They are read together.
        patients: Rows of the roster that came with them.
        policy: The name of one of the service's policies.
    """

    notes: tuple[Note, ...]
    patients: tuple[Patient, ...]
    policy: str

    def __repr__(self) -> str:
        return "<Asked>"


@dataclass(frozen=True, slots=True, repr=False)
class Outcome:
    """What became of one note.

    Attributes:
        text: The redacted text; empty if the note is withheld.
        spans: As `release_note.Redacted` has them.
        found: All identifiers that were found, with offsets into the original.
        withheld: Why there is nothing of it.
    """

    text: str = ""
    spans: tuple[Span, ...] = ()
    found: tuple[Span, ...] = ()
    withheld: DeidError | None = None

    def __repr__(self) -> str:
        return "<Outcome>"


Answered = tuple[Outcome, ...]
"""One outcome a note, in order."""


@dataclass(frozen=True)
class ServiceJob(Job[Asked, Answered]):
    """The service's task, as it travels to the process that builds it.

    Attributes:
        detector: With the topics that the service was started with.
        releases: What notes are released by, by the name of the policy.
    """

    detector: DetectorSpec
    releases: dict[str, ReleaseSpec]
    fault: ClassVar[Code] = Code.WORKER_LOST

    def build(self) -> _Serving:
        """Each policy's releaser, and a detector for those that hide professions, or all ages, or neither, or both."""
        detectors = {
            hides: replace(self.detector, professions=hides[0], ages=hides[1])
            for hides in {_hides(release.policy) for release in self.releases.values()}
        }
        models = Models()
        return _Serving(
            {hides: (spec.pipeline(models), SecondPass(spec.cross_note_search)) for hides, spec in detectors.items()},
            {name: (_hides(release.policy), release.build()) for name, release in self.releases.items()},
            tuple(name for name in ("gazetteer", "roster") if name in self.detector.stages),
        )

    def failed(self, item: Asked) -> Answered:
        """Every note of a request on which a process ended twice."""
        return tuple(Outcome(withheld=DeidError(self.fault)) for _ in item.notes)


_Hides = tuple[bool, bool]
"""Whether a policy hides professions, and whether ages under 90."""


def _hides(policy: Policy) -> _Hides:
    return policy.hides_professions, policy.hides_ages


class _Serving(Task[Asked, Answered]):
    def __init__(
        self,
        detectors: dict[_Hides, tuple[Pipeline, SecondPass]],
        releasers: dict[str, tuple[_Hides, NoteReleaser]],
        knowing: Sequence[str],
    ) -> None:
        self._detectors = detectors
        self._releasers = releasers
        self._knowing = knowing

    def __call__(self, batch: Sequence[Asked]) -> list[Answered]:
        return [self._answered(asked) for asked in batch]

    def warm_up(self) -> None:
        note = made_up_note().note
        row = Patient(note.patient_id or "", first_name="Amelia", last_name="Quarles")
        for policy in self._releasers:
            self([Asked((note,), (row,), policy)])

    def _answered(self, asked: Asked) -> Answered:
        hides, releaser = self._releasers[asked.policy]
        pipeline, second_pass = self._detectors[hides]
        if rows := Topics.of(asked.patients):
            pipeline = pipeline.extended(self._stages(rows), after=_BEFORE_ROSTER)
            releaser = releaser.knowing(rows)
        detections = _detections(pipeline, asked.notes)
        index = PatientMentionIndex()
        for note, detection in zip(asked.notes, detections, strict=True):
            index.add(note.patient_id, detection.mentions)
        after = (
            second_pass(index.after_first_pass(note, detection))
            for note, detection in zip(asked.notes, detections, strict=True)
        )
        return tuple(_outcome(releaser, note, detection) for note, detection in zip(asked.notes, after, strict=True))

    def _stages(self, rows: Topics) -> dict[str, Stage]:
        build: dict[str, Callable[[Topics], Detector]] = {"gazetteer": Gazetteer, "roster": Roster}
        return {f"{name} of the request": detecting(build[name](rows)) for name in self._knowing}


def _detections(pipeline: Pipeline, notes: Sequence[Note]) -> list[Detection]:
    """What is found in each note by itself; one on which a stage raises, which may quote it, is withheld."""
    try:
        outcomes = outcomes_in(pipeline, notes)
    except Exception:
        if len(notes) > 1:
            return [detection for note in notes for detection in _detections(pipeline, [note])]
        outcomes = [Code.DETECTOR_FAILED]
    return [
        Detection(0, None, outcome)
        if isinstance(outcome, Code)
        else Detection(0, outcome, mentions=mentioned_in(note.text, outcome))
        for note, outcome in zip(notes, outcomes, strict=True)
    ]


def _outcome(releaser: NoteReleaser, note: Note, detection: Detection) -> Outcome:
    if detection.spans is None:
        return Outcome(withheld=DeidError(detection.error or Code.DETECTOR_FAILED))
    try:
        redacted = releaser.redacted(note, detection.spans)
    except DeidError as withheld:
        return Outcome(withheld=withheld)
    except Exception:  # whatever was raised may quote the note
        return Outcome(withheld=DeidError(Code.REDACTION_FAILED))
    return Outcome(redacted.text, redacted.spans, detection.spans)

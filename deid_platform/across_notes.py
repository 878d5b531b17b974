"""Notes that are read together: what one tells of its patient is sought in the patient's others.

Belongs here: the two looks at a set of notes, and what they tell in between. Does not belong here: what counts as
told (`detection/elsewhere.py`), or how a refresh keeps it from one delivery to the next (`refresh/first_look.py`).

The first look reads every note by itself; the second depends on all of them, but not on their order.
"""

from __future__ import annotations

import pickle
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from deid_platform.detection import DetectorSpec
from deid_platform.detection.resolve.cross_note import Mentioned, mentioned_in, together
from deid_platform.engine import Detection, LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Span


class Told:
    """What notes tell, by patient. A note of nobody tells nothing."""

    def __init__(self) -> None:
        self._by_patient: dict[str, Mentioned] = {}

    def __repr__(self) -> str:
        return "<Told>"

    def add(self, patient_id: str | None, told: Mentioned) -> None:
        """Takes in what one note of a patient tells."""
        if patient_id is not None and told:
            known = self._by_patient.get(patient_id)
            self._by_patient[patient_id] = told if known is None else together((known, told))

    def by_others(self, patient_id: str | None, own: Mentioned) -> Mentioned:
        """What other notes of a patient tell that a note does not tell itself."""
        known = self._by_patient.get(patient_id) if patient_id is not None else None
        return known.without(own) if known is not None else Mentioned()


class SecondLooks:
    """The second look at notes, one after the other.

    Args:
        spec: The detector of the first; what looks again is built when first needed.
    """

    def __init__(self, spec: DetectorSpec) -> None:
        self._spec = spec
        self._look: Callable[[Note, Sequence[Span], Mentioned], tuple[Span, ...]] | None = None

    def __repr__(self) -> str:
        return "<SecondLooks>"

    def at(self, note: Note, first: Detection, told: Mentioned) -> Detection:
        """The outcome for a note after both looks.

        Args:
            note: The note.
            first: What the first look found.
            told: What the patient's other notes tell, and this one does not.
        """
        if first.spans is None or not told:
            return first
        if self._look is None:
            self._look = self._spec.second_pass()
        try:
            return replace(first, spans=self._look(note, first.spans, told))
        except Exception:  # whatever it raised may quote the note, which is withheld
            return replace(first, spans=None, error=Code.DETECTOR_FAILED)


def detect_together(
    engine: LocalEngine,
    spec: DetectorSpec,
    notes: Callable[[], Iterable[Note]],
    *,
    spool: Path | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> Iterator[tuple[Note, Detection]]:
    """Both looks at a set of notes, in memory that grows with its patients and not with its notes.

    Args:
        engine: Where the first look runs.
        spec: The detector.
        notes: Gives the notes, twice and both times the same.
        spool: Folder for a file without a name that holds the offsets of spans between the looks, once there are
            many; the system's own unless told.
        on_batch: Called with the number of notes of each finished batch of the first look.

    Yields:
        Each note with its outcome, in the order of the notes.

    Raises:
        DeidError: `input-invalid` if the notes were not the same twice; what `engine.detect` raises.
    """
    told = Told()
    read: deque[Note] = deque()
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, dir=None if spool is None else str(spool)) as between:

        def first_look() -> Iterator[Note]:
            for note in notes():
                read.append(note)
                yield note

        for detection in engine.detect(spec, first_look(), on_batch=on_batch):
            note = read.popleft()
            told.add(note.patient_id, mentioned_in(note.text, detection.spans or ()))
            pickle.dump((len(note.text), detection), between)
        between.seek(0)
        second = SecondLooks(spec)
        for note in notes():
            length, detection = _next(between)
            if length != len(note.text):
                raise DeidError(Code.INPUT_INVALID, "notes changed while they were read")
            own = mentioned_in(note.text, detection.spans or ())
            yield note, second.at(note, detection, told.by_others(note.patient_id, own))


_IN_MEMORY = 32_000_000


def _next(between: tempfile.SpooledTemporaryFile[bytes]) -> tuple[int, Detection]:
    try:
        found: tuple[int, Detection] = pickle.load(between)  # noqa: S301 - written above, by this very process
    except EOFError:
        raise DeidError(Code.INPUT_INVALID, "notes changed while they were read") from None
    return found

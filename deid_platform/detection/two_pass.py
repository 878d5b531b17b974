"""Detection in two passes: what one note tells of its patient is sought in the patient's other notes.

Belongs here: the protocol, whoever detects. Does not belong here: what counts as told and how it is found
(`resolve/cross_note.py`), or how a refresh keeps the first pass between deliveries (`refresh/redact/first_pass.py`).

The first pass reads every note by itself, and what each tells is collected by patient; the second looks at each note
again with what only the patient's other notes tell. It depends on all of them, but not on their order.
"""

from __future__ import annotations

import pickle
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from deid_platform.detection.cross_note_search import CrossNoteSearch
from deid_platform.detection.resolve.cross_note import Mentioned, mentioned_in, together
from deid_platform.errors import Code, DeidError
from deid_platform.large_tables.hashed_table import Table
from deid_platform.large_tables.spooled_table import SpooledTable
from deid_platform.notes import IndirectMention, Note, Span


@dataclass(frozen=True, slots=True)
class Detection:
    """The outcome for one note.

    Attributes:
        index: Its position in the input.
        spans: What was found; None if detection failed.
        error: Why it did.
        mentions: What the note tells about its patient's other notes.
        indirect: Its indirect identifiers; None where nobody tagged them.
    """

    index: int
    spans: tuple[Span, ...] | None
    error: Code | None = None
    mentions: Mentioned = field(default_factory=Mentioned)
    indirect: tuple[IndirectMention, ...] | None = None


class FirstPass(NamedTuple):
    """A note after the first pass, with all that the second needs."""

    note: Note
    detection: Detection
    """What was found in the note by itself."""
    by_others: Mentioned
    """What the patient's other notes tell, and this one does not."""

    def __repr__(self) -> str:
        return "<FirstPass>"


class PatientMentionIndex:
    """What notes tell, by patient. A note of nobody tells nothing.

    Args:
        spool: Folder inside the PHI zone for a file without a name that holds it, once it is much; memory holds it if
            None, since names must not lie anywhere else.
    """

    def __init__(self, *, spool: Path | None = None) -> None:
        self._by_patient: Table[Mentioned] = {} if spool is None else SpooledTable[Mentioned](spool=spool)

    def __repr__(self) -> str:
        return "<PatientMentionIndex>"

    def add(self, patient_id: str | None, mentions: Mentioned) -> None:
        """Takes in what one note of a patient tells.

        Raises:
            OSError: If the disk has no room for it.
        """
        if patient_id is not None and mentions:
            known = self._by_patient.get(patient_id)
            self._by_patient[patient_id] = mentions if known is None else together((known, mentions))

    def by_others(self, patient_id: str | None, own: Mentioned) -> Mentioned:
        """What other notes of a patient tell that a note does not tell itself."""
        known = self._by_patient.get(patient_id) if patient_id is not None else None
        return known.without(own) if known is not None else Mentioned()

    def after_first_pass(self, note: Note, detection: Detection) -> FirstPass:
        """A note with all that the second pass needs, once the first has read all notes."""
        return FirstPass(note, detection, self.by_others(note.patient_id, detection.mentions))


class SecondPass:
    """The second pass over notes, one after the other.

    Args:
        build: Makes what looks again, once it is needed: `DetectorSpec.cross_note_search`.
    """

    def __init__(self, build: Callable[[], CrossNoteSearch]) -> None:
        self._build = build

    def __repr__(self) -> str:
        return "<SecondPass>"

    def __call__(self, first: FirstPass) -> Detection:
        """The outcome for a note after both passes; a second pass that raises withholds the note."""
        note, detection, by_others = first
        if detection.spans is None or not by_others:
            return detection
        search = self.search
        try:
            return replace(detection, spans=search(note, detection.spans, by_others))
        except Exception:  # whatever it raised may quote the note, which is withheld
            return replace(detection, spans=None, error=Code.DETECTOR_FAILED)

    @cached_property
    def search(self) -> CrossNoteSearch:
        """What searches a note, built."""
        return self._build()


def first_pass(
    detect: Callable[[Iterable[Note]], Iterable[Detection]],
    notes: Callable[[], Iterable[Note]],
    *,
    spool: Path | None = None,
) -> Iterator[FirstPass]:
    """The first pass over a set of notes, in memory that grows with its patients and not with its notes.

    Args:
        detect: Reads each note by itself, in order.
        notes: Gives the notes, twice and both times the same.
        spool: Folder for a file without a name that holds what was found between the passes, once that is
            much; the system's own unless told.

    Yields:
        Each note with what the second pass needs, in the order of the notes.

    Raises:
        DeidError: `input-invalid` if the notes were not the same twice; what `detect` raises.
    """
    index = PatientMentionIndex()
    read: deque[tuple[str | None, int]] = deque()
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, dir=None if spool is None else str(spool)) as between:

        def reading() -> Iterator[Note]:
            for note in notes():
                read.append((note.patient_id, len(note.text)))
                yield note

        for detection in detect(reading()):
            patient_id, length = read.popleft()
            index.add(patient_id, detection.mentions)
            # Offsets alone: what a note mentions is worked out again from its text.
            pickle.dump((length, replace(detection, mentions=Mentioned())), between)
        between.seek(0)
        for note in notes():
            length, detection = _next(between)
            if length != len(note.text):
                raise DeidError(Code.INPUT_INVALID, "notes changed while they were read")
            mentions = mentioned_in(note.text, detection.spans or ())
            yield index.after_first_pass(note, replace(detection, mentions=mentions))


_IN_MEMORY = 32_000_000


def _next(between: tempfile.SpooledTemporaryFile[bytes]) -> tuple[int, Detection]:
    try:
        found: tuple[int, Detection] = pickle.load(between)  # noqa: S301 - written above, by this very process
    except EOFError:
        raise DeidError(Code.INPUT_INVALID, "notes changed while they were read") from None
    return found

"""What a detector hides in notes, and in which time: of the platform's, of a peer, and of both joined.

Belongs here: reading notes with a detector that is there, on one core of this process or a peer's. Does not belong
here: which detectors there are and what names them (`detectors.py`), asking a chat model (`llm/`), or scores.

What is loaded at a start is not among the seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from deid_platform.detection.models.loading import Models
from deid_platform.detection.peers.process import PeerProcess
from deid_platform.detection.peers.variants import varied_model
from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.detection.spec import DetectorSpec
from deid_platform.detection.two_pass import Detection, SecondPass, first_pass
from deid_platform.engine.engines import build, found_in
from deid_platform.engine.gc_freeze import freeze_gc
from deid_platform.engine.warm_up import made_up_note
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note
from deid_platform.refresh.datasets.tables import batched
from deid_platform.runtime.stopping import check

_BATCH = 64


class Hidden(NamedTuple):
    """A place that a detector hides, and the labels that it may be; none where the detector claims none of ours."""

    start: int
    end: int
    labels: frozenset[Label]


@dataclass(frozen=True, repr=False)
class Reading:
    """What a detector hides in each of some notes.

    Attributes:
        hidden: Of each note; nothing where it failed.
        seconds: That it took; None if nobody knows.
        failed: The notes on which it failed, by their number from 0; None of what cannot fail on a note alone.
        texts: What it wrote of each note, None where it failed; None of what does not write notes out again.
    """

    hidden: Sequence[Sequence[Hidden]]
    seconds: float | None
    failed: frozenset[int] | None = None
    texts: Sequence[str | None] | None = None

    def __repr__(self) -> str:
        return "<Reading>"


def read_own(
    spec: DetectorSpec, notes: Sequence[Note], models: Models | None = None, *, variant: bool = False
) -> Reading:
    """A detector of the platform, in two passes as a refresh reads.

    Args:
        spec: The detector.
        notes: What it reads.
        models: Load its models; some of its own unless given.
        variant: Whether what it finds is varied (`detection.peers.variants`).

    Raises:
        DeidError: `detector-failed` on any note; what building it raises.
    """
    detector, second = build(spec, models), SecondPass(spec.cross_note_search)
    found_in(detector, [made_up_note().note])
    _ = second.search  # built before the clock runs

    def detected(stream: Iterable[Note]) -> Iterator[Detection]:
        for batch in batched(stream, _BATCH):
            check()
            for note, spans in zip(batch, found_in(detector, batch), strict=True):
                yield Detection(0, spans, mentions=mentioned_in(note.text, spans))

    try:
        with freeze_gc():
            start = time.process_time()
            spans = [second(item).spans for item in first_pass(detected, lambda: notes)]
            found = [[(it.start, it.end, it.label) for it in some] for some in spans if some is not None]
            if variant:
                found = [varied_model(note.text, some) for note, some in zip(notes, found, strict=False)]
            seconds = time.process_time() - start
    except Exception:  # whatever it raised may quote a note
        raise DeidError(Code.DETECTOR_FAILED, spec.name) from None
    if None in spans:
        raise DeidError(Code.DETECTOR_FAILED, spec.name)
    return Reading([[Hidden(start, end, frozenset((label,))) for start, end, label in some] for some in found], seconds)


def read_peer(process: PeerProcess, notes: Sequence[Note]) -> Reading:
    """A running peer, on the text alone.

    Raises:
        DeidError: `peer-failed`.
    """
    claims = process.peer.claims
    process.find([made_up_note().note.text])  # loads what it has not used yet
    process.seconds = 0.0
    start = time.process_time()
    found = process.find([note.text for note in notes])
    # A variant works on the spans in this process.
    seconds = process.seconds + time.process_time() - start
    hidden = [[Hidden(it.start, it.end, frozenset(claims.get(it.kind, ()))) for it in spans] for spans in found]
    return Reading(hidden, seconds)


def joined(one: Reading, other: Reading) -> Reading:
    """What either of two hides, in the time of both."""
    hidden = [[*mine, *its] for mine, its in zip(one.hidden, other.hidden, strict=True)]
    known = one.seconds is not None and other.seconds is not None
    return Reading(hidden, (one.seconds or 0.0) + (other.seconds or 0.0) if known else None)

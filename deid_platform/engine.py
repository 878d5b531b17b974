"""Runs a detector over many notes: in this process, or in worker processes.

Belongs here: batches, order, workers and what becomes of a note that cannot be processed. Does not
belong here: detection itself, or where notes come from and spans go to.

Fail closed: a note on which the detector raises, or which kills its worker, comes back with an error
and without spans, so that the caller quarantines it; its neighbours in the batch are tried one by one.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice

from deid_platform.detection import Detector, DetectorSpec
from deid_platform.detection.spans import well_formed
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Span

_Outcome = tuple[tuple[Span, ...] | None, Code | None]


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """This machine.

    Attributes:
        workers: Processes; 1 means this process.
        batch_size: Notes that travel to a worker together.
    """

    workers: int = 1
    batch_size: int = 64

    def detect(
        self, spec: DetectorSpec, notes: Iterable[Note], *, on_batch: Callable[[int], None] | None = None
    ) -> Iterator[Detection]:
        """Detects in a stream of notes on this machine; see `detect`."""
        return detect(spec, notes, workers=self.workers, batch_size=self.batch_size, on_batch=on_batch)


@dataclass(frozen=True, slots=True)
class Detection:
    """The outcome for one note: its position in the input, and either spans or an error."""

    index: int
    spans: tuple[Span, ...] | None
    error: Code | None = None


def detect(
    spec: DetectorSpec,
    notes: Iterable[Note],
    *,
    workers: int = 1,
    batch_size: int = 64,
    on_batch: Callable[[int], None] | None = None,
) -> Iterator[Detection]:
    """Detects in a stream of notes and keeps their order.

    Args:
        spec: Built once in each worker.
        notes: Read as needed; at most two batches a worker are held.
        workers: Processes; 1 means this process.
        batch_size: Notes in a batch.
        on_batch: Called with the number of notes of each finished batch.

    Yields:
        One `Detection` a note, in input order.

    Raises:
        DeidError: If the detector cannot be built at all (for example `detector-unknown`).
    """
    batches = _batches(notes, batch_size)
    first = next(batches, None)
    if first is None:
        # Nothing to detect in: no detector is built and no process started.
        return
    batches = chain([first], batches)
    outcomes = _in_process(spec, batches) if workers <= 1 else _in_workers(spec, batches, workers)
    index = 0
    for batch in outcomes:
        for spans, error in batch:
            yield Detection(index, spans, error)
            index += 1
        if on_batch is not None:
            on_batch(len(batch))


def _batches(notes: Iterable[Note], size: int) -> Iterator[list[Note]]:
    source = iter(notes)
    while batch := list(islice(source, size)):
        yield batch


def _build(spec: DetectorSpec) -> Detector:
    try:
        return spec.build()
    except DeidError:
        raise
    except Exception:  # whatever a topic row provoked may quote it
        raise DeidError(Code.DETECTOR_FAILED, "build") from None


def _run(detector: Detector, batch: Sequence[Note]) -> list[_Outcome]:
    """The outcomes of a batch; if it fails as a whole, of each note by itself."""
    try:
        found = detector.detect(batch)
        good = len(found) == len(batch) and all(
            well_formed(spans, len(note.text)) for spans, note in zip(found, batch, strict=True)
        )
    except Exception:  # whatever it raised, the notes are tried one by one, and the one at fault is withheld
        good = False
    if good:
        return [(spans, None) for spans in found]
    if len(batch) == 1:
        return [(None, Code.DETECTOR_FAILED)]
    return [outcome for note in batch for outcome in _run(detector, [note])]


def _in_process(spec: DetectorSpec, batches: Iterator[list[Note]]) -> Iterator[list[_Outcome]]:
    detector = _build(spec)
    for batch in batches:
        yield _run(detector, batch)


_worker: Detector | DeidError


def _start_worker(spec: DetectorSpec) -> None:
    global _worker
    try:
        _worker = _build(spec)
    except DeidError as error:  # an initializer that raises breaks the pool and says nothing
        _worker = error


def _ready() -> None:
    if isinstance(_worker, DeidError):
        raise _worker


def _work(batch: list[Note]) -> list[_Outcome]:
    if isinstance(_worker, DeidError):
        raise _worker
    return _run(_worker, batch)


def _pool(spec: DetectorSpec, workers: int) -> ProcessPoolExecutor:
    methods = multiprocessing.get_all_start_methods()
    # Not fork: the parent may hold threads and database connections.
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=(spec,))
    try:
        # A worker that cannot even start is a fault of the installation: no note may be blamed for it.
        pool.submit(_ready).result()
    except BrokenProcessPool:
        pool.shutdown(wait=True)
        raise DeidError(Code.DETECTOR_FAILED, "worker") from None
    except DeidError:
        pool.shutdown(wait=True)
        raise
    return pool


def _in_workers(spec: DetectorSpec, batches: Iterator[list[Note]], workers: int) -> Iterator[list[_Outcome]]:
    pending: deque[tuple[list[Note], Future[list[_Outcome]]]] = deque()
    pool = _pool(spec, workers)
    try:
        while True:
            try:
                while len(pending) < 2 * workers and (batch := next(batches, None)) is not None:
                    pending.append((batch, _submit(pool, batch)))
                if not pending:
                    return
                result = pending[0][1].result()
                pending.popleft()
            except BrokenProcessPool:
                # A worker was killed, by which note nobody knows: the oldest batch is tried note by note,
                # each in a pool of its own if need be, and the other batches start again.
                pool.shutdown(wait=True, cancel_futures=True)
                head, _ = pending.popleft()
                result = _one_by_one(spec, head)
                pool = _pool(spec, workers)
                pending = deque((batch, _submit(pool, batch)) for batch, _ in pending)
            yield result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, batch: list[Note]) -> Future[list[_Outcome]]:
    """Submits a batch; a pool that is already broken gives a future that says so."""
    try:
        return pool.submit(_work, batch)
    except BrokenProcessPool as broken:
        future: Future[list[_Outcome]] = Future()
        future.set_exception(broken)
        return future


def _one_by_one(spec: DetectorSpec, batch: list[Note]) -> list[_Outcome]:
    outcomes: list[_Outcome] = []
    pool = _pool(spec, 1)
    try:
        for note in batch:
            try:
                outcomes.extend(pool.submit(_work, [note]).result())
            except BrokenProcessPool:
                outcomes.append((None, Code.DETECTOR_FAILED))
                pool.shutdown(wait=True)
                pool = _pool(spec, 1)
    finally:
        pool.shutdown(wait=True)
    return outcomes

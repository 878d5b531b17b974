"""Runs a detector over many notes: in this process, or in worker processes.

Belongs here: batches, order, workers and what becomes of a note that cannot be processed. Does not
belong here: detection itself, or where notes come from and spans go to.

Fail closed: a note on which the detector raises, or which kills its worker, comes back with an error
and without spans, so that the caller quarantines it; its neighbours in the batch are tried one by one.

Each worker has a pipe of its own. In a pool that shares queues, a worker that is killed half-way through an
answer leaves the others waiting for its other half, and workers outlive a parent that is killed, with notes
in their memory. Here both show as the end of a pipe.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Lock
from typing import Any

from deid_platform.detection import DetectorSpec, NoteDetector
from deid_platform.detection.resolve.merge import well_formed
from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.errors import Code, DeidError
from deid_platform.heap import settled
from deid_platform.notes import Note, Span
from deid_platform.quiet import hush
from deid_platform.stopping import check

_Outcome = tuple[tuple[Span, ...] | None, Code | None]
_Answer = tuple[list[_Outcome], TemplateCounts]


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
        self,
        spec: DetectorSpec,
        notes: Iterable[Note],
        *,
        on_batch: Callable[[int], None] | None = None,
        on_reuse: Callable[[TemplateCounts], None] | None = None,
    ) -> Iterator[Detection]:
        """Detects in a stream of notes on this machine; see `detect`."""
        return detect(
            spec, notes, workers=self.workers, batch_size=self.batch_size, on_batch=on_batch, on_reuse=on_reuse
        )


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
    on_reuse: Callable[[TemplateCounts], None] | None = None,
) -> Iterator[Detection]:
    """Detects in a stream of notes and keeps their order.

    Args:
        spec: Built once in each worker.
        notes: Read as needed; at most two batches a worker are held.
        workers: Processes; 1 means this process.
        batch_size: Notes in a batch.
        on_batch: Called with the number of notes of each finished batch.
        on_reuse: Called with what of each finished batch was recurring template text.

    Yields:
        One `Detection` a note, in input order.

    Raises:
        DeidError: If the detector cannot be built at all (for example `detector-unknown`).
        KeyboardInterrupt: Between two batches, if the process was asked to stop.
    """
    batches = _batches(notes, batch_size)
    first = next(batches, None)
    if first is None:
        # Nothing to detect in: no detector is built and no process started.
        return
    batches = chain([first], batches)
    outcomes = _in_process(spec, batches) if workers <= 1 else _in_workers(spec, batches, workers)
    index = 0
    # Whoever holds on to an exception holds on to the workers too, if they are not ended here.
    with closing(outcomes):
        for batch, reused in outcomes:
            check()
            for spans, error in batch:
                yield Detection(index, spans, error)
                index += 1
            if on_reuse is not None:
                on_reuse(reused)
            if on_batch is not None:
                on_batch(len(batch))


def _batches(notes: Iterable[Note], size: int) -> Iterator[list[Note]]:
    source = iter(notes)
    while batch := list(islice(source, size)):
        yield batch


def build(spec: DetectorSpec) -> NoteDetector:
    """The detector of a spec, in this process.

    Raises:
        DeidError: `detector-failed` for whatever raises; what `spec.build` raises.
    """
    try:
        return spec.build()
    except DeidError:
        raise
    except Exception:  # whatever a topic row provoked may quote it
        raise DeidError(Code.DETECTOR_FAILED, "build") from None


def detect_in(detector: NoteDetector, note: Note) -> tuple[Span, ...]:
    """What a detector finds in one note.

    Raises:
        DeidError: `detector-failed` for whatever raises, and for spans that overlap or lie outside the text.
    """
    ((spans, error),) = _run(detector, [note])
    if spans is None:
        raise DeidError(error or Code.DETECTOR_FAILED)
    return spans


def _run(detector: NoteDetector, batch: Sequence[Note]) -> list[_Outcome]:
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


def _answer(detector: NoteDetector, batch: Sequence[Note]) -> _Answer:
    """The outcomes of a batch and what of it was recurring text."""
    before = _reused(detector)
    outcomes = _run(detector, batch)
    return outcomes, _reused(detector).since(before)


def _reused(detector: NoteDetector) -> TemplateCounts:
    return detector.reused


def _in_process(spec: DetectorSpec, batches: Iterator[list[Note]]) -> Generator[_Answer, None, None]:
    detector = build(spec)
    with settled():
        for batch in batches:
            yield _answer(detector, batch)


def _serve(connection: Connection[Any, Any]) -> None:
    """A worker's life: one spec, then batch after batch, until the other end of the pipe is gone."""
    # Ctrl-C is the parent's to answer. SIGTERM has no handler here: it ends this process wherever it is.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hush()
    try:
        try:
            detector = build(connection.recv())
        except DeidError as refused:
            connection.send(refused)
            return
        connection.send(None)
        with settled():
            while True:
                connection.send(_answer(detector, connection.recv()))
    except Exception:  # the parent is gone, or sees that this end is; a traceback on stderr could quote a note
        return


_PRELOADED = ["__main__", "deid_platform.detection.rules.__main__"]
"""What the server of forks imports once, and not each worker and each that replaces one."""
_STARTS = 3
"""How often a worker is started before the installation is at fault: what kills processes may hit one at its start."""


class _Worker:
    """One worker process, started when first needed and again when it has died."""

    def __init__(self, spec: DetectorSpec) -> None:
        self._spec = spec
        self._connection: Connection[Any, Any] | None = None
        self._process: multiprocessing.process.BaseProcess | None = None
        self._changing = Lock()
        self._stopped = False

    def detect(self, batch: list[Note]) -> _Answer:
        """The answer to a batch. If the process dies on it, each note by itself; a note on which it dies again fails.

        Raises:
            DeidError: If the detector cannot be built, or no process can be started.
        """
        answer = self._ask(batch)
        if answer is None:
            failed: _Answer = ([(None, Code.DETECTOR_FAILED)], TemplateCounts())
            alone = [self._ask([note]) or failed for note in batch]
            answer = [outcome for outcomes, _ in alone for outcome in outcomes], TemplateCounts()
        return answer

    def stop(self) -> None:
        """Ends the process, at whatever it is: it holds nothing that could be lost."""
        with self._changing:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def ended(self) -> None:
        """Waits until the process is gone: a killed one lives on until the system gets to it."""
        if self._process is not None:
            self._process.join()

    def _ask(self, batch: list[Note]) -> _Answer | None:
        """What the process answers; None if it died instead."""
        connection = self._connection or self._started()
        try:
            connection.send(batch)
            answer: _Answer = connection.recv()
        except (EOFError, OSError):
            self._bury(connection)
            return None
        return answer

    def _started(self) -> Connection[Any, Any]:
        for _ in range(_STARTS):
            connection = self._launched()
            try:
                # Through the pipe, not with the process: what cannot be read there must not end up on its stderr.
                connection.send(self._spec)
                refused: DeidError | None = connection.recv()
            except (EOFError, OSError):
                self._bury(connection)
                continue
            if refused is not None:
                self._bury(connection)
                raise refused
            self._connection = connection
            return connection
        # A worker that cannot even start is a fault of the installation: no note may be blamed for it.
        raise DeidError(Code.DETECTOR_FAILED, "worker")

    def _launched(self) -> Connection[Any, Any]:
        forks = "forkserver" in multiprocessing.get_all_start_methods()
        # Not fork: the parent may hold threads and database connections.
        context = multiprocessing.get_context("forkserver") if forks else multiprocessing.get_context("spawn")
        context.set_forkserver_preload(_PRELOADED)
        with self._changing:
            if self._stopped:
                raise DeidError(Code.DETECTOR_FAILED, "worker")
            ours, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
        # The process has its own copy; with this one open, its death would not end the pipe.
        theirs.close()
        return ours

    def _bury(self, connection: Connection[Any, Any]) -> None:
        connection.close()
        self._connection = None
        assert self._process is not None  # noqa: S101 - there was a pipe to it
        self._process.kill()
        self._process.join()


def _in_workers(spec: DetectorSpec, batches: Iterator[list[Note]], workers: int) -> Generator[_Answer, None, None]:
    staff = [_Worker(spec) for _ in range(workers)]
    idle: SimpleQueue[_Worker] = SimpleQueue()
    for worker in staff:
        idle.put(worker)

    def work(batch: list[Note]) -> _Answer:
        worker = idle.get()
        try:
            return worker.detect(batch)
        finally:
            idle.put(worker)

    pending: deque[Future[_Answer]] = deque()
    # A thread a worker waits at its pipe; the work is done on the other side.
    threads = ThreadPoolExecutor(workers, thread_name_prefix="detector")
    try:
        while True:
            while len(pending) < 2 * workers and (batch := next(batches, None)) is not None:
                pending.append(threads.submit(work, batch))
            if not pending:
                return
            yield pending.popleft().result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in staff:
            worker.stop()
        threads.shutdown(wait=True)
        for worker in staff:
            worker.ended()

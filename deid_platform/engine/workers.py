"""Worker processes, forked from one process that has built everything.

Belongs here: processes, their pipes, and what becomes of a batch whose worker dies. Does not belong here: what is
done with a batch (`engine/engines.py` and the packages above it).

    parent --control--> template --fork--> worker
       '------------------pipe----------------'

The parent may hold threads and database connections, so nothing is forked from it. A clean process, the template, gets
the job through its pipe, builds it once, keeps it from the collector of cycles and forks the workers, which share its
memory page by page. A worker that is killed is forked again, which costs next to nothing; a template that is killed is
started again, and its workers work on meanwhile.

Each worker has a pipe of its own to the parent. In a pool that shares queues, a worker that is killed half-way through
an answer leaves the others waiting for its other half, and workers outlive a parent that is killed, with notes in their
memory. Here both show as the end of a pipe.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import socket
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import recv_handle, send_handle
from queue import SimpleQueue
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from deid_platform.errors import Code, DeidError
from deid_platform.keys import package_digest
from deid_platform.runtime.silence import silence_libraries

if TYPE_CHECKING:
    Pipe = Connection[Any, Any]

Item = TypeVar("Item")
Result = TypeVar("Result")
Made = TypeVar("Made")


class Task(ABC, Generic[Item, Result]):
    """What a worker does with batch after batch, built."""

    @abstractmethod
    def __call__(self, batch: Sequence[Item]) -> list[Result]:
        """One result an item. If it raises, the items are tried one by one."""

    def report(self) -> object:
        """What else there is to tell of the batches since the last call; None for nothing."""
        return None

    def warm_up(self) -> None:
        """Loads what would otherwise be loaded with the first batch, in each worker anew."""


class Job(ABC, Generic[Item, Result]):
    """The picklable description of a task."""

    fault: ClassVar[Code]
    """Names what fails, where the task cannot be built at all."""

    @property
    def digest(self) -> str:
        """Names all that decides the results and does not travel with the job: here, the platform's code and rules.

        A job that reads files where it is built names these too.
        """
        return package_digest("deid_platform")

    @property
    def on_card(self) -> bool:
        """Whether a machine needs a card for it."""
        return False

    def shared(self) -> AbstractContextManager[tuple[Job[Item, Result], Callable[[], None]]]:
        """The job as several workers of a machine build it, with what they share while it lasts, and what checks that.

        The check raises `device-lost` if what they share has ended: no item may be blamed for it.

        Raises:
            DeidError: `device-missing` or `device-lost` if what they share cannot be had.
        """
        return nullcontext((self, lambda: None))

    @abstractmethod
    def build(self) -> Task[Item, Result]:
        """The task, made once in this process or in the one from which the workers are forked."""

    @abstractmethod
    def failed(self, item: Item) -> Result:
        """The result for an item on which the task raises or its process dies."""


Answer = tuple[list[Result], object]


def built(make: Callable[[], Made], fault: Code) -> Made:
    """What a function makes.

    Raises:
        DeidError: The fault for whatever raises; what `make` raises as such.
    """
    try:
        return make()
    except DeidError:
        raise
    except Exception:  # whatever a topic row provoked may quote it
        raise DeidError(fault, "build") from None


def answer(job: Job[Item, Result], task: Task[Item, Result], batch: Sequence[Item]) -> Answer[Result]:
    """The results of a batch, and what else there is to tell."""
    return _results(job, task, batch), task.report()


def _results(job: Job[Item, Result], task: Task[Item, Result], batch: Sequence[Item]) -> list[Result]:
    """One result an item; if the batch fails as a whole, each item is tried by itself."""
    try:
        results = task(batch)
        if len(results) == len(batch):
            return results
    except Exception:  # noqa: S110 - whatever it raised, the item at fault is withheld below
        pass
    if len(batch) == 1:
        return [job.failed(batch[0])]
    return [result for item in batch for result in _results(job, task, [item])]


class Staff(Generic[Item, Result]):
    """Worker processes of one job: any thread may ask them, and waits for one that is idle.

    Args:
        job: Built once, by the process from which the workers are forked.
        workers: How many processes.
        preload: Modules that the server of forks imports once.
        renewed_after: After how many batches a process ends, and another is forked in its place: what it has
            remembered, or written to of the pages that all share, goes with it. None for never.
    """

    def __init__(
        self, job: Job[Item, Result], workers: int, *, preload: Sequence[str] = (), renewed_after: int | None = None
    ) -> None:
        self._template = _Template(job, preload)
        self._workers = [_Worker(job, self._template, renewed_after) for _ in range(workers)]
        self._idle: SimpleQueue[_Worker[Item, Result]] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)

    def answer(self, batch: list[Item], *, until: float | None = None) -> Answer[Result]:
        """The answer to a batch; an item on which a process dies fails.

        Args:
            batch: What is asked.
            until: When, by `time.monotonic`, a process that has not answered is ended; None gives it all the time.

        Raises:
            DeidError: `deadline-passed` where there was no answer by then; if the task cannot be built, or no process
                can be started.
        """
        worker = self._idle.get()
        try:
            return worker.answer(batch, until)
        finally:
            self._idle.put(worker)

    def kill(self) -> None:
        """Ends all processes, at whatever they are; whoever waits for one is told."""
        self._template.refuse()
        for worker in self._workers:
            worker.kill()
        self._template.kill()

    def close(self) -> None:
        """Waits until all processes are gone, after `kill`, when nobody asks any more."""
        for worker in self._workers:
            worker.close()


def answers(
    job: Job[Item, Result], batches: Iterator[list[Item]], workers: int, *, preload: Sequence[str] = ()
) -> Generator[Answer[Result], None, None]:
    """The answers to batches, in their order, from worker processes that end with this generator.

    Args:
        job: Built once, by the process from which the workers are forked.
        batches: Read as needed; at most two a worker are held.
        workers: How many processes.
        preload: Modules that the server of forks imports once.

    Raises:
        DeidError: If the task cannot be built, or no process can be started.
    """
    staff = Staff(job, workers, preload=preload)
    pending: deque[Future[Answer[Result]]] = deque()
    # A thread a worker waits at its pipe; the work is done on the other side.
    threads = ThreadPoolExecutor(workers, thread_name_prefix="worker")
    try:
        while True:
            while len(pending) < 2 * workers and (batch := next(batches, None)) is not None:
                pending.append(threads.submit(staff.answer, batch))
            if not pending:
                return
            yield pending.popleft().result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        staff.kill()
        threads.shutdown(wait=True)
        staff.close()


_STARTS = 3
"""How often the template is started before the installation is at fault: what kills processes may hit one at its
start."""


class _Template(Generic[Item, Result]):
    """The process that builds the task and forks workers; started when first needed, and again when it has died."""

    def __init__(self, job: Job[Item, Result], preload: Sequence[str]) -> None:
        self._job = job
        self._preload = preload
        self._control: Pipe | None = None
        self._process: BaseProcess | None = None
        self._asking = Lock()
        self._starting = Lock()
        self._refuses = False

    def forked(self, former: int | None) -> tuple[Pipe, int, BaseProcess]:
        """A new worker: the pipe to it, its process id and the process from which it was forked.

        Args:
            former: The worker whose place it takes. Until then its id stays its own, dead or alive.

        Raises:
            DeidError: If the task cannot be built, or no process can be started.
        """
        with self._asking:
            for _ in range(_STARTS):
                ours, theirs = multiprocessing.Pipe()
                try:
                    control = self._control or self._started()
                    control.send(former)
                    process = self._process
                    assert process is not None  # noqa: S101 - there is a pipe to it
                    assert process.pid is not None  # noqa: S101
                    send_handle(control, theirs.fileno(), process.pid)
                    return ours, control.recv(), process
                except (EOFError, OSError):
                    ours.close()
                    self._bury()
                except BaseException:
                    ours.close()
                    raise
                finally:
                    # The worker has its own copy; with this one open, its death would not end the pipe.
                    theirs.close()
        # What cannot even start is a fault of the installation: no note may be blamed for it.
        raise DeidError(self._job.fault, "worker")

    def refuse(self) -> None:
        """From now on starts nothing."""
        with self._starting:
            self._refuses = True

    def kill(self) -> None:
        """Ends the process, at whatever it is: it holds nothing that could be lost."""
        if self._process is not None:
            self._process.kill()
            self._process.join()

    def _started(self) -> Pipe:
        control = self._launched()
        # Through the pipe, not with the process: what cannot be read there must not end up on its stderr.
        control.send(self._job)
        refused: DeidError | None = control.recv()
        if refused is not None:
            raise refused
        self._control = control
        return control

    def _launched(self) -> Pipe:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(self._preload))
        with self._starting:
            if self._refuses:
                raise DeidError(self._job.fault, "worker")
            ours, theirs = context.Pipe()
            self._process = context.Process(target=_template, args=(theirs,), daemon=True)
            self._process.start()
        theirs.close()
        return ours

    def _bury(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        self.kill()


class _Worker(Generic[Item, Result]):
    """One worker process, forked when first needed and again when it has died."""

    def __init__(self, job: Job[Item, Result], template: _Template[Item, Result], renewed_after: int | None) -> None:
        self._job = job
        self._template = template
        self._renewed_after = renewed_after
        self._answered = 0  # batches since it was forked
        self._connection: Pipe | None = None
        self._process: int | None = None
        self._forked_from: BaseProcess | None = None

    def answer(self, batch: list[Item], until: float | None = None) -> Answer[Result]:
        """The answer to a batch. If the process dies on it, each item by itself; one on which it dies again fails.

        Raises:
            DeidError: As `Staff.answer` does.
        """
        whole = self._ask(batch, until)
        if whole is not None:
            return whole
        alone = [self._ask([item], until) or ([self._job.failed(item)], None) for item in batch]
        return [result for results, _ in alone for result in results], None

    def kill(self) -> None:
        """Ends the process, at whatever it is: it holds nothing that could be lost.

        While the template lives, the id of a dead worker stays its own. One that has outlived its template ends with
        its batch, as its pipe does.
        """
        if self._process is not None and self._forked_from is not None and self._forked_from.is_alive():
            with suppress(ProcessLookupError):
                os.kill(self._process, signal.SIGKILL)

    def close(self) -> None:
        """Waits until the process is gone: a killed one lives on until the system gets to it."""
        if self._connection is None:
            return
        with suppress(OSError), socket.socket(fileno=os.dup(self._connection.fileno())) as pipe:
            pipe.shutdown(socket.SHUT_WR)
            while pipe.recv(1 << 16):
                pass
        self._connection.close()
        self._connection = None

    def _ask(self, batch: list[Item], until: float | None) -> Answer[Result] | None:
        """What the process answers; None if it died instead."""
        if self._connection is None:
            self._connection, self._process, self._forked_from = self._template.forked(self._process)
            self._answered = 0
        try:
            self._connection.send(batch)
            if until is not None and not self._connection.poll(max(0.0, until - monotonic())):
                # At whatever it is: nothing else would give the place back that a hostile note holds.
                self.kill()
                self.close()
                raise DeidError(Code.DEADLINE_PASSED)
            found: Answer[Result] = self._connection.recv()
        except (EOFError, OSError):
            self.kill()
            self.close()
            return None
        self._answered += 1
        if self._answered == self._renewed_after:
            self.kill()
            self.close()
        return found


def _template(control: Pipe) -> None:
    """The template's life: one job, then a worker for each order, until the other end of the pipe is gone."""
    # Ctrl-C is the parent's to answer. SIGTERM has no handler here: it ends this process wherever it is.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    silence_libraries()
    # A process of several threads must not be forked: one of them may hold a lock that the fork inherits and nobody
    # opens. numpy starts a thread a core as it is imported.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    workers: set[int] = set()
    try:
        # What is built stays until the end: the collector has nothing to find among it, and would write to its pages.
        gc.disable()
        job = control.recv()
        try:
            task = built(job.build, job.fault)
        except DeidError as refused:
            control.send(refused)
            return
        with suppress(Exception):  # what fails here fails again, at a note
            task.warm_up()
        control.send(None)
        gc.collect()
        gc.freeze()
        while True:
            former = control.recv()
            handle = recv_handle(control)
            if former in workers:
                workers.remove(former)
                os.kill(former, signal.SIGKILL)
                os.waitpid(former, 0)
            process = os.fork()
            if process == 0:
                control.close()
                _worker(job, task, Connection(handle))
            os.close(handle)
            workers.add(process)
            control.send(process)
    except Exception:  # the parent is gone, or sees that this end is; a traceback on stderr could quote a topic
        return


def _worker(job: Job[Item, Result], task: Task[Item, Result], connection: Pipe) -> None:
    """A worker's life: batch after batch, until the other end of the pipe is gone."""
    gc.enable()
    try:
        while True:
            connection.send(answer(job, task, connection.recv()))
    except BaseException:  # the parent is gone, or sees that this end is; a traceback on stderr could quote a note
        os._exit(1)

"""How many requests wait for a worker process, and for how long.

Belongs here: the bounded queue before the processes, readiness. Does not belong here: the processes
(`engine/workers.py`), or what they do (`work.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import Protocol

import anyio
from anyio import to_thread

from deid_platform.engine.warm_up import made_up_note
from deid_platform.engine.workers import Answer
from deid_platform.errors import Code, DeidError
from deid_platform.service.work import Answered, Asked

_RETRY_SECONDS = 1, 60


class Asking(Protocol):
    """What answers: `workers.Staff`."""

    def answer(self, batch: list[Asked], *, until: float | None = None) -> Answer[Answered]:
        """The answer to a batch."""
        ...

    def kill(self) -> None:
        """Ends all processes."""
        ...

    def close(self) -> None:
        """Waits until they are gone."""
        ...


class Queue:
    """Hands requests to worker processes, in the order in which they came.

    Args:
        staff: The processes; see `workers.Staff`.
        policies: Names of the policies that they know.
        workers: How many there are.
        places: How many requests may wait for one; a further one is refused.
        seconds: How long a request may wait, and then how long it may be read; a process that reads it longer is ended.

    Attributes:
        workers, places, seconds: As given.
        ready: Whether the model is loaded.
        waiting: How many requests wait.
    """

    def __init__(self, staff: Asking, policies: Sequence[str], *, workers: int, places: int, seconds: float) -> None:
        self.workers, self.places, self.seconds = workers, places, seconds
        self.ready = False
        self.waiting = 0
        self._staff = staff
        self._policies = tuple(policies)
        self._free = anyio.Semaphore(workers)
        self._threads = anyio.CapacityLimiter(workers)
        self._lasted = 0.1  # seconds, of recent requests

    @property
    def busy(self) -> int:
        """How many processes read notes."""
        return self.workers - self._free.value

    @property
    def retry_after(self) -> int:
        """In how many seconds a place should be free."""
        least, most = _RETRY_SECONDS
        return min(max(least, math.ceil(self._lasted * (self.waiting + 1) / self.workers)), most)

    async def load(self) -> None:
        """Builds the task and starts every process, with a note of nobody.

        Raises:
            DeidError: If it cannot be built.
        """
        note = made_up_note().note
        async with anyio.create_task_group() as group:
            for _ in range(self.workers):
                group.start_soon(self._asked, Asked((note,), (), self._policies[0]), None)
        self.ready = True

    async def ask(self, asked: Asked, *, stream: bool = False) -> Answered:
        """What a process answers.

        Args:
            asked: The notes.
            stream: Whether they are of a stream, which waits for a place; streams bound themselves how many of
                their lines wait.

        Raises:
            DeidError: `service-starting`, `service-busy`, `deadline-passed`; `worker-lost` if no process can be
                started.
        """
        if not self.ready:
            raise DeidError(Code.SERVICE_STARTING)
        try:
            self._free.acquire_nowait()
        except anyio.WouldBlock:
            await self._wait(stream=stream)
        started = monotonic()
        try:
            # The wait does not count: a process that is asked late would be ended for nothing that it did.
            return await self._asked(asked, started + self.seconds)
        finally:
            self._free.release()
            self._lasted += (monotonic() - started - self._lasted) / 8

    async def _wait(self, *, stream: bool) -> None:
        if not stream and self.waiting >= self.places:
            raise DeidError(Code.SERVICE_BUSY)
        self.waiting += 1
        try:
            with anyio.fail_after(math.inf if stream else self.seconds):
                await self._free.acquire()
        except TimeoutError:
            raise DeidError(Code.DEADLINE_PASSED) from None
        finally:
            self.waiting -= 1

    async def _asked(self, asked: Asked, until: float | None) -> Answered:
        # Not given up when the client goes: the thread waits at the pipe until the process has answered or is ended.
        (answered,), _ = await to_thread.run_sync(
            partial(self._staff.answer, [asked], until=until), limiter=self._threads
        )
        return answered

    def kill(self) -> None:
        """Ends all processes; whoever waits for one is told."""
        self._staff.kill()

    def close(self) -> None:
        """Waits until all processes are gone, after `kill`."""
        self._staff.close()

"""Seconds in which models run, on a card and on the processor.

Belongs here: counting them in one process, and handing on what was counted. Does not belong here: what runs (the
packages of models), or who loads it (`detection/models/loading.py`).

Murugadoss 2024, table 6, has GPU seconds beside seconds. Here they are seconds in which a card computes, times the
cards; loading weights, and waiting for a note, are no part of them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import NamedTuple


class Ran(NamedTuple):
    """Seconds in which models ran.

    Attributes:
        gpu: On cards: of one that computes for a second, 1; of two, 2.
        processor: On the processor, of all processes together.
    """

    gpu: float = 0.0
    processor: float = 0.0

    def since(self, before: Ran) -> Ran:
        """What was added to an earlier count."""
        return Ran(self.gpu - before.gpu, self.processor - before.processor)


class ModelSeconds:
    """A count of one process; any thread may add to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ran = Ran()

    def __repr__(self) -> str:
        return f"<ModelSeconds: {self._ran.gpu:.2f} GPU, {self._ran.processor:.2f} processor>"

    @property
    def ran(self) -> Ran:
        """All that was counted and not taken."""
        return self._ran

    @contextmanager
    def running(self, cards: int) -> Iterator[None]:
        """Counts a block in which a model runs.

        Args:
            cards: How many it computes on; 0 for the processor.
        """
        started = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - started
            self.add(Ran(gpu=cards * seconds) if cards else Ran(processor=seconds))

    def add(self, ran: Ran) -> None:
        """Adds what was counted elsewhere."""
        with self._lock:
            self._ran = Ran(self._ran.gpu + ran.gpu, self._ran.processor + ran.processor)

    def take(self) -> Ran:
        """What was counted, which is now the taker's: a worker hands it on, and nobody counts it twice."""
        with self._lock:
            ran, self._ran = self._ran, Ran()
        return ran

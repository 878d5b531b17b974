"""A detector and a task with faults on demand; a module of its own, since worker processes import it by name."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ClassVar

import psutil

from deid_platform.detection import DetectorSpec, NoteDetector
from deid_platform.detection.models.device import CARD, TORCH_ON_PROCESSOR
from deid_platform.detection.models.loading import Models
from deid_platform.detection.models.network_server import NetworkServer, ServedNetwork
from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.engine.workers import Job, Task
from deid_platform.errors import Code
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.runtime.model_seconds import ModelSeconds

SECRET = "Zebulon Quarmby"


class Faulty:
    """Finds the first word; raises, lies, dies or takes its machine's actor with it where the text says so."""

    reused = TemplateCounts()

    def detect(self, notes: Sequence[Note]) -> list[tuple[Span, ...]]:
        for note in notes:
            if note.text.startswith("raise"):
                raise ValueError(note.text)
            if note.text.startswith("die"):
                os._exit(9)
            if note.text.startswith("machine"):
                next(each for each in psutil.Process().parents() if "ray::_Machine" in each.cmdline()[0]).kill()
                os._exit(9)
            if note.text.startswith("killed once") and _first_time(Path(note.text.split()[2])):
                os.kill(os.getpid(), signal.SIGKILL)
        if any(note.text.startswith("short") for note in notes):
            return []
        return [self._spans(note.text) for note in notes]

    def _spans(self, text: str) -> tuple[Span, ...]:
        if text.startswith("outside"):
            return (Span(0, len(text) + 1, Label.PATIENT),)
        if text.startswith("overlap"):
            return (Span(0, 5, Label.PATIENT), Span(3, 7, Label.PATIENT))
        return (Span(0, text.index(" "), Label.PATIENT),)


def _first_time(marker: Path) -> bool:
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _answer_by_halves() -> None:
    """From now on this process is killed half-way through any answer about more than one note."""
    whole = Connection._send

    def half(self: Connection, answer: memoryview) -> None:
        if len(answer) < 1000:
            return whole(self, answer)
        os.write(self.fileno(), answer[: len(answer) // 2])
        return os.kill(os.getpid(), signal.SIGKILL)

    Connection._send = half


@dataclass(frozen=True)
class FaultySpec(DetectorSpec):
    name: str = "faulty"

    @property
    def detector_digest(self) -> str:
        """As if each process had another version, where the name says so."""
        return str(os.getpid()) if self.name == "other-version" else self.name

    def build(self, models: Models | None = None) -> NoteDetector:
        if self.name == "unbuildable":
            raise ValueError(SECRET)
        if self.name == "half-answers":
            _answer_by_halves()
        if self.name.startswith("/") and _first_time(Path(self.name)):
            os.kill(os.getpid(), signal.SIGKILL)
        return Faulty()


@dataclass(frozen=True)
class OnPretendedCard(DetectorSpec):
    """Asks for a card as any detector does, and runs its models by torch on the processor instead.

    The process that owns the card starts only where Ray has assigned one.
    """

    name: str = "ensemble"
    device: str = CARD

    @property
    def _on_processor(self) -> DetectorSpec:
        return DetectorSpec(self.name, device=TORCH_ON_PROCESSOR, served=self.served)

    def network_server(self) -> NetworkServer | None:
        return self._on_processor.network_server() if os.environ.get("CUDA_VISIBLE_DEVICES") == "0" else None

    def build(self, models: Models | None = None) -> NoteDetector:
        if self.served is None:
            raise ValueError
        return self._on_processor.build(models)


@dataclass(frozen=True)
class FaultyOnCard(FaultySpec):
    """As `FaultySpec`, for a card whose process, pretended too, runs no model."""

    device: str = CARD
    on_card: ClassVar[bool] = True

    def network_server(self) -> NetworkServer | None:
        return NetworkServer([], TORCH_ON_PROCESSOR) if os.environ.get("CUDA_VISIBLE_DEVICES") == "0" else None

    def build(self, models: Models | None = None) -> NoteDetector:
        assert self.served is not None
        return FaultyServed(ServedNetwork(self.served, Path(), ModelSeconds()))


class FaultyServed(Faulty):
    """Asks the process that owns the card before it looks at a note."""

    def __init__(self, network: ServedNetwork) -> None:
        self._network = network

    def detect(self, notes: Sequence[Note]) -> list[tuple[Span, ...]]:
        self._network.logits([])
        return super().detect(notes)


class Faults(Task[str, str]):
    """Says what it was given; raises or dies where that says so.

    An "orphan" kills the process from which its worker was forked, once: its batch may be asked for again, if the
    worker ended before its answer was out.
    """

    def __init__(self, orphaned: Path) -> None:
        self._orphaned = orphaned

    def __call__(self, batch: Sequence[str]) -> list[str]:
        for item in batch:
            if item == "raise":
                raise ValueError(SECRET)
            if item == "die":
                os._exit(9)
            if item == "orphan" and _first_time(self._orphaned):
                os.kill(os.getppid(), signal.SIGKILL)
        return list(batch)

    def report(self) -> tuple[int, int]:
        """The process from which this one was forked, and how many threads that has."""
        return os.getppid(), psutil.Process(os.getppid()).num_threads()


@dataclass(frozen=True)
class FaultyJob(Job[str, str]):
    """A task that is built at the cost of a line in a file."""

    built: Path
    fault: ClassVar[Code] = Code.REDACTION_FAILED

    def build(self) -> Faults:
        with self.built.open("a") as lines:
            lines.write(f"{os.getpid()}\n")
        return Faults(self.built.with_suffix(".orphaned"))

    def failed(self, item: str) -> str:
        return f"{item} failed"

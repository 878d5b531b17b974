"""Where a Ray cluster pays: seconds of detection by the local engine and by Ray, on the same notes and the same cores.

    python benchmarks/engines.py [--notes 1000 10000] [--words 40] [--workers 2] [--detector ensemble] [--device cpu]
                                 [--turns 1]

Notes of the synthetic hospital, cut to so many words. Ray's start is a line of its own: one start serves a refresh.
Both engines take turns, so that other work of the machine meets both; the table has the median. What they find is
compared note by note. Where other work takes the cores, compare the processor's seconds, which are those of this
process and of all that it started, looked at ten times a second.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from threading import Event, Thread
from typing import NamedTuple

import psutil

from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.device import DEVICES, PROCESSOR
from deid_platform.detection.two_pass import Detection
from deid_platform.engine.engines import Engine, LocalEngine
from deid_platform.engine.ray_engine import RayEngine
from deid_platform.notes import Note


def notes_of(count: int, words: int) -> list[Note]:
    """Notes of the synthetic hospital, each cut after a number of words."""
    deliveries = generate(HospitalSpec(notes=count, deliveries=1))
    notes = (note for delivery in deliveries for note in delivery.notes)
    return [replace(note, text=" ".join(note.text.split(" ")[:words])) for note in islice(notes, count)]


class Taken(NamedTuple):
    """Seconds on the clock and of the processor."""

    wall: float
    cpu: float


class _Processes(Thread):
    """Looks at this process and all that it started: seconds of the processor that each has had."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._seen: dict[int, float] = {}
        self._over = Event()
        self._look()
        self._before = dict(self._seen)
        self.start()

    def run(self) -> None:
        while not self._over.wait(0.1):
            self._look()

    def spent(self) -> float:
        """Seconds since the first look."""
        self._over.set()
        self.join()
        self._look()
        return sum(self._seen.values()) - sum(self._before.values())

    def _look(self) -> None:
        this = psutil.Process()
        for each in [this, *this.children(recursive=True)]:
            try:
                times = each.cpu_times()
            except psutil.NoSuchProcess:
                continue
            self._seen[each.pid] = max(times.user + times.system, self._seen.get(each.pid, 0.0))


def timed(engine: Engine, spec: DetectorSpec, notes: Sequence[Note]) -> tuple[Taken, list[Detection]]:
    """What it took, and what was found."""
    processes, begun = _Processes(), time.perf_counter()
    found = list(engine.detect(spec, notes))
    return Taken(time.perf_counter() - begun, processes.spent()), found


def main() -> None:
    """Prints the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--detector", default="ensemble")
    parser.add_argument("--device", choices=DEVICES, default=PROCESSOR)
    parser.add_argument("--turns", type=int, default=1)
    arguments = parser.parse_args()
    spec = DetectorSpec(arguments.detector, device=arguments.device)
    local, ray = LocalEngine(arguments.workers), RayEngine(arguments.workers)
    start, _ = timed(ray, DetectorSpec("patterns"), notes_of(100, 5)[:1])
    print(f"Ray starts in {start.wall:.1f} s, {start.cpu:.1f} s of the processor\n")
    print("| notes | local, s | Ray, s | local, processor s | Ray, processor s | Ray against local | load |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for count in arguments.notes:
        notes = notes_of(count, arguments.words)
        taken: dict[Engine, list[Taken]] = {local: [], ray: []}
        for _ in range(arguments.turns):
            found = []
            for engine, seconds in taken.items():
                spent, detections = timed(engine, spec, notes)
                seconds.append(spent)
                found.append(detections)
            if found[0] != found[1]:
                raise SystemExit("Ray finds something else")
        one, other = (Taken(*map(statistics.median, zip(*each, strict=True))) for each in taken.values())
        more = f"{other.wall / one.wall - 1:+.0%}, processor {other.cpu / one.cpu - 1:+.0%}"
        figures = (f"{each:.1f}" for each in (one.wall, other.wall, one.cpu, other.cpu))
        print(f"| {count:,} | {' | '.join(figures)} | {more} | {os.getloadavg()[0]:.1f} |", flush=True)


if __name__ == "__main__":
    main()

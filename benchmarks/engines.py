"""Where a Ray cluster pays: seconds of detection by the local engine and by Ray, on the same notes and the same cores.

    python benchmarks/engines.py [--notes 1000 10000] [--words 40] [--workers 2] [--detector ensemble] [--turns 1]

Notes of the synthetic hospital, cut to so many words. Ray's start is a column of its own: one start serves a refresh.
Both engines take turns, so that other work of the machine meets both; the table has the median. What they find is
compared note by note.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.detection import DetectorSpec
from deid_platform.detection.two_pass import Detection
from deid_platform.engine import Engine, LocalEngine
from deid_platform.notes import Note
from deid_platform.ray_engine import RayEngine


def notes_of(count: int, words: int) -> list[Note]:
    """Notes of the synthetic hospital, each cut after a number of words."""
    deliveries = generate(HospitalSpec(notes=count, deliveries=1))
    notes = (note for delivery in deliveries for note in delivery.notes)
    return [replace(note, text=" ".join(note.text.split(" ")[:words])) for note in islice(notes, count)]


def timed(engine: Engine, spec: DetectorSpec, notes: Sequence[Note]) -> tuple[float, list[Detection]]:
    """Seconds, and what was found."""
    begun = time.perf_counter()
    found = list(engine.detect(spec, notes))
    return time.perf_counter() - begun, found


def main() -> None:
    """Prints the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--detector", default="ensemble")
    parser.add_argument("--turns", type=int, default=1)
    arguments = parser.parse_args()
    spec = DetectorSpec(arguments.detector)
    local, ray = LocalEngine(arguments.workers), RayEngine(arguments.workers)
    start, _ = timed(ray, DetectorSpec("patterns"), notes_of(1, 5))
    print(
        f"Ray starts in {start:.1f} s\n\n| notes | local, s | Ray, s | Ray against local |\n| --- | --- | --- | --- |"
    )
    for count in arguments.notes:
        notes = notes_of(count, arguments.words)
        taken: dict[Engine, list[float]] = {local: [], ray: []}
        for _ in range(arguments.turns):
            found = []
            for engine, seconds in taken.items():
                spent, detections = timed(engine, spec, notes)
                seconds.append(spent)
                found.append(detections)
            if found[0] != found[1]:
                raise SystemExit("Ray finds something else")
        one, other = (statistics.median(seconds) for seconds in taken.values())
        print(f"| {count:,} | {one:.1f} | {other:.1f} | {other / one - 1:+.0%} |", flush=True)


if __name__ == "__main__":
    main()

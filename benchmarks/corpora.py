"""Speed and memory of making surrogate notes: words a second by workers, at two sizes of a corpus.

    python benchmarks/corpora.py [NOTES.jsonl.gz] [--locale en_US] [--count 4000] [--workers 1 2]

Without a file of notes it weaves into one invented note. Notes are made from one list of carriers over and over, so
that only the making is timed: reading carriers and writing notes are not. Words are runs without white space in the
finished notes. Processor time is that of this process and its workers: on a machine that others use it says more than
the clock. Memory is the proportional share (PSS) of this process and its workers, the most that was seen; that it
is the same at twice the notes is what "flat" means.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from threading import Event, Thread

import psutil

from deid_platform.corpora import Rejection
from deid_platform.corpora.injection.carriers import Carrier
from deid_platform.corpora.injection.corpus import InjectionSpec, Part, inject
from deid_platform.corpora.injection.pages import example
from deid_platform.corpora.single_files import read_notes
from deid_platform.notes import Note
from deid_platform.surrogates.locales import LOCALES

_PAUSE = 0.1


def carriers(path: Path | None) -> list[Carrier]:
    """Notes without identifiers of their own."""
    if path is None:
        return [Carrier(Note("prose", "\n\n".join([example().note.text] * 4)), ())]
    notes = read_notes(path, columns={"lang": "language"}, strict=False)
    return [Carrier(note, ()) for note in notes if not isinstance(note, Rejection)]


def memory() -> float:
    """PSS of this process and those under it, in MB."""
    me = psutil.Process(os.getpid())
    total = 0
    for process in (me, *me.children(recursive=True)):
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue
    return total / 1e6


class Watch(Thread):
    """The most memory while it runs, and the processor time of this process and its workers."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0
        self._seconds: dict[int, float] = {}
        self._before = time.process_time()
        self._done = Event()

    def run(self) -> None:
        """Looks again and again: a worker that has ended can be asked no more."""
        while not self._done.wait(_PAUSE):
            self.peak = max(self.peak, memory())
            for process in psutil.Process(os.getpid()).children(recursive=True):
                with suppress(psutil.Error):
                    spent = process.cpu_times()
                    self._seconds[process.pid] = spent.user + spent.system

    def stop(self) -> tuple[float, float]:
        """The most that was seen, and the seconds."""
        own = time.process_time() - self._before
        self._done.set()
        self.join()
        return self.peak, own + sum(self._seconds.values())


def numbered(listed: list[Carrier], count: int) -> Iterator[Carrier]:
    """So many carriers, each with an id of its own."""
    for number, carrier in enumerate(islice(cycle(listed), count)):
        note = carrier.note
        yield Carrier(Note(f"{number}", note.text, language=note.language), carrier.slots)


def main() -> None:
    """Prints a line for each size and number of workers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", nargs="?", type=Path)
    parser.add_argument("--locale", choices=LOCALES, default=LOCALES[0])
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    arguments = parser.parse_args()
    listed = carriers(arguments.notes)
    spec = InjectionSpec("benchmark", arguments.locale, Part.TRAINING)
    print("| workers | notes | words | identifiers | words/s by the clock | words/s of processor time | peak MB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for workers in arguments.workers:
        for count in (arguments.count, 2 * arguments.count):
            watch = Watch()
            watch.start()
            began = time.perf_counter()
            words = identifiers = 0
            for made in inject(spec, numbered(listed, count), workers=workers):
                words += len(made.note.text.split())
                identifiers += len(made.gold)
            seconds = time.perf_counter() - began
            peak, worked = watch.stop()
            cells = (workers, count, words, identifiers, words / seconds, words / worked, peak)
            print(f"| {' | '.join(f'{cell:,.0f}' for cell in cells)} |", flush=True)


if __name__ == "__main__":
    main()

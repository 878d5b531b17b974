"""Growth of `deid redact` with its workers: words a second, the parent's share of the work, and memory.

    python benchmarks/workers.py [NOTES.jsonl] [--patients 100000] [--words 600000] [--workers 1 2 4] [--figure FILE]

Without a file of notes it writes its own prose of invented names, as `detection.py` does. Every count of workers runs
as a process of its own, which is watched from outside: processor time and memory of each process under it, memory as
its proportional share (PSS), so that what forks share counts once. Words are runs without white space.

A shared machine gives a run less than its cores. `on free cores` is therefore what processor time alone allows: that of
all processes together spread over the cores, or that of the parent where that is more.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import psutil
from detection import topics_of, written_notes

_COMMAND = "from deid_platform.cli import main; main()"
_PAUSE = 0.2


@dataclass
class Run:
    """What was seen of one run."""

    workers: int
    words: int
    seconds: float = 0.0
    parent: float = 0.0
    """Processor seconds of the process that reads and writes."""
    children: dict[int, float] = field(default_factory=dict)
    """Processor seconds of every other, by its id."""
    peak: float = 0.0
    """Memory of all together, in MB."""

    @property
    def processor(self) -> float:
        """Processor seconds of all together."""
        return self.parent + sum(self.children.values())

    @property
    def on_free_cores(self) -> float:
        """Words a second that processor time allows where each worker, or the parent alone, has a core."""
        return self.words / max(self.processor / self.workers, self.parent)


def main() -> None:
    """Prints one row a count of workers, and draws the figure that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", nargs="?", type=Path)
    parser.add_argument("--patients", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=600_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--policy", default="safe_harbor_plus_providers")
    parser.add_argument("--figure", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rng = random.Random(7)
        topics = topics_of(arguments.patients, rng)
        notes = arguments.notes or folder / "notes.jsonl"
        if arguments.notes is None:
            with notes.open("w") as lines:
                for note in written_notes(topics, arguments.words, rng):
                    row = {"note_id": note.note_id, "patient_id": note.patient_id, "text": note.text}
                    lines.write(json.dumps(row) + "\n")
        options = ["--policy", arguments.policy]
        for role in ("patients", "providers", "facilities"):
            rows = list(getattr(topics, role).values())
            with (folder / f"{role}.csv").open("w", newline="") as file:
                table = csv.DictWriter(file, [each.name for each in fields(rows[0])])
                table.writeheader()
                table.writerows(map(asdict, rows))
            options += [f"--{role}", str(folder / f"{role}.csv")]
        with notes.open() as lines:
            words = sum(len(json.loads(line)["text"].split()) for line in lines)
        print(f"{words:,} words, topics of {arguments.patients:,} patients, {os.cpu_count()} cores")
        runs = [
            watched(Run(workers, words), [str(notes), "-o", str(folder / "redacted.jsonl"), *options])
            for workers in arguments.workers
        ]
    for line in table_of(runs):
        print(line)
    if arguments.figure is not None:
        draw(runs, arguments.figure)


def watched(run: Run, options: Sequence[str]) -> Run:
    """Runs `deid redact` and watches it to its end."""
    command = [sys.executable, "-c", _COMMAND, "redact", *options, "--workers", str(run.workers)]
    return watch(run, command, accepted=(0, 3))


def watch(run: Run, command: Sequence[str], *, accepted: Sequence[int] = (0,)) -> Run:
    """Runs a command and watches it and all processes under it to its end."""
    started = time.perf_counter()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        family = (process, *children_of(process))
        for each in family:
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                spent = each.cpu_times()
                if each.pid == process.pid:
                    run.parent = spent.user + spent.system
                else:
                    run.children[each.pid] = spent.user + spent.system
        run.peak = max(run.peak, memory_of(family))
        time.sleep(_PAUSE)
    run.seconds = time.perf_counter() - started
    if process.returncode not in accepted:
        raise SystemExit(f"{' '.join(command[:5])} ended with {process.returncode}")
    return run


def children_of(process: psutil.Process) -> list[psutil.Process]:
    """All processes under one, as far as they are still there."""
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def memory_of(processes: Iterable[psutil.Process]) -> float:
    """The proportional share of memory (PSS) of processes together, in MB; those that have ended have none."""
    memory = 0.0
    for each in processes:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            memory += each.memory_full_info().pss / 1e6
    return memory


def table_of(runs: Sequence[Run]) -> Iterator[str]:
    """The lines of a table."""
    yield (
        f"{'workers':>7}{'seconds':>9}{'words/s':>10}{'on free cores':>15}{'parent us/word':>16}{'all us/word':>13}"
        f"{'parent share':>14}{'peak MB':>9}"
    )
    for run in runs:
        yield (
            f"{run.workers:>7}{run.seconds:>9.1f}{run.words / run.seconds:>10,.0f}{run.on_free_cores:>15,.0f}"
            f"{run.parent / run.words * 1e6:>16.2f}{run.processor / run.words * 1e6:>13.2f}"
            f"{run.parent / run.processor:>14.1%}{run.peak:>9,.0f}"
        )


def draw(runs: Sequence[Run], path: Path) -> None:
    """Draws words a second and memory over the count of workers."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    speed, memory = figure.subplots(1, 2)
    workers = [run.workers for run in runs]
    first = runs[0].on_free_cores / runs[0].workers
    speed.plot(workers, [first * count for count in workers], color="0.7", linestyle="--", label="in proportion")
    speed.plot(workers, [run.on_free_cores for run in runs], marker="o", label="what processor time allows")
    speed.set_ylabel("words a second")
    speed.set_ylim(bottom=0)
    speed.legend(frameon=False)
    memory.plot(workers, [run.peak for run in runs], marker="o")
    memory.set_ylabel("memory of all processes, MB")
    memory.set_ylim(bottom=0)
    for axes in (speed, memory):
        axes.set_xlabel("workers")
        axes.set_xticks(workers)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()

"""Growth of `deid redact` with the number of notes: time and memory, from a thousand notes to a hundred thousand.

    python benchmarks/growth.py [--notes 1000 3000 10000 30000 100000] [--words 40] [--workers 2] [--figure FILE]

Notes are the synthetic hospital's, without topics, each cut to its first words, so that the longest run ends in a
quarter of an hour: what grows here is the number of notes. Each run is a process of its own, watched from outside as
`workers.py` says. Linear means that seconds a thousand notes stay the same, and memory does too.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import aims
from short_notes import first_words
from workers import Run, watched

from deid_platform.corpora.hospital import HospitalSpec, generate


def write(path: Path, count: int, most: int) -> int:
    """Writes so many notes, and says how many words they have."""
    words = 0
    ids = (f"{number}" for number in range(count))
    with path.open("w", encoding="utf-8") as lines:
        notes = (note for delivery in generate(HospitalSpec(notes=2 * count)) for note in delivery.notes)
        for name, note in zip(ids, islice(notes, count), strict=True):
            kept = first_words(note.text, most)
            words += len(kept.split())
            lines.write(json.dumps({"note_id": name, "text": kept}) + "\n")
    return words


def main() -> None:
    """Prints one row a number of notes, and draws the figure that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 3_000, 10_000, 30_000, 100_000])
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--figure", type=Path)
    aims.add_json(parser)
    arguments = parser.parse_args()
    runs = []
    print("| notes | words | seconds | processor seconds a thousand notes | peak MB |\n| --- | --- | --- | --- | --- |")
    for count in arguments.notes:
        with tempfile.TemporaryDirectory() as name:
            notes = Path(name) / "notes.jsonl"
            run = Run(arguments.workers, write(notes, count, arguments.words))
            runs.append(watched(run, [str(notes), "-o", str(Path(name) / "redacted.jsonl")]))
        print(f"| {count:,} | {run.words:,} | {run.seconds:,.0f} | {1000 * run.processor / count:.2f} "
              f"| {run.peak:,.0f} |", flush=True)  # fmt: skip
    each = (f"{1000 * run.processor / n:.2f} at {n:,}" for n, run in zip(arguments.notes, runs, strict=True))
    peak = max(run.peak for run in runs)
    aims.keep(arguments.json, {aims.GROWTH: f"{', '.join(each)}; at most {peak:,.0f} MB"})
    if arguments.figure is not None:
        draw(arguments.notes, runs, arguments.figure)


def draw(notes: Sequence[int], runs: Sequence[Run], path: Path) -> None:
    """Draws seconds and memory over the number of notes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    time, memory = figure.subplots(1, 2)
    time.loglog(notes, [run.processor for run in runs], marker="o")
    longest = runs[-1].processor / notes[-1]
    time.loglog(notes, [longest * count for count in notes], color="0.7", linestyle="--", label="in proportion")
    time.set_ylabel("processor seconds of all processes")
    time.legend(frameon=False)
    memory.semilogx(notes, [run.peak for run in runs], marker="o")
    memory.set_ylabel("memory of all processes, MB")
    memory.set_ylim(bottom=0)
    for axes in (time, memory):
        axes.set_xlabel("notes")
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()

"""Seconds and memory of each step of a refresh, by the number of notes of one delivery.

    python benchmarks/delivery.py [--notes 1000 3000 10000 30000 100000] [--words 40] [--workers 2] [--figure FILE]

Each run is `deid refresh` of a new installation with one delivery of the synthetic hospital, its notes cut to their
first words. Seconds are those between a step's start and its end in Dagster's own log. Memory is the most that all
processes of the refresh had together meanwhile, each by its proportional share (PSS); that of the embedded Postgres is
shown beside it. Progress and the summary go to the standard error.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
import psutil
from short_notes import write_short
from workers import children_of, memory_of

from deid_platform.corpora.hospital import HospitalSpec
from deid_platform.corpora.hospital.spec import NOTE_TYPES

_COMMAND = "from deid_platform.cli import main; main()"
_PAUSE = 0.2
_SETTINGS = """site = "north"
profile = "demo"
home = "home"

[feeds.hospital]
path = "deliveries"
gold = "gold"
demonstration = true
note_types = {types}

[detection]
detector = "ensemble"
workers = {workers}

[redaction]
policy = "safe_harbor_plus_providers"

[bench]
size = 300
"""


@dataclass
class Measured:
    """What was seen of one refresh: steps by name, in the order in which they began."""

    notes: int
    seconds: dict[str, float] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    """The most memory of the refresh in a step, in MB."""
    server: float = 0.0
    """The most memory of the embedded server, in MB."""
    whole: float = 0.0
    """Seconds from the start of the command to its end."""


def main() -> None:
    """Prints a row a number of notes, then the steps, and draws the figure that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 3_000, 10_000, 30_000, 100_000])
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--figure", type=Path)
    arguments = parser.parse_args()
    runs = []
    print("| notes | seconds | MB, refresh | MB, server |\n| --- | --- | --- | --- |")
    for count in arguments.notes:
        with tempfile.TemporaryDirectory() as name:
            run = refreshed(Path(name), count, arguments.words, arguments.workers)
        runs.append(run)
        peak = max(run.memory.values())
        print(f"| {run.notes:,} | {run.whole:,.0f} | {peak:,.0f} | {run.server:,.0f} |", flush=True)
    print()
    for line in table_of(runs):
        print(line)
    if arguments.figure is not None:
        draw(runs, arguments.figure)


def settings_of(workers: int, more: str = "") -> str:
    """The settings of an installation whose deliveries and gold lie beside it."""
    return _SETTINGS.format(types=list(NOTE_TYPES), workers=workers) + more


def refreshed(folder: Path, count: int, words: int, workers: int) -> Measured:
    """Makes an installation with one delivery of so many notes, refreshes it and watches that."""
    (folder / "deid.toml").write_text(settings_of(workers))
    spec = HospitalSpec(notes=count, deliveries=1)
    write_short(spec, words, feed_root=folder / "deliveries", gold_root=folder / "gold")
    environment = os.environ | {"DEID_CONFIG": str(folder / "deid.toml")}
    command = [sys.executable, "-c", _COMMAND]
    subprocess.run([*command, "db", "bootstrap"], env=environment, check=True, stdout=subprocess.DEVNULL)
    try:
        measured = Measured(count)
        begun = time.time()
        process = psutil.Popen([*command, "refresh"], env=environment, stdout=sys.stderr)
        seen = list(_watched(process, measured))
        measured.whole = time.time() - begun
        if process.returncode:
            raise SystemExit(f"deid refresh ended with {process.returncode}")
        for step, start, end in _steps(folder / "home" / "dagster"):
            measured.seconds[step] = end - start
            measured.memory[step] = max((mb for at, mb in seen if start <= at <= end + _PAUSE), default=0.0)
        return measured
    finally:
        subprocess.run([*command, "db", "stop"], env=environment, check=False, stdout=subprocess.DEVNULL)


def _watched(process: psutil.Popen, measured: Measured) -> Iterator[tuple[float, float]]:
    """When it was, and the memory of the process and all under it in MB, until it ends."""
    while process.poll() is None:
        yield time.time(), memory_of((process, *children_of(process)))
        servers = (each for each in psutil.process_iter(["name"]) if each.info["name"] == "postgres")
        measured.server = max(measured.server, memory_of(servers))
        time.sleep(_PAUSE)


def _steps(home: Path) -> list[tuple[str, float, float]]:
    """Name, start and end of each step of the refresh's runs."""
    with dg.DagsterInstance.from_config(str(home)) as instance:
        found = [
            (step.step_key, step.start_time, step.end_time)
            for run in instance.get_runs()
            for step in instance.get_run_step_stats(run.run_id)
            if step.start_time is not None and step.end_time is not None
        ]
    return sorted(found, key=lambda step: step[1])


def table_of(runs: Sequence[Measured]) -> Iterator[str]:
    """A row a step that takes a second at the most notes, or grows in memory: seconds and MB by number of notes."""
    counts = [f"{run.notes:,}" for run in runs]
    yield "| step | " + " | ".join([f"s, {count}" for count in counts] + [f"MB, {count}" for count in counts]) + " |"
    yield "| --- |" + " --- |" * (2 * len(runs))
    for step in runs[-1].seconds:
        if runs[-1].seconds[step] >= 1:
            yield (
                f"| {_shown(step)} | "
                + " | ".join(
                    [_figure(run.seconds, step, ".1f") for run in runs]
                    + [_figure(run.memory, step, ",.0f") for run in runs]
                )
                + " |"
            )


def _shown(step: str) -> str:
    """An asset as the catalog names it."""
    return re.sub("__", "/", step)


def _figure(values: Mapping[str, float], step: str, form: str) -> str:
    return format(values[step], form) if step in values else "-"


def draw(runs: Sequence[Measured], path: Path) -> None:
    """Draws the seconds and the memory of the longest steps over the number of notes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    time_axes, memory_axes = figure.subplots(1, 2)
    notes = [run.notes for run in runs]
    longest = sorted(runs[-1].seconds, key=lambda step: -runs[-1].seconds[step])[:7]
    for step in longest:
        time_axes.loglog(notes, [run.seconds.get(step, float("nan")) for run in runs], marker="o")
        memory = [run.memory.get(step, float("nan")) for run in runs]
        memory_axes.semilogx(notes, memory, marker="o", label=_shown(step))
    time_axes.set_ylabel("seconds")
    memory_axes.set_ylabel("memory of all processes, MB")
    memory_axes.set_ylim(bottom=0)
    for axes in (time_axes, memory_axes):
        axes.set_xlabel("notes of the delivery")
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*memory_axes.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()

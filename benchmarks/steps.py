"""Processor seconds of each step of `deid refresh`, command by command: what a delivery costs besides its notes.

    python benchmarks/steps.py [--notes 84] [--deliveries 3] [--words 40] [--gold 300] [--library 100] [--workers 2]

Deliveries of the synthetic hospital, cut to their first words, with gold of their own, arrive one by one; of 84 notes,
the first has 64 and each later one ten and what changed. Each is refreshed by a command of its own, as a timer starts
it. Then nothing is new, and at last the key secret changes, which makes all deliveries due.

Each row of the table is a step; what Dagster takes between two of them is a row too. Counted are the command and all
processes under it; the embedded server has a row of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from measure import processor, processor_named
from short_notes import write_short
from workers import children_of

from deid_platform.corpora.hospital import HospitalSpec
from deid_platform.corpora.hospital.spec import NOTE_TYPES

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
[bench]
size = {gold}
library_notes = {library}
"""
_START, _BETWEEN, _END = "the command: imports, dbt's project, what is due", "between the steps", "summary and end"
_SERVER = "the server"
_PAUSE = 0.25


@dataclass
class Spent:
    """Processor seconds by step, of this process and those under it.

    Workers are killed when they are done, and nobody is told what they took: they are followed while they live, so that
    up to a quarter of a second of each is not counted.
    """

    steps: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _seen: dict[tuple[int, float], float] = field(default_factory=dict)
    _following: float = 0.0
    _at: float = 0.0

    def follow(self) -> None:
        """Looks at all processes again and again, for ever."""
        while True:
            self._look()
            self._following = time.thread_time()
            time.sleep(_PAUSE)

    def lap(self, step: str) -> None:
        """What was spent since the last one, by this step."""
        self._look()
        now = time.process_time() - self._following + sum(self._seen.values())
        self.steps[step] += now - self._at
        self._at = now

    def _look(self) -> None:
        for each in children_of(psutil.Process()):
            with suppress(psutil.Error):
                spent = each.cpu_times()
                self._seen[each.pid, each.create_time()] = spent.user + spent.system


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=84)
    parser.add_argument("--deliveries", type=int, default=3)
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--gold", type=int, default=300, help="notes of the test set")
    parser.add_argument("--library", type=int, default=100, help="whole notes of the library that the gate judges by")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--refresh", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.refresh is not None:
        refresh(given.refresh)
        return
    for name in [name for name in os.environ if name.startswith(("DEID_", "DAGSTER_"))]:
        del os.environ[name]  # no other installation is refreshed
    with tempfile.TemporaryDirectory(prefix="deid-bench-") as name:
        folder = Path(name)
        settings = _SETTINGS.format(
            types=list(NOTE_TYPES), workers=given.workers, gold=given.gold, library=given.library
        )
        (folder / "deid.toml").write_text(settings)
        os.environ |= {"DEID_CONFIG": str(folder / "deid.toml"), "DEID_SECRET": _secret("first"), "DO_NOT_TRACK": "1"}
        spec = HospitalSpec(seed=7, notes=given.notes, deliveries=given.deliveries)
        watermarks = write_short(spec, given.words, feed_root=folder / "coming", gold_root=folder / "gold")
        table(dict(refreshed(folder, watermarks)))


def refreshed(folder: Path, watermarks: list[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Seconds by step of every delivery by itself, of a refresh without anything new, and of all under another secret.

    Raises:
        SystemExit: A refresh failed.
    """
    from deid_platform.settings import load_settings
    from deid_platform.warehouse.migrate import prepare
    from deid_platform.warehouse.server.connection import Warehouse
    from deid_platform.warehouse.server.server import EmbeddedServer

    server = EmbeddedServer(load_settings(folder / "deid.toml").home_path)
    server.start()
    root = psutil.Process(server.status().pid)
    kept = folder / "steps.json"

    def command() -> dict[str, float]:
        before = processor(root)
        done = subprocess.run([sys.executable, __file__, "--refresh", kept], stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise SystemExit(done.returncode)
        steps: dict[str, float] = json.loads(kept.read_text())
        print(f"{sum(steps.values()):.1f} s", *steps.items(), file=sys.stderr, flush=True)
        return steps | {_SERVER: processor(root) - before}

    try:
        prepare(Warehouse(server), profile="demo")
        for watermark in watermarks:
            (folder / "deliveries").mkdir(exist_ok=True)
            (folder / "coming" / watermark).rename(folder / "deliveries" / watermark)
            yield f"new {watermark}", command()
        yield "nothing new", command()
        os.environ |= {"DEID_SECRET": _secret("second"), "DEID_PREVIOUS_SECRET": os.environ["DEID_SECRET"]}
        yield "another secret", command()
    finally:
        server.stop(force=True)


def refresh(kept: Path) -> None:
    """`deid refresh` in this process, whose seconds go by step into a file."""
    from assets import layer
    from deid_platform.cli import operate

    spent = Spent()
    threading.Thread(target=spent.follow, daemon=True).start()
    coded, before_steps = layer.coded, True

    @contextmanager
    def counted(where: str) -> Iterator[None]:
        nonlocal before_steps
        spent.lap(_START if before_steps else _BETWEEN)
        before_steps = False
        with coded(where):
            yield
        spent.lap(where)

    layer.coded = counted  # before the assets that take it from there
    summary = operate.summary

    def at_end(**given: Path) -> None:
        spent.lap(_START if before_steps else _BETWEEN)
        summary(**given)

    operate.summary = at_end  # type: ignore[assignment]
    operate.refresh()
    spent.lap(_END)
    kept.write_text(json.dumps(spent.steps))


def table(commands: dict[str, dict[str, float]]) -> None:
    """The processor's name, then a row a step that took a tenth of a second, a column a command."""
    print(f"{processor_named()}\n")
    print(f"| step | {' | '.join(commands)} |\n|{' --- |' * (len(commands) + 1)}")
    steps = dict.fromkeys(step for of_command in commands.values() for step in of_command)
    most = {step: max(of_command.get(step, 0.0) for of_command in commands.values()) for step in steps}
    for step in sorted((step for step in most if step != _SERVER and most[step] >= 0.1), key=lambda step: -most[step]):
        print(f"| {step} | {' | '.join(f'{spent.get(step, 0.0):.1f}' for spent in commands.values())} |")
    all_steps = (sum(spent.values()) - spent[_SERVER] for spent in commands.values())
    print(f"| all | {' | '.join(f'{seconds:.1f}' for seconds in all_steps)} |")
    print(f"| {_SERVER}, besides | {' | '.join(f'{spent[_SERVER]:.1f}' for spent in commands.values())} |")


def _secret(which: str) -> str:
    return hashlib.sha256(which.encode()).hexdigest()


if __name__ == "__main__":
    main()

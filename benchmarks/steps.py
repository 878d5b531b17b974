"""Processor seconds of each step of `deid refresh`, delivery by delivery: what a delivery costs besides its notes.

    python benchmarks/steps.py [--notes 400] [--deliveries 3] [--words 40] [--gold 300] [--workers 2]

Deliveries of the synthetic hospital, cut to their first words, with gold of their own, arrive one by one and are
refreshed by this process. Then the key secret changes, which makes all of them due, and one refresh catches up. Each
row of the table is a step; what Dagster takes between two of them is a row too. Counted are this process, all processes
under it, and the embedded server.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from measure import processor
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
"""
_BETWEEN = "between the steps"
_PAUSE = 0.25


@dataclass
class Spent:
    """Processor seconds so far, and by delivery and step.

    Workers are killed when they are done, and nobody is told what they took: they are followed while they live, so that
    up to a quarter of a second of each is not counted.
    """

    server: psutil.Process
    steps: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    _seen: dict[tuple[int, float], float] = field(default_factory=dict)
    _following: float = 0.0
    _at: float = 0.0

    def follow(self) -> None:
        """Looks at all processes again and again, for ever."""
        while True:
            self._look()
            self._following = time.thread_time()
            time.sleep(_PAUSE)

    def lap(self, delivery: str, step: str) -> None:
        """What was spent since the last one, by this step."""
        self._look()
        now = time.process_time() - self._following + sum(self._seen.values()) + processor(self.server)
        self.steps[delivery][step] += now - self._at
        self._at = now

    def _look(self) -> None:
        for each in children_of(psutil.Process()):
            with suppress(psutil.Error):
                spent = each.cpu_times()
                self._seen[each.pid, each.create_time()] = spent.user + spent.system


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=400)
    parser.add_argument("--deliveries", type=int, default=3)
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--gold", type=int, default=300, help="notes of the test set")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(("DEID_", "DAGSTER_"))]:
        del os.environ[name]  # no other installation is refreshed
    with tempfile.TemporaryDirectory(prefix="deid-bench-") as name:
        folder = Path(name)
        settings = _SETTINGS.format(types=list(NOTE_TYPES), workers=given.workers, gold=given.gold)
        (folder / "deid.toml").write_text(settings)
        os.environ |= {"DEID_CONFIG": str(folder / "deid.toml"), "DEID_SECRET": _secret("first"), "DO_NOT_TRACK": "1"}
        spec = HospitalSpec(seed=7, notes=given.notes, deliveries=given.deliveries)
        watermarks = write_short(spec, given.words, feed_root=folder / "coming", gold_root=folder / "gold")
        table(refreshed(folder, watermarks))


def refreshed(folder: Path, watermarks: list[str]) -> Spent:
    """Every delivery by itself, and all of them under another secret."""
    # After the environment is set, by which Dagster finds its instance.
    from rich.console import Console

    from assets import layer
    from deid_platform.instance import prepare_instance
    from deid_platform.refresh.lock import installation_lock
    from deid_platform.settings import load_settings
    from deid_platform.warehouse.connection import Warehouse
    from deid_platform.warehouse.migrate import prepare
    from deid_platform.warehouse.server import EmbeddedServer

    config = folder / "deid.toml"
    settings = load_settings(config)
    prepare_instance(settings, config)
    server = EmbeddedServer(settings.home_path)
    server.start()
    spent = Spent(psutil.Process(server.status().pid))
    delivery = ""
    coded = layer.coded

    @contextmanager
    def counted(where: str) -> Iterator[None]:
        spent.lap(delivery, _BETWEEN)
        with coded(where):
            yield
        spent.lap(delivery, where)

    layer.coded = counted  # before the assets that take it from there
    from deid_platform import main_job

    run = main_job._run

    def run_counted(job, instance, which, console):  # type: ignore[no-untyped-def]
        nonlocal delivery
        spent.lap("", _BETWEEN)
        delivery = f"{phase} {which.watermark}"
        outcome = run(job, instance, which, console)
        spent.lap(delivery, _BETWEEN)
        if outcome.failure:
            raise SystemExit(outcome.failure)
        return outcome

    main_job._run = run_counted
    console = Console(stderr=True)
    try:
        prepare(Warehouse(server), profile="demo")
        with installation_lock(settings.home_path):
            job = main_job.load_job(config)
            threading.Thread(target=spent.follow, daemon=True).start()
            phase = "new"
            for watermark in watermarks:
                (folder / "deliveries").mkdir(exist_ok=True)
                (folder / "coming" / watermark).rename(folder / "deliveries" / watermark)
                main_job.refresh_deliveries(job, config, feed=None, only=None, force=False, console=console)
            os.environ |= {"DEID_SECRET": _secret("second"), "DEID_PREVIOUS_SECRET": os.environ["DEID_SECRET"]}
            config.touch()  # it is read anew
            phase = "secret"
            main_job.refresh_deliveries(job, config, feed=None, only=None, force=False, console=console)
    finally:
        server.stop(force=True)
    return spent


def table(spent: Spent) -> None:
    """A row a step that took a tenth of a second, a column a delivery."""
    deliveries = [delivery for delivery in spent.steps if delivery]
    print(f"| step | {' | '.join(deliveries)} |\n|{' --- |' * (len(deliveries) + 1)}")
    steps = list(dict.fromkeys(step for delivery in deliveries for step in spent.steps[delivery]))
    for step in sorted(steps, key=lambda step: -max(spent.steps[each][step] for each in deliveries)):
        seconds = [spent.steps[delivery][step] for delivery in deliveries]
        if max(seconds) >= 0.1:
            print(f"| {step} | {' | '.join(f'{each:.1f}' for each in seconds)} |")
    print(f"| all | {' | '.join(f'{sum(spent.steps[each].values()):.1f}' for each in deliveries)} |")


def _secret(which: str) -> str:
    return hashlib.sha256(which.encode()).hexdigest()


if __name__ == "__main__":
    main()

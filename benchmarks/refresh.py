"""Growth of a refresh with the notes of one delivery: seconds and memory of each stage, each a process of its own.

    python benchmarks/refresh.py [--notes 1000 3000 10000 30000 100000] [--words 40] [--workers 2] [--figure FILE]
    python benchmarks/refresh.py --notes 3000 --topics-of 100000

Notes and topics are the synthetic hospital's, each note cut to its first words, in one delivery; the note store and an
embedded server of its own lie in a temporary folder. The detector is `rules`. A process is watched from outside as
`workers.py` says. The server's part is apart: its processor time, and the memory that its sessions do not share (its
buffers are 256 MB at any size). Seconds are of processor time too, since a shared machine gives a stage less than its
cores. The bench's row at the gate is written as passed: what it measures does not depend on the delivery.

With `--topics-of`, the topics are those of so many notes, of which fewer are there: what topics alone take.

`again` is the second run of redaction over notes that did not change.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from itertools import islice
from pathlib import Path

import psutil
from measure import processor
from short_notes import first_words
from workers import Run, children_of, watch

from deid_platform.corpora.hospital import HospitalSpec
from deid_platform.corpora.hospital.deliveries import documents, plans
from deid_platform.keys import plain_digest
from deid_platform.notes import Delivery, Topics
from deid_platform.refresh import publish
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.reported import newest_known
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake import sealing
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.refresh.redact.first_pass import run_first_pass
from deid_platform.refresh.staging import measure, stage
from deid_platform.settings import load_settings
from deid_platform.warehouse.gate.ledger import GateRow, record_gate
from deid_platform.warehouse.gate.staging import Inputs, staged_now
from deid_platform.warehouse.migrate import prepare
from deid_platform.warehouse.quality.held_out import HeldOutSet, Purpose, record_look, seal
from deid_platform.warehouse.server.roles import Role
from deid_platform.warehouse.server.server import EmbeddedServer

DELIVERY = Delivery("hospital", "2026-01-05")
PROJECT = Path(__file__).parents[1] / "dbt"
_SETTINGS = (
    'site = "north"\nprofile = "demo"\nhome = "home"\n[detection]\ndetector = "rules"\nworkers = {workers}\n'
    '[feeds.hospital]\npath = "deliveries"\ndemonstration = true\nnote_types = ["progress note"]\n'
)
_PAUSE = 0.2


def take_in(site: Site) -> None:
    reader = site.reader(DELIVERY.feed)
    for name in tables.TOPICS:
        sealing.take_in_topic(reader, DELIVERY, name, store=site.store)
    sealing.take_in_notes(reader, DELIVERY, store=site.store, keyring=site.keyring, exclusions=site.exclusions)


def detect(site: Site) -> None:
    run_first_pass(DELIVERY, store=site.store, recipe=site.recipe(DELIVERY), engine=site.engine)


def redact(site: Site) -> None:
    deidentify(DELIVERY, store=site.store, recipe=site.recipe(DELIVERY), engine=site.engine)


def stage_rows(site: Site) -> None:
    stage.stage_delivery(site, DELIVERY, run_id="run")


def compare(site: Site) -> None:
    measure.record_measurements(site, staged_now(site.warehouse.engine(Role.GATEKEEPER), DELIVERY))


def expect(site: Site) -> None:
    measure.record_expectations(site, DELIVERY)


def promote(site: Site) -> None:
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    detector = site.spec(None).detector_digest
    held_out = HeldOutSet(plain_digest("set"), "synthetic_hospital", "", 1, 1, 1, {}, (plain_digest("note")[:16],))
    seal(gatekeeper, held_out)
    record_look(gatekeeper, held_out.digest, detector, Purpose.GATE)
    inputs = Inputs(site.store.required(tables.REDACTED_NOTES, DELIVERY.key).meta["inputs"])
    record_gate(
        gatekeeper, staged_now(gatekeeper, DELIVERY), [GateRow("bench", True)], detector_digest=detector,
        inputs=inputs, profile="demo", known=newest_known(site.store),
    )  # fmt: skip
    publish.promote_delivery(site, DELIVERY)
    publish.activate(site, DELIVERY)


def build_marts(site: Site) -> None:
    target = site.settings.home_path / "dbt"
    places = ["--project-dir", PROJECT, "--profiles-dir", PROJECT, "--target-path", target, "--log-path", target]
    program = [sys.executable, "-c", "import sys; from dbt.cli.main import cli; sys.argv[0] = 'dbt'; cli()", "build"]
    environment = {**os.environ, **site.warehouse.dbt_environment()}
    subprocess.run([*program, *map(str, places)], env=environment, stdout=subprocess.DEVNULL, check=True)


STAGES: Mapping[str, Callable[[Site], None]] = {
    "intake": take_in,
    "detection": detect,
    "redaction, leak check": redact,
    "again": redact,
    "staging": stage_rows,
    "parity, leak check": compare,
    "expectations": expect,
    "promotion": promote,
    "marts": build_marts,
}


@dataclass
class Seen:
    """One stage at one size: the stage's processes, and what the server did for it."""

    stage: str
    notes: int
    run: Run
    server_seconds: float = 0.0
    server_peak: float = 0.0
    """Memory that its sessions do not share, in MB."""


def write(folder: Path, count: int, most: int, topics_of: int) -> None:
    """Writes one delivery of so many notes, each cut to its first words, with topics that go with so many."""
    folder.mkdir(parents=True)
    topics = Topics()
    written = 0
    with (folder / "notes.jsonl").open("w", encoding="utf-8") as lines:
        for plan in plans(HospitalSpec(notes=2 * topics_of)):
            if written == count:
                break
            topics = topics.folded(plan.topics)
            for note in (made.note for made in islice(documents(plan), count - written)):
                row = {"note_id": str(written), "patient_id": note.patient_id, "note_type": "progress note"}
                lines.write(json.dumps({**row, "text": first_words(note.text, most)}) + "\n")
                written += 1
    for role in tables.TOPICS:
        rows = list(getattr(topics, role).values())
        with (folder / f"{role}.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, [each.name for each in fields(rows[0])])
            table.writeheader()
            table.writerows(map(asdict, rows))


@contextmanager
def server_watched(seen: Seen, server: EmbeddedServer) -> Iterator[None]:
    """Follows the server's processes meanwhile."""
    root = psutil.Process(server.status().pid)
    before = processor(root)
    done = threading.Event()

    def follow() -> None:
        while not done.wait(_PAUSE):
            memory = 0.0
            for each in (root, *children_of(root)):
                with suppress(psutil.Error):
                    memory += each.memory_full_info().uss / 1e6
            seen.server_peak = max(seen.server_peak, memory)

    watcher = threading.Thread(target=follow)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
    seen.server_seconds = processor(root) - before


def measured(count: int, words: int, workers: int, topics_of: int) -> Iterator[Seen]:
    """Every stage of a refresh over one delivery, in its order."""
    with tempfile.TemporaryDirectory(prefix="deid-bench-") as name:
        folder = Path(name)
        (folder / "deid.toml").write_text(_SETTINGS.format(workers=workers))
        os.environ |= {
            "DEID_CONFIG": str(folder / "deid.toml"), "DEID_SECRET": hashlib.sha256(b"bench").hexdigest(),
            "DEID_WAREHOUSE_URL": "", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        }  # fmt: skip
        write(folder / "deliveries" / DELIVERY.watermark, count, words, topics_of)
        site = Site(load_settings(folder / "deid.toml"))
        server = EmbeddedServer(site.settings.home_path)
        server.start()
        try:
            prepare(site.warehouse, profile="demo")
            for each in STAGES:
                seen = Seen(each, count, Run(workers, count * words))
                with server_watched(seen, server):
                    watch(seen.run, [sys.executable, __file__, "--stage", each])
                yield seen
        finally:
            server.stop(force=True)


def main() -> None:
    """Prints one row a stage and number of notes, and draws the figure that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 3_000, 10_000, 30_000, 100_000])
    parser.add_argument(
        "--topics-of", type=int, help="topics that go with so many notes; with those there are if not given"
    )
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.stage is not None:
        STAGES[arguments.stage](Site(load_settings(Path(os.environ["DEID_CONFIG"]))))
        return
    columns = ("stage", "notes", "seconds", "processor seconds", "server's", "peak MB", "server's own MB")
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    found = []
    for count in arguments.notes:
        for seen in measured(count, arguments.words, arguments.workers, arguments.topics_of or count):
            cells = (seen.run.seconds, seen.run.processor, seen.server_seconds)
            peaks = f"{seen.run.peak:,.0f} | {seen.server_peak:,.0f}"
            print(
                f"| {seen.stage} | {count:,} | {' | '.join(f'{cell:,.1f}' for cell in cells)} | {peaks} |", flush=True
            )
            found.append(seen)
    if arguments.figure is not None:
        draw(found, arguments.figure)


def draw(found: list[Seen], path: Path) -> None:
    """Draws processor time and memory of each stage over the number of notes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    seconds, memory = figure.subplots(1, 2)
    for each in STAGES:
        of_stage = [seen for seen in found if seen.stage == each]
        notes = [seen.notes for seen in of_stage]
        seconds.loglog(notes, [seen.run.processor + seen.server_seconds for seen in of_stage], marker="o", label=each)
        memory.semilogx(notes, [seen.run.peak for seen in of_stage], marker="o")
    seconds.set_ylabel("processor seconds, server included")
    memory.set_ylabel("memory of the stage's processes, MB")
    memory.set_ylim(bottom=0)
    figure.legend(loc="outside right", frameon=False)
    for axes in (seconds, memory):
        axes.set_xlabel("notes")
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()

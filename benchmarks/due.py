"""What it costs to look for what is due, and to look back, by the number of deliveries that are there.

    python benchmarks/due.py [--deliveries 15 30 60] [--notes 40] [--patients 400] [--megabytes 0]
    python benchmarks/due.py --rows 20000 --deliveries 6

Each delivery brings so many invented notes of one sentence, of patients whom earlier deliveries know too, and a roster
of so many patients, of whom one in fifty names a mother. Half of them had another last name in the delivery before. All
of them are promoted, so that nothing is due. The note store and an embedded server of its own lie in a temporary
folder; the detector is `rules`, the policy `surrogate`.

Of each call, in a process of its own: its processor seconds, the megabytes that it read, and how many manifests and
parts of the note store. `again` is the same call once more. A delivery that withdraws looks for what it names in all
notes before, and the test set is drawn from all of them. With `--megabytes`, each delivery has one more file, of blank
lines of so many megabytes in all. Files count as written hours ago, so that what was read once is known; `all files
read` is without that.

With `--rows`, no delivery is run: its notes of 40 words, four a patient, and what is found in them, two names a note,
are written as rows, and no topics. It prints processor seconds a million notes of earlier deliveries, with the derived
datasets kept, and with nothing kept but the rows.
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
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import process_time, time_ns
from typing import Any

import pyarrow as pa

from deid_platform.bench.gate import measured_notes
from deid_platform.corpora import Reader
from deid_platform.corpora.files import FilesFeed
from deid_platform.keys import plain_digest
from deid_platform.notes import Delivery
from deid_platform.refresh import publish
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.deliveries import deliveries_until
from deid_platform.refresh.evidence.patient_mentions import told_until
from deid_platform.refresh.hiding.late_names import hide_named_since
from deid_platform.refresh.installation.reported import newest_known
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake import file_digests, sealing
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.refresh.staging import due, stage
from deid_platform.settings import load_settings
from deid_platform.store import NoteStore
from deid_platform.warehouse.gate.ledger import GateRow, record_gate
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.migrate import prepare
from deid_platform.warehouse.quality.held_out import HeldOutSet, Purpose, record_look, seal
from deid_platform.warehouse.server.roles import Role
from deid_platform.warehouse.server.server import EmbeddedServer

_SETTINGS = (
    'site = "north"\nprofile = "demo"\nhome = "home"\n[detection]\ndetector = "rules"\nworkers = 1\n'
    '[redaction]\npolicy = "surrogate"\n'
    '[feeds.hospital]\npath = "deliveries"\ndemonstration = true\nnote_types = ["progress note"]\n'
)
_NAMES = ("Quillfeather", "Ostrowe", "Thackerby", "Wrenfield", "Abernoth", "Castellane")
_REQUIREMENTS = ("parity", "expectations", "leaks", "bench")


_BLANK = (" " * 99_999 + "\n").encode()


def write(folder: Path, number: int, notes: int, patients: int, megabytes: int) -> Delivery:
    """Writes one delivery: half of its patients are of earlier ones, and its last file withdraws a note of before."""
    delivery = Delivery("hospital", str(number + 1))
    place = folder / delivery.watermark
    place.mkdir(parents=True)
    first = number * patients // 2
    people = [f"p{each:07}" for each in range(first, first + patients)]
    with (place / "notes.jsonl").open("w", encoding="utf-8") as lines:
        for each in range(notes):
            patient = people[each * patients // notes]
            text = f"Mrs. {_NAMES[each % len(_NAMES)]} was seen on the ward on 2019-03-{1 + each % 28:02}. Stable."
            row = {"note_id": f"{number}-{each}", "patient_id": patient, "note_type": "progress note", "text": text}
            lines.write(json.dumps(row) + "\n")
    with (place / "notes-2.jsonl").open("wb") as blank:
        for _ in range(megabytes * 10**6 // len(_BLANK)):
            blank.write(_BLANK)
    with (place / "patients.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("patient_id", "first_name", "last_name", "mother_id"))
        for each, patient in enumerate(people):
            rows.writerow((patient, "Thandiwe", f"Family{each}", people[each - 1] if each % 50 == 49 else ""))
    if number:
        (place / "withdrawn.csv").write_text(f"note_id\n{number - 1}-0\n", encoding="utf-8")
    return delivery


def refresh(site: Site, delivery: Delivery) -> None:
    """Every step up to promotion. The rows at the gate are written as passed: what they measure is not the subject."""
    take_in(site, delivery)
    stage.stage_withdrawals(site, delivery, run_id="run")
    deidentify(delivery, store=site.store, recipe=site.recipe(delivery), engine=site.engine)
    staged = stage.stage_delivery(site, delivery, run_id="run")
    record_gate(
        site.warehouse.engine(Role.GATEKEEPER), staged, [GateRow(each, True) for each in _REQUIREMENTS],
        detector_digest=site.spec(None).detector_digest,
        inputs=Inputs(site.store.required(tables.REDACTED_NOTES, delivery.key).meta["inputs"]),
        profile="demo", known=newest_known(site.store),
    )  # fmt: skip
    publish.promote_delivery(site, delivery)


def take_in(site: Site, delivery: Delivery) -> None:
    reader = site.reader(delivery.feed)
    for name in tables.TOPICS:
        sealing.take_in_topic(reader, delivery, name, store=site.store)
    sealing.take_in_notes(reader, delivery, store=site.store, keyring=site.keyring, exclusions=site.exclusions)


def look(site: Site) -> None:
    assert due.pending(site, site.deliveries()) == []


def look_into_all(site: Site) -> None:
    FilesFeed.states = Reader.states  # type: ignore[method-assign]
    look(site)


def tell(site: Site) -> None:
    told_until(site.store, site.deliveries()[-1], site.keyring)


def name(site: Site) -> None:
    assert hide_named_since(site, site.deliveries()[-1]) == 0


def draw(site: Site) -> None:
    measured_notes.build_test_set(site)


def withdraw(site: Site) -> None:
    delivery = site.deliveries()[-1]
    until = deliveries_until(site.store, tables.RAW_NOTES, delivery)
    assert sealing._brought(site.store, until, "note_id", {"0-1", "nobody's"}) == {"0-1"}


CALLS: dict[str, Callable[[Site], None]] = {
    "due.pending, all files read": look_into_all,
    "due.pending": look,
    "told.told_until": tell,
    "named_later.hide_named_since": name,
    "intake, what is withdrawn": withdraw,
    "measured_notes.build_test_set": draw,
}


def counted(call: Callable[[Site], None], site: Site) -> dict[str, Any]:
    """What one call takes."""
    read: Counter[str] = Counter()
    sealed, part = NoteStore._sealed, NoteStore._read_part

    def counting(name: str, done: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: read.update([name]) or done(*given)

    NoteStore._sealed = counting("manifests", sealed)  # type: ignore[method-assign]
    NoteStore._read_part = counting("parts", part)  # type: ignore[method-assign]
    file_digests.time_ns = lambda: time_ns() + 2 * file_digests.SETTLED_NS
    begun, before = process_time(), bytes_read()
    call(site)
    return {"seconds": process_time() - begun, "bytes": bytes_read() - before, **read}


def bytes_read() -> int:
    """What this process has read of files so far, from the disk or out of the cache of its pages."""
    return int(Path("/proc/self/io").read_text().split()[1])


def look_back(deliveries: int, notes: int) -> None:
    """Prints what it takes to look back on deliveries of other patients, and of the same ones."""
    print("| patients of earlier deliveries | call | s a million notes, kept | s a million notes, not kept |")
    print(f"|{' --- |' * 4}")
    for whose in ("others", "the same"):
        with tempfile.TemporaryDirectory(prefix="deid-bench-") as name:
            site = site_in(Path(name))
            store = site.store
            every = [Delivery("hospital", str(number + 1)) for number in range(deliveries)]
            for number, delivery in enumerate(every):
                # The last is small: what is found in its own notes its run reads anyway.
                count = notes if delivery is not every[-1] else 100
                write_rows(store, delivery, number * notes, 0 if whose == "the same" else number * notes, count)
            *earlier, last = every
            calls = {
                "told.told_until": lambda: told_until(store, last, site.keyring),  # noqa: B023
                "intake, what is withdrawn": lambda: sealing._brought(store, earlier, "note_id", {"n7"}),  # noqa: B023
                "measured_notes.build_test_set": lambda: draw(site),  # noqa: B023
            }
            for call, ask in calls.items():
                first, again = seconds_of(ask), seconds_of(ask)
                kept, not_kept = (taken / (len(earlier) * notes) * 1e6 for taken in (again, first))
                print(f"| {whose} | {call} | {kept:.3f} | {not_kept:.3f} |", flush=True)


def seconds_of(call: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    begun = process_time()
    call()
    return process_time() - begun


def write_rows(store: NoteStore, delivery: Delivery, first_note: int, first_patient: int, notes: int) -> None:
    """Writes raw notes of a delivery, and what is found in them."""
    raw, found = [], []
    for each in range(notes):
        patient = f"p{(first_patient + each) // 4:09}"
        words = " ".join(hashlib.sha256(f"{first_note + each} {word}".encode()).hexdigest()[:6] for word in range(40))
        note = {"note_id": f"n{first_note + each}", "patient_id": patient, "text": words}
        raw.append(dict.fromkeys(tables.RAW_SCHEMA.names) | note)
        told = [{"form": words[at : at + 6], "label": "PATIENT", "whole": False} for at in (0, 7)]
        found.append(dict.fromkeys(tables.FIRST_PASS_SCHEMA.names) | {"patient_id": patient, "told": told})
    for dataset, rows, schema, size in (
        (tables.RAW_NOTES, raw, tables.RAW_SCHEMA, tables.NOTES_A_PART),
        (tables.FIRST_PASS, found, tables.FIRST_PASS_SCHEMA, tables.NOTES_A_BLOCK),
    ):
        parts = (pa.Table.from_pylist(part, schema=schema) for part in tables.batched(rows, size))
        store.write(dataset, delivery.key, parts)


def site_in(folder: Path) -> Site:
    """A new installation, which this process and those that it starts are told of."""
    (folder / "deid.toml").write_text(_SETTINGS)
    os.environ |= {
        "DEID_CONFIG": str(folder / "deid.toml"), "DEID_SECRET": hashlib.sha256(b"bench").hexdigest(),
        "DEID_WAREHOUSE_URL": "",
    }  # fmt: skip
    return Site(load_settings(folder / "deid.toml"))


def main() -> None:
    """Prints one row a call and number of deliveries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deliveries", type=int, nargs="+", default=[15, 30, 60])
    parser.add_argument("--notes", type=int, default=40)
    parser.add_argument("--patients", type=int, default=400)
    parser.add_argument("--megabytes", type=int, default=0)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--call", choices=CALLS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.call is not None:
        site = Site(load_settings(Path(os.environ["DEID_CONFIG"])))
        print(json.dumps([counted(CALLS[arguments.call], site) for _ in range(2)]))
        return
    if arguments.rows is not None:
        look_back(max(arguments.deliveries), arguments.rows)
        return
    columns = ("call", "deliveries", "processor seconds", "MB", "again, s", "MB", "manifests", "parts")
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    with tempfile.TemporaryDirectory(prefix="deid-bench-") as name:
        folder = Path(name)
        site = site_in(folder)
        server = EmbeddedServer(site.settings.home_path)
        server.start()
        try:
            prepare(site.warehouse, profile="demo")
            gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
            held_out = HeldOutSet(
                plain_digest("set"), "synthetic_hospital", "", 1, 1, 1, {}, (plain_digest("note")[:16],)
            )
            seal(gatekeeper, held_out)
            record_look(gatekeeper, held_out.digest, site.spec(None).detector_digest, Purpose.GATE)
            for number in range(max(arguments.deliveries)):
                written = (number, arguments.notes, arguments.patients, arguments.megabytes)
                refresh(site, write(folder / "deliveries", *written))
                if number + 1 in arguments.deliveries:
                    publish.activate(site, site.deliveries()[-1])
                    row(number + 1)
        finally:
            server.stop(force=True)


def row(deliveries: int) -> None:
    """Prints what each call takes with so many deliveries."""
    for call in CALLS:
        told = subprocess.run([sys.executable, __file__, "--call", call], capture_output=True, text=True, check=True)
        first, again = json.loads(told.stdout)
        took = " | ".join(f"{each['seconds']:.2f} | {each['bytes'] / 1e6:,.1f}" for each in (first, again))
        read = " | ".join(f"{again.get(each, 0):,}" for each in ("manifests", "parts"))
        print(f"| {call} | {deliveries} | {took} | {read} |", flush=True)


if __name__ == "__main__":
    main()

"""One small installation, the steps of its refresh as plain functions, and a picture of all that a refresh leaves.

A module of its own, since the processes that are to be killed import it by name.
"""

from __future__ import annotations

import csv
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import Engine, event

from deid_platform.bench.gate import measured_notes, scoring
from deid_platform.notes import Delivery
from deid_platform.refresh import publish
from deid_platform.refresh.datasets.derived import MOTHERS
from deid_platform.refresh.hiding.late_names import hide_named_since, redact_delivery
from deid_platform.refresh.installation.lock import installation_lock
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake import sealing
from deid_platform.refresh.staging import due, measure, stage
from deid_platform.settings import load_settings
from deid_platform.store import HEADS, MANIFEST, NoteStore
from deid_platform.store.files import Files
from deid_platform.store.heads import Heads
from deid_platform.warehouse.gate import queries
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role

_CONFIG = """
site = "north"
profile = "demo"
home = "home"
[detection]
detector = "{detector}"
[feeds.hospital]
path = "deliveries"
demonstration = true
note_types = ["progress note"]
[bench]
synthetic_notes = 20
resamples = 2
[profiles.demo]
min_recall = 0.0
min_precision = 0.0
min_clinical_retention = 0.0
"""
NAMED_LATER = "Velmora"
# Lower-case, so that the rules do not know it for a name.
TEXT_OF_NAMED_LATER = f"Version 1 of note 60. Keeps {NAMED_LATER.lower()} with care."
_PEOPLE = ("Thandiwe Quillfeather", "Ansgar Brumbaugh", "Ottoline Vexworth", "Ignatius Farthingale", "Wilhelmina Okoro")


def make_installation(folder: Path, *, detector: str) -> Path:
    """Writes deid.toml and three deliveries that correct, delay, quarantine and withdraw notes; returns deid.toml.

    The second delivery is the first to name a patient of the first, who was admitted as Doe: that one is run again.
    """
    folder.mkdir(parents=True)
    config = folder / "deid.toml"
    config.write_text(_CONFIG.format(detector=detector))
    for watermark, files in _deliveries().items():
        place = folder / "deliveries" / watermark
        place.mkdir(parents=True)
        (place / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in files.pop("notes", [])))
        for name, rows in files.items():
            with (place / f"{name}.csv").open("w", newline="") as stream:
                table = csv.DictWriter(stream, fieldnames=list(rows[0]))
                table.writeheader()
                table.writerows(rows)
    return config


def _deliveries() -> dict[str, dict[str, list[dict[str, str]]]]:
    patients = [
        {"patient_id": f"p{n}", "first_name": name.split()[0], "last_name": name.split()[1]}
        for n, name in enumerate(_PEOPLE)
    ]
    admitted, named = ({"patient_id": "p9", "first_name": "Jo", "last_name": name} for name in ("Doe", NAMED_LATER))
    lost = {"patient_id": "", "first_name": "Nobody", "last_name": "Knowswho"}
    first = [*(_note(n, 1) for n in range(60)), {**_note(60, 1, patient="p9"), "text": TEXT_OF_NAMED_LATER}]
    corrected = [_note(n, 2) for n in range(0, 12, 2)]
    return {
        "2026-01-05": {"notes": first, "patients": [*patients, admitted]},
        # From here on a roster is lost, so that a note of a patient without one is quarantined: one of them corrects
        # a note that research holds.
        "2026-01-12": {
            "notes": [*corrected, _note(1, 2, patient="unknown"), _note(70, 1, patient="unknown"), _note(71, 1)],
            "patients": [patients[0], named, lost],
            "withdrawn": [{"note_id": "n3", "patient_id": ""}, {"note_id": "", "patient_id": "p4"}],
        },
        "2026-01-19": {"notes": [_note(0, 3), _note(80, 1)], "withdrawn": [{"note_id": "n8"}, {"note_id": "never"}]},
    }


def _note(number: int, version: int, *, patient: str | None = None) -> dict[str, str]:
    who = number % len(_PEOPLE)
    text = f"Version {version} of note {number}. {_PEOPLE[who]} was seen on 3/14/2019, call (617) 555-0142. BP 120/80."
    return {
        "note_id": f"n{number}",
        "patient_id": patient or f"p{who}",
        "note_date": "2019-03-14",
        "note_type": "progress note",
        "text": text,
    }


Step = Callable[[Site, Delivery], object]


def take_in_topics(site: Site, delivery: Delivery) -> None:
    for name in ("patients", "providers", "facilities"):
        sealing.take_in_topic(site.reader(delivery.feed), delivery, name, store=site.store)


def take_in_notes(site: Site, delivery: Delivery) -> None:
    sealing.take_in_notes(
        site.reader(delivery.feed), delivery, store=site.store, keyring=site.keyring, exclusions=site.exclusions
    )


def _withdraw(site: Site, delivery: Delivery) -> None:
    stage.stage_withdrawals(site, delivery, run_id="run")
    hide_named_since(site, delivery)


def _measure(site: Site, _: Delivery) -> None:
    measured_notes.build_test_set(site)
    measured_notes.collect_gold(site)
    scoring.run_detector(site)
    scoring.record(site, scoring.measure(site))


def _stage(site: Site, delivery: Delivery) -> None:
    measure.record_measurements(site, stage.stage_delivery(site, delivery, run_id="run"))


# In the order of the main job.
STEPS: dict[str, Step] = {
    "topics": take_in_topics,
    "notes": take_in_notes,
    "withdrawals": _withdraw,
    "redacted": redact_delivery,
    "bench": _measure,
    "staged": _stage,
    "expectations": measure.record_expectations,
    "promoted": publish.promote_delivery,
    "active": publish.activate,
}


def refresh(config: Path, stopped: str | None, entered: Callable[[str], object]) -> None:
    """One refresh of all that is due.

    Args:
        config: The installation.
        stopped: The delivery in which the last refresh was killed, which is due whatever research holds.
        entered: Told of each step as it begins, as `delivery step`.
    """
    site = Site(load_settings(config))
    with installation_lock(site.settings.home_path):
        wanted = site.deliveries()
        new = due.pending(site, wanted)
        new = [delivery for delivery in wanted if delivery in new or delivery.key == stopped]
        while new:
            for delivery in new:
                for name, step in STEPS.items():
                    entered(f"{delivery.key} {name}")
                    with installation_lock(site.settings.home_path):
                        step(site, delivery)
            new = due.pending(site, wanted)


@contextmanager
def interrupted(at: int | None, blow: Callable[[], object]) -> Iterator[Counter[str]]:
    """Counts what a refresh does to the outside, and strikes at the chosen place.

    The places are: before and after each statement and before each commit in the database; before, in the middle of
    and after each file of the note store; before and after the file, and its record, become the ones that count.

    Args:
        at: Which place; None only counts.
        blow: What happens there, such as this process being killed.
    """
    seen: Counter[str] = Counter()

    def place(kind: str) -> None:
        if seen.total() == at:
            blow()
        seen[kind] += 1

    write, seal, settle = Files.write, NoteStore._write_manifest, Heads._settle

    def write_bytes(self: Files, path: str, raw: bytes | memoryview) -> None:
        place("file")
        if seen.total() == at:
            write(self, path, memoryview(raw)[: len(raw) // 2])
        place("half file")
        write(self, path, raw)

    def write_manifest(self: NoteStore, folder: str, manifest: Any) -> str:
        place("seal")
        sealed = seal(self, folder, manifest)
        place("sealed")
        return sealed

    def settle_record(self: Heads, prepared: Path) -> None:
        place("record")
        settle(self, prepared)
        place("recorded")

    hooks: dict[str, Callable[..., None]] = {
        "before_cursor_execute": lambda *_: place("statement"),
        "after_cursor_execute": lambda *_: place("executed"),
        "commit": lambda *_: place("commit"),
    }
    Files.write, NoteStore._write_manifest = write_bytes, write_manifest  # type: ignore[method-assign]
    Heads._settle = settle_record  # type: ignore[method-assign]
    for name, hook in hooks.items():
        event.listen(Engine, name, hook)
    try:
        yield seen
    finally:
        Files.write, NoteStore._write_manifest = write, seal  # type: ignore[method-assign]
        Heads._settle = settle  # type: ignore[method-assign]
        for name, hook in hooks.items():
            event.remove(Engine, name, hook)


def kill_me() -> None:
    """As `kill -9` from outside."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_server(data: Path) -> None:
    """Kills the postmaster and every process of its server at once, as the machine's crash would."""
    postmaster = psutil.Process(int((data / "postmaster.pid").read_text().split()[0]))
    postmaster.suspend()  # or it would notice the first of its children
    processes = [postmaster, *postmaster.children(recursive=True)]
    for process in reversed(processes):
        process.kill()


def shown(warehouse: Warehouse) -> set[tuple[str, str]]:
    """What an analyst sees: keys and texts."""
    with warehouse.begin(Role.DEMO_ANALYST) as connection:
        rows = connection.exec_driver_sql("SELECT note_key, text FROM research.notes").all()
    return {(row.note_key, row.text) for row in rows}


def ever_shown(config: Path) -> set[tuple[str, str]]:
    """Every key and text that passed the gate, shown now or not, and the text in which a later row names a patient."""
    site = Site(load_settings(config))
    with site.warehouse.administer() as connection:
        versions = "SELECT note_key, text FROM research.note_version WHERE text IS NOT NULL"
        passed = {(row.note_key, row.text) for row in connection.exec_driver_sql(versions)}
    return passed | {(site.note_key("hospital", "n60"), TEXT_OF_NAMED_LATER)}


def picture(config: Path) -> dict[str, Any]:
    """All that a finished refresh leaves, without times, run ids and what only tells how often it was tried."""
    site = Site(load_settings(config))
    return {
        "shown": sorted(shown(site.warehouse)),
        "tables": dict(_tables(site.warehouse)),
        "promoted": Counter(
            (entry.event, entry.delivery, json.dumps(entry.counts, sort_keys=True))
            for entry in queries.ledger(site.warehouse.engine(Role.OFFICER))
            if entry.event in ("promoted", "activated")
        ),
        "store": dict(_store(site)),
        "due": due.pending(site, site.deliveries()),
    }


def _tables(warehouse: Warehouse) -> Iterator[tuple[str, list[str]]]:
    """Every row of research and of what the gate holds to be published, without columns that tell when and who."""
    with warehouse.administer() as connection:
        names = connection.exec_driver_sql(
            "SELECT table_schema || '.' || table_name AS name, array_agg(quote_ident(column_name)) AS columns"
            " FROM information_schema.columns"
            " JOIN information_schema.tables USING (table_schema, table_name)"
            " WHERE (table_schema = 'research' OR (table_schema = 'ctl' AND table_name IN ('publication', 'delivery')))"
            " AND table_type = 'BASE TABLE' AND data_type <> 'timestamp with time zone'"
            " AND column_name NOT IN ('run_id', 'id', 'actor') GROUP BY 1 ORDER BY 1"
        ).all()
        for name, columns in names:
            row = f"ROW({', '.join(sorted(columns))})::text"
            yield name, list(connection.exec_driver_sql(f"SELECT {row} AS r FROM {name} ORDER BY r").scalars())


def _store(site: Site) -> Iterator[tuple[str, list[str]]]:
    """The rows of every partition, each part checked against its manifest on the way.

    Not who is whose mother, which is made of rows that are there once somebody asks.
    """
    for manifest in sorted((site.settings.home_path / "store").rglob(MANIFEST)):
        folder = manifest.parent.relative_to(site.settings.home_path / "store")
        rows = site.store.rows(str(folder.parent), folder.name)
        if str(folder.parent) != MOTHERS.dataset:
            yield str(folder), sorted(repr(sorted(row.items())) for row in rows)


def torn_files(config: Path) -> list[Path]:
    """Files of the note store that no manifest names and no write will need."""
    store = load_settings(config).home_path / "store"
    named = {
        manifest.parent / part["name"]
        for manifest in store.rglob(MANIFEST)
        for part in json.loads(manifest.read_text())["parts"]
    }
    return sorted(p for p in store.rglob("*") if p.is_file() and p.name not in (MANIFEST, HEADS) and p not in named)

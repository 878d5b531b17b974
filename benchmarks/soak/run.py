"""One soak: what arrives, how it is refreshed under what happens, and what is measured after each delivery.

Belongs here: the course of a soak over an installation of its own. Does not belong here: what happens when
(`events.py`), what must be shown (`model.py`), where planted text is looked for (`search.py`), or what a soak says at
its end (`verdict.py`).
"""

from __future__ import annotations

import csv
import json
import os
import secrets
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from short_notes import Spans, write_short
from sqlalchemy import text
from workers import children_of, memory_of

from deid_platform.corpora.hospital import HospitalSpec
from deid_platform.corpora.hospital.spec import NOTE_TYPES
from deid_platform.keys import package_digest
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.warehouse.server.roles import Role
from soak.events import Event, planned, strike
from soak.model import Found, Model, compare, spelt, version_words
from soak.search import MARK, planted_elsewhere, tables_beside
from soak.verdict import Line

FEED = "hospital"
_COMMAND = (sys.executable, "-c", "from deid_platform.cli import main; main()")
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
_REPORT = ("--label", "PATIENT", "--who", "A. Reader", "--hide", "9")
_PLANTED = 20  # notes of each delivery
_TRIES = 6  # of a refresh, of which at most two are struck
_USUAL = 60.0  # seconds of a refresh, as long as no calm one is known
_PAUSE = 0.2


@dataclass(frozen=True)
class _Refreshed:
    """How a delivery was refreshed: tries, what was struck; seconds and memory in MB of the try that ended well."""

    tries: int
    struck: tuple[str, ...]
    seconds: float
    memory: float


@dataclass(frozen=True)
class Soak:
    """One soak, in a folder of its own."""

    folder: Path
    notes: int
    deliveries: int
    words: int
    workers: int
    seed: int

    def run(self, *, until: float) -> None:
        """Delivery after delivery, as long as there is time."""
        self._prepare()
        events = planned(self.deliveries, self.seed)
        for index in range(len(self.lines()), self.deliveries):
            if time.monotonic() > until:
                return
            line = self._deliver(index, events[index])
            with (self.folder / "soak.jsonl").open("a") as kept:
                kept.write(json.dumps(asdict(line)) + "\n")
            print(f"{index + 1}/{self.deliveries} {line}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """Stops the embedded server."""
        if (self.folder / "deid.toml").exists():
            self._said({**os.environ, "DEID_CONFIG": str(self.folder / "deid.toml")}, "db", "stop", check=False)

    def lines(self) -> list[Line]:
        """What was kept; a line that a kill cut off is none."""
        path = self.folder / "soak.jsonl"
        whole = path.read_text().splitlines(keepends=True) if path.exists() else []
        rows = [json.loads(line) for line in whole if line.endswith("\n")]
        return [Line(**{**row, "struck": tuple(row["struck"]), "found": Found(**row["found"])}) for row in rows]

    def _prepare(self) -> None:
        """All deliveries, as they will arrive, and two secrets."""
        ready, asked = self.folder / "ready", json.dumps({**asdict(self), "folder": ""})
        if ready.exists():
            if ready.read_text() != asked:
                raise SystemExit(f"{self.folder} holds a soak with other figures: {ready.read_text()}")
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        print(f"writing {self.notes:,} notes", file=sys.stderr, flush=True)
        spec = HospitalSpec(seed=self.seed, notes=self.notes, deliveries=self.deliveries)
        write_short(
            spec, self.words, feed_root=self.folder / "coming", gold_root=self.folder / "gold", ending=self._planted
        )
        for number in (0, 1):
            (self.folder / f"secret.{number}").write_text(secrets.token_hex(32))
            (self.folder / f"secret.{number}").chmod(0o600)
        ready.write_text(asked)

    def _planted(self, watermark: str, note: Mapping[str, str]) -> tuple[str, Spans]:
        """The line that names a note's version, and in every so many notes the patient's name and number."""
        more = f"\nReported: {version_words(watermark)}.\nTakes {_reportable(note['note_id'])} at night.\n"
        patient = self._patients(watermark).get(note["patient_id"])
        every = max(1, self.notes // self.deliveries // _PLANTED)
        if patient is None or int(note["note_id"][1:]) % every:
            return more + "End of note.", ()
        more += f"{MARK} Patient: "
        name, number = f"{patient['first_name']} {patient['last_name']}", patient["mrn"]
        start = len(more)
        more += f"{name}, MRN {number}."
        behind = start + len(name) + len(", MRN ")
        return more, ((start, start + len(name), "PATIENT"), (behind, behind + len(number), "MEDICALRECORD"))

    def _patients(self, watermark: str) -> dict[str, dict[str, str]]:
        """The topics as of a delivery."""
        return _topics(self.folder / "coming", watermark)

    def _deliver(self, index: int, event: Event) -> Line:
        """A delivery arrives, is refreshed under what happens, and is compared with the model."""
        watermark = self._watermarks[index]
        self._arrive(watermark)
        (self.folder / "deid.toml").write_text(
            _SETTINGS.format(types=list(NOTE_TYPES), workers=self.workers)
            + ("[detection.combination]\nrecover_up_to = 0.9\n" if event.detector else "")
        )
        environment = self._environment(event)
        self._said(environment, "db", "bootstrap")
        usual = median([line.seconds for line in self.lines() if line.calm] or [_USUAL])
        refreshed = self._refresh(environment, event, usual)
        if event.retract:
            self._retract(environment, index)
        return self._measured(environment, index, event, refreshed)

    @property
    def _watermarks(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "coming").iterdir())

    def _arrive(self, watermark: str) -> None:
        """A delivery's folder appears whole, or not at all."""
        there = self.folder / "deliveries" / watermark
        if not there.exists():
            part = there.with_name(f"{watermark}.tmp")
            shutil.rmtree(part, ignore_errors=True)
            shutil.copytree(self.folder / "coming" / watermark, part)
            part.rename(there)

    def _environment(self, event: Event) -> dict[str, str]:
        secret = {"DEID_SECRET_FILE": str(self.folder / f"secret.{event.secret}")}
        if event.secret:
            secret["DEID_PREVIOUS_SECRET_FILES"] = str(self.folder / "secret.0")
        return {**os.environ, **secret, "DEID_CONFIG": str(self.folder / "deid.toml"), "DO_NOT_TRACK": "1"}

    def _refresh(self, environment: Mapping[str, str], event: Event, usual: float) -> _Refreshed:
        """Refreshes until one ends well; the first ones are struck."""
        blows, struck, home = list(event.blows), [], self.folder / "home"
        for turn in range(1, _TRIES + 1):
            begun, memory = time.monotonic(), 0.0
            blow = blows.pop(0) if blows else None
            with (self.folder / "said").open("ab") as said:
                # Where the soak was killed, its refresh may run still.
                command = [*_COMMAND, "refresh", "--wait"]
                process = psutil.Popen(command, env=dict(environment), stdout=said, stderr=said, start_new_session=True)
                while process.poll() is None:
                    memory = max(memory, memory_of((process, *children_of(process))))
                    due = blow is not None and time.monotonic() - begun > blow[1] * usual
                    # Where there is none of it yet, such as a worker, it is struck as soon as it is there.
                    if blow is not None and due and strike(blow[0], process, home, self.seed + turn):
                        struck.append(blow[0].value)
                        blow = None
                    time.sleep(_PAUSE)
            if process.returncode == 0:
                return _Refreshed(turn, tuple(struck), time.monotonic() - begun, memory)
        raise SystemExit(f"the refresh did not end well in {_TRIES} tries: see {self.folder / 'said'}")

    def _said(self, environment: Mapping[str, str], *command: str, check: bool = True) -> None:
        with (self.folder / "said").open("ab") as said:
            subprocess.run([*_COMMAND, *command], env=dict(environment), check=check, stdout=said, stderr=said)

    def _retract(self, environment: Mapping[str, str], index: int) -> None:
        """A reader reports a word of the last shown note of a delivery, which no other note has."""
        kept = self.folder / f"retracted.{index}.json"
        site = self._site(environment)
        if not kept.exists():
            shown, live = dict(self._shown(site)), self._model(index).live
            mine = [note for note, version in live.items() if version == self._watermarks[index]]
            keys = {note: site.note_key(FEED, note) for note in reversed(mine)}
            note = next(note for note, key in keys.items() if _reportable(note) in shown.get(key, ""))
            start = shown[keys[note]].index(_reportable(note))
            span = f"{start}:{start + len(_reportable(note))}"
            kept.write_text(json.dumps({"note": note, "key": keys[note], "span": span, "late": 0}))
        found = json.loads(kept.read_text())
        if found["key"] in dict(self._shown(site)):  # it is not where the soak was killed in between
            self._said(environment, "retract", found["key"], "--span", found["span"], *_REPORT)
        if found["key"] in dict(self._shown(site)):
            kept.write_text(json.dumps({**found, "late": 1}))
        # What was reported is hidden at once; the next refresh redacts and judges anew.
        self._said(environment, "refresh", "--wait")

    def _measured(self, environment: Mapping[str, str], index: int, event: Event, refreshed: _Refreshed) -> Line:
        site, model = self._site(environment), self._model(index)
        names = {site.note_key(FEED, note): note for note in model.versions}
        shown = [(names.get(key, key), shown_text) for key, shown_text in self._shown(site)]
        held, reports = self._held(site, index), list(self._reports(index))
        kept = self.folder / "soak.jsonl"
        since = kept.stat().st_mtime if kept.exists() and index < self.deliveries - 1 else 0.0
        found = compare(
            model.live,
            shown,
            held=held,
            reported={report["note"]: _reportable(report["note"]) for report in reports},
            late=sum(report["late"] for report in reports),
            planted=self._identifiers(model),
            elsewhere=planted_elsewhere(self.folder, since=since, tables=tables_beside(site.warehouse)),
        )
        home = self.folder / "home"
        return Line(
            self._watermarks[index],
            refreshed.struck,
            event.calm,
            refreshed.tries,
            round(refreshed.seconds, 1),
            round(refreshed.memory),
            *(round(_megabytes(home / name), 1) for name in ("store", "postgres")),
            database=round(_asked(site, "SELECT pg_database_size(current_database())") / 1e6, 1),
            dagster=round(_megabytes(home / "dagster"), 1),
            connections=_asked(site, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'") - 1,
            runs=self._runs(),
            sent=model.sent,
            rows=_asked(site, "SELECT count(*) FROM research.note_version"),
            live=len(model.live),
            shown=len(shown),
            held=len(held),
            code=package_digest("deid_platform"),
            found=found,
        )

    def _site(self, environment: Mapping[str, str]) -> Site:
        os.environ.update(environment)
        return Site(load_settings(self.folder / "deid.toml"))

    def _model(self, index: int) -> Model:
        model = Model()
        for watermark in self._watermarks[: index + 1]:
            model.take(self.folder / "deliveries" / watermark)
        return model

    def _reports(self, index: int) -> Iterator[dict[str, Any]]:
        """What readers reported up to a delivery."""
        for path in (self.folder / f"retracted.{number}.json" for number in range(index + 1)):
            if path.exists():
                yield json.loads(path.read_text())

    def _runs(self) -> int:
        index = self.folder / "home" / "dagster" / "history" / "runs.db"
        with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])

    def _identifiers(self, model: Model) -> dict[str, tuple[str, str]]:
        """Name and number of each live note's patient, as of its version; they count where they are planted."""
        return {
            note: (f"{patient['first_name']} {patient['last_name']}", patient["mrn"])
            for note, version in model.live.items()
            if (patient := self._patients(version).get(model.patients[note])) is not None
        }

    def _shown(self, site: Site) -> list[tuple[str, str]]:
        with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
            return [tuple(row) for row in connection.execute(text("SELECT note_key, text FROM research.notes"))]

    def _held(self, site: Site, index: int) -> set[str]:
        """Notes whose newest version the platform holds back, by what it says itself."""
        status: dict[str, str] = {}
        for watermark in self._watermarks[: index + 1]:
            for part in site.store.read(tables.REDACTED_NOTES, f"{FEED}@{watermark}"):
                status |= dict(zip(part["note_id"].to_pylist(), part["status"].to_pylist(), strict=True))
        return {note for note, state in status.items() if state != "clean"}


@cache
def _topics(folder: Path, watermark: str) -> dict[str, dict[str, str]]:
    """Each patient's newest row as of a delivery."""
    rows: dict[str, dict[str, str]] = {}
    for place in sorted(path for path in folder.iterdir() if path.name <= watermark):
        with (place / "patients.csv").open(encoding="utf-8", newline="") as lines:
            rows |= {row["patient_id"]: row for row in csv.DictReader(lines)}
    return rows


def _reportable(note: str) -> str:
    """The word of a note that a reader may report."""
    return spelt(int(note[1:]))


def _asked(site: Site, question: str) -> int:
    with site.warehouse.administer() as connection:
        return int(connection.execute(text(question)).scalar_one())


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6

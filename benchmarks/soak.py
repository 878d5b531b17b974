"""A soak: an installation over many deliveries, with everything that happens to one, and a plain model beside it.

    python benchmarks/soak.py FOLDER [--notes 100000] [--deliveries 30] [--words 40] [--workers 2] [--minutes 150]

Deliveries of the synthetic hospital, cut to their first words, arrive one by one; they correct, delay and withdraw
notes. Refreshes are killed, and so are processes under them; Postgres is restarted in the middle of two; readers report
notes; the key secret changes once and the detector once. After each delivery, what readers see is compared with
`soak_model.py`, planted identifiers are looked for in what is shown, and planted text in Dagster's storage, in what the
commands say and in dossiers. Seconds, memory, disk and connections of each delivery are kept.

After the stated minutes it ends before the next delivery; the same command goes on, also after a kill. What was kept
lies in `FOLDER/soak.jsonl`, a line a delivery. At the end comes the verdict; exit status 1 says that something was
lost, doubled, shown against the model or leaked. Progress goes to the standard error.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import psutil
from delivery import settings_of
from short_notes import Spans, write_short
from soak_events import Event, planned, strike
from soak_model import Found, Model, compare, version_words
from sqlalchemy import text
from workers import children_of, memory_of

from deid_platform.corpora.hospital import HospitalSpec
from deid_platform.refresh import tables
from deid_platform.refresh.site import Site
from deid_platform.settings import load_settings
from deid_platform.warehouse.roles import Role

FEED = "hospital"
MARK = "qzxsoak"
"""A word of every planted note, which stands nowhere else."""
_COMMAND = (sys.executable, "-c", "from deid_platform.cli import main; main()")
_PLANTED = 20  # notes of each delivery
_TRIES = 6  # of a refresh, the last ones undisturbed
_PAUSE = 0.2


@dataclass(frozen=True)
class Line:
    """What is kept of a delivery."""

    delivery: str
    event: str
    tries: int
    seconds: float
    """Of the refresh that ended well."""
    memory: float
    """The most that all processes of the refresh had, in MB."""
    store: float
    """Disk of the note store, in MB; so are the next two."""
    postgres: float
    dagster: float
    connections: int
    """To the warehouse, once the refresh had ended."""
    live: int
    shown: int
    held: int
    found: Found


def main() -> None:
    """Goes on with a soak, and prints the verdict once it is whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--deliveries", type=int, default=30)
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--minutes", type=float, default=150)
    given = parser.parse_args()
    soak = Soak(given.folder.resolve(), given.notes, given.deliveries, given.words, given.workers, given.seed)
    soak.run(until=time.monotonic() + 60 * given.minutes)
    lines = soak.lines()
    if len(lines) == given.deliveries:
        print("\n".join(verdict(lines)))
    else:
        print(f"{len(lines)} of {given.deliveries} deliveries; the same command goes on")
    if not all(line.found.clean for line in lines):
        raise SystemExit(1)


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

    def lines(self) -> list[Line]:
        """What was kept; a line that a kill cut off is none."""
        path = self.folder / "soak.jsonl"
        whole = path.read_text().splitlines(keepends=True) if path.exists() else []
        rows = [json.loads(line) for line in whole if line.endswith("\n")]
        return [Line(**{**row, "found": Found(**row["found"])}) for row in rows]

    def _prepare(self) -> None:
        """All deliveries, as they will arrive, and two secrets."""
        if (self.folder / "ready").exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        spec = HospitalSpec(seed=self.seed, notes=self.notes, deliveries=self.deliveries)
        write_short(
            spec, self.words, feed_root=self.folder / "coming", gold_root=self.folder / "gold", ending=self._planted
        )
        for number in (0, 1):
            (self.folder / f"secret.{number}").write_text(secrets.token_hex(32))
            (self.folder / f"secret.{number}").chmod(0o600)
        (self.folder / "ready").touch()

    def _planted(self, watermark: str, note: Mapping[str, str]) -> tuple[str, Spans]:
        """The line that names a note's version, and in every so many notes the patient's name and number."""
        more = f"\nReported: {version_words(watermark)}.\n"
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
            settings_of(self.workers, "[detection.combination]\nrecover_up_to = 0.9\n" if event.detector else "")
        )
        environment = self._environment(event)
        self._said(environment, "db", "bootstrap")
        usual = self.lines()[-1].seconds if index else 60.0
        tries, seconds, memory = self._refresh(environment, event, usual)
        if event.retract:
            self._retract(environment, index)
        return self._measured(environment, index, event, tries, seconds, memory)

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

    def _refresh(self, environment: Mapping[str, str], event: Event, usual: float) -> tuple[int, float, float]:
        """Refreshes until one ends well; only the first is struck. Tries, and seconds and memory of the last."""
        for turn in range(1, _TRIES + 1):
            begun, memory, struck = time.monotonic(), 0.0, turn > 1 or event.victim is None
            with (self.folder / "said").open("ab") as said:
                command = [*_COMMAND, "refresh"]
                process = psutil.Popen(command, env=dict(environment), stdout=said, stderr=said, start_new_session=True)
                while process.poll() is None:
                    memory = max(memory, memory_of((process, *children_of(process))))
                    if not struck and event.victim is not None and time.monotonic() - begun > event.moment * usual:
                        strike(event.victim, process, self.folder / "home", self.seed + turn)
                        struck = True
                    time.sleep(_PAUSE)
            if process.returncode == 0:
                return turn, time.monotonic() - begun, memory
        raise SystemExit(f"the refresh did not end well in {_TRIES} tries: see {self.folder / 'said'}")

    def _said(self, environment: Mapping[str, str], *command: str, check: bool = True) -> None:
        with (self.folder / "said").open("ab") as said:
            subprocess.run([*_COMMAND, *command], env=dict(environment), check=check, stdout=said, stderr=said)

    def _retract(self, environment: Mapping[str, str], index: int) -> None:
        """A reader reports the last shown note of a delivery, whole lines of it, so that no other holds the string."""
        kept = self.folder / f"retracted.{index}.json"
        again = kept.exists()
        if not again:
            site, live = self._site(environment), self._model(index).live
            shown = dict(self._shown(site))
            mine = [note for note, version in live.items() if version == self._watermarks[index]]
            note = next(note for note in reversed(mine) if site.note_key(FEED, note) in shown)
            key = site.note_key(FEED, note)
            found = {
                "note": note,
                "version": live[note],
                "key": key,
                "end": shown[key].index(version_words(live[note])),
            }
            kept.write_text(json.dumps(found))
        found = json.loads(kept.read_text())
        report = ("retract", found["key"], "--span", f"0:{found['end']}", "--label", "PATIENT", "--who", "A. Reader")
        # Where the soak was killed in between, the note may be hidden already.
        self._said(environment, *report, "--hide", "9", check=not again)
        # What was reported is hidden at once; the next refresh redacts and judges anew.
        self._said(environment, "refresh")

    def _measured(
        self, environment: Mapping[str, str], index: int, event: Event, tries: int, seconds: float, memory: float
    ) -> Line:
        site, model = self._site(environment), self._model(index)
        names = {site.note_key(FEED, note): note for note in model.versions}
        shown = [(names.get(key, key), shown_text) for key, shown_text in self._shown(site)]
        held = self._held(site, index)
        found = compare(
            model.live,
            shown,
            held=held,
            retracted=dict(self._retracted(index)),
            planted=self._identifiers(model),
            elsewhere=sum(_holding(self.folder / place) for place in ("home/dagster", "home/dossiers", "said")),
        )
        home = self.folder / "home"
        return Line(
            self._watermarks[index],
            event.victim.value if event.victim else "",
            tries,
            round(seconds, 1),
            round(memory),
            *(round(_megabytes(home / name), 1) for name in ("store", "postgres", "dagster")),
            connections=self._connections(site),
            live=len(model.live),
            shown=len(shown),
            held=len(held),
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

    def _retracted(self, index: int) -> Iterator[tuple[str, str]]:
        """Notes that readers reported, and in which version."""
        for path in (self.folder / f"retracted.{number}.json" for number in range(index + 1)):
            if path.exists():
                found = json.loads(path.read_text())
                yield found["note"], found["version"]

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

    def _connections(self, site: Site) -> int:
        with site.warehouse.administer() as connection:
            asked = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            return int(connection.execute(text(asked)).scalar_one()) - 1


@cache
def _topics(folder: Path, watermark: str) -> dict[str, dict[str, str]]:
    """Each patient's newest row as of a delivery."""
    rows: dict[str, dict[str, str]] = {}
    for place in sorted(path for path in folder.iterdir() if path.name <= watermark):
        with (place / "patients.csv").open(encoding="utf-8", newline="") as lines:
            rows |= {row["patient_id"]: row for row in csv.DictReader(lines)}
    return rows


def _holding(place: Path) -> int:
    """How many files of a place hold the word of planted notes."""
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    return sum(MARK.encode() in path.read_bytes().lower() for path in files)


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def verdict(lines: Sequence[Line]) -> Iterator[str]:
    """What went wrong, and what grew, as Markdown."""
    yield "| | |\n| --- | --- |"
    yield f"| deliveries, of them struck | {len(lines)}, {sum(bool(line.event) for line in lines)} |"
    yield f"| refreshes that were begun again | {sum(line.tries - 1 for line in lines)} |"
    yield f"| notes at the end: live, shown, held back | {lines[-1].live:,}, {lines[-1].shown:,}, {lines[-1].held:,} |"
    for name in Found.__dataclass_fields__:
        yield f"| {name} | {sum(getattr(line.found, name) for line in lines)} |"
    yield "\n| a delivery | first | second | third | last |\n| --- | --- | --- | --- | --- |"
    places = [round(share * (len(lines) - 1)) for share in (0, 1 / 3, 2 / 3, 1)]
    for name in ("seconds", "memory", "store", "postgres", "dagster", "connections", "live"):
        yield f"| {name} | " + " | ".join(f"{getattr(lines[place], name):,}" for place in places) + " |"


if __name__ == "__main__":
    main()

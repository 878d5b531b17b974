"""One of note store and warehouse is lost, or both come back from different days: refused by name, then made good.

The warehouse is dumped by pg_dump and restored by pg_restore, the store is copied, as docs/recovery.md says.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_feed import TYPE, promoted
from sqlalchemy import text

from deid_platform.doctor import Diagnosis, examine
from deid_platform.errors import DeidError
from deid_platform.labels import Label
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.store_and_warehouse import Differences, differences
from deid_platform.refresh.installation.reported import reported_strings
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging import due, stage
from deid_platform.refresh.staging.findings import report
from deid_platform.settings import Settings, load_settings
from deid_platform.warehouse.server.roles import Role
from deid_platform.warehouse.server.server import psql_binary

pytestmark = pytest.mark.process
LOST = ""
"""Stands for the day of no backup."""


@dataclass
class Backups:
    """Backups of an installation by the day, and the installation they are put back into.

    Each test begins with an installation as of today: what of it the test does not put back itself is put back first.
    """

    config: Path
    folder: Path
    touched: bool = False
    """Whether another test has changed the installation."""

    @property
    def settings(self) -> Settings:
        return load_settings(self.config)

    def open(self) -> Site:
        """The installation as a new process sees it."""
        return self.put_back()

    def take(self, day: str) -> None:
        """First the warehouse, then the store."""
        self._run("pg_dump", "--format=custom", "--create", f"--file={self.folder / day}.dump", self._url("deid"))
        shutil.copytree(self._store, self.folder / day)

    def put_back(self, *, warehouse: str | None = None, store: str | None = None) -> Site:
        """What these days' backups hold; whatever is not named stays."""
        if self.touched:
            warehouse, self.touched = warehouse or "today", False
            store = "today" if store is None else store
        if warehouse is not None:
            drop = f'DROP DATABASE "{Site(self.settings).warehouse.admin_engine().url.database}" WITH (FORCE)'
            self._run("psql", "-qc", drop, self._url("postgres"))
            dump = str(self.folder / f"{warehouse}.dump")
            self._run("pg_restore", "--create", f"--dbname={self._url('postgres')}", dump)
        if store is not None:
            shutil.rmtree(self._store, ignore_errors=True)
            if store != LOST:
                shutil.copytree(self.folder / store, self._store)
        return Site(self.settings)

    def lose_store(self) -> Site:
        return self.put_back(store=LOST)

    @property
    def _store(self) -> Path:
        return self.settings.home_path / "store"

    def _url(self, database: str) -> str:
        url = Site(self.settings).warehouse.admin_engine().url.set(drivername="postgresql")
        url = url if database == "deid" else url.set(database=database)
        return url.render_as_string(hide_password=False)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run([str(Path(psql_binary()).parent / program), *arguments], check=True, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def days(installation: Path, deliver, run, tmp_path_factory) -> Backups:
    """Two deliveries on two days; the second corrects one note and withdraws another, and a patient of no note here.

    A third one arrives today.
    """
    backups = Backups(installation, tmp_path_factory.mktemp("backups"))
    site = backups.open()
    run(deliver("2026-01-01", notes=[note("a1", "Sleeps well."), note("a2", "Sleeps badly.")]), site)
    backups.take("yesterday")
    notes = [note("a1", "Sleeps better."), note("b1", "Eats well.")]
    run(deliver("2026-01-02", notes=notes, withdrawn=[{"note_id": "a2"}, {"patient_id": "z"}]), site)
    backups.take("today")
    return backups


@pytest.fixture(autouse=True)
def as_of_today(days: Backups, deliver) -> Iterator[None]:
    deliver("2026-01-03", notes=[note("c1", "Walks daily.")])
    yield
    days.touched = True


FIRST, SECOND, THIRD = (Delivery("hospital", f"2026-01-0{day}") for day in (1, 2, 3))
AFTER_THE_SECOND = ["Eats well.", "Sleeps better."]
AFTER_THE_THIRD = [*AFTER_THE_SECOND, "Walks daily."]


def note(note_id: str, said: str) -> dict[str, str]:
    return {"note_id": note_id, "patient_id": note_id[0], "text": said}


def seen(site: Site) -> list[str]:
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        return sorted(connection.execute(text("SELECT text FROM research.notes")).scalars())


def backup_line(days: Backups) -> Diagnosis:
    return next(found for found in examine(days.config) if found.subject == "backup")


def refreshed(site: Site, run: Callable[[Delivery, Site], object]) -> list[Delivery]:
    """Runs what is due, in order, as `deid refresh` does."""
    pending = due.pending(site, site.deliveries())
    for delivery in pending:
        run(delivery, site)
    return pending


@pytest.mark.thorough
def test_both_of_one_day_belong_together(days: Backups, run) -> None:
    site = days.put_back(warehouse="today", store="today")
    assert differences(site) == Differences()
    assert backup_line(days).good
    assert seen(site) == AFTER_THE_SECOND
    assert refreshed(site, run) == [THIRD]
    assert seen(site) == AFTER_THE_THIRD


def test_a_warehouse_of_yesterday_is_named_and_a_refresh_makes_up_for_it(days: Backups, run) -> None:
    site = days.put_back(warehouse="yesterday")
    assert differences(site) == Differences(warehouse_lacks=(SECOND,))
    line = backup_line(days)
    assert not line.good
    assert "warehouse-behind [hospital@2026-01-02]" in line.detail
    # What was withdrawn and corrected since is shown: that is why nobody may read before the refresh.
    assert seen(site) == ["Sleeps badly.", "Sleeps well."]
    with pytest.raises(DeidError, match=r"warehouse-behind \[hospital@2026-01-02\]"):
        run(THIRD, site)
    assert "Walks daily." not in seen(site)
    assert refreshed(site, run) == [SECOND, THIRD]
    assert seen(site) == AFTER_THE_THIRD
    assert backup_line(days).good


def test_a_lost_store_is_named_and_built_anew_from_the_deliveries(days: Backups, run) -> None:
    site = days.lose_store()
    assert differences(site) == Differences(store_lacks=(FIRST, SECOND))
    assert "store-behind [hospital@2026-01-01, hospital@2026-01-02]" in backup_line(days).detail
    with pytest.raises(DeidError, match=r"store-behind \[hospital@2026-01-01\]"):
        run(THIRD, site)
    assert seen(site) == AFTER_THE_SECOND
    assert refreshed(site, run) == [FIRST, SECOND, THIRD]
    assert seen(site) == AFTER_THE_THIRD
    assert backup_line(days).good


@pytest.fixture
def second_purged(days: Backups) -> Iterator[None]:
    """The files of the second delivery are gone, as where a feed is purged."""
    folder = days.settings.path(days.settings.feed("hospital").path) / SECOND.watermark
    shutil.move(folder, days.folder / "purged")
    yield
    shutil.rmtree(folder, ignore_errors=True)
    shutil.move(days.folder / "purged", folder)


@pytest.mark.thorough
def test_a_store_of_yesterday_without_the_files_lets_nothing_later_through(
    days: Backups, second_purged: None, deliver, run
) -> None:
    site = days.put_back(store="yesterday")
    assert differences(site) == Differences(store_lacks=(SECOND,))
    with pytest.raises(DeidError, match=r"store-behind \[hospital@2026-01-02\]"):
        refreshed(site, run)
    assert seen(site) == AFTER_THE_SECOND
    # Somebody who answers for it says that there is no more to be had of that delivery.
    site.settings.path(site.feed("hospital").path).joinpath(SECOND.watermark).mkdir()
    with pytest.raises(DeidError, match="feed-empty"):
        run(SECOND, site)
    run(THIRD, site)
    assert seen(site) == AFTER_THE_THIRD


@pytest.mark.thorough
def test_a_warehouse_of_yesterday_without_the_files_gets_what_the_store_holds(
    days: Backups, second_purged: None, run
) -> None:
    site = days.put_back(warehouse="yesterday")
    with pytest.raises(DeidError, match=r"warehouse-behind \[hospital@2026-01-02\]"):
        refreshed(site, run)
    # The steps after the intake need no file: gate/delivery and what follows, materialized in the UI.
    stage.stage_withdrawals(site, SECOND, run_id="run-2")
    assert "Sleeps badly." not in seen(site)
    promoted(site, SECOND)
    assert refreshed(site, run) == [THIRD]
    assert seen(site) == AFTER_THE_THIRD


@pytest.fixture
def clinic(days: Backups) -> Iterator[Delivery]:
    """A delivery of another feed, with a note of the patient whom the second one withdraws."""
    before = days.config.read_text()
    days.config.write_text(f'{before}[feeds.clinic]\npath = "clinic"\ndemonstration = true\n')
    folder = days.config.parent / "clinic" / "2026-01-01"
    folder.mkdir(parents=True)
    notes = [note("z1", "Hears badly."), note("y1", "Hears well.")]
    (folder / "notes.jsonl").write_text("".join(json.dumps({"note_type": TYPE, **each}) + "\n" for each in notes))
    yield Delivery("clinic", "2026-01-01")
    days.config.write_text(before)


def test_a_patient_whom_a_lost_delivery_of_another_feed_withdraws_stays_hidden(
    days: Backups, second_purged: None, clinic: Delivery, run
) -> None:
    site = days.put_back(warehouse="yesterday")
    run(clinic, site)
    assert "Hears well." in seen(site)
    assert "Hears badly." not in seen(site)
    assert "Sleeps badly." not in seen(site)  # of the lost delivery's own feed
    # Nothing else of it is taken as known.
    assert differences(site) == Differences(warehouse_lacks=(SECOND,))
    with pytest.raises(DeidError, match=r"warehouse-behind \[hospital@2026-01-02\]"):
        run(THIRD, site)
    promoted(site, SECOND)
    run(THIRD, site)
    assert seen(site) == sorted([*AFTER_THE_THIRD, "Hears well."])


def test_a_number_that_a_restored_warehouse_gives_anew_forgets_no_reported_string(days: Backups, run) -> None:
    site = days.open()
    first = report(site, site.note_key("hospital", "b1"), 0, 4, label=Label.PATIENT, who="A. Reader")
    assert "Eats well." not in seen(site)
    site = days.put_back(warehouse="today")
    assert differences(site) == Differences(findings=(first.number,))
    assert f"finding {first.number}" in backup_line(days).detail
    again = report(site, site.note_key("hospital", "a1"), 7, 13, label=Label.PATIENT, who="A. Reader")
    assert again.number == first.number
    assert reported_strings(site.store) == ("Eats", "better")
    refreshed(site, run)
    assert seen(site) == ["Walks daily."]


@pytest.mark.thorough
def test_releases_under_a_secret_that_is_lost_are_named(days: Backups, monkeypatch: pytest.MonkeyPatch) -> None:
    before = days.open().keyring.key_id
    monkeypatch.setenv("DEID_SECRET", "5d41402abc4b2a76b9719d911017c592ae1f0d3c84b7a960")
    site = days.lose_store()
    assert differences(site).keys == (before,)
    assert "withdrawals do not reach releases" in backup_line(days).detail
    days.put_back(store="today")
    # And the store that was sealed with it cannot be read at all.
    with pytest.raises(DeidError, match="store-torn"):
        site.store.required(tables.RAW_NOTES, FIRST.key)

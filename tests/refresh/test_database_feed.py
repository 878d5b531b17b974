"""A small OMOP database becomes a release: first load, late and corrected rows, new names, withdrawals."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest
from command_line import deid
from small_feed import seen

from deid_platform.corpora.sql.feed import SqlFeed
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.withdraw import withdraw_arrived
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake import sealing
from deid_platform.refresh.staging import due
from deid_platform.refresh.topics.as_of import topics_as_of
from deid_platform.settings import load_settings
from deid_platform.warehouse.server.roles import Role

SCHEMA = """
CREATE TABLE note (note_id INTEGER, person_id INTEGER, note_date TEXT, note_title TEXT, note_text TEXT,
                   language_concept_id INTEGER, provider_id INTEGER, visit_occurrence_id INTEGER, loaded TEXT);
CREATE TABLE person (person_id INTEGER, gender_concept_id INTEGER, year_of_birth INTEGER, month_of_birth INTEGER,
                     day_of_birth INTEGER, location_id INTEGER);
CREATE TABLE names (person_id INTEGER, first_name TEXT, last_name TEXT, changed TEXT);
CREATE TABLE gone (note_id INTEGER, person_id INTEGER, signed TEXT);
"""
SETTINGS = """
[feeds.ehr]
format = "omop"
demonstration = true
watermark = "loaded"
initial = 2026-01-04
note_types = ["progress note"]
[feeds.ehr.tables]
patients = "names"
withdrawn = "gone"
[feeds.ehr.watermarks]
patients = "changed"
withdrawn = "signed"
"""
FIRST, SECOND, THIRD = (Delivery("ehr", day) for day in ("2026-01-04", "2026-01-05", "2026-01-06"))


@pytest.fixture(scope="module")
def database(installation: Path) -> Iterator[Callable[..., None]]:
    """Runs statements on the hospital's database, which the feed's variable names."""
    path = installation.with_name("ehr.db")

    def run(statement: str, *rows: tuple) -> None:
        with sqlite3.connect(path) as connection:
            connection.executemany(statement, rows or [()])

    with sqlite3.connect(path) as connection:
        connection.executescript(SCHEMA)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEID_FEED_EHR_URL", f"sqlite:///{path}")
        yield run


@pytest.fixture(scope="module")
def config(installation: Path, database) -> Path:
    """The installation's deid.toml with the database as its only feed."""
    text = installation.read_text()
    before, bench = text[: text.index("[feeds")], text[text.index("[bench]") :]
    installation.write_text(before + SETTINGS + bench)
    return installation


@pytest.fixture(scope="module")
def site(config: Path) -> Site:
    return Site(load_settings(config))


def add_note(database, number: int, person: int, text: str, loaded: str | None) -> None:
    row = (number, person, "2025-12-01", "progress note", text, 4180186, loaded)
    database(
        "INSERT INTO note (note_id, person_id, note_date, note_title, note_text, language_concept_id, loaded)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        row,
    )


@pytest.fixture(scope="module", autouse=True)
def first_load(database, site, run) -> None:
    """Two deliveries: what was there for years, and a day."""
    database("INSERT INTO person VALUES (?, ?, ?, ?, ?, NULL)", (1, 8532, 1950, 2, 3), (2, 8507, 1960, 4, 5))
    database(
        "INSERT INTO names VALUES (?, ?, ?, ?)",
        (1, "Xylophrast", "Zebulonquist", "2020-01-01 00:00:00"),
        (2, "Quarmby", "Okaforson", "2026-01-05 00:00:00"),
    )
    add_note(database, 1, 1, "Xylophrast Zebulonquist is well.", "2019-06-01 02:00:00")
    add_note(database, 2, 1, "Zebulonquist was seen again.", "2025-12-31 02:00:00")
    add_note(database, 3, 2, "Quarmby Okaforson was seen.", "2026-01-05 02:00:00")
    assert [d.watermark for d in site.deliveries()] == ["2026-01-04", "2026-01-05"]
    for delivery in due.pending(site, site.deliveries()):
        run(delivery)


def test_a_first_load_and_a_day_are_a_release(site) -> None:
    assert {"[PATIENT] is well.", "[PATIENT] was seen again.", "[PATIENT] was seen."} <= seen(site)
    assert due.pending(site, site.deliveries()) == []
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        text = connection.exec_driver_sql("SELECT note_type, language FROM research.notes").all()
    assert set(text) == {("progress note", "en")}


def test_a_late_row_makes_its_delivery_due_again(site, database, run) -> None:
    add_note(database, 4, 2, "Late: BP 120/80.", "2026-01-05 23:00:00")
    assert due.pending(site, site.deliveries()) == [SECOND]
    run(SECOND)
    assert "Late: BP 120/80." in seen(site)
    assert due.pending(site, site.deliveries()) == []


def test_a_name_that_the_database_has_forgotten_is_still_found(site, database, run) -> None:
    database("UPDATE names SET last_name = 'Marchettiby', changed = '2026-01-06 01:00:00' WHERE person_id = 1")
    add_note(database, 5, 1, "Mrs. Marchettiby, formerly Zebulonquist, is well.", "2026-01-06 02:00:00")
    again = due.pending(site, site.deliveries())
    assert again[0] == FIRST, "the row has left it"
    for delivery in again:
        run(delivery)
    known = topics_as_of(site.store, THIRD).patients_known_as("1")
    assert [patient.last_name for patient in known] == ["Marchettiby", "Zebulonquist"]
    assert not any("Zebulon" in text or "Marchetti" in text for text in seen(site))


def test_who_leaves_is_hidden_by_the_period_alone_and_read_once(site, database, monkeypatch) -> None:
    read = []
    original = SqlFeed.withdrawals

    def counted(self, of, **known):
        read.append(of.watermark)
        return original(self, of, **known)

    monkeypatch.setattr(SqlFeed, "withdrawals", counted)
    assert withdraw_arrived(site).keys == 0
    assert read == [], "no delivery withdraws anything, and that is known without reading"
    database("INSERT INTO gone VALUES (NULL, 2, '2026-01-06')")
    assert withdraw_arrived(site).keys == 1
    assert read == ["2026-01-06"]
    assert withdraw_arrived(site).keys == 0
    assert read == ["2026-01-06"]
    assert "[PATIENT] was seen." not in seen(site)


def test_a_row_without_a_watermark_is_counted_as_refused(site, database) -> None:
    add_note(database, 6, 1, "No time.", None)
    reader = site.reader("ehr")
    taken = sealing.take_in_notes(reader, FIRST, store=site.store, keyring=site.keyring, exclusions=site.exclusions)
    assert taken.rejected == {"missing_watermark": 1}
    database("DELETE FROM note WHERE note_id = 6")


def test_a_feed_whose_variable_is_not_set_holds_up_no_other(site, monkeypatch) -> None:
    monkeypatch.delenv("DEID_FEED_EHR_URL")
    assert [(f.code, f.ref) for f in withdraw_arrived(site).failures] == [(Code.FEED_URL, "DEID_FEED_EHR_URL: not set")]


# The command line, and Dagster


def test_feed_check_reads_a_period_and_takes_nothing_in(site, database) -> None:
    add_note(database, 7, 1, "", "2026-01-07 02:00:00")
    add_note(database, 8, 1, "Well.", "2026-01-07 02:00:00")
    add_note(database, 9, 1, "Not yet.", "2999-01-01 00:00:00")
    add_note(database, 10, 1, "Never.", None)
    before = sorted(site.store.partitions(tables.RAW_NOTES))
    newest = deid("feed", "check", "--feed", "ehr")
    assert newest.returncode == 3, newest.stderr
    assert "read as ehr@2026-01-07" in newest.stderr
    assert "would be taken in: notes 1" in newest.stderr
    assert "empty_text" in newest.stdout
    assert "lines are numbers, from 1: row" in newest.stderr
    assert "period is not over: 1 row" in newest.stderr
    assert "not in any delivery [ehr: notes, 1]" in newest.stderr
    other = deid("feed", "check", "--feed", "ehr", "--delivery", "2026-01-05")
    assert (other.returncode, "read as ehr@2026-01-05" in other.stderr) == (0, True), other.stderr
    assert sorted(site.store.partitions(tables.RAW_NOTES)) == before
    database("DELETE FROM note WHERE note_id > 6")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--feed", "ehr", "--delivery", "2026-01-01"), "delivery-unknown"),
        (("--feed", "ehr", "."), "is a database"),
        ((), "a folder, or --feed"),
        (("--delivery", "2026-01-05"), "a folder, or --feed"),
    ],
)
def test_feed_check_says_what_it_needs(site, arguments, said) -> None:
    told = deid("feed", "check", *arguments)
    assert told.returncode != 0
    assert said in " ".join((told.stderr + told.stdout).replace("│", " ").split())


def test_the_doctor_looks_at_a_database_too(site, monkeypatch) -> None:
    told = " ".join(deid("doctor").stdout.split())
    assert "feed ehr" in told
    assert "3 deliveries" in told
    monkeypatch.delenv("DEID_FEED_EHR_URL")
    assert "feed-url" in deid("doctor").stdout


@pytest.mark.slow
def test_the_sensor_lists_a_databases_deliveries_with_one_statement_a_role(
    site, config, started_before, monkeypatch
) -> None:
    from deid_platform.definitions import build_defs

    monkeypatch.setattr(SqlFeed, "marker", lambda *_: pytest.fail("one by one"))
    definitions = build_defs(config=config)
    (sensor,) = definitions.sensors
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_sensor_context(
            instance=instance, resources={"site": definitions.resources["site"]}, definitions=definitions
        )
        found = sensor(context)
    keys = ["ehr@2026-01-04", "ehr@2026-01-05", "ehr@2026-01-06"]
    assert [request.partition_key for request in found.run_requests] == keys
    assert [key for request in found.dynamic_partitions_requests for key in request.partition_keys] == keys


def test_real_notes_of_a_database_are_refused_on_the_embedded_server_as_those_of_files(
    site, config, embedded_server, tmp_path
) -> None:
    from deid_platform.warehouse.server.connection import Warehouse

    other = tmp_path / "deid.toml"
    other.write_text(config.read_text().replace("demonstration = true\n", ""))
    settings = load_settings(other)
    with pytest.raises(DeidError) as caught:
        Warehouse(embedded_server).accept("ehr", demonstration=settings.feed("ehr").demonstration)
    assert caught.value.code is Code.FEED_NOT_DEMONSTRATION

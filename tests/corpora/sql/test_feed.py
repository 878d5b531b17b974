"""Feeds from databases: periods of the watermark are deliveries, and rows are read as those of files are."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pytest

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Note, Patient, Topics, Withdrawal

NOTES = "CREATE TABLE notes (note_id VARCHAR(40), patient_id VARCHAR(40), text TEXT, changed TIMESTAMP)"
PATIENTS = "CREATE TABLE patients (patient_id VARCHAR(40), last_name TEXT, birth_date VARCHAR(40), changed TIMESTAMP)"
SIMPLE = {"tables": {"notes": "notes"}, "watermark": "changed"}


def note(number: int, changed: str | None, text: str = "Seen today.", **more: object) -> dict[str, object]:
    return {"note_id": f"n{number}", "text": text, "changed": changed, **more}


def watermarks(feed) -> list[str]:
    return [delivery.watermark for delivery in feed.deliveries()]


def split(items) -> tuple[list, list]:
    items = list(items)
    return [i for i in items if not isinstance(i, Rejection)], [i for i in items if isinstance(i, Rejection)]


def ids(feed, watermark: str) -> list[str]:
    return [item.note_id for item in feed.notes(Delivery("ehr", watermark))]


# The contract


def contract_database(source, marker: str) -> None:
    m = marker
    source.run(
        NOTES,
        PATIENTS,
        "CREATE TABLE providers (provider_id TEXT, last_name TEXT, changed TIMESTAMP)",
        "CREATE TABLE facilities (facility_id TEXT, name TEXT, changed TIMESTAMP)",
        "CREATE TABLE withdrawn (note_id TEXT, patient_id TEXT, changed TIMESTAMP)",
        "CREATE TABLE rejoined (patient_id TEXT, changed TIMESTAMP)",
    )
    first, second = "2026-01-05 08:00:00", "2026-01-12 23:59:59"
    source.add(
        "notes",
        {"note_id": f"n-{m}", "text": f"Seen {m}.\r\nStable.", "patient_id": f"p-{m}", "changed": first},
        {"note_id": f"n-{m}", "text": "again", "changed": "2026-01-05 09:00:00"},
        {"note_id": None, "text": m, "changed": first},
        {"note_id": m, "text": "", "changed": first},
        {"note_id": f"{m}5", "text": m * 1000, "changed": first},
        {"note_id": f"{m}6", "text": m, "changed": None},
        {"note_id": f"n-{m}", "text": f"Corrected: {m}.", "changed": second},
        {"note_id": f"{m}7", "text": "Not yet over.", "changed": f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}"},
    )
    source.add(
        "patients",
        {"patient_id": f"p-{m}", "last_name": m, "birth_date": "1950-02-01", "changed": first},
        {"patient_id": m, "last_name": m, "birth_date": m, "changed": first},
        {"patient_id": None, "last_name": m, "birth_date": None, "changed": first},
        {"patient_id": m, "last_name": m, "birth_date": None, "changed": None},
    )
    source.add("providers", {"provider_id": m, "last_name": m, "changed": second})
    twice = {"facility_id": m, "name": m, "changed": first}
    source.add("facilities", twice, twice)
    source.add(
        "withdrawn",
        {"note_id": f"w-{m}", "patient_id": None, "changed": first},
        {"note_id": None, "patient_id": f"q-{m}", "changed": first},
        {"note_id": m, "patient_id": m, "changed": second},
    )
    source.add("rejoined", *2 * [{"patient_id": f"q-{m}", "changed": second}], {"patient_id": " ", "changed": first})


def test_the_sql_feed_keeps_the_reader_contract(source, contract) -> None:
    contract_database(source, contract.MARKER)

    def rewrite(delivery: Delivery) -> None:
        source.add("patients", {"patient_id": "later", "last_name": "Doe", "changed": f"{delivery.watermark} 11:00:00"})

    every = {role.value: role.value for role in Role}
    contract.check_reader(lambda: source.feed(tables=every, watermark="changed", max_chars=500), rewrite)


def test_nothing_that_a_row_holds_reaches_standard_error(source, contract, capfd) -> None:
    contract_database(source, contract.MARKER)
    feed = source.feed(tables={role.value: role.value for role in Role}, watermark="changed", max_chars=500)
    for delivery in feed.deliveries():
        contract.everything(feed, delivery)
    for error in feed.refused():
        contract.assert_quiet(error)
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


# Deliveries


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({}, ["2024-12-30", "2025-12-31", "2026-01-01", "2026-01-02"]),
        ({"period": "month"}, ["2024-12-01", "2025-12-01", "2026-01-01"]),
        (
            {"period": "hour"},
            ["20241230T0800", "20251231T2300", "20260101T0000", "20260102T0900", "20260102T1000"],
        ),
        ({"initial": date(2025, 12, 31)}, ["2025-12-31", "2026-01-01", "2026-01-02"]),
        ({"since": date(2025, 12, 31)}, ["2025-12-31", "2026-01-01", "2026-01-02"]),
        ({"since": date(2025, 1, 1), "initial": date(2026, 1, 1)}, ["2026-01-01", "2026-01-02"]),
        ({"period": "month", "initial": date(2025, 12, 15)}, ["2025-12-01", "2026-01-01"]),
        ({"period": "hour", "initial": date(2026, 1, 1)}, ["20260101T2300", "20260102T0900", "20260102T1000"]),
    ],
)
def test_a_delivery_is_a_closed_period_that_has_rows(source, keys, named) -> None:
    source.run(NOTES)
    moments = ("2024-12-30 08:00:00", "2025-12-31 23:59:59", "2026-01-01 00:00:00", "2026-01-02 09:59:59")
    source.add("notes", *(note(n, moment) for n, moment in enumerate((*moments, "2026-01-02 10:00:00"))))
    feed = source.feed(**SIMPLE, **keys)
    assert watermarks(feed) == named
    read = [note_id for watermark in named for note_id in ids(feed, watermark)]
    assert read == [f"n{n}" for n in range(1 if "since" in keys else 0, 5)], "every row is in one delivery"


def test_a_period_that_is_not_over_is_no_delivery(source) -> None:
    source.run(NOTES)
    now = datetime.now(UTC)
    source.add("notes", note(1, f"{now:%Y-%m-%d %H:%M:%S}"), note(2, f"{now - timedelta(days=1):%Y-%m-%d %H:%M:%S}"))
    source.add("notes", note(3, "2999-01-01 00:00:00"))
    feed = source.feed(**SIMPLE)
    assert watermarks(feed) == [f"{now - timedelta(days=1):%Y-%m-%d}"]
    assert feed.waiting() == 2
    with pytest.raises(DeidError) as caught:
        list(feed.notes(Delivery("ehr", f"{now:%Y-%m-%d}")))
    assert caught.value.code is Code.FEED_UNREADABLE


def test_a_first_load_up_to_today_waits_until_the_day_is_over(source) -> None:
    source.run(NOTES)
    source.add("notes", note(1, "2026-01-01 00:00:00"))
    assert watermarks(source.feed(**SIMPLE, initial=datetime.now(UTC).date() + timedelta(days=1))) == []


@pytest.mark.parametrize("watermark", ["20260105", "2026-01-05T0000", "2026-01-06", "7"])
def test_a_delivery_has_one_name(source, watermark: str) -> None:
    source.run(NOTES)
    source.add("notes", note(1, "2026-01-05 00:00:00"))
    with pytest.raises(DeidError) as caught:
        source.feed(**SIMPLE).marker(Delivery("ehr", watermark))
    assert caught.value.code is Code.FEED_UNREADABLE


def test_a_delivery_of_withdrawals_alone_is_one(source) -> None:
    source.run(NOTES, "CREATE TABLE gone (note_id TEXT, patient_id TEXT, signed DATE)")
    source.add("gone", {"note_id": "n1", "patient_id": None, "signed": "2026-01-07"})
    feed = source.feed(
        tables={"notes": "notes", "withdrawn": "gone"}, watermark="changed", watermarks={"withdrawn": "signed"}
    )
    (delivery,) = feed.deliveries()
    assert delivery.watermark == "2026-01-07"
    assert list(feed.notes(delivery)) == []
    assert list(feed.withdrawals(delivery, known_patients=None, known_notes=None)) == [Withdrawal(note_id="n1")]


# Time zones


@pytest.mark.warehouse
@pytest.mark.parametrize(
    ("timezone", "named"),
    [
        ("UTC", {"2026-03-28": 1, "2026-03-29": 2}),
        ("Europe/Rome", {"2026-03-29": 2, "2026-03-30": 1}),
        ("America/New_York", {"2026-03-28": 1, "2026-03-29": 2}),
    ],
)
@pytest.mark.parametrize("source", ["postgres"], indirect=True)
def test_a_moment_with_a_zone_counts_on_the_day_of_the_feeds_zone(source, timezone, named) -> None:
    """On 29 March 2026 clocks in Rome go forward."""
    source.run("CREATE TABLE notes (note_id TEXT, text TEXT, changed TIMESTAMPTZ)")
    moments = ("2026-03-28 23:30:00+00", "2026-03-29 21:59:59+00", "2026-03-29 22:00:00+00")
    source.add("notes", *(note(n, moment) for n, moment in enumerate(moments)))
    feed = source.feed(**SIMPLE, timezone=timezone)
    assert {watermark: len(ids(feed, watermark)) for watermark in watermarks(feed)} == named


@pytest.mark.warehouse
@pytest.mark.parametrize("source", ["postgres"], indirect=True)
def test_an_hour_that_comes_twice_loses_no_row(source) -> None:
    source.run("CREATE TABLE notes (note_id TEXT, text TEXT, changed TIMESTAMPTZ)")
    moments = ("2025-10-25 23:30:00+00", "2025-10-26 00:30:00+00", "2025-10-26 01:30:00+00", "2025-10-26 02:30:00+00")
    source.add("notes", *(note(n, moment) for n, moment in enumerate(moments)))
    feed = source.feed(**SIMPLE, timezone="Europe/Rome", period="hour")
    assert [len(ids(feed, watermark)) for watermark in watermarks(feed)] == [1, 2, 1]


def test_a_moment_without_a_zone_counts_as_it_is_written(source) -> None:
    source.run(NOTES)
    source.add("notes", note(1, "2026-01-05 23:59:59"))
    for timezone in ("UTC", "Asia/Tokyo", "America/New_York"):
        assert watermarks(source.feed(**SIMPLE, timezone=timezone)) == ["2026-01-05"]


@pytest.mark.parametrize("written", ["2026-01-05", "2026-01-05 10:00", "2026-01-05T10:00:00", "2026-01-05T10:00:00Z"])
def test_sqlite_keeps_moments_as_text(sqlite, written: str) -> None:
    sqlite.run("CREATE TABLE notes (note_id TEXT, text TEXT, changed TEXT)")
    sqlite.add("notes", note(1, written))
    assert ids(sqlite.feed(**SIMPLE), "2026-01-05") == ["n1"]


# Rows that come late, and rows of no delivery


def test_a_late_row_changes_its_delivery_and_no_other(source) -> None:
    source.run(NOTES)
    source.add("notes", note(1, "2026-01-05 10:00:00"), note(2, "2026-01-06 10:00:00"))
    feed = source.feed(**SIMPLE)
    first, second = feed.deliveries()
    before = feed.markers([first, second]), feed.fingerprint(first), feed.fingerprint(second)
    assert before[0] == {d: feed.marker(d) for d in (first, second)}
    source.add("notes", note(3, "2026-01-05 09:00:00"))
    after = feed.markers([first, second]), feed.fingerprint(first), feed.fingerprint(second)
    assert after[0][first] != before[0][first]
    assert after[0][second] == before[0][second]
    assert (after[1] != before[1], after[2] == before[2]) == (True, True)


def test_a_row_that_is_corrected_in_place_is_told_by_the_fingerprint_alone(source) -> None:
    source.run(NOTES)
    source.add("notes", note(1, "2026-01-05 10:00:00"))
    feed = source.feed(**SIMPLE)
    (delivery,) = feed.deliveries()
    marker, fingerprint = feed.marker(delivery), feed.fingerprint(delivery)
    source.run("UPDATE notes SET text = 'Corrected.'")
    assert feed.marker(delivery) == marker
    assert feed.fingerprint(delivery) != fingerprint


def test_a_fingerprint_does_not_depend_on_the_order_of_rows(source) -> None:
    source.run(NOTES)
    rows = [note(n, "2026-01-05 10:00:00", f"text {n}") for n in range(5)]
    prints = set()
    for order in (rows, rows[::-1]):
        source.run("DELETE FROM notes")
        source.add("notes", *order)
        feed = source.feed(**SIMPLE)
        prints.add(feed.fingerprint(feed.deliveries()[0]))
    assert len(prints) == 1


def test_markers_are_empty_where_nothing_of_a_role_is_there(source) -> None:
    source.run(NOTES, "CREATE TABLE gone (note_id TEXT, changed DATE)")
    source.add("notes", note(1, "2026-01-05 10:00:00"), note(2, "2026-01-06 10:00:00"))
    source.add("gone", {"note_id": "n1", "changed": "2026-01-06"})
    feed = source.feed(tables={"notes": "notes", "withdrawn": "gone"}, watermark="changed")
    marks = feed.markers(feed.deliveries(), Role.WITHDRAWN)
    assert [bool(mark) for mark in marks.values()] == [False, True]


def test_rows_without_a_watermark_are_refused_in_the_first_delivery_and_told(source) -> None:
    source.run(NOTES, PATIENTS)
    source.add("notes", note(1, "2026-01-05 10:00:00"), note(2, None), note(3, "2026-01-06 10:00:00"))
    source.add("patients", {"patient_id": "p1", "last_name": "Doe", "changed": None})
    feed = source.feed(tables={"notes": "notes", "patients": "patients"}, watermark="changed")
    first, second = feed.deliveries()
    marker, fingerprint = feed.marker(first), feed.fingerprint(first)
    notes, refused = split(feed.notes(first))
    assert [n.note_id for n in notes] == ["n1"]
    assert [(r.reason, r.note_id) for r in refused] == [(Reason.MISSING_WATERMARK, "n2")]
    assert [r.reason for r in feed.topics(first)[1]] == [Reason.MISSING_WATERMARK]
    assert [error.ref for error in feed.refused()] == ["ehr: notes, 1", "ehr: patients, 1"]
    assert split(feed.notes(second))[1] == []
    other = feed.marker(second)
    source.add("notes", note(4, None))
    assert (feed.marker(first) != marker, feed.fingerprint(first) != fingerprint) == (True, True)
    assert feed.marker(second) == other


@pytest.mark.warehouse
@pytest.mark.parametrize("source", ["postgres"], indirect=True)
@pytest.mark.parametrize("moment", ["infinity", "-infinity", "20000-01-01", "0044-03-15 BC"])
def test_a_moment_beyond_the_calendar_is_none(source, moment: str) -> None:
    source.run(NOTES)
    source.add("notes", note(1, moment), note(2, "2026-01-05 10:00:00"))
    feed = source.feed(**SIMPLE)
    assert watermarks(feed) == ["2026-01-05"]
    assert Counter(r.reason for r in split(feed.notes(feed.deliveries()[0]))[1]) == {Reason.MISSING_WATERMARK: 1}


@pytest.mark.parametrize("moment", ["yesterday", "2026-02-40", "2026-13-01", "", "05/01/2026", 20260105])
def test_text_that_is_no_moment_is_none(sqlite, moment: object) -> None:
    sqlite.run("CREATE TABLE notes (note_id TEXT, text TEXT, changed)")
    sqlite.add("notes", note(1, moment), note(2, "2026-01-05 10:00:00"))  # type: ignore[arg-type]
    feed = sqlite.feed(**SIMPLE)
    assert watermarks(feed) == ["2026-01-05"]
    assert [error.code for error in feed.refused()] == [Code.FEED_WATERMARK]


def test_a_day_that_is_none_counts_as_the_one_after_it_in_sqlite(sqlite) -> None:
    sqlite.run("CREATE TABLE notes (note_id TEXT, text TEXT, changed TEXT)")
    sqlite.add("notes", note(1, "2026-02-30"))
    assert ids(sqlite.feed(**SIMPLE), "2026-03-02") == ["n1"]


# Topics without a watermark


def test_a_topic_without_a_watermark_comes_whole_first_and_then_with_the_notes_that_name_it(source) -> None:
    source.run(
        NOTES,
        "CREATE TABLE people (patient_id VARCHAR(40), last_name TEXT)",
        "CREATE TABLE sites (facility_id TEXT, name TEXT)",
    )
    source.add("people", *({"patient_id": f"p{n}", "last_name": f"Name{n}"} for n in range(4)))
    source.add("sites", {"facility_id": "f1", "name": "North Clinic"})
    source.add(
        "notes", note(1, "2026-01-05 10:00:00", patient_id="p0"), note(2, "2026-01-06 10:00:00", patient_id="p1")
    )
    feed = source.feed(
        tables={"notes": "notes", "patients": "people", "facilities": "sites"},
        watermark="changed",
        watermarks={"patients": "", "facilities": ""},
    )
    first, second = feed.deliveries()
    assert sorted(feed.topics(first)[0].patients) == ["p0", "p1", "p2", "p3"]
    assert feed.topics(second)[0] == Topics.of([Patient("p1", last_name="Name1")])
    assert list(feed.topics(first)[0].facilities) == ["f1"]
    before = [feed.fingerprint(d) for d in (first, second)]
    source.add("people", {"patient_id": "p9", "last_name": "New"})
    assert [feed.fingerprint(d) for d in (first, second)] == before, "a new patient makes no delivery another"
    source.run("UPDATE people SET last_name = 'Married' WHERE patient_id = 'p1'")
    after = [feed.fingerprint(d) for d in (first, second)]
    assert (after[0] == before[0], after[1] == before[1]) == (True, False)
    marker = feed.marker(first)
    source.add("sites", {"facility_id": "f2", "name": "South Clinic"})
    assert feed.marker(first) != marker


# Tables, queries, columns


def test_columns_are_mapped_left_out_and_found_whatever_their_capitals(source) -> None:
    source.run('CREATE TABLE notes ("NOTE_NUM" INTEGER, note_txt TEXT, "Dept" TEXT, secret TEXT, "LOADED" TIMESTAMP)')
    source.add("notes", {"NOTE_NUM": 7, "note_txt": "Well.", "Dept": "x", "LOADED": "2026-01-05 10:00:00"})
    keys = {"tables": {"notes": "notes"}, "watermark": "loaded", "columns": {"NOTE_NUM": "note_id", "NOTE_TXT": "text"}}
    delivery = Delivery("ehr", "2026-01-05")
    expected = [Note("7", "Well.", site="north")]
    assert list(source.feed(**keys, ignore=["Dept", "SECRET"]).notes(delivery)) == expected
    assert list(source.feed(**keys, ignore=["*"]).notes(delivery)) == expected
    (refused,) = source.feed(**keys, ignore=["Dept"]).notes(delivery)
    assert (refused.reason, refused.note_id, str(refused.unknown)) == (Reason.UNKNOWN_COLUMN, "7", "secret")


def test_a_query_gives_the_rows_of_a_role(source, tmp_path) -> None:
    source.run(NOTES, "CREATE TABLE people (id VARCHAR(40), surname TEXT, since_when TIMESTAMP)")
    source.add("notes", note(1, "2026-01-05 10:00:00", "It is 10:30, 50% better."))
    source.add("people", {"id": "p1", "surname": "Doe", "since_when": "2026-01-05 00:00:00"})
    (tmp_path / "people.sql").write_text(
        "SELECT id AS patient_id, surname AS last_name, '12:30 %s :x' AS street, since_when AS changed\n"
        "FROM people WHERE surname LIKE 'D%' -- ours;\n"
    )
    feed = source.feed(tables={"notes": "notes"}, queries={"patients": tmp_path / "people.sql"}, watermark="changed")
    (delivery,) = feed.deliveries()
    assert feed.topics(delivery)[0] == Topics.of([Patient("p1", last_name="Doe", street="12:30 %s :x")])
    assert [n.text for n in feed.notes(delivery)] == ["It is 10:30, 50% better."]


@pytest.mark.parametrize("name", ['no"tes; DROP TABLE notes; --', "notes' OR '1'='1", "note%s :x"])
def test_a_name_is_quoted_and_never_part_of_a_statement(source, name: str) -> None:
    source.run(NOTES)
    source.add("notes", note(1, "2026-01-05 10:00:00"))
    for keys in (
        {"tables": {"notes": name}, "watermark": "changed"},
        {"tables": {"notes": "notes"}, "watermark": name},
        {"tables": {"notes": "notes"}, "watermark": "changed", "schema": name},
    ):
        with pytest.raises(DeidError) as caught:
            source.feed(**keys).deliveries()
        assert caught.value.code in (Code.FEED_TABLE, Code.FEED_STATEMENT)
        assert "DROP" not in str(caught.value)
    assert ids(source.feed(**SIMPLE), "2026-01-05") == ["n1"]
    quoted = name.replace('"', '""').replace("%", "%%" if source.kind == "postgresql" else "%")
    source.run(f'CREATE TABLE "{quoted}" (note_id TEXT, text TEXT, "{quoted}" TIMESTAMP)')
    source.run(f"""INSERT INTO "{quoted}" VALUES ('n2', 'Well.', '2026-01-05 10:00:00')""")
    assert ids(source.feed(tables={"notes": name}, watermark=name), "2026-01-05") == ["n2"]


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("SELECT note_id, text FROM notes", Code.FEED_TABLE),
        pytest.param(
            "SELECT 1 AS changed, 2 AS changed FROM notes", Code.FEED_TABLE, id="SQLite tells the two columns apart"
        ),
        ("SELECT nothing FROM nowhere", Code.FEED_STATEMENT),
        ("DELETE FROM notes", Code.FEED_STATEMENT),
        (None, Code.FEED_UNREADABLE),
    ],
)
def test_a_query_that_cannot_be_used_is_told_without_what_it_says(source, tmp_path, written, code) -> None:
    source.run(NOTES)
    source.add("notes", note(1, "2026-01-05 10:00:00"))
    if source.kind == "sqlite" and "2 AS changed" in (written or ""):
        return
    if written:
        (tmp_path / "q.sql").write_text(written)
    with pytest.raises(DeidError) as caught:
        source.feed(queries={"notes": tmp_path / "q.sql"}, watermark="changed").deliveries()
    assert caught.value.code is code
    assert "nowhere" not in str(caught.value)


def test_a_source_is_never_written_to(source, tmp_path) -> None:
    source.run(NOTES)
    source.add("notes", note(1, "2026-01-05 10:00:00"))
    feed = source.feed(**SIMPLE)
    with feed.database.connected() as connection, pytest.raises(Exception, match=r"read-?only|feed-statement"):
        connection.exec_driver_sql("DELETE FROM notes")
    assert ids(feed, "2026-01-05") == ["n1"]


# Values


def test_values_of_every_type(source) -> None:
    blob = "BLOB" if source.kind == "sqlite" else "BYTEA"
    source.run(
        f"CREATE TABLE notes (note_id NUMERIC, patient_id BIGINT, note_date DATE, encounter_id {blob}, text TEXT,"
        " changed TIMESTAMP)"
    )
    row = {"patient_id": 5, "note_date": "2026-01-04", "text": " two\r\nlines ", "changed": "2026-01-05 10:00:00"}
    source.add("notes", {"note_id": 12345678901, **row}, {"note_id": 2, "encounter_id": b"\xff", **row})
    notes, refused = split(source.feed(**SIMPLE).notes(Delivery("ehr", "2026-01-05")))
    assert notes == [Note("12345678901", " two\r\nlines ", patient_id="5", note_date=date(2026, 1, 4), site="north")]
    assert [(r.reason, r.note_id) for r in refused] == [(Reason.MALFORMED_ROW, "2")]


def test_a_huge_text_is_refused_without_being_read_and_costs_no_other(source) -> None:
    source.run(NOTES)
    huge = "x" * 5_000_000
    source.add("notes", note(1, "2026-01-05 10:00:00", huge), note(2, "2026-01-05 11:00:00", "é" * 1000))
    source.add("notes", note(3, "2026-01-05 12:00:00", "é" * 1001))
    notes, refused = split(source.feed(**SIMPLE, max_chars=1000).notes(Delivery("ehr", "2026-01-05")))
    assert [n.note_id for n in notes] == ["n2"]
    assert [(r.reason, r.note_id, r.row) for r in refused] == [
        (Reason.TEXT_TOO_LONG, "n1", 1),
        (Reason.TEXT_TOO_LONG, "n3", 3),
    ]


def test_text_of_sqlite_that_is_no_utf_8_costs_its_row_alone(sqlite) -> None:
    sqlite.run(NOTES, "INSERT INTO notes VALUES ('n1', NULL, CAST(x'636166e9' AS TEXT), '2026-01-05 10:00:00')")
    sqlite.run("INSERT INTO notes VALUES ('n3', NULL, CAST(x'6100620a' AS TEXT), '2026-01-05 10:00:00')")
    sqlite.add("notes", note(2, "2026-01-05 10:00:00"))
    notes, refused = split(sqlite.feed(**SIMPLE).notes(Delivery("ehr", "2026-01-05")))
    assert [n.note_id for n in notes] == ["n2"]
    assert [(r.reason, r.note_id) for r in refused] == [
        (Reason.INVALID_UTF8, "n1"),
        (Reason.NUL_CHARACTER, "n3"),
    ]


@pytest.mark.warehouse
@pytest.mark.parametrize("source", ["postgres"], indirect=True)
def test_a_day_that_python_has_not_costs_no_other_row(source) -> None:
    source.run("CREATE TABLE patients (patient_id TEXT, birth_date DATE, changed DATE)")
    source.add(
        "patients",
        {"patient_id": "p1", "birth_date": "infinity", "changed": "2026-01-05"},
        {"patient_id": "p2", "birth_date": "1950-02-01", "changed": "2026-01-05"},
    )
    feed = source.feed(tables={"patients": "patients"}, watermark="changed")
    topics, refused = feed.topics(Delivery("ehr", "2026-01-05"))
    assert topics.patients["p2"].birth_date == date(1950, 2, 1)
    assert [(r.reason, r.stands) for r in refused] == [(Reason.IMPOSSIBLE_DATE, True)]


# The connection


def test_a_variable_that_is_not_set_or_holds_no_url_is_named(source, monkeypatch, tmp_path) -> None:
    feed, other = source.feed(**SIMPLE), source.feed(**SIMPLE, url_env="OUR_URL")
    for said, why in (
        (None, "not set"),
        ("Tops3cret", "not a URL of a database"),
        ("nosuch://u:Tops3cret@h/d", "no such kind of database"),
        ("mssql+nosuch://u:Tops3cret@h/d", "no such kind of database"),
        ("oracle+oracledb://u:Tops3cret@h/d", "its driver is not installed"),
    ):
        monkeypatch.delenv("DEID_FEED_EHR_URL") if said is None else monkeypatch.setenv("DEID_FEED_EHR_URL", said)
        with pytest.raises(DeidError) as caught:
            feed.deliveries()
        assert (caught.value.code, caught.value.ref) == (Code.FEED_URL, f"DEID_FEED_EHR_URL: {why}")
    with pytest.raises(DeidError, match="OUR_URL: not set"):
        other.deliveries()
    monkeypatch.setenv("OUR_URL_FILE", str(tmp_path / "absent"))
    with pytest.raises(DeidError, match="OUR_URL_FILE: cannot be read"):
        other.deliveries()


def test_the_url_may_be_in_a_file(source, monkeypatch, tmp_path) -> None:
    source.run(NOTES)
    (tmp_path / "url").write_text(source.engine.url.render_as_string(hide_password=False) + "\n")
    monkeypatch.delenv("DEID_FEED_EHR_URL")
    monkeypatch.setenv("DEID_FEED_EHR_URL_FILE", str(tmp_path / "url"))
    assert source.feed(**SIMPLE).deliveries() == []


def test_a_database_that_is_not_there_is_not_made(sqlite, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("DEID_FEED_EHR_URL", f"sqlite:///{tmp_path / 'absent.db'}")
    with pytest.raises(DeidError) as caught:
        sqlite.feed(**SIMPLE).deliveries()
    assert (caught.value.code, caught.value.ref) == (Code.FEED_UNREACHABLE, "ehr")
    assert caught.value.code.transient
    assert not (tmp_path / "absent.db").exists()


def test_a_file_that_is_no_database(sqlite, tmp_path) -> None:
    (tmp_path / "ehr.db").write_text("Tops3cret " * 1000)
    with pytest.raises(DeidError) as caught:
        sqlite.feed(**SIMPLE).deliveries()
    assert caught.value.code is Code.FEED_STATEMENT
    assert "Tops3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["postgresql://u:Tops3cret@127.0.0.1:9/d", "postgresql://u:Tops3cret@nowhere.invalid/d"]
)
def test_a_server_that_does_not_answer_is_transient(sqlite, monkeypatch, address: str) -> None:
    monkeypatch.setenv("DEID_FEED_EHR_URL", address)
    with pytest.raises(DeidError) as caught:
        sqlite.feed(**SIMPLE).deliveries()
    assert caught.value.code is Code.FEED_UNREACHABLE
    assert "Tops3cret" not in f"{caught.value} {caught.value!r}"


@pytest.mark.warehouse
@pytest.mark.parametrize("source", ["postgres"], indirect=True)
def test_a_connection_that_is_lost_while_rows_come_is_transient(source) -> None:
    source.run(NOTES)
    source.add("notes", *(note(n, "2026-01-05 10:00:00", "x" * 2000) for n in range(3000)))
    rows = source.feed(**SIMPLE).notes(Delivery("ehr", "2026-01-05"))
    next(rows)
    others = "pid <> pg_backend_pid() AND state LIKE 'idle in%%'"
    source.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
    with pytest.raises(DeidError) as caught:
        list(rows)
    assert (caught.value.code, caught.value.code.transient) == (Code.FEED_UNREACHABLE, True)
    assert caught.value.__suppress_context__


@pytest.mark.warehouse
@pytest.mark.parametrize("source", ["postgres"], indirect=True)
def test_what_a_database_says_of_a_value_is_withheld(source, tmp_path, contract) -> None:
    source.run(NOTES)
    source.add("notes", *(note(n, "2026-01-05 10:00:00", str(n)) for n in range(500)))
    source.add("notes", note(1, "2026-01-05 11:00:00", contract.MARKER))
    (tmp_path / "q.sql").write_text("SELECT note_id, text::int AS patient_id, 'x' AS text, changed FROM notes")
    rows = source.feed(queries={"notes": tmp_path / "q.sql"}, watermark="changed").notes(Delivery("ehr", "2026-01-05"))
    with pytest.raises(DeidError) as caught:
        list(rows)
    assert (caught.value.code, caught.value.ref) == (Code.FEED_STATEMENT, "ehr: 22P02")
    contract.assert_quiet(caught.value)


@pytest.mark.warehouse
@pytest.mark.parametrize("source", ["postgres"], indirect=True)
def test_a_statement_that_takes_too_long_is_ended(source, tmp_path) -> None:
    (tmp_path / "slow.sql").write_text(
        "SELECT '1' AS note_id, pg_sleep(5)::text AS text, TIMESTAMP '2026-01-05' AS changed"
    )
    with pytest.raises(DeidError) as caught:
        list(
            source.feed(queries={"notes": tmp_path / "slow.sql"}, watermark="changed", timeout_seconds=1).notes(
                Delivery("ehr", "2026-01-05")
            )
        )
    assert (caught.value.code, caught.value.ref) == (Code.FEED_STATEMENT, "ehr: 57014")


@pytest.mark.warehouse
@pytest.mark.parametrize("source", ["postgres"], indirect=True)
def test_rows_are_fetched_by_a_cursor_of_the_server(source) -> None:
    source.run(NOTES)
    source.add("notes", *(note(n, "2026-01-05 10:00:00") for n in range(1000)))
    rows = source.feed(**SIMPLE).notes(Delivery("ehr", "2026-01-05"))
    next(rows)
    with source.engine.connect() as connection:
        said = (
            connection.exec_driver_sql("SELECT query FROM pg_stat_activity WHERE state LIKE 'idle in%%'")
            .scalars()
            .all()
        )
    assert any("FETCH FORWARD" in each for each in said)
    assert len(list(rows)) == 999


def test_neither_repr_nor_pickle_of_a_reader_holds_the_url(source) -> None:
    import pickle

    feed = source.feed(**SIMPLE)
    url = str(source.engine.url)
    assert url not in repr(feed)
    assert url.encode() not in pickle.dumps(feed)


@pytest.mark.transport
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, None),
        ({"password": "Tops3cret"}, Code.FEED_LOGIN),
        ({"username": "Nobody"}, Code.FEED_LOGIN),
        ({"host": "localhost"}, Code.FEED_TLS),
        ({"sslmode": "disable"}, Code.FEED_TLS),
        ({"database": "absent"}, Code.FEED_URL),
    ],
)
def test_a_real_server_must_prove_who_it_is_and_let_us_in(sqlite, system_server, monkeypatch, changes, code) -> None:
    url = system_server.url(**changes).replace("sslmode=verify-full&", "")  # which is so unless the URL says otherwise
    monkeypatch.setenv("DEID_FEED_EHR_URL", url)
    with pytest.raises(DeidError) as caught:
        sqlite.feed(**SIMPLE).deliveries()
    assert caught.value.code is (code or Code.FEED_TABLE)
    assert not any(said in f"{caught.value} {caught.value!r}" for said in ("Tops3cret", "Nobody", "127.0.0.1"))

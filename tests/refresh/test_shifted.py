"""Under shifted dates, nothing that research holds reveals how far a patient's dates were moved."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import date, timedelta

import pytest
from sqlalchemy import text

from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.refresh.staging import stage
from deid_platform.settings import RedactionSettings
from deid_platform.warehouse.server.roles import Role

WEEK = timedelta(weeks=1)
SEEN = {"p1": date(2021, 3, 9), "p2": date(2020, 11, 17), "newborn": date(2021, 3, 11)}
BORN = {"p1": date(1988, 6, 2), "p2": date(1951, 1, 30), "newborn": date(2021, 3, 6)}
SHIFT = {"p1": 10 * WEEK, "p2": -20 * WEEK}
# All that research is given of a note's origin beside these is the note's keyed digest, and no analyst may read that.
NOT_SHOWN = {"content_digest", "dictionary_digest", "shift_key", "status", "former_keys"}


@pytest.fixture
def staged(shifting, deliver, take_in, monkeypatch):
    """What is staged of a world whose dates all lie some weeks later, and whose shifts are as many weeks shorter."""

    def run(later: int) -> list[dict[str, object]]:
        shifts = {patient: shift - later * WEEK for patient, shift in SHIFT.items()}
        monkeypatch.setattr("deid_platform.surrogates.dates.shift_days", lambda _, patient, by: shifts[patient].days)
        day = {patient: seen + later * WEEK for patient, seen in SEEN.items()}
        born = {patient: birth + later * WEEK for patient, birth in BORN.items()}
        told = [
            (
                "p1",
                day["p1"],
                f"Seen {day['p1']:%m/%d/%Y}, last on {day['p1'] - 30 * WEEK:%B %-d, %Y}; born {born['p1']}.",
            ),
            (
                "p1",
                day["p1"] + WEEK,
                f"Since {day['p1'] - WEEK:%-m/%-d} better. See {day['p1'] + 9 * WEEK:%A, %d %B %Y}.",
            ),
            ("p2", day["p2"], f"Stroke {day['p2'] - 3 * WEEK:%Y-%m-%d}, DOB {born['p2']:%m/%d/%y}."),
            ("newborn", day["newborn"], f"Born {born['newborn']:%m/%d/%Y}, seen {day['newborn']:%m/%d/%Y}."),
        ]
        notes = [
            {"note_id": f"n-{i}", "patient_id": patient, "encounter_id": f"e-{i}", "provider_id": "d1",
             "note_date": when.isoformat(), "text": words}
            for i, (patient, when, words) in enumerate(told)
        ]  # fmt: skip
        patients = [
            {"patient_id": patient, "birth_date": birth.isoformat(), "mother_id": "p1" if patient == "newborn" else ""}
            for patient, birth in born.items()
        ]
        delivery = deliver("2022-01-03", notes=notes, patients=patients)
        take_in(delivery)
        manifest = deidentify(delivery, store=shifting.store, recipe=shifting.recipe(delivery), engine=shifting.engine)
        rows = stage.staged_rows(shifting, delivery, manifest)
        return [{f.name: getattr(row, f.name) for f in fields(row)} for row in rows]

    return run


def shown(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{name: value for name, value in row.items() if name not in NOT_SHOWN} for row in rows]


def test_the_same_rows_come_of_later_dates_and_shorter_shifts(staged):
    """Every column, and the order of the rows, is a function of the shifted dates alone."""
    first = staged(0)
    assert [row["status"] for row in first] == ["clean"] * 4
    assert all("[DATE]" not in row["text"] for row in first)
    for later in (1, 6, -9):
        assert shown(staged(later)) == shown(first)


def test_no_column_holds_a_true_date_or_year(staged, shifting):
    rows = shown(staged(0))
    for row, (patient, seen) in zip(
        rows, (("p1", SEEN["p1"]), ("p1", SEEN["p1"] + WEEK), ("p2", SEEN["p2"])), strict=False
    ):
        assert row["note_year"] is None
        assert row["shifted_date"] == seen + SHIFT[patient]
        written = json.dumps(row, default=str)
        for day in (seen, BORN[patient]):
            assert not {f"{day:%m/%d/%Y}", day.isoformat(), f"{day:%B} {day.day}, {day.year}"} & {*written.split()}
            assert f"{day:%m/%d/%Y}" not in written
            assert day.isoformat() not in written


def test_mother_and_newborn_keep_their_distance(staged):
    mother, newborn = (
        row for row in staged(0) if row["shifted_date"] in {SEEN[p] + SHIFT["p1"] for p in ("p1", "newborn")}
    )
    assert newborn["shifted_date"] - mother["shifted_date"] == SEEN["newborn"] - SEEN["p1"]


def test_analysts_see_no_column_but_these(staged, shifting):
    with shifting.warehouse.begin(Role.DEMO_ANALYST) as connection:
        columns = connection.execute(text("SELECT * FROM research.notes LIMIT 0")).keys()
    assert set(columns) == {*shown(staged(0))[0], "release"}


def test_who_withdraws_and_takes_part_again_keeps_the_shift(shifting, deliver, take_in):
    def moved(watermark: str, seen: date, **statements) -> timedelta:
        note = {"note_id": f"r-{watermark}", "patient_id": "p1", "note_date": seen.isoformat(), "text": "Well."}
        delivery = deliver(watermark, notes=[note], patients=[{"patient_id": "p1"}], **statements)
        take_in(delivery)
        deidentify(delivery, store=shifting.store, recipe=shifting.recipe(delivery), engine=shifting.engine)
        (row,) = shifting.store.rows(tables.REDACTED_NOTES, delivery.key)
        return row["shifted_date"] - seen

    before = moved("2022-02-01", date(2021, 8, 3))
    moved("2022-02-08", date(2021, 9, 7), withdrawn=[{"patient_id": "p1"}])
    assert moved("2022-02-15", date(2022, 1, 18), rejoined=[{"patient_id": "p1"}]) == before


def test_a_policy_that_keeps_dates_stages_a_limited_data_set(site, deliver, take_in):
    limited = Site(site.settings.model_copy(update={"redaction": RedactionSettings(policy="limited_dataset")}))
    note = {"note_id": "l-1", "note_date": "2021-08-03", "text": "Seen 8/3/2021 in Fernbridge, Ohio, aged 94."}
    delivery = deliver("2022-03-01", notes=[note])
    take_in(delivery)
    deidentify(delivery, store=limited.store, recipe=limited.recipe(delivery), engine=limited.engine)
    stage.stage_delivery(limited, delivery, run_id="run-1")
    with limited.warehouse.begin(Role.GATEKEEPER) as connection:
        staged = connection.execute(text("SELECT text, shifted_date FROM staging.note")).one()
        assert tuple(staged) == (note["text"], date(2021, 8, 3))
        shown = "SELECT limited FROM ctl.release WHERE release = :r"
        assert connection.execute(text(shown), {"r": limited.release}).scalar() is True


def test_the_lengths_of_what_was_put_in_lie_beside_the_rows(staged, shifting, deliver):
    staged(0)
    for row in shifting.store.rows(tables.REDACTED_NOTES, "hospital@2022-01-03"):
        assert len(row["lengths"]) == len(row["spans"]) > 0

"""Tables beside the notes: the same surrogates and shifts, the same gate, and nothing that nobody mapped."""

from __future__ import annotations

import pytest
from small_feed import promoted, seen, taken_in

from deid_platform.errors import DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.late_names import hide_named_since, redact_delivery
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.structured_rows import structured_leaks, views_of
from deid_platform.refresh.staging import stage
from deid_platform.settings import RedactionSettings
from deid_platform.settings.structured import StructuredSettings
from deid_platform.warehouse.migrate import migrate
from deid_platform.warehouse.server.roles import Role

LABS = StructuredSettings(
    row="RESULT_ID",
    patient="PAT",
    columns={"DRAWN": "DATE", "MRN": "MEDICALRECORD", "Ordered By": "DOCTOR"},
    keep={"TEST": "names of the laboratory's own list", "VALUE": "a measured figure"},
)
HEAD = "RESULT_ID,PAT,DRAWN,MRN,Ordered By,TEST,VALUE,COMMENT\n"
PATIENTS = [{"patient_id": "p1", "first_name": "Thandiwe", "last_name": "Quillfeather", "mrn": "48151623"}]


@pytest.fixture(scope="module")
def site(site: Site) -> Site:
    """The installation with one table mapped, under the policy `surrogate`, and the views of that table."""
    feed = site.feed("hospital").model_copy(update={"structured": {"labs": LABS}})
    update = {
        "feeds": {**site.settings.feeds, "hospital": feed},
        "redaction": RedactionSettings(policy="surrogate", date_order="mdy"),
    }
    mapped = Site(site.settings.model_copy(update=update))
    migrate(mapped.warehouse.admin_engine(), structured=views_of(mapped.settings))
    return mapped


@pytest.fixture(scope="module")
def steps(site, deliver):
    """Runs a delivery with rows of `labs` through the gate, and returns what was taken in."""

    def run(watermark: str, rows: str, **files: object):
        delivery = deliver(watermark, patients=PATIENTS, **files)
        folder = site.settings.path(site.feed("hospital").path) / watermark
        (folder / "structured-labs.csv").write_text(HEAD + rows)
        taken = taken_in(site, delivery)
        stage.stage_withdrawals(site, delivery, run_id="run-1")
        redact_delivery(site, delivery)
        promoted(site, delivery)
        return delivery, taken

    return run


def labs(site: Site) -> list[dict[str, object]]:
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        found = connection.exec_driver_sql("SELECT * FROM research.structured_labs ORDER BY value").mappings()
        return [dict(row) for row in found]


def test_rows_have_the_surrogates_and_the_shift_of_the_notes_and_only_the_columns_that_are_mapped(site, steps) -> None:
    note = "MRN 48151623 was drawn on 2026-01-02. Seen by Dr. Alan Reed."
    rows = (
        "r1,p1,2026-01-02 10:30,48151623,Alan Reed,Potassium,4.1,SECRET\n"
        "r2,p1,2026-01-03,48151623,,Sodium,see Ms. Quillfeather,SECRET\n"  # a kept value that names the patient
        "r3,,2026-01-03,1,,Sodium,5,\n"
        "r4,p1,yesterday,1,,Sodium,6,\n"
        "r1,p1,2026-01-03,1,,Sodium,7,\n"
    )
    delivery, taken = steps(
        "2026-01-05", rows, notes=[{"note_id": "1", "patient_id": "p1", "note_date": "2026-01-02", "text": note}]
    )
    assert (taken.structured, taken.rejected) == (2, {"missing_id": 1, "impossible_date": 1, "duplicate_id": 1})
    (row,) = labs(site)
    assert (row["test"], row["value"]) == ("Potassium", "4.1")
    assert set(row) == {"row_key", "patient_key", "site", "drawn", "mrn", "ordered_by", "test", "value", "release"}
    (text,) = seen(site)
    # What the note says of patient, day and doctor, the row says in the same words.
    assert text == f"MRN {row['mrn']} was drawn on {row['drawn']}. Seen by Dr. {row['ordered_by']}."
    assert row["drawn"] != "2026-01-02"
    assert row["mrn"] != "48151623"
    assert row["patient_key"] == site.keyring.key("patient", "p1")
    redacted = site.store.required(tables.REDACTED_STRUCTURED, delivery.key)
    assert redacted.meta["counts"] == {"clean": 1, "quarantined": 1}
    assert redacted.meta["reasons"] == {"leak-last-name": 1}


def test_the_leak_check_is_made_again_before_the_gate(site) -> None:
    delivery = Delivery("hospital", "2026-01-05")
    manifest = site.store.required(tables.REDACTED_NOTES, delivery.key)
    assert structured_leaks(site.store, delivery, site.recipe(delivery), manifest) == (0, 1, 0)


def test_rows_are_no_notes(site) -> None:
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM research.notes").scalar() == 1
        assert connection.exec_driver_sql("SELECT count(*) FROM omop.note").scalar() == 1
        counted = connection.exec_driver_sql("SELECT table_name, count(*) FROM research.structured GROUP BY 1").all()
        assert [tuple(row) for row in counted] == [("labs", 1)]


def test_a_row_that_comes_again_is_a_correction_and_one_that_is_refused_hides_the_older_one(site, steps) -> None:
    steps("2026-01-12", "r1,p1,2026-01-02,48151623,Alan Reed,Potassium,4.2,\nr5,p1,2026-01-04,1,,Sodium,140,\n")
    assert [row["value"] for row in labs(site)] == ["140", "4.2"]
    steps("2026-01-19", "r5,p1,no day,1,,Sodium,141,\n")
    assert [row["value"] for row in labs(site)] == ["4.2"]


def test_rows_of_another_recipe_than_the_notes_are_not_staged(site) -> None:
    delivery = Delivery("hospital", "2026-01-12")
    rows = site.store.read(tables.REDACTED_STRUCTURED, delivery.key)
    meta = site.store.required(tables.REDACTED_STRUCTURED, delivery.key).meta
    table = next(iter(rows))
    site.store.write(tables.REDACTED_STRUCTURED, delivery.key, [table], meta=lambda: {**meta, "recipe": "other"})
    with pytest.raises(DeidError, match="not-materialized"):
        stage.stage_delivery(site, delivery, run_id="run-1")
    site.store.write(tables.REDACTED_STRUCTURED, delivery.key, [table], meta=lambda: meta)


def test_a_row_that_shows_a_name_of_a_later_delivery_is_hidden_when_that_comes(site, steps, deliver) -> None:
    note = {"note_id": "7", "patient_id": "p7", "text": "Stable."}
    steps("2026-01-20", "r7,p7,2026-01-02,,,Sodium,see Marchbanks,\n", notes=[note])
    assert "see Marchbanks" in [row["value"] for row in labs(site)]
    later = deliver("2026-01-21", patients=[{"patient_id": "p7", "last_name": "Marchbanks"}])
    taken_in(site, later)
    assert hide_named_since(site, later) == 1
    assert "see Marchbanks" not in [row["value"] for row in labs(site)]


def test_a_patient_who_leaves_takes_the_rows_along(site, steps) -> None:
    assert labs(site)
    steps("2026-01-26", "", withdrawn=[{"patient_id": "p1"}])
    assert labs(site) == []


def test_a_table_that_is_mapped_no_more_has_no_view(site) -> None:
    migrate(site.warehouse.admin_engine())
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        there = connection.exec_driver_sql("SELECT to_regclass('research.structured_labs')").scalar()
    assert there is None


@pytest.mark.parametrize(
    "change",
    [
        {"keep": {"TEST": "short"}},
        {"keep": {"DRAWN": "names of the laboratory's own list"}},
        {"columns": {"A b": "DATE", "a_B": "DATE"}},
        {"columns": {"site": "DATE"}},
        {"columns": {"DRAWN": "NO_LABEL"}},
        {"columns": {}, "keep": {}},
        {"row": ""},
    ],
)
def test_a_mapping_that_could_release_something_by_mistake_is_refused(change) -> None:
    with pytest.raises(ValueError):
        StructuredSettings.model_validate({**LABS.model_dump(), **change})

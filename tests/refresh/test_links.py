"""Who moves with whom, where the topics tell it late: the mother of a newborn whose notes are released already."""

from __future__ import annotations

from datetime import date, timedelta

import pyarrow as pa

from deid_platform.notes import Patient
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.evidence.shifts import links_known
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging import due
from deid_platform.surrogates.dates import shift_days
from deid_platform.warehouse.server.roles import Role

BORN = date(2021, 3, 6)


def note(name: str, patient: str, day: int) -> dict[str, str]:
    """A note of a day after the birth, which its text tells too."""
    seen = BORN + timedelta(days=day)
    return {"note_id": name, "patient_id": patient, "note_date": seen.isoformat(), "text": f"Well on {seen:%Y-%m-%d}."}


def row(patient: str, **more: str) -> dict[str, str]:
    return {"patient_id": patient, "mother_id": "", **more}


def days(of: dict[str, int], shift: int) -> set[date]:
    return {BORN + timedelta(days=day + shift) for day in of.values()}


def shown(site: Site, patient: str) -> set[date]:
    """The dates of a patient's notes that analysts see; their texts tell the same."""
    query = "SELECT shifted_date, text FROM research.notes WHERE patient_key = %s"
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        rows = connection.exec_driver_sql(query, (site.keyring.key("patient", patient),)).all()
    assert {text for _, text in rows} == {f"Well on {seen:%Y-%m-%d}." for seen, _ in rows}
    return {seen for seen, _ in rows}


def test_after_a_late_link_mother_and_newborn_move_together_in_every_note(shifting, deliver, through) -> None:
    mothers, own = (shift_days(shifting.keyring, patient) for patient in ("m1", "c1"))
    assert mothers != own
    first = deliver(
        "2022-01-01",
        notes=[note("m1-1", "m1", 1), note("c1-1", "c1", 1), note("x1-1", "x1", 5)],
        patients=[row("m1"), row("c1"), row("x1")],
    )
    second = deliver("2022-01-02", notes=[note("c1-2", "c1", 3)])
    third = deliver("2022-01-03", notes=[note("c1-3", "c1", 8)], patients=[row("c1", mother_id="m1")])
    for delivery in (first, second):
        through(delivery, shifting)
    assert shown(shifting, "c1") == days({"c1-1": 1, "c1-2": 3}, own)
    assert due.pending(shifting, [first, second]) == []

    through(third, shifting)
    # Never both: what was moved by itself waits for its delivery.
    assert shown(shifting, "c1") == days({"c1-3": 8}, mothers)
    assert shown(shifting, "m1") == days({"m1-1": 1}, mothers)
    assert due.pending(shifting, [first, second, third]) == [first, second]

    through(first, shifting)
    assert shown(shifting, "c1") == days({"c1-1": 1, "c1-3": 8}, mothers)
    assert shifting.store.required(tables.REDACTED_NOTES, first.key).meta["counts"]["cached"] == 2, "but the newborn's"
    through(second, shifting)
    assert shown(shifting, "c1") == days({"c1-1": 1, "c1-2": 3, "c1-3": 8}, mothers)
    assert shown(shifting, "x1") == days({"x1-1": 5}, shift_days(shifting.keyring, "x1"))
    assert due.pending(shifting, [first, second, third]) == []


def test_a_link_that_comes_without_notes_makes_the_earlier_ones_anew(shifting, deliver, through) -> None:
    mothers, own = (shift_days(shifting.keyring, patient) for patient in ("m2", "c2"))
    first = deliver("2022-02-01", notes=[note("c2-1", "c2", 1)], patients=[row("m2")])
    second = deliver("2022-02-02", notes=[note("m2-1", "m2", 1)], patients=[row("c2", mother_id="m2")])
    through(first, shifting)
    through(second, shifting)
    assert shown(shifting, "c2") == days({"c2-1": 1}, own)
    assert due.pending(shifting, [first, second]) == [first]
    through(first, shifting)
    assert shown(shifting, "c2") == days({"c2-1": 1}, mothers)


def test_a_link_that_is_told_no_more_still_holds_and_a_newborn_of_others_makes_nothing_due(
    shifting, deliver, through
) -> None:
    first = deliver("2022-03-01", notes=[note("c3-1", "c3", 1)], patients=[row("c3", mother_id="m3")])
    second = deliver("2022-03-02", notes=[note("c3-2", "c3", 2)], patients=[row("c3"), row("c4", mother_id="m4")])
    through(first, shifting)
    through(second, shifting)
    assert due.pending(shifting, [first, second]) == []
    assert shown(shifting, "c3") == days({"c3-1": 1, "c3-2": 2}, shift_days(shifting.keyring, "m3"))


def test_where_no_dates_are_shifted_nobody_moves_with_anybody(site, deliver, take_in, redacted) -> None:
    delivery = deliver("2022-04-01", notes=[note("c5-1", "c5", 1)], patients=[row("c5", mother_id="m5")])
    take_in(delivery)
    assert [found["shift_key"] for found in redacted(delivery)] == [None]
    assert site.store.required(tables.REDACTED_NOTES, delivery.key).meta["shifts"] is None


def test_the_links_of_all_feeds_count_since_patients_are_the_same_in_all(site) -> None:
    of_a_ward = tables.to_row(Patient("c9", mother_id="m9"))
    table = pa.Table.from_pylist([of_a_ward], schema=tables.TOPIC_SCHEMAS["patients"])
    site.store.write("source/patients", "ward@2020-01-01", [table])
    assert links_known(site.store).patients["c9"].mother_id == "m9"

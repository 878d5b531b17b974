"""The bench: whose gold it measures on, and what it hands to the gate."""

from __future__ import annotations

import gzip
import json

import pytest

from deid_platform.refresh import bench, tables

FIRST = "2026-01-05"
PATIENTS = [{"patient_id": "p1", "first_name": "Thandiwe", "last_name": "Quillfeather", "phone": "617-555-0142"}]
NOTES = [
    {"note_id": "1", "patient_id": "p1", "text": "Ms. Quillfeather is well.", "note_date": "2025-03-01"},
    {"note_id": "2", "patient_id": "p1", "text": "BP 120/80.", "note_date": "2025-04-01"},
]


@pytest.fixture(scope="module")
def arrived(deliver, take_in):
    delivery = deliver(FIRST, notes=NOTES, patients=PATIENTS)
    take_in(delivery)
    return delivery


def write_gold(site, spans: dict) -> None:
    folder = site.settings.path(site.feed("hospital").gold)
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / f"{FIRST}.jsonl.gz", "wt") as lines:
        for note_id, found in spans.items():
            lines.write(json.dumps({"note_id": note_id, "spans": found}) + "\n")


def test_the_test_set_counts_phi_from_the_topics_alone(site, arrived) -> None:
    chosen = bench.build_test_set(site)
    assert len(chosen.note_ids) == 2
    assert chosen.phi_share == 0.5
    assert {(row["feed"], row["note_id"]) for row in site.store.rows(tables.TEST_SET, tables.ALL)} == {
        ("hospital", "1"),
        ("hospital", "2"),
    }
    # How the sample was drawn, by which the laboratory weighs it.
    assert {row["note_id"]: row["names_patient"] for row in site.store.rows(tables.TEST_SET, tables.ALL)} == {
        "1": True,
        "2": False,
    }
    meta = site.store.manifest(tables.TEST_SET, tables.ALL).meta
    assert meta["strata"] == [["progress note", "2025", False, 1], ["progress note", "2025", True, 1]]


def test_without_gold_of_its_own_a_site_is_measured_on_the_synthetic_hospital(site, arrived) -> None:
    bench.build_test_set(site)
    found = bench.collect_gold(site)
    assert (found.name, found.by_feed) == (bench.SYNTHETIC, {})
    assert found.spans > found.notes >= 50


def test_the_sites_own_gold_comes_first(site, arrived) -> None:
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "2": []})
    bench.build_test_set(site)
    found = bench.collect_gold(site)
    assert (found.name, found.by_feed, found.spans) == ("site", {"hospital": 2}, 1)


def test_gold_that_reaches_outside_its_note_is_an_error(site, arrived) -> None:
    write_gold(site, {"1": [[4, 400, "PATIENT"]]})
    with pytest.raises(Exception, match=r"gold-invalid \[hospital@.*a span ends past its note's text"):
        bench.collect_gold(site)


def test_scores_come_with_and_without_topics_and_are_recorded_once(site, arrived) -> None:
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "2": []})
    bench.build_test_set(site)
    bench.collect_gold(site)
    bench.run_detector(site)
    measured = bench.measure(site)
    assert set(measured.by_inputs) == {"topics", "text"}
    assert measured.by_inputs["topics"].recall.value == 1.0
    figures = bench.record(site, measured)
    bench.record(site, measured)
    with site.warehouse.begin("gatekeeper") as connection:
        held = connection.exec_driver_sql("SELECT count(*) FROM quality.score").scalar_one()
    assert held == figures
    headline = site.store.manifest(tables.METRICS, tables.ALL).meta["headline"]
    assert headline["topics"]["recall"]["value"] == headline["topics"]["recall_conservative"]["value"] == 1.0


def test_notes_that_did_not_change_are_not_detected_again(site, arrived, monkeypatch) -> None:
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "2": []})
    bench.build_test_set(site)
    bench.collect_gold(site)
    bench.run_detector(site)
    before = site.store.rows(tables.DETECTIONS, tables.ALL)
    asked = []

    def nothing(spec, notes, *, on_batch=None):
        asked.extend(notes)
        return iter(())

    monkeypatch.setattr(type(site.engine), "detect", lambda self, *a, **k: nothing(*a, **k))
    bench.run_detector(site)
    assert asked == []
    assert site.store.rows(tables.DETECTIONS, tables.ALL) == before

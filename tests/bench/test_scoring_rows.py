"""What the gate is told of the bench: by which recall it judges, against the threshold and against the one in force."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pytest

from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging import detector_in_force, measure
from deid_platform.settings import load_settings
from deid_platform.store import Manifest
from deid_platform.warehouse.gate.standing import _figures

DIGEST = "d" * 32
OURS = Manifest("deid/redacted_notes", "ehr@1", "key", (), {"detector_digest": DIGEST, "inputs": "topics"})
DELIVERY = Delivery("ehr", "1")


@pytest.fixture
def site(tmp_path, monkeypatch) -> Site:
    monkeypatch.setenv("DEID_SECRET", hashlib.sha256(b"bench rows").hexdigest())
    path = tmp_path / "deid.toml"
    path.write_text('site = "north"\nprofile = "demo"\n[bench]\nresamples = 200\n')
    return Site(load_settings(path))


def measured(site: Site, **lower_ends: float) -> None:
    """Seals a bench of these lower ends of recall; all else is well."""
    fine = {"value": 0.99, "low": 0.98, "high": 1.0}
    headline = {
        "precision": fine,
        "words_kept": fine,
        **{name: {"value": low + 0.01, "low": low, "high": low + 0.02} for name, low in lower_ends.items()},
    }
    meta = {"gold": "site", "detector_digest": DIGEST, "gold_by_feed": {"ehr": 400}, "look": 1}
    meta |= {"headline": {"topics": headline}}
    site.store.write(tables.METRICS, tables.ALL, [], meta=lambda: meta)


def bench_row(site: Site):
    rows = {row.requirement: row for row in measure._bench_rows(site, DELIVERY, OURS)}
    assert rows["site_gold"].passed
    return rows["bench"]


@pytest.mark.parametrize(
    ("recall", "conservative", "passed"), [(0.95, 0.93, True), (0.95, 0.85, True), (0.95, 0.849, False)]
)
def test_words_hidden_in_part_do_not_help_a_detector_over_the_threshold(site, recall, conservative, passed) -> None:
    measured(site, recall=recall, recall_conservative=conservative)
    row = bench_row(site)
    assert row.passed is passed
    shown = {figure.name: figure for figure in _figures("bench", row.measured)}
    figure = shown["conservative recall (lower end)"]
    assert (figure.value, figure.threshold, figure.met) == (conservative, 0.85, passed)
    assert "recall (lower end)" not in shown, "one figure is compared with one threshold"


def test_what_was_measured_before_words_hidden_whole_were_counted_has_not_passed(site) -> None:
    measured(site, recall=0.99)
    assert not bench_row(site).passed


def test_a_gate_row_of_an_earlier_version_shows_what_it_was_judged_by() -> None:
    row = {"recall": {"value": 0.96, "low": 0.95, "high": 0.97}, "thresholds": {"min_recall": 0.9}}
    assert [(it.name, it.value) for it in _figures("bench", row)] == [("recall (lower end)", 0.95)]


def seal(site: Site, name: str, detector: str, *, missed_in_part: int, with_whole: bool = True) -> None:
    """Twenty patients of ten words, all of them touched; of so many patients one word is hidden in part."""
    rows = [
        {"note": str(n), "patient": str(n), "inputs": "topics", "gold": 10, "found": 10}
        | ({"whole": 10 - (n < missed_in_part)} if with_whole else {})
        for n in range(20)
    ]
    columns = [it for it in tables.FOUND_SCHEMA if with_whole or it.name != "whole"]
    table = pa.Table.from_pylist(rows, schema=pa.schema(columns))
    site.store.write(name, tables.ALL, [table], meta=lambda: {"detector_digest": detector, "gold": "site"})


def beside_the_one_in_force(site: Site) -> detector_in_force.Compared | None:
    return detector_in_force.compared(site, site.store.required(tables.METRICS, tables.ALL), "topics")


def test_a_detector_that_hides_words_in_part_is_worse_than_one_that_hides_them_whole(site) -> None:
    seal(site, tables.IN_FORCE, "former", missed_in_part=0)
    seal(site, tables.METRICS, "new", missed_in_part=15)
    found = beside_the_one_in_force(site)
    assert (found.recall, found.recall_before) == (185 / 200, 1.0)
    assert not detector_in_force.holds(site, found)


def test_beside_one_that_was_measured_without_both_count_the_words_that_they_touch(site) -> None:
    seal(site, tables.IN_FORCE, "former", missed_in_part=0, with_whole=False)
    seal(site, tables.METRICS, "new", missed_in_part=15)
    found = beside_the_one_in_force(site)
    assert (found.recall, found.recall_before, found.difference) == (1.0, 1.0, 0.0)
    assert detector_in_force.holds(site, found)


def test_scores_of_before_looks_were_counted_make_no_row(site) -> None:
    measured(site, recall=0.99, recall_conservative=0.99)
    sealed = dict(site.store.manifest(tables.METRICS, tables.ALL).meta)
    del sealed["look"]
    site.store.write(tables.METRICS, tables.ALL, [], meta=lambda: sealed)
    assert measure._bench_rows(site, DELIVERY, OURS) == []

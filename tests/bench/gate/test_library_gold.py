"""The library as gold of the bench: whose notes are measured, and what becomes of the figures."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from small_feed import measure_library

from deid_platform.bench.gate import measured_notes
from deid_platform.bench.gate.library_gold import library_gold, measured_authors
from deid_platform.corpora.library import authors as library
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.recipe import languages
from deid_platform.refresh.recipe.judged import measurements
from deid_platform.refresh.staging import detector_in_force, measure
from deid_platform.store import Manifest
from deid_platform.warehouse.server.roles import Role

WRITERS = {"en-one": "test", "en-two": "test", "es-three": "sealed", "en-four": "thresholds", "en-five": "training"}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of five authors, of two short notes each."""
    rows = ["author\tlanguage\tuse\tinstitution"]
    for name, use in WRITERS.items():
        rows.append(f"{name}\t{name[:2]}\t{use}\tsomewhere")
        (tmp_path / name).mkdir()
        for number in range(2):
            header = f"kind: visit {number}\nlanguage: {name[:2]}\ndate: 2024-11-03\n"
            known = "patient: first=Ann; last=Quillfeather\n" if number else ""
            body = "Ms. ⟦Quillfeather|PATIENT patient⟧ was seen on ⟦3/4/2024|DATE⟧. Coughs, no fever.\n"
            (tmp_path / name / f"{number}.txt").write_text(f"{header}{known}\n{name} {body}", encoding="utf-8")
    (tmp_path / "authors.tsv").write_text("\n".join(rows) + "\n")
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    library.authors.cache_clear()
    yield tmp_path
    library.authors.cache_clear()


def names(*uses: str) -> set[str]:
    return {name for name, use in WRITERS.items() if use in uses}


def test_an_installation_measures_on_test_authors_and_never_on_sealed_ones(shelf: Path) -> None:
    assert {one.name for one in measured_authors()} == names("test")
    notes, topics, authors = library_gold(100)
    assert {it.gold.note_id.split("/")[0] for it in notes} == names("test")
    assert (len(notes), authors, set(topics.patients)) == (4, 2, {"en-one/1", "en-two/1"})


def test_of_fewer_notes_each_author_has_as_many(shelf: Path) -> None:
    notes, _, authors = library_gold(2)
    assert {it.gold.note_id.split("/")[0] for it in notes} == names("test") and authors == 2
    assert [it.gold.note_id for it in notes] == [it.gold.note_id for it in library_gold(2)[0]]


def test_without_test_authors_those_for_thresholds_stand_in_and_nobody_for_them(shelf: Path) -> None:
    rows = (shelf / "authors.tsv").read_text().splitlines()
    (shelf / "authors.tsv").write_text("\n".join(it for it in rows if "\ttest\t" not in it))
    library.authors.cache_clear()
    assert {one.name for one in measured_authors()} == {"en-four"}
    (shelf / "authors.tsv").write_text("\n".join(it for it in rows if "\ttest\t" not in it and "thresholds" not in it))
    library.authors.cache_clear()
    assert (measured_authors(), library_gold(100)[2]) == ((), 0)


def test_figures_on_it_are_recorded_under_its_name_and_measured_once(shelf: Path, site, monkeypatch) -> None:
    assert measured_notes.collect_library(site).source.words == {
        "notes_of": "library", "topics_of": "library", "marked_by": "authors"
    }  # fmt: skip
    measure_library(site)
    found = site.store.required(tables.LIBRARY.metrics, tables.ALL)
    assert (found.meta["gold"], found.meta["authors"], found.meta["notes"]) == ("library", 2, 3)
    assert found.meta["headline"]["text"]["words_kept"]["value"] == 1.0
    with site.warehouse.begin(Role.GATEKEEPER) as connection:
        looks = "SELECT s.gold, s.notes, l.purpose FROM ctl.look l JOIN ctl.held_out_set s ON s.digest = l.held_out_set"
        before = connection.exec_driver_sql(looks).all()
        scores = "SELECT count(*) FROM quality.score WHERE gold = 'library'"
        recorded = connection.exec_driver_sql(scores).scalar_one()
    assert before.count(("library", 3, "gate")) == 1 and recorded > 20
    asked = []
    monkeypatch.setattr(type(site.engine), "detect", lambda self, spec, notes, **_: asked.extend(notes) or iter(()))
    measure_library(site)  # what the detector finds depends on the detector alone
    with site.warehouse.begin(Role.GATEKEEPER) as connection:
        assert connection.exec_driver_sql(looks).all() == before
        assert connection.exec_driver_sql(scores).scalar_one() == recorded
    assert asked == []


FINE = {"value": 0.99, "low": 0.985, "high": 1.0}
POOR = {"value": 0.5, "low": 0.4, "high": 0.6}


def sealed(site, of: tables.BenchSet, gold: str, recall: dict, *, detector: str | None = None, **told) -> None:
    headline = {"recall_conservative": recall, "precision": FINE, "words_kept": FINE}
    by_language = {"en": {"notes": 40, "recall_low": recall["low"], "precision": 0.99}}
    meta = {
        "gold": gold, "gold_by_feed": {}, "look": 1, "headline": {"topics": headline, "text": headline},
        "languages": {"topics": by_language, "text": by_language},
        "detector_digest": detector or site.spec(None).detector_digest, **told,
    }  # fmt: skip
    site.store.write(of.metrics, tables.ALL, [], meta=lambda: meta)


WRITTEN = {"gold_by_feed": {"hospital": 400}, "notes_of": "demonstration", "marked_by": "writer"}
PEOPLE = {**WRITTEN, "notes_of": "site", "marked_by": "adjudicated"}


@pytest.mark.parametrize(
    ("own", "first"),
    [
        ({"gold": "synthetic_hospital"}, "library"),
        ({"gold": "site", **WRITTEN}, "library"),
        ({"gold": "site", **PEOPLE}, "site"),
        ({"gold": "site", **PEOPLE, "marked_by": "slots"}, "site"),
        ({"gold": "site", **PEOPLE, "marked_by": "unnamed"}, "site"),
    ],
)
def test_the_gate_judges_by_the_gold_that_comes_first(site, own: dict, first: str) -> None:
    meta = {"detector_digest": site.spec(None).detector_digest, "inputs": "text"}
    redacted = Manifest(tables.REDACTED_NOTES, "hospital@1", "key", (), meta)

    def passed() -> dict[str, bool]:
        rows = measure._bench_rows(site, Delivery("hospital", "1"), redacted)
        return {row.requirement: row.passed for row in rows}

    for good in ("library", own["gold"]):
        sealed(site, tables.OWN, recall=FINE if good == own["gold"] else POOR, **own)
        sealed(site, tables.LIBRARY, "library", FINE if good == "library" else POOR)
        assert measurements(site.store)[0].meta["gold"] == first
        # Gold of its own feed is the feed's, whatever the gate judges by.
        assert passed() == {"bench": good == first, "site_gold": "gold_by_feed" in own}
        told = languages.measured(site.settings, site.store, site.spec(None).detector_digest, "text")
        assert (told["en"].source, told["en"].recall_low) == (first, 0.985 if good == first else 0.4)
    # What the gate would judge by is of another detector: nothing else stands in for it.
    sealed(site, tables.OWN, recall=FINE, **own)
    sealed(site, tables.LIBRARY, "library", FINE)
    of_first = tables.LIBRARY if first == "library" else tables.OWN
    sealed(site, of_first, recall=FINE, detector="f" * 32, **(own if of_first is tables.OWN else {"gold": "library"}))
    assert passed() == {}


def test_a_language_of_few_notes_is_not_measured_by_the_library(site) -> None:
    few = {"de": {"notes": site.settings.bench.minimum_gold - 1, "recall_low": 0.99, "precision": 0.99}}
    sealed(site, tables.LIBRARY, "library", FINE, languages={"topics": few, "text": few})
    assert "de" not in languages.measured(site.settings, site.store, site.spec(None).detector_digest, "text")


def test_the_next_detector_is_compared_on_the_set_that_the_gate_judges_by(shelf: Path, site) -> None:
    measure_library(site)
    digest = site.spec(None).detector_digest
    site.store.write(
        tables.REDACTED_NOTES, "hospital@1", [], meta=lambda: {"detector_digest": digest, "inputs": "text"}
    )
    sealed(site, tables.OWN, "synthetic_hospital", FINE)
    detector_in_force.put_in_force(site, Delivery("hospital", "1"))
    kept = site.store.required(tables.IN_FORCE, tables.ALL)
    assert (kept.meta["gold"], kept.rows) == ("library", 6)
    library_metrics = site.store.required(tables.LIBRARY.metrics, tables.ALL)
    rows = site.store.rows(tables.LIBRARY.metrics, tables.ALL)
    for row in rows:
        row["found"] = row["whole"] = 0
    worse = {**library_metrics.meta, "detector_digest": "e" * 32}
    site.store.write(
        tables.LIBRARY.metrics, tables.ALL, [pa.Table.from_pylist(rows, schema=tables.FOUND_SCHEMA)], meta=lambda: worse
    )
    against = detector_in_force.compared(site, site.store.required(tables.LIBRARY.metrics, tables.ALL), "text")
    assert against.notes == 3 and against.recall == 0.0 and against.recall_before > 0.5
    assert not detector_in_force.holds(site, against)

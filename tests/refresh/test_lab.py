"""The laboratory on gold that was sealed by hand: when it measures anew."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pyarrow as pa
import pytest

from assets.bench import laboratory as asset
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.refresh import lab, tables
from deid_platform.refresh.site import Site
from deid_platform.settings import Settings, load_settings
from deid_platform.warehouse.lab import LabScore
from resources import SiteResource

WHO = Patient("p1", first_name="Thandiwe", last_name="Quillfeather", sex="F")
NOTES = [
    (Note("1", "Ms. Quillfeather is well.", "p1", note_date=date(2025, 3, 1)), [Span(4, 16, Label.PATIENT)]),
    (Note("2", "BP 120/80.", "p1", note_date=date(2025, 4, 1)), []),
]


@pytest.fixture
def site(tmp_path, monkeypatch) -> Site:
    monkeypatch.setenv("DEID_SECRET", hashlib.sha256(b"laboratory").hexdigest())
    path = tmp_path / "deid.toml"
    path.write_text('site = "north"\nprofile = "demo"\n[detection]\ndetector = "rules"\n[bench]\nresamples = 50\n')
    return Site(load_settings(path))


@pytest.fixture
def seal(site: Site) -> Callable[..., None]:
    def write(notes=NOTES, found=None, topics=(WHO,), **told) -> None:
        """Seals gold, topics, and what was found in each note: its gold unless given."""
        everyone = Topics.of(topics, [], [])
        for name in tables.TOPICS:
            rows = pa.Table.from_pylist(tables.topic_rows(everyone, name), schema=tables.TOPIC_SCHEMAS[name])
            site.store.write(f"bench/{name}", tables.ALL, [rows])
        meta = {"gold": "synthetic_hospital", "gold_by_feed": {}, "detector_digest": "d" * 32, **told}
        gold = [{**tables.to_row(note), "gold": tables.span_rows(spans), "clinical": []} for note, spans in notes]
        site.store.write(
            tables.GOLD_NOTES, tables.ALL, [pa.Table.from_pylist(gold, schema=tables.GOLD_SCHEMA)], meta=lambda: meta
        )
        spans = [spans for _, spans in notes] if found is None else found
        rows = [
            {"note_id": note.note_id, "inputs": inputs, "spans": tables.span_rows(some), "cache_key": note.note_id}
            for inputs in ("topics", "text")
            for (note, _), some in zip(notes, spans, strict=True)
        ]
        table = pa.Table.from_pylist(rows, schema=tables.DETECTION_SCHEMA)
        site.store.write(tables.DETECTIONS, tables.ALL, [table], meta=lambda: meta)

    return write


@pytest.fixture
def recorded(monkeypatch) -> list[LabScore]:
    """What goes to the warehouse."""
    found: list[LabScore] = []
    monkeypatch.setattr(Site, "warehouse", property(lambda _: NoServer()))
    monkeypatch.setattr(lab, "record_lab_scores", lambda _engine, _on, scores: found.extend(scores))
    return found


class NoServer:
    """Nothing is asked of it."""

    def engine(self, _role: object) -> None:
        return None


def refreshed(site: Site) -> lab.Laboratory:
    """As the asset does."""
    found = lab.measure(site)
    lab.record(site, found)
    return found


def test_what_has_not_changed_is_not_measured_and_shows_the_same_figures(site, seal, recorded, monkeypatch) -> None:
    seal()
    first = refreshed(site)
    figures = len(recorded)
    assert not first.spared and figures == sum(map(len, first.scores.values())) > 50
    seal()  # each delivery's run seals the same anew
    monkeypatch.setattr(lab, "_measured", lambda _: pytest.fail("measured anew"))
    again = refreshed(site)
    assert again == replace(first, spared=True)
    assert len(recorded) == figures, "nor recorded"
    shown = asset(site=SiteResource(config=str(site.settings.root / "deid.toml"))).metadata
    assert shown["measured"] == "as before: nothing has changed"
    assert "identifier_characters_found" in shown["figures"].value
    assert shown["dagster/row_count"] == figures


def with_bench(site: Site, **changes) -> Settings:
    return site.settings.model_copy(update={"bench": site.settings.bench.model_copy(update=changes)})


def with_policy(site: Site, name: str) -> Settings:
    return site.settings.model_copy(update={"redaction": site.settings.redaction.model_copy(update={"policy": name})})


LONGER = [(replace(NOTES[0][0], text="Ms. Quillfeather is very well."), NOTES[0][1]), NOTES[1]]
RELABELLED = [(NOTES[0][0], [Span(4, 16, Label.DOCTOR)]), NOTES[1]]
CHANGES = {
    "a note": lambda seal: seal(LONGER, found=[NOTES[0][1], []]),
    "its gold": lambda seal: seal(RELABELLED, found=[NOTES[0][1], []]),
    "what was found": lambda seal: seal(found=[[], []]),
    "the topics": lambda seal: seal(topics=(replace(WHO, sex="M"),)),
    "whose gold it is": lambda seal: seal(gold="site"),
    "the detector": lambda seal: seal(detector_digest="e" * 32),
}
SETTINGS = {
    "the policy": lambda site: with_policy(site, "safe_harbor"),
    "the resamples": lambda site: with_bench(site, resamples=60),
}


@pytest.fixture
def times(site, seal, recorded, monkeypatch) -> list[int]:
    """How often it was measured, after the first time."""
    seal()
    refreshed(site)
    found: list[int] = []
    counted = lab._measured
    monkeypatch.setattr(lab, "_measured", lambda it: (found.append(1), counted(it))[1])
    refreshed(site)
    assert found == []
    return found


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_it_reads_brings_it_back(change, site, seal, times) -> None:
    change(seal)
    for _ in range(2):
        refreshed(site)
    assert times == [1]


@pytest.mark.parametrize("change", SETTINGS.values(), ids=SETTINGS)
def test_so_does_what_is_configured(change, site, times) -> None:
    for _ in range(2):
        refreshed(Site(change(site)))
    assert times == [1]


@pytest.mark.parametrize("package", lab._CODE)
def test_so_does_the_code_that_measures(package, site, times, monkeypatch) -> None:
    true = lab.package_digest
    monkeypatch.setattr(lab, "package_digest", lambda name: "new" if name.endswith(package) else true(name))
    for _ in range(2):
        refreshed(site)
    assert times == [1]

"""Gold and what was found in it, sealed by hand in an installation that needs no server.

Belongs here: the installation, sealing, and what would go to the warehouse. Does not belong here: what is measured
(`bench/lab/`).
"""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from toy_engine import weights

from deid_platform.bench.gate import held_out
from deid_platform.bench.gate.gold_topics import seal_topics
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.warehouse.quality.held_out import Look

WHO = Patient("p1", first_name="Thandiwe", last_name="Quillfeather", sex="F")
NOTES = [
    (Note("1", "Ms. Quillfeather is well.", "p1", note_date=date(2025, 3, 1)), [Span(4, 16, Label.PATIENT)]),
    (Note("2", "BP 120/80.", "p1", note_date=date(2025, 4, 1)), []),
]

LOOK = 7
"""The number of every look here."""


def site_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """An installation with the detector `rules`, of which nothing goes to a server."""
    monkeypatch.setenv("DEID_SECRET", hashlib.sha256(b"laboratory").hexdigest())
    monkeypatch.setattr(Site, "warehouse", property(lambda _: NoServer()))
    monkeypatch.setattr(held_out, "seal", lambda _engine, _set: None)
    monkeypatch.setattr(held_out, "record_look", lambda *_: Look(LOOK, datetime(2025, 3, 1, tzinfo=UTC)))
    path = folder / "deid.toml"
    path.write_text('site = "north"\nprofile = "demo"\n[detection]\ndetector = "rules"\n[bench]\nresamples = 50\n')
    return Site(load_settings(path))


def asking(site: Site, url: str) -> Site:
    """The same with a language model at an endpoint."""
    path = site.settings.root / "deid.toml"
    path.write_text(path.read_text() + f'[llm]\nurl = "{url}"\nmodel = "toy"\n')
    return Site(load_settings(path))


def asking_in_process(site: Site) -> Site:
    """The same with a language model of this process (`toy_engine`)."""
    weights(site.settings.root / "weights")
    path = site.settings.root / "deid.toml"
    path.write_text(path.read_text() + '[vllm]\nmodel = "weights"\n')
    return Site(load_settings(path))


class NoServer:
    """Nothing is asked of it."""

    def engine(self, _role: object) -> None:
        return None


def seal(site: Site, notes=NOTES, found=None, topics=(WHO,), conditions=(), **told) -> None:
    """Seals gold, topics, and what was found in each note: its gold unless given."""
    everyone = Topics.of(topics, [], [])
    seal_topics(site.store, everyone)
    meta = {"gold": "synthetic_hospital", "gold_by_feed": {}, "detector_digest": "d" * 32, **told}
    about = dict(zip((note.note_id for note, _ in notes), conditions, strict=False))
    gold = [
        {**tables.to_row(note), "gold": tables.span_rows(spans), "clinical": [], "condition": about.get(note.note_id)}
        for note, spans in notes
    ]
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

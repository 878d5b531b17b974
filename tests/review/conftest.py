"""What the tests of the desk share: a browser, a queue, and a site whose bench has run on six notes, by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from desk_browser import browser, tab
from held_notes import queue, refresh
from small_feed import deliver, site, take_in

from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings

__all__ = ["browser", "deliver", "queue", "refresh", "site", "tab", "take_in"]
WRONG = ("Bell", "Cushing", "Ward 4B", "March", "Addison", "Todd")
BENCH = {"gold": "synthetic_hospital", "detector_digest": "d" * 32}
TEXT = "Seen with Thandiwe Quillfeather. Known {} palsy, stable."


def span(text: str, surface: str, label: Label) -> Span:
    start = text.index(surface)
    return Span(start, start + len(surface), label)


@pytest.fixture
def reviewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Site]:
    """Opens the site, as each process does for itself; in each note the name is gold, the other span is not."""
    config = tmp_path / "deid.toml"
    config.write_text('site = "north"\nprofile = "demo"\n')
    monkeypatch.setenv("DEID_SECRET", "0f3b9a71c2e84d5566a8b7c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f70819203")
    monkeypatch.setenv("DEID_CONFIG", str(config))

    def opened() -> Site:
        return Site(load_settings(config))

    gold, found = [], []
    for number, wrong in enumerate(WRONG):
        text = TEXT.format(wrong)
        true = span(text, "Thandiwe Quillfeather", Label.PATIENT)
        both = [true, span(text, wrong, Label.DOCTOR)]
        note = Note(f"n{number}", text, patient_id=f"p{number // 2}", note_type="progress note")
        gold.append({**tables.to_row(note), "gold": tables.span_rows([true]), "clinical": []})
        row = {"note_id": note.note_id, "first": [], "cache_key": str(number)}
        found.append({**row, "inputs": "topics", "spans": tables.span_rows(both)})
        found.append({**row, "inputs": "text", "spans": tables.span_rows(both[:1])})
    store = opened().store
    for dataset, rows, schema in (
        (tables.GOLD_NOTES, gold, tables.GOLD_SCHEMA),
        (tables.DETECTIONS, found, tables.DETECTION_SCHEMA),
    ):
        store.write(dataset, tables.ALL, [pa.Table.from_pylist(rows, schema=schema)], meta=lambda: BENCH)
    return opened

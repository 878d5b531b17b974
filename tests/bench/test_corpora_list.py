"""What `deid corpora` says of feeds: deliveries that have arrived, and notes of those that were taken in."""

from __future__ import annotations

import json
from collections.abc import Callable

from command_line import deid

from deid_platform.notes import Delivery
from deid_platform.refresh.intake import sealing


def listed() -> dict[str, object]:
    rows = {row["name"]: row for row in map(json.loads, deid("corpora", "--json").stdout.splitlines())}
    return {name: (rows[name]["readable_here"], rows[name]["notes"]) for name in ("files", "fhir")}


def test_notes_are_counted_once_a_delivery_is_taken_in(
    deliver: Callable[..., Delivery], take_in: Callable[..., sealing.Intake]
) -> None:
    note = {"note_id": "n1", "text": "No rash.", "note_date": "2026-01-05", "patient_id": "p1"}
    first = deliver("2026-01-05", notes=[note, {**note, "note_id": "n2"}])
    deliver("2026-01-12", notes=[{**note, "note_id": "n3"}])
    assert listed() == {"files": ("deliveries: 2", None), "fhir": (False, None)}
    take_in(first)
    assert listed() == {"files": ("deliveries: 2", 2), "fhir": (False, None)}

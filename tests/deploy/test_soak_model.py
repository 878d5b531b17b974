"""The soak's plain model says what is wrong: each fault that a soak is there to find is put into what it compares."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import soak_model  # type: ignore[import-not-found]

    return soak_model  # type: ignore[no-any-return]


def delivery(folder: Path, watermark: str, notes: dict[str, str], *withdrawn: tuple[str, str]) -> Path:
    place = folder / watermark
    place.mkdir()
    with gzip.open(place / "notes.jsonl.gz", "wt") as lines:
        lines.writelines(json.dumps({"note_id": n, "patient_id": p}) + "\n" for n, p in notes.items())
    with (place / "withdrawn.csv").open("w", newline="") as rows:
        csv.writer(rows).writerows([("note_id", "patient_id"), *withdrawn])
    return place


def test_the_newest_version_counts_and_what_is_withdrawn_is_gone_for_good(soak: ModuleType, tmp_path: Path) -> None:
    model = soak.Model()
    model.take(delivery(tmp_path, "2026-01-05", {"a": "p", "b": "p", "c": "q", "d": "r"}))
    model.take(delivery(tmp_path, "2026-01-12", {"b": "p", "e": "q"}, ("a", ""), ("", "q")))
    model.take(delivery(tmp_path, "2026-01-19", {"a": "p", "c": "q"}))
    assert model.live == {"b": "2026-01-12", "d": "2026-01-05"}


LIVE = {"a": "2026-01-05", "b": "2026-01-12", "c": "2026-01-12"}


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({}, {}),
        ({"held": {"c"}, "shown": "ab"}, {}),
        ({"retracted": {"c": "2026-01-12"}, "shown": "ab"}, {}),
        ({"retracted": {"c": "2026-01-05"}}, {}),
        ({"shown": "ab"}, {"lost": 1}),
        ({"shown": "abcc"}, {"doubled": 1}),
        ({"shown": "abcx"}, {"gone": 1}),
        ({"held": {"c"}}, {"gone": 1}),
        ({"retracted": {"c": "2026-01-12"}}, {"gone": 1}),
        ({"texts": {"b": "Reported: fever\n"}}, {"old": 1}),
        ({"more": {"b": "MRN 1234567"}}, {"leaked": 1}),
        ({"elsewhere": 2}, {"leaked": 2}),
    ],
)
def test_each_fault_is_counted_as_what_it_is(soak: ModuleType, changed: dict[str, Any], wrong: dict[str, int]) -> None:
    texts = {note: f"{soak.version_words(version)}\n[PATIENT]" for note, version in LIVE.items()}
    texts |= changed.get("texts", {})
    texts |= {note: texts[note] + more for note, more in changed.get("more", {}).items()}
    found = soak.compare(
        LIVE,
        [(note, texts.get(note, "")) for note in changed.get("shown", "abc")],
        held=changed.get("held", set()),
        retracted=changed.get("retracted", {}),
        planted=dict.fromkeys(LIVE, ("Ada Quill", "1234567")),
        elsewhere=changed.get("elsewhere", 0),
    )
    assert {name: count for name, count in vars(found).items() if count} == wrong
    assert found.clean == (not wrong)


def test_what_happens_is_the_same_however_often_a_soak_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from soak_events import Victim, planned  # type: ignore[import-not-found]

    events = planned(30, 7)
    assert events == planned(30, 7)
    assert [event.victim for event in events].count(Victim.POSTGRES) == 2
    assert {Victim.REFRESH, Victim.CHILD} <= {event.victim for event in events}
    assert {event.secret for event in events} == {event.detector for event in events} == {0, 1}
    assert sum(event.retract for event in events) >= 3

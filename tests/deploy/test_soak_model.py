"""The soak's plain model says what is wrong: each fault that a soak is there to find is put into what it compares."""

from __future__ import annotations

import base64
import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from soak import model  # type: ignore[import-not-found]

    return model  # type: ignore[no-any-return]


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
        ({"reported": {"c": "zaxethol"}, "shown": "ab"}, {}),
        ({"reported": {"c": "zaxethol"}}, {}),
        ({"shown": "ab"}, {"lost": 1}),
        ({"shown": "abcc"}, {"doubled": 1}),
        ({"shown": "abcx"}, {"gone": 1}),
        ({"held": {"c"}}, {"gone": 1, "withheld": 1}),
        ({"held": {"c"}, "shown": "ab"}, {"withheld": 1}),
        ({"reported": {"c": "zaxethol"}, "more": {"c": "Takes zaxethol"}}, {"heard": 1}),
        ({"reported": {"c": "zaxethol"}, "more": {"b": "Takes Zaxethol"}}, {"heard": 1}),
        ({"late": 1}, {"heard": 1}),
        ({"held": {"b", "c"}, "shown": "a"}, {"withheld": 2}),
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
        reported=changed.get("reported", {}),
        late=changed.get("late", 0),
        planted=dict.fromkeys(LIVE, ("Ada Quill", "1234567")),
        elsewhere=changed.get("elsewhere", 0),
    )
    assert {name: count for name, count in vars(found).items() if count} == wrong
    assert found.clean == (not wrong)


def test_one_note_in_ten_may_be_held_back(soak: ModuleType) -> None:
    live = {str(number): "2026-01-05" for number in range(20)}
    found = soak.compare(live, [], held={"1", "2", "3"}, reported={}, planted={})
    assert (found.lost, found.withheld) == (17, 1)


def test_a_word_to_be_reported_is_in_one_note_alone(soak: ModuleType) -> None:
    assert len({soak.spelt(number) for number in range(20_000)}) == 20_000


@pytest.mark.parametrize("deliveries", [6, 30])
def test_everything_happens_the_same_however_often_a_soak_goes_on(
    monkeypatch: pytest.MonkeyPatch, deliveries: int
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from soak.events import Victim, planned  # type: ignore[import-not-found]

    events = planned(deliveries, 7)
    assert events == planned(deliveries, 7)
    victims = [victim for event in events for victim, _ in event.blows]
    assert victims.count(Victim.RESTART) == 2
    assert set(victims) == set(Victim)
    assert {event.secret for event in events} == {event.detector for event in events} == {0, 1}
    assert sum(event.retract for event in events) >= 2
    assert not any(event.calm and (event.blows or event.retract) for event in events)


def lines(soak: ModuleType, count: int, **growing: float) -> list[Any]:
    """What a soak keeps when nothing goes wrong, but for what is so many times as much in each delivery as before."""
    from soak import verdict  # type: ignore[import-not-found]

    made = []
    for number in range(count):
        usual: dict[str, Any] = {
            "seconds": 60.0,
            "memory": 800.0,
            "store": 0.1,
            "database": 1.0,
            "dagster": 3.0,
            "connections": 2,
        }
        # Disk grows with what it holds.
        for name in ("store", "database", "dagster"):
            usual[name] *= number + 1
        usual = {name: value * growing.get(name, 1) ** number for name, value in usual.items()}
        usual |= {"postgres": 70.0, "runs": number + 1, "sent": 100 * (number + 1), "rows": 100 * (number + 1)}
        usual |= {"live": 100, "shown": 99, "held": 1, "code": "c", "found": soak.Found(0, 0, 0, 0, 0, 0, 0)}
        made.append(verdict.Line(f"d{number}", (), True, 1, **usual))
    return made


@pytest.mark.parametrize("grows", ["seconds", "memory", "store", "database", "dagster", "connections"])
def test_what_grows_from_first_to_last_is_named(soak: ModuleType, grows: str) -> None:
    from soak import verdict

    assert verdict.breaches(lines(soak, 12)) == []
    wrong = verdict.breaches(lines(soak, 12, **{grows: 1.1}))
    assert len(wrong) == 1
    assert wrong[0].startswith("not flat: ")
    assert sum("GROWS" in row for row in verdict.verdict(lines(soak, 12, **{grows: 1.1}))) == 1


@pytest.mark.parametrize("fault", ["lost", "doubled", "gone", "old", "heard", "leaked", "withheld"])
def test_one_fault_in_one_delivery_is_named_at_the_end(soak: ModuleType, fault: str) -> None:
    from soak import verdict

    kept = lines(soak, 12)
    kept[4] = replace(kept[4], found=replace(kept[4].found, **{fault: 1}))
    assert verdict.breaches(kept) == [f"d4: {fault} 1"]
    assert f"| {fault} | 1 |" in list(verdict.verdict(kept))


def test_few_deliveries_are_not_judged_by_their_growth_and_say_so(soak: ModuleType) -> None:
    from soak import verdict

    few = lines(soak, 4, seconds=2.0)
    assert verdict.breaches(few) == []
    assert any("seconds" in row and "not judged" in row for row in verdict.verdict(few))


def test_planted_text_is_found_in_what_lies_beside_the_notes(soak: ModuleType, tmp_path: Path) -> None:
    from soak import search  # type: ignore[import-not-found]

    log = tmp_path / "home" / "dagster" / "history" / "run.db"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"a step")
    assert search.planted_elsewhere(tmp_path, since=0, tables=b"a row") == 0
    log.write_bytes(base64.b64encode(f"a step, {search.MARK} Patient and more of its text".encode()))
    assert search.planted_elsewhere(tmp_path, since=0, tables=b"a row") == 1
    assert search.planted_elsewhere(tmp_path, since=0, tables=search.MARK.upper().encode()) == 2
    assert search.planted_elsewhere(tmp_path, since=log.stat().st_mtime + 1, tables=b"a row") == 0


@pytest.mark.process  # what it imports looks for libraries by one
@pytest.mark.slow
def test_what_a_soak_plants_is_what_it_looks_for(soak: ModuleType, tmp_path: Path) -> None:
    from soak import run as program  # type: ignore[import-not-found]

    made = program.Soak(tmp_path, 60, 3, 40, 1, 7)
    made._prepare()
    with pytest.raises(SystemExit):
        replace(made, notes=80)._prepare()
    sent: dict[str, str] = {}
    for index, watermark in enumerate(made._watermarks):
        made._arrive(watermark)
        with gzip.open(tmp_path / "coming" / watermark / "notes.jsonl.gz", "rt") as rows:
            sent |= {note["note_id"]: note["text"] for note in map(json.loads, rows)}
        model = made._model(index)
        # As if nothing were hidden: every version is the newest, and every identifier that was planted is found.
        shown = [(note, text) for note, text in sent.items() if note in model.live]
        some = next(iter(model.live))
        found = soak.compare(
            model.live, shown, held=(), reported={some: soak.spelt(int(some[1:]))}, planted=made._identifiers(model)
        )
        planted = sum(program.MARK in text for _, text in shown)
        assert planted > 0
        assert found.leaked >= planted
        assert (found.lost, found.doubled, found.gone, found.old, found.heard) == (0, 0, 0, 0, 1)
    assert sent.keys() > model.live.keys()  # some were withdrawn

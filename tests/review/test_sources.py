"""Rounds from notes without gold: of a delivery, of a file; what may be drawn, and that chance alone chooses."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from command_line import deid

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.review.annotation.rounds import Role
from deid_platform.review.decisions import Category, Decision, decide
from deid_platform.review.report import report
from deid_platform.review.rounds import removals_of_round, start
from deid_platform.review.sources import Source, checked

DELIVERY = "clinic@2026-01-05"


def deliver(site, count, *, quarantined=()):
    """Notes as a refresh leaves them: raw, and redacted with their spans."""
    raw, redacted = [], []
    for number in range(count):
        text = f"Name{number} saw Dr. Other{number} in 1999."
        note = Note(f"n{number}", text, patient_id=f"p{number // 2}")
        raw.append({**tables.to_row(note), "content_digest": "x"})
        ends = len(f"Name{number}")
        spans = [Span(0, ends, Label.PATIENT), Span(ends + 9, ends + 9 + len(f"Other{number}"), Label.DOCTOR)]
        status = "quarantined" if number in quarantined else "clean"
        redacted.append({"note_id": note.note_id, "status": status, "spans": tables.span_rows(spans)})
    store = site.store
    store.write(tables.RAW_NOTES, DELIVERY, [pa.Table.from_pylist(raw, schema=tables.RAW_SCHEMA)])
    table = pa.Table.from_pylist(redacted, schema=tables.REDACTED_SCHEMA)
    store.write(tables.REDACTED_NOTES, DELIVERY, [table], meta=lambda: {"detector_digest": "d" * 32})


def test_a_round_of_a_delivery_holds_whole_spans_of_what_passed(reviewed):
    site = reviewed()
    deliver(site, 4, quarantined=(1,))
    assert start(site, 99, source=Source(DELIVERY)) == (1, 6, 6)
    members = removals_of_round(site, 1).values()
    assert sorted(it.removed for it in members) == ["Name0", "Name2", "Name3", "Other0", "Other2", "Other3"]
    assert all(len(it.hidden) == 2 for it in members)
    meta = site.store.required(tables.REVIEW_ROUNDS, "1").meta
    assert (meta["source"], meta["detector"], meta["drawn_from"]) == (DELIVERY, "d" * 32, 6)
    with pytest.raises(DeidError) as none_left:
        start(site, 1, source=Source(DELIVERY))
    assert none_left.value.code is Code.INPUT_EMPTY


def test_a_delivery_that_was_not_redacted_is_refused(reviewed):
    with pytest.raises(DeidError) as refused:
        start(reviewed(), 5, source=Source("clinic@1999-01-01"))
    assert refused.value.code is Code.NOT_MATERIALIZED


def test_the_rate_takes_notes_whole_by_chance_and_each_round_others(reviewed):
    site = reviewed()
    deliver(site, 400)

    def notes_of(number):
        by_note = {}
        for it in Source(DELIVERY, rate=0.25).notes(site, number):
            by_note[it.note.note_id] = len(it.found)
        return by_note

    first, again, other = notes_of(1), notes_of(1), notes_of(2)
    assert first == again
    assert set(first) != set(other)
    assert set(first.values()) == {2}
    assert 60 < len(first) < 140  # 100 expected; 40 away is more than four deviations


def test_each_removal_is_as_likely_as_any_other(reviewed):
    site = reviewed()
    deliver(site, 100)
    start(site, 100, source=Source(DELIVERY))
    labels = [it.label for it in removals_of_round(site, 1).values()]
    assert 30 < labels.count("PATIENT") < 70  # 50 expected, of 200


@pytest.mark.parametrize("rate", [0, -1, 1.1, float("nan")])
def test_a_rate_that_is_none_is_refused(rate):
    with pytest.raises(DeidError) as refused:
        checked(Source(rate=rate))
    assert refused.value.code is Code.INPUT_INVALID


def test_the_share_that_was_right_has_an_interval_and_says_where_it_is_from(reviewed):
    site = reviewed()
    deliver(site, 10)
    start(site, 20, source=Source(DELIVERY))
    keys = list(removals_of_round(site, 1))
    for role in (Role.A, Role.B):
        decide(site, 1, role, dict.fromkeys(keys[:15], Decision(Category.MISSED_BY_GOLD)))
        decide(site, 1, role, dict.fromkeys(keys[15:], Decision(Category.IRRELEVANT)))
    found = report(site, 1)
    right = found.categories[Category.MISSED_BY_GOLD]
    assert (right.value, found.source) == (0.75, DELIVERY)
    assert right.low < 0.75 < right.high


def test_a_file_of_notes_is_searched_and_bad_rows_are_counted_without_their_text(reviewed, tmp_path):
    site = reviewed()
    path = tmp_path / "Quillfeather.jsonl"
    rows = [{"note_id": "a", "text": "Call 212-555-0147 or mail ann.bell@example.org."}, {"note_id": "b"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = deid("review", "start", "--notes", str(path)).stderr
    assert "1 row refused" in said
    members = removals_of_round(site, 1).values()
    assert {"212-555-0147", "ann.bell@example.org"} <= {it.removed for it in members}
    assert site.store.required(tables.REVIEW_ROUNDS, "1").meta["source"] == "notes"
    assert "Quillfeather" not in json.dumps(dict(site.store.required(tables.REVIEW_ROUNDS, "1").meta))
    assert "share of removals that were right" in deid("review", "report").stderr


TEXT = "Ada Lovelace came with aspirin 81 mg on Monday. Seen by Paget."


def release(tmp_path, *, gold=False, text="[NAME] came with [DRUG] on [DATE]. Seen by Paget."):
    """Three notes, two of which another system released."""
    spans = {"spans": [[0, 12, "PATIENT"], [40, 46, "DATE"]]} if gold else {}
    notes = tmp_path / "originals.jsonl"
    rows = [{"note_id": f"r{it}", "text": TEXT, "patient_id": f"p{it}", **spans} for it in range(3)]
    notes.write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = tmp_path / "theirs.jsonl"
    texts.write_text("".join(json.dumps({"note_id": f"r{it}", "text": text}) + "\n" for it in range(2)))
    return Source(path=notes, released=texts)


def test_clinicians_judge_what_another_system_removed(reviewed, tmp_path):
    site = reviewed()
    source = release(tmp_path)
    assert start(site, 99, source=source) == (1, 6, 6)
    members = list(removals_of_round(site, 1).values())
    found = sorted((it.note_id, it.removed, it.label) for it in members)
    assert found[:3] == [("r0", "Ada Lovelace", "PATIENT"), ("r0", "Monday", "DATE"), ("r0", "aspirin 81 mg", "IDNUM")]
    assert (source.failed, source.name) == (1, "released")
    assert report(site, 1).source == "released"
    # The release of a third system is drawn anew, though it removes the same words.
    third = release(tmp_path, text="[NAME] came with [DRUG] on [DATE]. Seen by [NAME].")
    assert start(site, 99, source=third) == (2, 8, 8)


def test_what_gold_marks_is_not_drawn_of_a_release_either(reviewed, tmp_path):
    site = reviewed()
    source = release(tmp_path, gold=True)
    assert start(site, 99, source=source) == (1, 2, 2)
    assert {it.removed for it in removals_of_round(site, 1).values()} == {"aspirin 81 mg"}
    assert report(site, 1).source == source.name == "released_gold"
    assert site.store.required(tables.REVIEW_ROUNDS, "1").meta["drawn_with"] is None, "no figure of the site's own"


def test_a_release_without_its_originals_is_refused(reviewed, tmp_path):
    with pytest.raises(DeidError, match="without the notes"):
        checked(Source(released=release(tmp_path).released))
    done = deid("review", "start", "--released", str(tmp_path / "theirs.jsonl"), folder=tmp_path)
    assert (done.returncode, "--notes" in done.stderr) == (2, True)


def test_a_release_may_be_a_folder_of_texts(reviewed, tmp_path):
    site = reviewed()
    folder = tmp_path / "theirs"
    folder.mkdir()
    for number in range(2):
        (folder / f"r{number}.txt").write_text("[NAME] came with [DRUG] on [DATE]. Seen by Paget.")
    source = Source(path=release(tmp_path).path, released=folder)
    assert start(site, 99, source=source) == (1, 6, 6)
    before = source.digest(site)
    (folder / "r1.txt").write_text("[NAME] came.")
    assert source.digest(site) != before
    missing = deid("review", "start", "--notes", str(source.path), "--released", str(tmp_path / "no"), folder=tmp_path)
    assert missing.returncode != 0
    taken = deid("review", "start", "--notes", str(source.path), "--released", str(folder), folder=tmp_path)
    assert "no such file" not in taken.stderr

"""The bench: whose gold it measures on, and what it hands to the gate."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from dataclasses import replace
from datetime import date

import pyarrow as pa
import pytest

from deid_platform.bench.gate import held_out, measured_notes, scoring
from deid_platform.bench.lab import measures
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.redaction.policy import load_policy
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.warehouse.server.roles import Role

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
    chosen = measured_notes.build_test_set(site)
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
    measured_notes.build_test_set(site)
    found = measured_notes.collect_gold(site)
    assert (str(found.source.notes_of), found.by_feed) == (measured_notes.SYNTHETIC, {})
    assert found.source.words == {
        "notes_of": "synthetic_hospital", "topics_of": "synthetic_hospital", "marked_by": "writer"
    }  # fmt: skip
    assert found.spans > found.notes >= 50


def test_the_sites_own_gold_comes_first(site, arrived) -> None:
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "2": []})
    measured_notes.build_test_set(site)
    found = measured_notes.collect_gold(site)
    assert (found.by_feed, found.spans) == ({"hospital": 2}, 1)
    assert str(found.source) == (
        "<11 notes of demonstration data, with its own topics, marked by a hand that deid.toml does not name"
    )


def test_gold_that_reaches_outside_its_note_is_an_error(site, arrived) -> None:
    write_gold(site, {"1": [[4, 400, "PATIENT"]]})
    with pytest.raises(Exception, match=r"gold-invalid \[hospital@.*a span ends past its note's text"):
        measured_notes.collect_gold(site)


@pytest.mark.parametrize(
    ("spans", "refused"),
    [
        ([[0, 2, "PERSON"]], r"label-unknown \[line 2\]"),
        ([[2, 2, "PATIENT"]], r"gold-invalid \[line 2: a span is empty or reversed\]"),
        (None, r"gold-invalid \[line 2: no spans\]"),
    ],
)
def test_a_line_that_cannot_be_used_is_refused_if_its_note_is_measured(site, arrived, spans, refused) -> None:
    measured_notes.build_test_set(site)
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "9": spans})
    assert measured_notes.collect_gold(site).notes == 1  # no note 9 is in the sample
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "2": spans})
    with pytest.raises(DeidError, match=refused):
        measured_notes.collect_gold(site)


def test_scores_come_with_and_without_topics_and_are_recorded_once(site, arrived) -> None:
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "2": []})
    measured_notes.build_test_set(site)
    measured_notes.collect_gold(site)
    scoring.run_detector(site)
    measured = scoring.measure(site)
    assert set(measured.by_inputs) == {"topics", "text"}
    assert measured.by_inputs["topics"].recall.value == 1.0
    figures = scoring.record(site, measured)
    scoring.record(site, measured)
    with site.warehouse.begin("gatekeeper") as connection:
        held = connection.exec_driver_sql("SELECT count(*) FROM quality.score").scalar_one()
    assert held == figures
    headline = site.store.manifest(tables.METRICS, tables.ALL).meta["headline"]
    assert headline["topics"]["recall"]["value"] == headline["topics"]["recall_conservative"]["value"] == 1.0


@pytest.mark.parametrize("policy", ["gdpr_it", "safe_harbor"])
@pytest.mark.parametrize("marked", [(), [[2, 4, "AGE"]]])
def test_an_age_under_90_that_the_gold_does_not_mark_is_no_error(site, arrived, policy, marked, monkeypatch) -> None:
    monkeypatch.setitem(vars(site), "policy", load_policy(policy))
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "2": []})
    measured_notes.build_test_set(site)
    measured_notes.collect_gold(site)
    note = {"note_id": "1", "text": "A 72-year-old man is well.", "gold": marked}
    span = {"source": "gold", "score": 1.0, "label": "AGE"}
    gold = [{**note, "gold": [{**span, "start": start, "end": end} for start, end, _ in marked], "clinical": []}]
    table = pa.Table.from_pylist(gold, schema=tables.GOLD_SCHEMA)
    site.store.write(tables.GOLD_NOTES, tables.ALL, [table], meta=lambda: {"gold": "site"})
    monkeypatch.setattr(held_out, "seal_bench", lambda *_: None)
    scoring.run_detector(site)
    found = [row["spans"] for row in site.store.rows(tables.DETECTIONS, tables.ALL)]
    assert [len(spans) for spans in found] == [int(policy == "gdpr_it" and bool(marked))] * 2


def test_notes_that_did_not_change_are_not_detected_again(site, arrived, monkeypatch) -> None:
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "2": []})
    measured_notes.build_test_set(site)
    measured_notes.collect_gold(site)
    scoring.run_detector(site)
    before = site.store.rows(tables.DETECTIONS, tables.ALL)
    asked = []

    def nothing(spec, notes, *, on_batch=None):
        asked.extend(notes)
        return iter(())

    monkeypatch.setattr(type(site.engine), "detect", lambda self, *a, **k: nothing(*a, **k))
    scoring.run_detector(site)
    assert asked == []
    assert site.store.rows(tables.DETECTIONS, tables.ALL) == before


def test_words_that_a_delivery_brings_have_only_the_notes_that_hold_them_detected_again(
    site, arrived, monkeypatch
) -> None:
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "2": []})
    measured_notes.build_test_set(site)
    measured_notes.collect_gold(site)
    words: set[str] = set()
    monkeypatch.setattr(type(site), "every_local_word", property(lambda _: frozenset(words)))
    scoring.run_detector(site)
    asked: list[str] = []
    detect = type(site.engine).detect

    def watched(self, spec, notes, **further):
        return detect(self, spec, (asked.append(note.text) or note for note in notes), **further)

    monkeypatch.setattr(type(site.engine), "detect", watched)
    words.add("ostrowe")
    scoring.run_detector(site)
    assert asked == []
    words.add("well")
    scoring.run_detector(site)
    assert asked == ["Ms. Quillfeather is well."] * 2  # with topics, and on text alone


def looks(site) -> list[tuple[str, str]]:
    """Set and purpose of every look, oldest first."""
    with site.warehouse.begin(Role.GATEKEEPER) as connection:
        found = connection.exec_driver_sql("SELECT held_out_set, purpose FROM ctl.look ORDER BY id")
        return [tuple(row) for row in found]


def collect(site, spans: dict) -> None:
    write_gold(site, spans)
    measured_notes.build_test_set(site)
    measured_notes.collect_gold(site)
    scoring.run_detector(site)


def test_the_set_is_sealed_and_the_look_counted_before_any_score_is_computed(site, arrived, monkeypatch) -> None:
    collect(site, {"1": [[4, 16, "PATIENT"]], "2": [[0, 2, "IDNUM"]]})
    before = looks(site)
    with site.warehouse.begin(Role.GATEKEEPER) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM ctl.held_out WHERE looks = 0").scalar_one() == 1
    seen = []
    real = scoring.count_note
    monkeypatch.setattr(scoring, "count_note", lambda *a, **k: seen.append(looks(site)) or real(*a, **k))
    measured = scoring.measure(site)
    assert [found[len(before) :] for found in seen] == [[(measured.taken.held_out, "gate")]] * 4
    monkeypatch.setattr(measures, "of_detection", lambda *a: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        measures.measure(site)
    assert looks(site)[-1] == (measured.taken.held_out, "laboratory")  # counted, though nothing came of it


def test_a_look_is_counted_again_only_when_something_was_measured_again(site, arrived) -> None:
    def measured() -> list[tuple[str, str]]:
        before = len(looks(site))
        scoring.run_detector(site)
        scoring.record(site, scoring.measure(site))
        measures.record(site, measures.measure(site))
        return looks(site)[before:]

    collect(site, {"1": [[4, 16, "PATIENT"]], "2": [[0, 6, "DATE"]]})
    ((first, _), _) = measured()
    assert measured() == []
    collect(site, {"1": [[4, 16, "PATIENT"]], "2": [[0, 6, "IDNUM"]]})  # somebody rewrote the gold
    found = measured()
    assert [purpose for _, purpose in found] == ["gate", "laboratory"] and first not in dict(found)
    with site.warehouse.begin(Role.GATEKEEPER) as connection:
        named = connection.exec_driver_sql(
            "SELECT count(*) FILTER (WHERE look IS NULL), count(DISTINCT look) FROM quality.score"
        ).one()
        seen = connection.exec_driver_sql("SELECT seen FROM ctl.held_out ORDER BY at DESC LIMIT 1").scalar_one()
    assert named[0] == 0 and named[1] >= 2
    assert seen == 2
    collect(site, {"1": [[4, 16, "PATIENT"]], "2": [[0, 6, "DATE"]]})  # and back: a look at the set of before
    assert {digest for digest, _ in measured()} == {first}


def test_gold_of_another_sample_and_detections_in_other_gold_are_refused_before_a_look(site, arrived) -> None:
    def refused() -> set[str | None]:
        found = set()
        for measure in (scoring.measure, measures.measure):
            with pytest.raises(DeidError) as error:
                measure(site)
            assert error.value.code is Code.NOT_MATERIALIZED
            found.add(error.value.ref)
        return found

    collect(site, {"1": [[4, 16, "PATIENT"]], "2": []})
    before = looks(site)
    smaller = site.settings.bench.model_copy(update={"size": 1, "minimum_per_group": 1})
    measured_notes.build_test_set(Site(site.settings.model_copy(update={"bench": smaller})))
    assert site.store.required(tables.TEST_SET, tables.ALL).rows == 1
    assert refused() == {"bench/gold_notes/all"}
    measured_notes.collect_gold(site)
    assert refused() == {"bench/detections/all"}
    assert looks(site) == before
    scoring.run_detector(site)
    assert scoring.measure(site).by_inputs["text"].notes == measures.measure(site).notes == 1


def test_a_note_is_known_by_its_words_whatever_else_changes(site, arrived) -> None:
    note = Note("1", "Ms. Quillfeather is well.", "p1", note_date=date(2025, 3, 1))
    whole = held_out.set_of(
        site, [(note, (), ()), (replace(note, note_id="2", text="BP 120/80."), (), ())], gold="site"
    )
    others = [
        replace(note, note_id="9"),
        replace(note, note_date=None, note_type="other"),
        replace(note, text="MS. Quillfeather  is well.\n"),
    ]
    for other in others:
        (digest,) = (made := held_out.set_of(site, [(other, (), ())], gold="site")).notes
        assert digest in whole.notes and made.digest != whole.digest
    (split,) = held_out.set_of(site, [(replace(note, text="Ms. Quill feather is well."), (), ())], gold="site").notes
    assert split not in whole.notes


def test_a_set_is_one_whatever_the_order_of_its_notes_and_what_it_is_called(site, arrived) -> None:
    notes = [Note(str(n), f"note {n}", note_type=("progress", "letter")[n % 3 == 0]) for n in range(9)]
    gold = [(note, [Span(0, 4, Label.DATE), Span(5, 6, Label.IDNUM)], [(0, 4)]) for note in notes]
    one = held_out.set_of(site, gold, gold="site")
    turned = [(note, spans[::-1], terms) for note, spans, terms in reversed(gold)]
    other = held_out.set_of(site, turned, gold="mtsamples", locale="fr_FR")
    assert one.digest == other.digest
    assert (one.patients, one.strata, one.smallest_stratum, one.spans) == (0, 2, 3, {"DATE": 9, "IDNUM": 9})
    for changed in (
        [(*gold[0][:2], []), *gold[1:]],
        [(gold[0][0], [Span(0, 4, Label.AGE), gold[0][1][1]], [(0, 4)]), *gold[1:]],
        gold[1:],
    ):
        assert held_out.set_of(site, changed, gold="site").digest != one.digest


# The last one: what it seals cannot be read under the secret of the others.
@pytest.mark.parametrize(("hand", "real"), [(None, False), ("slots", True), ("annotators", True)])
def test_where_the_sites_own_gold_is_from_is_what_deid_toml_says(site, arrived, hand, real) -> None:
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "2": []})
    feed = site.feed("hospital").model_copy(update={"gold_by": hand, "demonstration": not real})
    told = Site(site.settings.model_copy(update={"feeds": {"hospital": feed}}))
    measured_notes.build_test_set(told)
    source = measured_notes.collect_gold(told).source
    assert source.words == {
        "notes_of": "site" if real else "demonstration",
        "topics_of": "site" if real else "demonstration",
        "marked_by": hand or "unnamed",
    }
    sealed = held_out.of_bench(told)
    assert (sealed.notes_of, sealed.marked_by) == (source.notes_of, source.marked_by)
    # By whose hand the same notes were marked makes no other set of them.
    assert sealed.digest == held_out.of_bench(told).digest == held_out.set_of(
        told, [(tables.from_row(Note, row), tables.spans_of(row["gold"]), ())
               for row in told.store.rows(tables.GOLD_NOTES, tables.ALL)], gold="site"
    ).digest  # fmt: skip


def test_after_a_change_of_the_secret_gold_counts_before_its_notes_are_taken_in_again(
    site, arrived, monkeypatch
) -> None:
    write_gold(site, {"1": [[4, 16, "PATIENT"]], "2": []})
    measured_notes.build_test_set(site)
    monkeypatch.setenv("DEID_PREVIOUS_SECRET", os.environ["DEID_SECRET"])
    monkeypatch.setenv("DEID_SECRET", hashlib.sha256(b"another secret").hexdigest())
    changed = Site(site.settings)
    assert measured_notes.collect_gold(changed).by_feed == {"hospital": 2}
    notes = site.settings.path(site.feed("hospital").path) / FIRST / "notes.jsonl"
    notes.write_text(notes.read_text().replace("is well", "is ill"))
    assert (
        measured_notes.collect_gold(changed).source.notes_of == measured_notes.SYNTHETIC
    )  # gold may be of the newer texts

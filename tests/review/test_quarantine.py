"""The quarantine queue: what people decide, who may decide it, and what the next refresh makes of it."""

from __future__ import annotations

import os
from dataclasses import replace

import pyarrow as pa
import pytest
from held_notes import AT_HOME, LEAK, NAME, NOTES, NOTES_AT_HOME, UNKNOWN, WATERMARK, key
from sqlalchemy import text

from deid_platform.doctor import Diagnosis
from deid_platform.doctor.installation import of_site
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Span
from deid_platform.redaction.policy import load_policy
from deid_platform.refresh import publish
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.search_job import SearchJob
from deid_platform.refresh.hiding.shown_notes import shown_notes
from deid_platform.refresh.hiding.store_and_warehouse import differences
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.decision import Action, Ruling
from deid_platform.refresh.redact.decisions import decided, in_force, keep, kept_rows
from deid_platform.refresh.staging import stage
from deid_platform.review.annotation import adaptation
from deid_platform.review.annotation.adaptation import exchange
from deid_platform.review.quarantine import Queue
from deid_platform.review.waiting import RELEASED
from deid_platform.training.uncertainty import Part
from deid_platform.warehouse.gate.queries import ledger
from deid_platform.warehouse.officer.reviews import rule
from deid_platform.warehouse.server.roles import Role

SAFE_HARBOR, PLUS_PROVIDERS = load_policy("safe_harbor"), load_policy("safe_harbor_plus_providers")
WHY = "read twice and mended"


def second_name(note=LEAK):
    start = note.index("Quill-")
    return Span(start, start + len("Quill-\nfeather"), Label.PATIENT)


def decide(queue, note="1", action=Action.MEND, *, added=(), removed=(), who="A. Reader", why=WHY, seen=None):
    found, _ = queue.held(key(queue._site, note))
    return queue.decide(
        found.key, action, added=list(added), removed=list(removed), who=who, reason=why, seen=seen or found.seen
    )


def refused(queue, *args, **changes):
    with pytest.raises(DeidError) as caught:
        decide(queue, *args, **changes)
    return caught.value.code, str(caught.value.ref)


def test_what_waits_is_named_by_its_key_and_shown_with_what_was_found(site, queue):
    waiting = {it.key: it.reason for it in queue.waiting()}
    assert waiting == {
        key(site, "1"): "leak-last-name",
        key(site, "2"): "detector-failed",
        key(site, "4"): "roster-lost",
    }
    held, last = queue.held(key(site))
    assert (held.note.text, [(s.start, s.end) for s in held.spans], last) == (LEAK, [(0, 16)], None)
    assert "Quill" not in repr(held) + repr(queue.waiting())


@pytest.mark.parametrize(
    ("withdrawn_by", "waits"),
    [("hospital@2000-01-01", True), ("clinic@2030-01-01", True), ("hospital@2030-01-01", False)],
)
def test_a_note_waits_that_came_after_it_was_withdrawn_or_has_the_number_of_another_feeds(
    site, queue, withdrawn_by, waits
):
    rows = [{"note_id": "1", "patient_id": None, "rejoined": False}]
    table = pa.Table.from_pylist(rows, schema=tables.WITHDRAWAL_SCHEMA)
    site.store.write(tables.WITHDRAWALS, withdrawn_by, [table])
    try:
        assert (key(site, "1") in {it.key for it in queue.waiting()}) is waits
    finally:
        site.store.write(tables.WITHDRAWALS, withdrawn_by, [])


def test_a_try_says_what_would_come_of_it_and_where_the_leak_is(site, queue):
    tried = queue.tried(key(site), [], [])
    assert (tried.reason, tried.text) == ("leak-last-name", None)
    (place,) = tried.places
    assert LEAK[slice(*place)].strip(",") == "Quill-\nfeather"
    mended = queue.tried(key(site), [second_name()], [])
    assert (mended.reason, mended.text) == (None, "[PATIENT], née [PATIENT], is well.")


def test_what_is_added_reaches_over_whole_words_and_numbers_even_where_it_was_sealed_otherwise(site, queue, refresh):
    letter = second_name()
    letter = replace(letter, end=letter.start + 1)
    tried = queue.tried(key(site), [letter], [])
    assert (tried.added, tried.text) == ((second_name(),), "[PATIENT], née [PATIENT], is well.")
    held, _ = queue.held(key(site))
    one = Ruling(
        "hospital", held.delivery.key, "1", Action.MEND, "leak-last-name", held.content_digest, held.detector_digest,
        (letter,),
    )  # fmt: skip
    assert enter(site, one) == 1
    assert refresh()["1"]["text"] == tried.text


def test_nobody_hides_a_part_of_a_leak_by_the_page_or_past_it(site, queue, refresh):
    refresh(NOTES_AT_HOME)
    start = AT_HOME.index("Baker")
    part = Span(start, start + len("Baker"), Label.STREET)
    tried = queue.tried(key(site), [part], [])
    assert [AT_HOME[s.start : s.end] for s in tried.added] == ["12 Baker Street"]
    assert tried.text == "[PATIENT] of [STREET] is well."
    # Past the page, as an earlier version of it sealed decisions too.
    held, _ = queue.held(key(site))
    ruling = held.ruling(Action.MEND, [part])
    assert enter(site, ruling) == 1
    assert refresh(NOTES_AT_HOME)["1"]["reason"] == "leak-in-part"
    assert [decide(queue, added=[part], who=who) for who in ("A. Reader", "B. Reader")] == [False, True]
    assert refresh(NOTES_AT_HOME)["1"]["text"] == tried.text


def test_one_person_hides_more_and_the_next_refresh_takes_it(site, queue, refresh):
    delivery = Delivery("hospital", WATERMARK)
    assert decide(queue, added=[second_name()])
    row = refresh()["1"]
    assert (row["status"], row["text"]) == ("clean", "[PATIENT], née [PATIENT], is well.")
    assert refresh()["1"]["text"] == row["text"], "and keeps it"
    (entry,) = [it for it in ledger(site.warehouse.engine(Role.OFFICER)) if it.event == "ruled"][-1:]
    assert (entry.who, entry.reason, list(entry.requirements)) == ("A. Reader", WHY, ["mend", "leak-last-name"])
    assert site.store.required(tables.REDACTED_NOTES, delivery.key).meta["rulings"]


def test_what_was_mended_teaches_a_model_unless_the_patient_s_notes_serve_another_part(
    site, queue, refresh, monkeypatch
):
    assert not list(queue.mended())
    assert decide(queue, added=[second_name()])
    refresh()
    ((held, spans),) = queue.mended()
    assert [LEAK[s.start : s.end] for s in spans] == ["Ms. Quillfeather", "Quill-\nfeather"]
    monkeypatch.setattr(exchange, "part_of", lambda _: Part.COMPARE)
    assert adaptation.take_mended(site).notes == 0
    monkeypatch.setattr(exchange, "part_of", lambda _: Part.LEARN)
    assert adaptation.take_mended(site).notes == adaptation.take_mended(site).notes == 1
    (marked,) = adaptation.marked(site)
    assert (marked.note, marked.spans, marked.member.part) == (held.note, spans, Part.LEARN)


def test_a_search_reads_a_mended_note_as_a_run_does_that_knows_what_was_reported(site, queue, refresh):
    delivery = Delivery("hospital", WATERMARK)
    part = Span(LEAK.index("well"), LEAK.index("well") + len("well"), Label.CITY)
    assert decide(queue, added=[second_name(), part])
    assert refresh()["1"]["text"] == "[PATIENT], née [PATIENT], is [CITY]."
    told = "is well"

    def may_show(string):
        return any(SearchJob(site.policy, (string,)).build()([*shown_notes(site, delivery)]))

    assert may_show(told) and not may_show("nobody at all")
    known = replace(site.recipe(delivery), reported=(told,))
    assert refresh(recipe=known)["1"]["reason"] == "leak-in-part"


def test_an_added_span_never_takes_the_label_of_a_found_one():
    def mended(*added, removed=()):
        ruling = Ruling("f", "f@1", "1", Action.MEND, "leak-city", "c", "d", added, removed)
        spans = ruling.mended((Span(10, 20, Label.PATIENT),), " " * 40, PLUS_PROVIDERS)
        return [(s.start, s.end, s.label.value) for s in spans]

    assert mended(Span(0, 30, Label.DOCTOR)) == [(0, 10, "DOCTOR"), (10, 20, "PATIENT"), (20, 30, "DOCTOR")]
    assert mended(Span(12, 18, Label.DOCTOR)) == [(10, 20, "PATIENT")]
    assert mended(Span(2, 4, Label.CITY), Span(15, 25, Label.CITY)) == [
        (2, 4, "CITY"), (10, 20, "PATIENT"), (20, 25, "CITY")]  # fmt: skip
    assert mended(Span(0, 30, Label.DOCTOR), removed=(Span(10, 20, Label.PATIENT),)) == [(0, 30, "DOCTOR")]


def test_what_the_policy_shows_gives_way_to_an_added_span_and_never_the_other_way_round(site, queue):
    found = (Span(0, 5, Label.DOCTOR), Span(8, 15, Label.AGE), Span(20, 25, Label.PATIENT))

    def mended(*added, removed=()):
        ruling = Ruling("f", "f@1", "1", Action.MEND, "leak-city", "c", "d", added, removed)
        return [(s.start, s.end, s.label.value) for s in ruling.mended(found, " " * 40, SAFE_HARBOR)]

    left = [(20, 25, "PATIENT")]
    assert mended(Span(1, 4, Label.PATIENT)) == [(1, 4, "PATIENT"), (8, 15, "AGE"), *left]
    assert mended(Span(10, 17, Label.IDNUM)) == [(0, 5, "DOCTOR"), (8, 17, "IDNUM"), *left]
    assert mended(Span(20, 25, Label.AGE), Span(30, 31, Label.DOCTOR)) == [(0, 5, "DOCTOR"), (8, 15, "AGE"), *left]
    assert mended(Span(19, 26, Label.IDNUM), removed=[Span(20, 25, Label.DOCTOR)])[-2:] == [*left, (25, 26, "IDNUM")]
    assert not site.policy.hidden(Label.PROFESSION)
    shown = replace(second_name(), label=Label.PROFESSION)
    assert refused(queue, added=[shown]) == (Code.RULING_REFUSED, "the policy shows this label")


def enter(site, ruling, *, note="1", who="A. Reader", note_key=None):
    """Writes a decision past the desk."""
    name = keep(site.store, site.keyring, ruling)
    officer, promoter = (site.warehouse.engine(role) for role in (Role.OFFICER, Role.PROMOTER))
    return rule(
        officer, promoter, feed="hospital", note_key=note_key or key(site, note), ruling=name,
        action=ruling.action.value, held_for=ruling.held_for, who=who, reason=WHY,
    )  # fmt: skip


def test_to_show_more_takes_another_person(site, queue, refresh):
    assert not decide(queue, "4", Action.PASS)
    assert refresh()["4"]["reason"] == "roster-lost"
    for who in ("A. Reader", "a reader", "Á. Reader"):
        assert refused(queue, "4", Action.PASS, who=who)[0] is Code.SECOND_PERSON
    assert refresh()["4"]["status"] == "quarantined"
    assert decide(queue, "4", Action.PASS, who="B. Reader")
    assert refresh()["4"]["text"] == UNKNOWN


def test_a_note_in_a_language_that_nobody_measured_passes_for_no_single_person(site, queue, refresh):
    german = "Frau Quillfeather klagt seit gestern über starke Schmerzen im rechten Knie, kein Fieber."
    notes = [{**NOTES[0], "text": german, "language": "en"}, *NOTES[1:]]
    assert refresh(notes)["1"]["reason"] == "language-unmeasured"
    name = Span(german.index("Quill"), german.index(" klagt"), Label.PATIENT)
    assert not decide(queue, "1", added=[name])
    assert refresh(notes)["1"]["reason"] == "language-unmeasured"
    assert refused(queue, "1", Action.PASS) == (Code.RULING_REFUSED, "leak-last-name")
    assert decide(queue, "1", added=[name], who="B. Reader")
    assert refresh(notes)["1"]["text"] == german.replace("Quillfeather", "[PATIENT]")
    counted = site.store.manifest(tables.REDACTED_NOTES, f"hospital@{WATERMARK}").meta["languages"]
    assert counted["de"] == {"read": 1}  # the gate asks for no figure of it


def test_a_note_on_which_the_detector_failed_can_be_kept_out_and_nothing_else(site, queue, refresh):
    held, _ = queue.held(key(site, "2"))
    assert held.failed
    whole = Span(0, 13, Label.PATIENT)
    assert refused(queue, "2", Action.PASS) == (Code.RULING_REFUSED, "detector-failed")
    assert refused(queue, "2", added=[whole]) == (Code.RULING_REFUSED, "detector-failed")
    # Nor where two people wrote it past the desk.
    ruling = Ruling(
        "hospital", held.delivery.key, "2", Action.PASS, "detector-failed", held.content_digest, held.detector_digest
    )
    assert [enter(site, ruling, note="2", who=who) for who in ("A. Reader", "B. Reader")] == [1, 2]
    assert refresh()["2"]["reason"] == "detector-failed"
    assert decide(queue, "2", Action.KEEP_OUT)
    assert refresh()["2"]["reason"] == "kept-out"


def test_two_people_decide_the_very_same_or_nothing(queue, refresh):
    found = [Span(s.start, s.end, s.label) for s in queue.held(key(queue._site))[0].spans]
    whole = Span(0, len(LEAK) - len(", is well."), Label.PATIENT)
    assert not decide(queue, removed=found, added=[whole])
    assert not decide(queue, removed=found, added=[replace(whole, label=Label.DOCTOR)], who="B. Reader")
    assert refresh()["1"]["status"] == "quarantined"


def test_what_the_leak_check_stops_passes_for_nobody(site, queue, refresh):
    for who in ("A. Reader", "B. Reader"):
        assert refused(queue, action=Action.PASS, who=who) == (Code.RULING_REFUSED, "leak-last-name")
    # Nor where two people wrote it past the desk.
    held, _ = queue.held(key(site))
    ruling = Ruling(
        "hospital", held.delivery.key, "1", Action.PASS, "leak-last-name", held.content_digest, held.detector_digest
    )
    assert [enter(site, ruling, who=who) for who in ("A. Reader", "B. Reader")] == [1, 2]
    assert in_force(site, held.delivery).by_note["1"].ruling == ruling
    assert refresh()["1"]["reason"] == "leak-last-name"


def test_kept_out_stays_out_whatever_the_note_becomes_until_two_people_say_otherwise(queue, refresh):
    assert decide(queue, action=Action.KEEP_OUT)
    assert refresh()["1"]["reason"] == "kept-out"
    fine = [{**NOTES[0], "text": "All is well."}, *NOTES[1:]]
    assert refresh(fine)["1"]["reason"] == "kept-out"
    assert not decide(queue, action=Action.AS_FOUND, who="B. Reader")
    assert refresh(fine)["1"]["reason"] == "kept-out"
    assert decide(queue, action=Action.AS_FOUND, who="C. Reader")
    assert refresh(fine)["1"]["text"] == "All is well."


def test_a_decision_of_before_a_key_rotation_counts_after_it(site, queue, refresh, monkeypatch):
    assert decide(queue, action=Action.KEEP_OUT)
    monkeypatch.setenv("DEID_PREVIOUS_SECRET", os.environ["DEID_SECRET"])
    monkeypatch.setenv("DEID_SECRET", "8d1f0a63c59be274d07e4b1862f93ca55be80217d94f6ac319c64e73a80dfb25")
    rotated = Site(site.settings)
    assert key(rotated) != key(site)
    held = rotated.note_keys("hospital", "1")
    assert decided(rotated, "hospital").of(held).in_force.action == "keep-out"
    old, _ = queue.held(key(site))
    mend = Ruling(
        "hospital", old.delivery.key, "1", Action.MEND, "leak-last-name", old.content_digest, old.detector_digest,
        (second_name(),),
    )  # fmt: skip
    assert enter(site, mend, note_key=key(rotated)) == 1
    stands = decided(rotated, "hospital").of(held)
    assert (stands.in_force.action, stands.proposed.action) == ("keep-out", "mend")
    assert in_force(rotated, old.delivery).by_note["1"].in_force.action == "keep-out"


def test_a_note_that_changed_or_another_detector_falls_back_to_quarantine(site, queue, refresh):
    assert decide(queue, added=[second_name()])
    assert refresh()["1"]["status"] == "clean"
    changed = [{**NOTES[0], "text": LEAK + " Seen again."}, *NOTES[1:]]
    assert refresh(changed)["1"]["reason"] == "review-stale"
    assert refresh()["1"]["status"] == "clean"
    later = refresh([{**NOTES[0], "text": "All is well."}], watermark="2026-01-06")
    assert later["1"]["reason"] == "review-stale"
    refresh([{**NOTES[2], "note_id": "9"}], watermark="2026-01-06")
    recipe = site.recipe(Delivery("hospital", WATERMARK))
    other = replace(recipe, spec=replace(recipe.spec, professions=not recipe.spec.professions))
    assert other.digests["detector_digest"] != recipe.digests["detector_digest"]
    assert refresh(recipe=other)["1"]["reason"] == "review-stale"


def test_a_decision_on_a_note_that_changed_meanwhile_is_refused(site, queue, refresh):
    seen = queue.held(key(site))[0].seen
    refresh([{**NOTES[0], "text": LEAK + " Seen again."}, *NOTES[1:]])
    assert refused(queue, added=[second_name()], seen=seen) == (Code.RULING_REFUSED, "changed")
    assert kept_rows(site.store) == []


def test_a_file_that_somebody_edited_counts_nothing(site, queue, refresh):
    held, _ = queue.held(key(site))
    mine = Ruling(
        "hospital", held.delivery.key, "1", Action.MEND, "leak-last-name", held.content_digest, held.detector_digest,
        (second_name(),),
    )  # fmt: skip
    # Whoever holds the secret seals a decision that nobody made ...
    keep(site.store, site.keyring, mine)
    assert refresh()["1"]["reason"] == "leak-last-name"
    # ... or changes one that the ledger knows ...
    assert decide(queue, added=[second_name()])
    rows = kept_rows(site.store)
    rows[-1]["removed"] = tables.span_rows([NAME])
    site.store.write(tables.RULINGS, tables.ALL, [pa.Table.from_pylist(rows, schema=tables.RULING_SCHEMA)])
    assert refresh()["1"]["reason"] == "leak-last-name"
    # ... or loses it.
    site.store.write(tables.RULINGS, tables.ALL, [])
    assert refresh()["1"]["reason"] == "leak-last-name"
    # Whoever does not hold it breaks the seal.
    folder = site.settings.home_path / "store" / tables.RULINGS / tables.ALL
    decide(queue, action=Action.KEEP_OUT, who="B. Reader")
    (part,) = [it for it in folder.glob("part-*.parquet") if it.name in (folder / "manifest.json").read_text()]
    part.write_bytes(part.read_bytes()[:-9] + b"x" * 9)
    with pytest.raises(DeidError) as caught:
        refresh()
    assert caught.value.code is Code.STORE_TORN


REFUSED = [
    ({"added": [Span(0, 10_000, Label.PATIENT)]}, "span"),
    ({"added": [second_name(), second_name()]}, "span"),
    ({"removed": [Span(3, 9, Label.DOCTOR)]}, "span"),
    ({}, "span"),
    ({"added": [second_name()], "why": "Quillfeather is her name"}, "the reason quotes the note"),
    ({"added": [second_name()], "why": "short"}, "reason"),
    ({"added": [second_name()], "who": " "}, "who"),
    ({"note": "3", "added": [second_name()]}, "not in the queue"),
]


def test_what_cannot_be_decided_is_refused_and_leaves_no_row(site, queue):
    for changes, ref in REFUSED:
        assert refused(queue, **changes)[1] == ref, changes
    with site.warehouse.begin(Role.OFFICER) as connection:
        assert connection.execute(text("SELECT count(*) FROM ctl.ruling")).scalar() == 0


def test_a_reason_says_nothing_of_where_a_note_leaks(site, queue):
    for action in (Action.KEEP_OUT, Action.AS_FOUND):
        # Nothing hides it yet: the leak check stops there.
        assert refused(queue, action=action, why="feather is left of it")[1] == "the reason quotes the note"


def test_the_ledger_holds_no_word_of_the_note_and_nobody_changes_it(site, queue):
    decide(queue, added=[second_name()])
    with site.warehouse.administer() as connection:
        assert not connection.execute(text("SELECT 1 FROM ctl.ruling r WHERE r::text ILIKE '%quill%'")).all()
        with pytest.raises(Exception, match="append only"):
            connection.execute(text("DELETE FROM ctl.ruling"))


def test_a_mended_note_reaches_analysts_through_the_gate_alone(site, queue, refresh):
    assert decide(queue, added=[second_name()])
    refresh()
    delivery = Delivery("hospital", WATERMARK)
    stage.stage_delivery(site, delivery, run_id="run-1")
    with pytest.raises(DeidError) as caught:
        publish.promote_delivery(site, delivery)
    assert caught.value.code is Code.GATE_REFUSED


def test_a_mend_that_passed_is_taken_back(queue, refresh):
    assert decide(queue, added=[second_name()])
    assert refresh()["1"]["status"] == "clean"
    assert RELEASED in {it.reason for it in queue.waiting()}
    assert refused(queue, added=[second_name()]) == (Code.RULING_REFUSED, "released")
    assert [decide(queue, action=Action.AS_FOUND, who=who) for who in ("A. Reader", "B. Reader")] == [False, True]
    assert refresh()["1"]["reason"] == "leak-last-name"
    assert RELEASED not in {it.reason for it in queue.waiting()}
    assert decide(queue, added=[second_name()])
    assert refresh()["1"]["status"] == "clean"
    assert decide(queue, action=Action.KEEP_OUT)
    assert refresh()["1"]["reason"] == "kept-out"


def test_what_is_kept_out_while_a_refresh_runs_is_neither_staged_nor_promoted(site, queue, refresh):
    delivery = Delivery("hospital", WATERMARK)

    def stops(step):
        with pytest.raises(DeidError) as caught:
            step()
        assert caught.value.code is Code.NOT_MATERIALIZED

    assert decide(queue, added=[second_name()])
    stops(lambda: stage.stage_delivery(site, delivery, run_id="run-1"))
    refresh()
    stage.stage_delivery(site, delivery, run_id="run-1")
    assert decide(queue, action=Action.KEEP_OUT)
    stops(lambda: publish.promote_delivery(site, delivery))


def test_a_note_stays_out_that_a_restored_warehouse_forgot(site, queue, refresh):
    assert refused(queue, action=Action.KEEP_OUT, why="short")[1] == "reason"
    assert (kept_rows(site.store), differences(site).keep_outs) == ([], 0)
    assert decide(queue, action=Action.KEEP_OUT)
    assert differences(site).keep_outs == 0
    with site.warehouse.administer() as connection:
        connection.exec_driver_sql("SET session_replication_role = replica")
        connection.exec_driver_sql("DELETE FROM ctl.ruling")
    assert differences(site).keep_outs == 1
    assert refresh()["1"]["reason"] == "kept-out"
    assert not decide(queue, action=Action.AS_FOUND)
    assert differences(site).keep_outs == 0, "the ledger has it again"
    assert refresh()["1"]["reason"] == "kept-out"
    assert decide(queue, action=Action.AS_FOUND, who="B. Reader")
    assert refresh()["1"]["reason"] == "leak-last-name"


def test_the_doctor_counts_what_is_kept_out_under_a_secret_that_is_not_given(
    site, queue, take_in, monkeypatch, tmp_path
):
    def of_today() -> Diagnosis:
        """The line on an installation whose store was lost and built anew."""
        anew = Site(site.settings.model_copy(update={"home": tmp_path / os.urandom(4).hex()}))
        take_in(Delivery("hospital", WATERMARK), at=anew)
        return next(found for found in of_site(anew) if found.subject == "backup")

    assert decide(queue, action=Action.KEEP_OUT)
    assert decide(queue, "2", Action.KEEP_OUT)
    assert [decide(queue, "2", Action.AS_FOUND, who=who) for who in ("A. Reader", "B. Reader")] == [False, True]
    said = "1 notes that people keep out have other keys"
    assert said not in of_today().detail
    before = os.environ["DEID_SECRET"]
    monkeypatch.setenv("DEID_SECRET", "8d1f0a63c59be274d07e4b1862f93ca55be80217d94f6ac319c64e73a80dfb25")
    line = of_today()
    assert not line.good
    assert said in line.detail
    assert "DEID_PREVIOUS_SECRET_FILES" in line.detail
    monkeypatch.setenv("DEID_PREVIOUS_SECRET", before)
    assert said not in of_today().detail


def test_a_second_desk_sees_what_waits_for_it(site, queue):
    decide(queue, "4", Action.PASS)
    (found,) = [it for it in Queue(Site(site.settings)).waiting() if it.proposed is not None]
    assert (found.key, found.proposed.who, found.decided) == (key(site, "4"), "A. Reader", None)

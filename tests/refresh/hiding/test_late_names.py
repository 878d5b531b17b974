"""Who is named by rows that came after a note: hidden at once, and redacted by them in the run that follows."""

from __future__ import annotations

import os
import shutil
from collections import Counter

import pyarrow as pa
import pytest
from small_feed import promoted, seen

from deid_platform.errors import DeidError
from deid_platform.refresh import publish
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding import late_names
from deid_platform.refresh.hiding.late_names import hide_named_since, redact_delivery
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging import due, stage
from deid_platform.refresh.topics.patient_rows import FeedPatients
from deid_platform.settings import RedactionSettings
from deid_platform.store import NoteStore
from deid_platform.warehouse.gate.promotion import promote
from deid_platform.warehouse.gate.queries import ledger
from deid_platform.warehouse.server.roles import Role

# Lower-case, so that the rules need a row of the patient to know it for a name.
TEXT = "Keeps {} with care."


def note(name: str, patient: str, text: str) -> dict[str, str]:
    return {"note_id": name, "patient_id": patient, "text": text}


def row(patient: str, last: str, **more: str) -> dict[str, str]:
    return {"patient_id": patient, "first_name": "Thandiwe", "last_name": last, **more}


def later(site, delivery) -> set[str]:
    """The last names of the later rows that count for a delivery."""
    if site.store.manifest(tables.LATER_PATIENTS, delivery.key) is None:
        return set()
    return {row["last_name"] for row in site.store.rows(tables.LATER_PATIENTS, delivery.key)}


def test_a_name_that_comes_later_is_hidden_at_once_and_redacted_in_the_run_that_follows(site, deliver, run) -> None:
    named = deliver("2026-03-01", notes=[note("d1", "d", TEXT.format("velmora"))], patients=[row("d", "Doe")])
    plain = deliver("2026-03-02", notes=[note("d2", "d", "Sleeps well."), note("e2", "e", TEXT.format("velmora"))])
    run(named)
    run(plain)
    assert {TEXT.format("velmora"), "Sleeps well."} <= seen(site)
    third = deliver("2026-03-03", notes=[note("d3", "d", "Walks far.")], patients=[row("d", "Velmora")])
    run(third)
    # The note of somebody else stays: a name is sought in its bearer's notes.
    assert [text for text in seen(site) if "velmora" in text] == [TEXT.format("velmora")]
    assert site.store.rows(tables.REDACTED_NOTES, plain.key)[1]["text"] == TEXT.format("velmora")
    assert (later(site, named), later(site, plain)) == ({"Velmora"}, set())
    assert due.pending(site, [named, plain, third]) == [named]
    said = ledger(site.warehouse.engine(Role.OFFICER), release=site.release)
    assert ("hidden", named.key, {"notes": 1}) in [(it.event, it.delivery, it.counts) for it in said]

    run(named)
    assert TEXT.format("[PATIENT]") in seen(site)
    # Its note now tells the name, which may stand in the patient's other notes.
    assert due.pending(site, [named, plain, third]) == [plain, third]
    run(plain)
    run(third)
    assert due.pending(site, [named, plain, third]) == []
    # Neither that row again nor a run of the same deliveries finds anything more.
    run(third)
    run(deliver("2026-03-04", patients=[row("d", "Velmora")]))
    assert due.pending(site, [named, plain, third]) == []
    assert TEXT.format("[PATIENT]") in seen(site)


def test_rows_that_no_note_shows_make_nothing_due(site, deliver, run) -> None:
    first = deliver("2026-03-11", notes=[note("f1", "f", TEXT.format("oswick"))], patients=[row("f", "Doe")])
    run(first)
    run(deliver("2026-03-12", patients=[row("f", "Doe", city="Tarnholm", phone="(617) 555-0142")]))
    assert later(site, first) == set()
    assert due.pending(site, [first]) == []
    assert TEXT.format("oswick") in seen(site)


def test_a_patient_without_any_row_and_a_mother_who_comes_later_are_found(site, deliver, run) -> None:
    first = deliver(
        "2026-03-21",
        notes=[
            note("g1", "g", TEXT.format("brindlow")),
            note("h1", "h", "ysolde tarn at bedside."),
            note("i1", "i", "ysolde tarn at bedside, too."),
        ],
        patients=[row("h", "Doe", mother_id="m")],
    )
    run(first)
    shown = {TEXT.format("brindlow"), "ysolde tarn at bedside.", "ysolde tarn at bedside, too."}
    assert shown <= seen(site)
    run(deliver("2026-03-22", patients=[row("g", "Brindlow"), {**row("m", "Tarn"), "first_name": "Ysolde"}]))
    assert shown & seen(site) == {"ysolde tarn at bedside, too."}
    assert due.pending(site, [first]) == [first]
    run(first)
    assert not any("rindlow" in text or "tarn at bedside." in text for text in seen(site))
    assert due.pending(site, [first]) == []


def test_a_delivery_that_is_redacted_after_the_row_came_is_never_shown_with_the_name(site, deliver, run) -> None:
    run(deliver("2026-03-31", patients=[row("k", "Doe")]))
    run(deliver("2026-04-02", patients=[row("k", "Hartwin")]))
    late = deliver("2026-04-01", notes=[note("k1", "k", TEXT.format("hartwin"))])
    run(late)
    assert TEXT.format("[PATIENT]") in seen(site)
    assert not any("hartwin" in text for text in seen(site))
    assert later(site, late) == {"Hartwin"}
    assert due.pending(site, [late]) == []


def test_rows_that_were_made_before_are_neither_staged_nor_promoted(site, deliver, run, take_in) -> None:
    first = deliver("2026-04-11", notes=[note("n1", "n", TEXT.format("isoldan"))], patients=[row("n", "Doe")])
    run(first)
    take_in(deliver("2026-04-12", patients=[row("n", "Isoldan")]))
    hide_named_since(site, deliver("2026-04-12", patients=[row("n", "Isoldan")]))
    for step in (lambda: stage.stage_delivery(site, first, run_id="r"), lambda: publish.promote_delivery(site, first)):
        with pytest.raises(DeidError, match="not-materialized"):
            step()
    assert not any("isoldan" in text for text in seen(site))


def test_what_was_hidden_before_the_rows_were_kept_is_found_again(site, deliver, run, take_in, monkeypatch) -> None:
    first = deliver("2026-04-21", notes=[note("p1", "p", TEXT.format("quennell"))], patients=[row("p", "Doe")])
    run(first)
    second = deliver("2026-04-22", patients=[row("p", "Quennell")])
    take_in(second)
    with monkeypatch.context() as patched:
        patched.setattr(late_names, "_keep", None)  # what a kill would do: hidden, and nothing kept
        with pytest.raises(TypeError):
            hide_named_since(site, second)
    run(first)
    assert TEXT.format("[PATIENT]") in seen(site)
    assert not any("quennell" in text for text in seen(site))


def hides(site, delivery, take_in, at=None) -> int:
    """What arrives with a delivery takes effect; nothing is redacted or promoted."""
    take_in(delivery, at=at or site)
    return hide_named_since(at or site, delivery)


def find(site, delivery, word: str) -> None:
    """Redacts one word more in a delivery's notes, as another detector would."""
    manifest = site.store.required(tables.REDACTED_NOTES, delivery.key)
    rows = site.store.rows(tables.REDACTED_NOTES, delivery.key)
    for it in rows:
        if (start := it["text"].find(word)) >= 0:
            place = {"start": start, "end": start + len(word), "label": "PATIENT", "source": "other"}
            it |= {"text": it["text"].replace(word, "[PATIENT]"), "spans": [place], "lengths": [len("[PATIENT]")]}
    table = pa.Table.from_pylist(rows, schema=tables.REDACTED_SCHEMA)
    site.store.write(tables.REDACTED_NOTES, delivery.key, [table], meta=lambda: manifest.meta)


def test_a_note_is_hidden_that_is_shown_otherwise_than_it_was_redacted_last(site, deliver, run, take_in) -> None:
    shown = deliver("2026-05-02", notes=[note("r1", "r", TEXT.format("wexcombe"))], patients=[row("r", "Doe")])
    run(shown)
    find(site, shown, "wexcombe")  # and the gate has not let it through yet
    assert TEXT.format("wexcombe") in seen(site)
    hides(site, deliver("2026-05-03", patients=[row("r", "Wexcombe")]), take_in)
    assert not any("wexcombe" in text for text in seen(site))
    run(shown)
    assert TEXT.format("[PATIENT]") in seen(site)
    assert due.pending(site, [shown]) == []


def test_a_note_that_is_quarantined_by_now_and_still_shown_is_hidden(site, deliver, run, take_in) -> None:
    first = deliver("2026-05-06", notes=[note("cc", "cc", TEXT.format("norcott"))], patients=[row("cc", "Doe")])
    run(first)
    manifest = site.store.required(tables.REDACTED_NOTES, first.key)
    rows = [it | {"status": "quarantined", "text": None} for it in site.store.rows(tables.REDACTED_NOTES, first.key)]
    table = pa.Table.from_pylist(rows, schema=tables.REDACTED_SCHEMA)
    site.store.write(tables.REDACTED_NOTES, first.key, [table], meta=lambda: manifest.meta)
    hides(site, deliver("2026-05-07", patients=[row("cc", "Norcott")]), take_in)
    assert not any("norcott" in text for text in seen(site))


def test_a_release_that_was_made_otherwise_does_not_go_on_showing_it(site, deliver, run, take_in) -> None:
    notes = [note("s1", "s", TEXT.format("tolliver")), note("s2", "s", "Thandiwe rests.")]
    first = deliver("2026-05-12", notes=notes, patients=[row("s", "Doe")])
    run(first)
    other = Site(site.settings.model_copy(update={"redaction": RedactionSettings(policy="safe_harbor")}))
    redact_delivery(other, first)
    find(other, first, "tolliver")
    promoted(other, first)
    assert {TEXT.format("tolliver"), "[PATIENT] rests."} <= seen(site), "the new release is not whole yet"
    assert hides(other, deliver("2026-05-13", patients=[row("s", "Tolliver")]), take_in) == 1
    assert not any("tolliver" in text for text in seen(site))
    assert "[PATIENT] rests." in seen(site), "no other note, though the row says the first name too"
    assert due.pending(other, [first]) == []


def dated(name: str, patient: str, text: str) -> dict[str, str]:
    return {**note(name, patient, text), "note_date": "2026-01-05"}


def test_a_birth_date_that_comes_later_hides_the_year_that_gives_the_age_away(site, deliver, run) -> None:
    first = deliver("2026-05-21", notes=[dated("t1", "t", "Seen in 2026, rests.")], patients=[row("t", "Doe")])
    run(first)
    assert site.store.rows(tables.REDACTED_NOTES, first.key)[0]["note_year"] == 2026
    run(deliver("2026-05-22", patients=[row("t", "Doe", birth_date="1930-03-01")]))
    assert due.pending(site, [first]) == [first]
    run(first)
    (redacted,) = site.store.rows(tables.REDACTED_NOTES, first.key)
    assert (redacted["status"], redacted["note_year"]) == ("clean", None)


def test_a_birth_date_that_the_later_row_lacks_stays_known(site, deliver, run) -> None:
    born = row("u", "Doe", birth_date="1930-03-01")
    first = deliver("2026-05-25", notes=[dated("u1", "u", TEXT.format("ashgrove"))], patients=[born])
    run(first)
    run(deliver("2026-05-26", patients=[row("u", "Ashgrove")]))
    run(first)
    (redacted,) = site.store.rows(tables.REDACTED_NOTES, first.key)
    assert (redacted["status"], redacted["note_year"]) == ("clean", None)
    assert due.pending(site, [first]) == []


def test_a_row_of_an_older_delivery_that_is_late_hides_what_newer_ones_show(site, deliver, run, take_in) -> None:
    newer = deliver("2026-05-31", notes=[note("v1", "v", TEXT.format("yarwood")), note("v2", "v", "Well.")])
    run(newer)
    late = deliver("2026-05-30", patients=[row("v", "Yarwood")])
    assert hides(site, late, take_in) == 1
    assert not any("yarwood" in text for text in seen(site))
    run(newer)
    assert TEXT.format("[PATIENT]") in seen(site)
    assert hides(site, late, take_in) == 0
    assert later(site, newer) == set()


def test_a_row_that_is_added_to_a_delivery_hides_what_its_own_notes_show(site, deliver, run, take_in) -> None:
    notes = [note("w1", "w", TEXT.format("zennor")), note("w2", "w", "Walks.")]
    run(deliver("2026-06-01", notes=notes, patients=[row("w", "Doe")]))
    again = deliver("2026-06-01", notes=notes, patients=[row("w", "Zennor")])
    assert hides(site, again, take_in) == 1
    assert not any("zennor" in text for text in seen(site))
    assert "Walks." in seen(site)
    run(again)
    assert TEXT.format("[PATIENT]") in seen(site)
    assert due.pending(site, [again]) == []


def test_the_database_does_not_show_it_again_as_it_was_staged(site, deliver, run, take_in) -> None:
    first = deliver("2026-06-11", notes=[note("x1", "x", TEXT.format("ivelstone"))], patients=[row("x", "Doe")])
    run(first)
    hides(site, deliver("2026-06-12", patients=[row("x", "Ivelstone")]), take_in)
    with pytest.raises(DeidError, match="staged_as_announced"):
        promote(site.warehouse.engine(Role.PROMOTER), first)
    assert not any("ivelstone" in text for text in seen(site))


def test_a_feed_is_read_as_often_whoever_is_concerned(site, deliver, run, take_in, monkeypatch) -> None:
    days = range(21, 25)
    earlier = [deliver(f"2026-06-{day}", notes=[note(f"y{day}", "y", "Rests.")]) for day in days]
    for each in earlier:
        run(each)
    last = deliver("2026-06-28", patients=[row("y", "Unsought")])
    take_in(last)
    read = Counter()
    at_first = NoteStore.read

    def counted(store, dataset, partition, *args, **kwargs):
        read[dataset, partition] += 1
        return at_first(store, dataset, partition, *args, **kwargs)

    monkeypatch.setattr(NoteStore, "read", counted)
    assert hide_named_since(site, last) == 0
    assert max(count for (dataset, _), count in read.items() if dataset == "source/patients") <= 4


def test_a_roster_that_says_nothing_new_is_compared_with_the_one_before_alone(
    site, deliver, run, take_in, monkeypatch
) -> None:
    roster = [row(f"z{number}", "Same") for number in range(3)]
    for day in range(1, 5):
        run(deliver(f"2026-07-0{day}", notes=[note(f"z{day}", "z1", "Rests.")], patients=roster))
    last = deliver("2026-07-05", patients=roster)
    take_in(last)
    read = set()
    at_first = NoteStore.read

    def noted(store, dataset, partition, *args, **kwargs):
        if dataset == "source/patients":
            read.add(partition)
        return at_first(store, dataset, partition, *args, **kwargs)

    monkeypatch.setattr(NoteStore, "read", noted)
    assert hide_named_since(site, last) == 0
    assert read == {"hospital@2026-07-04", "hospital@2026-07-05"}


def test_two_rows_of_one_patient_in_two_deliveries_are_each_found(site, deliver, run) -> None:
    texts = TEXT.format("corvane"), TEXT.format("delacoe")
    first = deliver("2026-07-11", notes=[note(f"a{n}", "aa", text) for n, text in enumerate(texts)])
    run(first)
    for day, name in (("2026-07-12", "Corvane"), ("2026-07-13", "Delacoe")):
        run(deliver(day, patients=[row("aa", name)]))
        assert not any(name.lower() in text for text in seen(site))
    assert later(site, first) == {"Corvane", "Delacoe"}
    run(first)
    assert not any(name in text for text in seen(site) for name in ("corvane", "delacoe"))
    assert due.pending(site, [first]) == []


def test_rows_that_the_store_lost_are_found_again(site, deliver, run) -> None:
    first = deliver("2026-07-21", notes=[note("bb", "bb", TEXT.format("mintwell"))], patients=[row("bb", "Doe")])
    run(first)
    run(deliver("2026-07-22", patients=[row("bb", "Mintwell")]))
    run(first)
    shutil.rmtree(site.settings.home_path / "store" / tables.LATER_PATIENTS / first.key)
    assert due.pending(site, [first]) == [first]
    with pytest.raises(DeidError, match="not-materialized"):
        stage.stage_delivery(site, first, run_id="r")
    run(first)
    assert later(site, first) == {"Mintwell"}
    assert due.pending(site, [first]) == []
    assert not any("mintwell" in text for text in seen(site))


def test_nothing_of_a_patient_is_in_a_repr(site, deliver, take_in) -> None:
    delivery = deliver("2026-04-30", notes=[note("q1", "q", "Rests.")], patients=[row("q", "Tamsin")])
    take_in(delivery)
    assert redact_delivery(site, delivery).rows == 1
    feed = FeedPatients(site.store, "hospital")
    here = feed.first_brought_by(delivery)
    late = late_names._Late(feed.rows(here), feed.mothers, here, lambda *_: True)
    assert "q" in late.rows
    assert "Tamsin" not in f"{feed!r}{late!r}"


def test_a_release_under_a_former_secret_does_not_show_it(site, deliver, run, take_in, monkeypatch) -> None:
    texts = TEXT.format("pelham"), "Sleeps soundly."
    first = deliver("2026-08-01", notes=[note(f"dd{n}", "dd", text) for n, text in enumerate(texts)])
    run(first)
    monkeypatch.setenv("DEID_PREVIOUS_SECRET", os.environ["DEID_SECRET"])
    monkeypatch.setenv("DEID_SECRET", "8d1f0a63c59be274d07e4b1862f93ca55be80217d94f6ac319c64e73a80dfb25")
    rotated = Site(site.settings)
    assert rotated.release != site.release
    assert hides(rotated, deliver("2026-08-02", patients=[row("dd", "Pelham")]), take_in) == 1
    assert seen(site) & set(texts) == {texts[1]}

"""Who is named by rows that came after a note: hidden at once, and redacted by them in the run that follows."""

from __future__ import annotations

import pytest
from small_feed import seen

from deid_platform.errors import DeidError
from deid_platform.refresh import due, named_later, publish, stage, tables
from deid_platform.refresh.named_later import hide_named_since, redact_delivery
from deid_platform.warehouse.queries import ledger
from deid_platform.warehouse.roles import Role

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
    hidden = [it.counts for it in ledger(site.warehouse.engine(Role.OFFICER)) if it.event == "hidden"]
    assert {"notes": 1} in hidden

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
        patched.setattr(named_later, "_SCHEMA", None)  # what a kill would do: hidden, and nothing kept
        with pytest.raises((TypeError, AttributeError)):
            hide_named_since(site, second)
    run(first)
    assert TEXT.format("[PATIENT]") in seen(site)
    assert not any("quennell" in text for text in seen(site))


def test_nothing_of_a_patient_is_in_a_repr(site, deliver, take_in) -> None:
    delivery = deliver("2026-04-30", notes=[note("q1", "q", "Rests.")], patients=[row("q", "Tamsin")])
    take_in(delivery)
    assert redact_delivery(site, delivery).rows == 1
    feed = named_later._Feed(site.store, "hospital")
    told = named_later._Told(delivery, feed, named_later._union([]), frozenset())
    assert "Tamsin" not in f"{feed!r}{told!r}"

"""What arrives is sealed: good rows go on, bad ones are counted, excluded ones never enter, topics fold."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deid_platform.corpora.exclusions import Exclusions
from deid_platform.detection.topics.terms import institution_terms
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.sealing import (
    files_digest,
    refuse_empty,
    take_in_notes,
    take_in_topic,
    withdrawals_lost,
)
from deid_platform.refresh.topics.as_of import topics_as_of
from deid_platform.settings import ExclusionSettings

FIRST, SECOND = "2026-01-05", "2026-01-12"


def test_notes_are_sealed_and_refused_rows_counted_by_reason(site, deliver, take_in) -> None:
    delivery = deliver(
        FIRST, notes=[{"note_id": "1", "text": "Well."}, {"note_id": "1", "text": "x"}, {"note_id": "2"}]
    )
    taken = take_in(delivery)
    assert (taken.rows, taken.rejected) == (1, {"duplicate_note_id": 1, "empty_text": 1})
    manifest = site.store.manifest("source/raw_notes", delivery.key)
    assert manifest.meta["rejected"] == taken.rejected
    assert [row["text"] for row in site.store.rows("source/raw_notes", delivery.key)] == ["Well."]


def test_equal_notes_have_equal_digests_and_every_field_counts(site, deliver, take_in) -> None:
    notes = [
        {"note_id": "1", "text": "Well."},
        {"note_id": "1", "text": "Well. "},
        {"note_id": "1", "text": "Well.", "patient_id": "p"},
        {"note_id": "1", "text": "Well.", "note_date": "2026-01-01"},
    ]
    digests = []
    for note in [*notes, notes[0]]:
        delivery = deliver(FIRST, notes=[note])
        take_in(delivery)
        digests += [row["content_digest"] for row in site.store.rows("source/raw_notes", delivery.key)]
    assert len(set(digests)) == len(notes)
    assert digests[0] == digests[-1]


def test_topics_fold_up_to_the_delivery_whatever_the_order_of_runs(site, deliver, take_in) -> None:
    later = deliver(SECOND, notes=[{"note_id": "2", "text": "b"}], patients=[{"patient_id": "p", "last_name": "New"}])
    take_in(later)
    earlier = deliver(
        FIRST,
        notes=[{"note_id": "1", "text": "a"}],
        patients=[{"patient_id": "p", "last_name": "Old"}, {"patient_id": "q", "last_name": "Kept"}],
    )
    take_in(earlier)
    assert {p.patient_id: p.last_name for p in topics_as_of(site.store, earlier).patients.values()} == {
        "p": "Old",
        "q": "Kept",
    }
    assert {p.patient_id: p.last_name for p in topics_as_of(site.store, later).patients.values()} == {
        "p": "New",
        "q": "Kept",
    }


def test_a_withdrawal_of_what_is_not_known_is_counted_and_kept(site, deliver, take_in) -> None:
    delivery = deliver(
        "2026-01-19",
        notes=[{"note_id": "3", "text": "c"}],
        withdrawn=[
            {"note_id": "1"},
            {"note_id": "3"},
            {"note_id": "never seen"},
            {"patient_id": "q"},
            {"patient_id": "nobody"},
        ],
    )
    taken = take_in(delivery)
    assert taken.withdrawn == 5
    assert taken.rejected == {"unknown_note": 1, "unknown_patient": 1}
    assert site.store.manifest("source/withdrawals", delivery.key).meta["rejected"] == taken.rejected
    assert site.store.manifest("source/raw_notes", delivery.key).meta["rejected"] == {}


def test_a_lost_patient_row_is_remembered_and_a_lost_value_is_none(site, deliver, take_in) -> None:
    note = {"note_id": "4", "text": "d"}
    delivery = deliver("2026-01-20", notes=[note], patients=[{"patient_id": "r", "birth_date": "1990-02-30"}])
    take_in(delivery)
    assert "r" in topics_as_of(site.store, delivery).patients
    assert not site.recipe(delivery).rosters_incomplete
    delivery = deliver("2026-01-21", notes=[note], patients=[{"patient_id": "", "last_name": "Lost"}])
    take_in(delivery)
    assert site.recipe(delivery).rosters_incomplete
    assert site.recipe(Delivery("hospital", "2026-01-22")).rosters_incomplete
    assert not site.recipe(Delivery("hospital", "2026-01-20")).rosters_incomplete


def test_a_birth_date_that_is_refused_does_not_wipe_the_earlier_one(site, deliver, take_in) -> None:
    note = {"note_id": "4", "text": "d"}
    first = deliver("2026-03-02", notes=[note], patients=[{"patient_id": "b", "birth_date": "1930-05-01"}])
    second = deliver("2026-03-03", notes=[note], patients=[{"patient_id": "b", "birth_date": "1930-05-32"}])
    for delivery in (second, first):
        take_in(delivery)
    assert str(topics_as_of(site.store, second).patients["b"].birth_date) == "1930-05-01"
    deliver("2026-03-03", notes=[note], patients=[{"patient_id": "b", "birth_date": ""}])
    take_in(second)
    assert topics_as_of(site.store, second).patients["b"].birth_date is None


def test_both_names_of_a_patient_who_is_delivered_twice_are_known(site, deliver, take_in) -> None:
    delivery = deliver(
        "2026-01-13",
        notes=[{"note_id": "4", "text": "d"}],
        patients=[
            {"patient_id": "t", "last_name": "Quillfeather"},
            {"patient_id": "t", "last_name": "Underbough"},
            {"patient_id": "u", "last_name": "Brandybuck"},
        ],
    )
    take_in(delivery)
    topics = topics_as_of(site.store, delivery)
    assert [row.last_name for row in topics.patients_known_as("t")] == ["Quillfeather", "Underbough"]
    assert site.store.manifest("source/patients", delivery.key).meta["rejected"] == {"duplicate_id": 1}
    assert not site.recipe(delivery).rosters_incomplete
    later = deliver(
        "2026-01-14", notes=[{"note_id": "4", "text": "d"}], patients=[{"patient_id": "t", "last_name": "Took"}]
    )
    take_in(later)
    known_as = topics_as_of(site.store, later).patients_known_as("t")
    assert [row.last_name for row in known_as] == ["Took", "Quillfeather", "Underbough"]


@pytest.mark.parametrize(
    ("topic", "header", "row"),
    [
        ("providers", "provider_id,first_name,last_name", "t,Thandiwe,{}"),
        ("facilities", "facility_id,name", "t,{} House"),
    ],
)
def test_the_former_name_of_a_provider_and_a_facility_is_still_looked_for(
    site, deliver, take_in, topic, header, row
) -> None:
    def names(delivery: Delivery) -> set[str]:
        found = " ".join(term for term, _ in institution_terms(topics_as_of(site.store, delivery)))
        return {name for name in ("quillfeather", "underbough", "took") if name in found}

    deliveries = []
    for watermark, rows in (("2026-01-15", ["Quillfeather", "Underbough"]), ("2026-01-16", ["Took"])):
        deliveries.append(deliver(watermark, notes=[{"note_id": "4", "text": "d"}]))
        path = site.settings.path(site.feed("hospital").path) / watermark / f"{topic}.csv"
        path.write_text("\n".join([header, *(row.format(name) for name in rows)]))
        take_in(deliveries[-1])
        path.unlink()
    (current,) = getattr(topics_as_of(site.store, deliveries[-1]), topic).values()
    assert "Took" in (getattr(current, "last_name", None) or current.name)
    assert names(deliveries[-1]) == {"quillfeather", "underbough", "took"}
    assert names(deliveries[0]) == {"quillfeather", "underbough"}


def test_a_delivery_of_nothing_is_an_error_that_says_why(deliver, take_in) -> None:
    with pytest.raises(DeidError) as error:
        take_in(deliver("2026-01-26", notes=[{"text": "e", "COMMENT": "x"}]))
    assert error.value.code is Code.FEED_EMPTY
    assert error.value.ref == "hospital@2026-01-26: 1 unknown_column; unknown columns: COMMENT"


def test_a_delivery_of_topics_alone_is_none(take_in, deliver) -> None:
    assert take_in(deliver("2026-01-27", patients=[{"patient_id": "s"}])).rows == 0


def test_a_delivery_of_withdrawals_alone_is_none(site, deliver, take_in) -> None:
    taken = take_in(deliver("2026-02-02", withdrawn=[{"note_id": "1"}]))
    assert (taken.rows, taken.withdrawn) == (0, 1)


def test_a_feed_that_is_not_configured_is_named(site) -> None:
    with pytest.raises(DeidError) as error:
        site.reader(Delivery("elsewhere", FIRST).feed)
    assert error.value.ref == "known: hospital"


# Corrections that cannot be read


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"text": " "}, "empty_text"),
        ({"text": "x" * 1_000_001}, "text_too_long"),
        ({"text": "a\0b"}, "nul_character"),
        ({"text": "a\ud800b"}, "lone_surrogate"),
        ({"text": "x", "note_date": "2026-02-30"}, "impossible_date"),
        ({"text": "x", "COMMENT": "x"}, "unknown_column"),
        ({"text": ["x"]}, "malformed_row"),
    ],
)
def test_a_refused_correction_withdraws_the_note_and_is_counted_as_what_it_is(
    site, deliver, take_in, row, reason
) -> None:
    delivery = deliver("2026-06-01", notes=[{"note_id": "1", **row}, {"note_id": "2", "text": "Well."}])
    taken = take_in(delivery)
    assert (taken.rows, taken.withdrawn, taken.rejected) == (1, 0, {reason: 1})
    assert site.store.required("source/raw_notes", delivery.key).meta["rejected"] == {reason: 1}
    assert _statements(site, delivery) == [("1", None, False)]


@pytest.mark.parametrize(
    "notes",
    [
        [{"note_id": "1", "text": "Well."}, {"note_id": "1", "text": "Again."}],
        [{"note_id": "1", "text": "Well."}, {"note_id": "1", "text": ""}],
        [{"note_id": "1", "text": ""}, {"note_id": "1", "text": "Well."}],
    ],
    ids=["twice", "good, then refused", "refused, then good"],
)
def test_of_rows_with_one_id_a_good_one_stands(site, deliver, take_in, notes) -> None:
    delivery = deliver("2026-06-02", notes=notes)
    take_in(delivery)
    assert [row["text"] for row in site.store.rows("source/raw_notes", delivery.key)] == ["Well."]
    assert _statements(site, delivery) == []


def test_a_row_without_a_readable_id_withdraws_nothing_and_is_counted(site, deliver, take_in) -> None:
    good = {"note_id": "2", "text": "Well."}
    delivery = deliver("2026-06-03", notes=[good, {"note_id": "", "text": "x"}, {"note_id": ["1"], "text": "x"}])
    assert take_in(delivery).rejected == {"missing_note_id": 1, "malformed_row": 1}
    assert _statements(site, delivery) == []
    assert withdrawals_lost(site.store, delivery) == 0


def test_a_delivery_of_refused_corrections_alone_goes_on_until_they_are_hidden(site, deliver, take_in) -> None:
    delivery = deliver("2026-06-04", notes=[{"note_id": "1", "text": ""}])
    assert take_in(delivery).rows == 0
    assert _statements(site, delivery) == [("1", None, False)]
    with pytest.raises(DeidError) as error:
        refuse_empty(site.store, delivery)
    assert (error.value.code, error.value.ref) == (Code.FEED_EMPTY, "hospital@2026-06-04: 1 empty_text")


# Withdrawals that cannot be read


@pytest.mark.parametrize(
    ("withdrawn", "rejoined", "lost"),
    [
        ([{"note_id": "1"}, {"patient_id": "p"}], [{"patient_id": "q"}], 0),
        ([{"note_id": "nobody's"}, {"patient_id": "nobody"}], [{"patient_id": "nobody else"}], 0),
        ([{"patient_id": "p", "COMMENT": "x"}], [], 1),
        ([{"patient_id": "p"}, {"patient_id": "p"}], [{"patient_id": "q"}, {"patient_id": "q"}], 0),
        ([{"note_id": "1", "patient_id": "p"}], [], 1),
        ([{"note_id": "", "patient_id": ""}, {"note_id": "1", "patient_id": ""}], [], 1),
        ([{"patient_id": "p\0"}], [], 1),
        ([{"patient_id": "p"}], [{"patient_id": "q\0"}, {"patient_id": "r"}], 1),
    ],
)
def test_a_refused_withdrawal_is_lost_unless_it_names_what_is_not_known_or_repeats_another(
    site, deliver, take_in, withdrawn, rejoined, lost
) -> None:
    files = {"withdrawn": withdrawn, "rejoined": rejoined or [{"patient_id": "elsewhere"}]}
    delivery = deliver("2026-06-05", notes=[{"note_id": "1", "text": "x"}], **files)
    take_in(delivery)
    assert withdrawals_lost(site.store, delivery) == lost


def test_a_file_of_withdrawals_that_cannot_be_opened_is_one_lost_row(site, deliver, take_in) -> None:
    delivery = deliver("2026-06-06", notes=[{"note_id": "1", "text": "x"}])
    (site.settings.path(site.feed("hospital").path) / "2026-06-06" / "withdrawn.xlsx").write_text("x")
    take_in(delivery)
    assert withdrawals_lost(site.store, delivery) == 1


# Who comes back


def _statements(site, delivery) -> list[tuple[str | None, str | None, bool]]:
    rows = site.store.rows("source/withdrawals", delivery.key)
    return [(row["note_id"], row["patient_id"], row["rejoined"]) for row in rows]


def test_who_rejoins_is_sealed_beside_who_is_withdrawn(site, deliver, take_in) -> None:
    delivery = deliver(
        "2026-04-06",
        patients=[{"patient_id": p} for p in ("stays", "goes", "back")],
        withdrawn=[{"patient_id": "goes"}],
        rejoined=[{"patient_id": "back"}],
    )
    taken = take_in(delivery)
    assert (taken.withdrawn, taken.rejoined, taken.rejected) == (1, 1, {})
    assert _statements(site, delivery) == [(None, "goes", False), (None, "back", True)]


def test_who_is_both_withdrawn_and_rejoined_in_one_delivery_is_withdrawn(site, deliver, take_in) -> None:
    delivery = deliver(
        "2026-04-07",
        patients=[{"patient_id": "both"}],
        withdrawn=[{"patient_id": "both"}],
        rejoined=[{"patient_id": "both"}],
    )
    taken = take_in(delivery)
    assert (taken.withdrawn, taken.rejoined) == (1, 0)
    assert _statements(site, delivery) == [(None, "both", False)]


def test_a_delivery_of_rejoinings_alone_is_none_and_a_doubtful_one_lets_nobody_in(site, deliver, take_in) -> None:
    known = deliver("2026-04-08", patients=[{"patient_id": "known"}], notes=[{"note_id": "k", "text": "x"}])
    take_in(known)
    delivery = deliver("2026-04-09", rejoined=[{"patient_id": "known"}, {"patient_id": "nobody"}, {"patient_id": " "}])
    taken = take_in(delivery)
    assert (taken.rows, taken.rejoined) == (0, 2)
    assert taken.rejected == {"unknown_patient": 1, "missing_id": 1}
    assert site.store.manifest("source/withdrawals", delivery.key).meta["rejected"] == taken.rejected


# What never enters

EXCLUDED = Exclusions(("psychotherapy",), patients=frozenset({"out"}))


def test_excluded_notes_are_not_sealed_but_counted_and_withdrawn(site, deliver, take_in) -> None:
    delivery = deliver(
        "2026-05-04",
        patients=[{"patient_id": p, "last_name": "Quillfeather"} for p in ("in", "out")],
        notes=[
            {"note_id": "1", "patient_id": "in", "text": "Well."},
            {"note_id": "2", "patient_id": "in", "text": "Dreams.", "note_type": "Psychotherapy Progress Note"},
            {"note_id": "3", "patient_id": "out", "text": "Well."},
            {"note_id": "4", "text": "Whose?"},
            {"note_id": "2", "patient_id": "in", "text": "The same id again."},
        ],
    )
    taken = take_in(delivery, EXCLUDED)
    assert taken.rows == 1
    assert taken.rejected == {"excluded_type": 1, "opted_out": 1, "missing_patient": 1, "duplicate_note_id": 1}
    assert taken.withdrawn == 0
    assert [row["text"] for row in site.store.rows("source/raw_notes", delivery.key)] == ["Well."]
    assert site.store.manifest("source/raw_notes", delivery.key).meta["rejected"] == taken.rejected
    assert _statements(site, delivery) == [("2", None, False), ("3", None, False), ("4", None, False)]
    # Other people's notes name them: their rows stay.
    assert "out" in topics_as_of(site.store, delivery).patients


def test_a_note_that_is_both_withdrawn_and_excluded_is_withdrawn_once_and_known(site, deliver, take_in) -> None:
    delivery = deliver(
        "2026-05-05",
        notes=[{"note_id": "only here", "patient_id": "out", "text": "Well."}],
        withdrawn=[{"note_id": "only here"}],
    )
    taken = take_in(delivery, EXCLUDED)
    assert (taken.withdrawn, taken.rejected) == (1, {"opted_out": 1})
    assert _statements(site, delivery) == [("only here", None, False)]


def test_a_delivery_of_excluded_notes_alone_is_none(deliver, take_in) -> None:
    delivery = deliver("2026-05-06", notes=[{"note_id": "1", "text": "x", "note_type": "psychotherapy"}])
    assert take_in(delivery, EXCLUDED).rows == 0


def test_a_delivery_is_due_again_when_what_is_excluded_changes_and_only_then(site, deliver, take_in) -> None:
    delivery = deliver("2026-05-07", notes=[{"note_id": "1", "patient_id": "p", "text": "x"}])
    reader = site.reader(delivery.feed)

    def due(exclusions: Exclusions) -> bool:
        held = site.store.required("source/raw_notes", delivery.key).meta["files"]
        return held != files_digest(reader, delivery, site.keyring, exclusions)

    take_in(delivery, EXCLUDED)
    assert not due(Exclusions(("Psychotherapy",), patients=frozenset({"out"})))
    more = Exclusions(("psychotherapy",), patients=frozenset({"out", "p"}))
    for changed in (
        more,
        Exclusions(("psychotherapy",)),
        Exclusions(),
        Exclusions(("hiv",), patients=EXCLUDED.patients),
    ):
        assert due(changed)
    take_in(delivery, more)
    assert not due(more)
    assert site.store.required("source/raw_notes", delivery.key).rows == 0
    take_in(delivery, EXCLUDED)
    assert site.store.required("source/raw_notes", delivery.key).rows == 1
    assert _statements(site, delivery) == []


def test_topics_that_change_before_the_notes_are_read_make_their_delivery_due(site, deliver, take_in) -> None:
    note = {"note_id": "1", "patient_id": "p", "text": "x"}
    delivery = deliver("2026-05-08", notes=[note], patients=[{"patient_id": "p", "last_name": "Ostrowe"}])
    reader = site.reader(delivery.feed)
    for name in tables.TOPICS:
        take_in_topic(reader, delivery, name, store=site.store)
    deliver("2026-05-08", notes=[note], patients=[{"patient_id": "p", "last_name": "Thackerby"}])
    take_in_notes(reader, delivery, store=site.store, keyring=site.keyring, exclusions=EXCLUDED)
    now = files_digest(reader, delivery, site.keyring, EXCLUDED)
    assert site.store.required("source/raw_notes", delivery.key).meta["files"] != now
    take_in(delivery, EXCLUDED)
    assert site.store.required("source/raw_notes", delivery.key).meta["files"] == now


def test_a_lost_list_of_opt_outs_stops_the_intake(site, deliver, tmp_path) -> None:
    settings = site.settings.model_copy(update={"exclusions": ExclusionSettings(opt_outs=tmp_path / "optouts.csv")})
    here = Site(settings)
    with pytest.raises(DeidError) as error:
        _ = here.exclusions
    assert error.value.code is Code.OPT_OUTS_UNREADABLE
    (tmp_path / "optouts.csv").write_text("patient_id\nout\n")
    assert here.exclusions.opted_out() == ["out"]
    (tmp_path / "optouts.csv").write_text("patient_id\nin\n")
    assert here.exclusions.opted_out() == ["in"]


KINDS = ("progress note", "psychotherapy", "Psychotherapy addendum")


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["in", "out", None]), st.sampled_from(KINDS)), max_size=6
    ),
    withdrawn=st.sets(st.sampled_from(["in", "out", "third"])),
    rejoined=st.sets(st.sampled_from(["in", "out", "third"])),
)
def test_every_note_is_either_sealed_or_withdrawn_and_every_patient_said_once(
    site, deliver, take_in, rows, withdrawn, rejoined
) -> None:
    delivery = deliver(
        "2025-01-06",
        notes=[{"note_id": n, "patient_id": p, "note_type": kind, "text": "x"} for n, p, kind in rows],
        patients=[{"patient_id": "in"}],
        withdrawn=[{"patient_id": p} for p in sorted(withdrawn)] or [{"patient_id": "elsewhere"}],
        rejoined=[{"patient_id": p} for p in sorted(rejoined)] or [{"patient_id": "elsewhere"}],
    )
    taken = take_in(delivery, EXCLUDED)
    first: dict[str, bool] = {}
    for note_id, patient, kind in rows:
        first.setdefault(note_id, patient == "in" and kind == "progress note")
    sealed = {row["note_id"] for row in site.store.rows("source/raw_notes", delivery.key)}
    statements = _statements(site, delivery)
    assert sealed == {note_id for note_id, enters in first.items() if enters}
    assert {note_id for note_id, *_ in statements if note_id} == first.keys() - sealed
    said = {patient: rejoins for _, patient, rejoins in statements if patient}
    assert said.pop("elsewhere", None) in (None, False, True)
    assert said == dict.fromkeys(rejoined, True) | dict.fromkeys(withdrawn, False)
    assert len(statements) == len(set(statements))
    assert taken.rows == len(sealed)

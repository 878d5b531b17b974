"""What arrives is sealed: good rows go on, bad ones are counted, topics fold as of a delivery."""

from __future__ import annotations

import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.intake import rosters_incomplete, topics_as_of

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
    assert not rosters_incomplete(site.store, delivery)
    delivery = deliver("2026-01-21", notes=[note], patients=[{"patient_id": "", "last_name": "Lost"}])
    take_in(delivery)
    assert rosters_incomplete(site.store, delivery)
    assert rosters_incomplete(site.store, Delivery("hospital", "2026-01-22"))
    assert not rosters_incomplete(site.store, Delivery("hospital", "2026-01-20"))


def test_a_delivery_of_nothing_is_an_error_that_says_why(deliver, take_in) -> None:
    with pytest.raises(DeidError) as error:
        take_in(deliver("2026-01-26", notes=[{"note_id": "5", "text": "e", "COMMENT": "x"}]))
    assert error.value.code is Code.FEED_EMPTY
    assert error.value.ref == "hospital@2026-01-26: 1 unknown_column"


def test_a_delivery_of_topics_alone_is_none(take_in, deliver) -> None:
    assert take_in(deliver("2026-01-27", patients=[{"patient_id": "s"}])).rows == 0


def test_a_delivery_of_withdrawals_alone_is_none(site, deliver, take_in) -> None:
    taken = take_in(deliver("2026-02-02", withdrawn=[{"note_id": "1"}]))
    assert (taken.rows, taken.withdrawn) == (0, 1)


def test_a_feed_that_is_not_configured_is_named(site) -> None:
    with pytest.raises(DeidError) as error:
        site.reader(Delivery("elsewhere", FIRST).feed)
    assert error.value.ref == "feeds.elsewhere"

"""The data model: what a record refuses, and what its repr never says."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Facility, Note, Patient, Provider, Span, Topics, Withdrawal

MARKER = "Zebulon"


@pytest.mark.parametrize(
    "record",
    [
        Note(MARKER, f"seen by {MARKER}", patient_id=MARKER),
        Patient(MARKER, first_name=MARKER),
        Provider(MARKER, last_name=MARKER),
        Facility(MARKER, name=MARKER),
        Withdrawal(note_id=MARKER),
        Topics.of([Patient(MARKER)]),
    ],
    ids=lambda record: type(record).__name__,
)
def test_no_repr_shows_a_value(record: object) -> None:
    assert MARKER not in repr(record)
    assert MARKER not in str(record)
    assert MARKER not in f"{[record]}"


@pytest.mark.parametrize(("start", "end"), [(3, 3), (4, 3), (-1, 2)])
def test_an_empty_or_reversed_span_is_refused(start: int, end: int) -> None:
    with pytest.raises(DeidError) as error:
        Span(start, end, Label.DATE)
    assert error.value.code is Code.SPAN_BOUNDS


@pytest.mark.parametrize(
    ("a", "b", "overlap"),
    [((0, 3), (3, 5), False), ((0, 3), (2, 5), True), ((0, 9), (2, 5), True), ((5, 6), (0, 5), False)],
)
def test_overlap_is_symmetric_and_end_exclusive(a: tuple[int, int], b: tuple[int, int], overlap: bool) -> None:
    first, second = Span(*a, Label.DATE), Span(*b, Label.AGE)
    assert first.overlaps(second) is second.overlaps(first) is overlap


@pytest.mark.parametrize("ids", [{}, {"note_id": "1", "patient_id": "2"}])
def test_a_withdrawal_names_a_note_or_a_patient(ids: dict[str, str]) -> None:
    with pytest.raises(DeidError):
        Withdrawal(**ids)


def test_topics_fold_row_by_row_and_the_later_row_stands_whole() -> None:
    before = Topics.of([Patient("1", last_name="Ash", phone="555-0100"), Patient("2", last_name="Birch")])
    after = before.folded(Topics.of([Patient("1", last_name="Alder")]))
    assert after.patients["1"] == Patient("1", last_name="Alder")
    assert after.patients["2"].last_name == "Birch"
    assert before.patients["1"].last_name == "Ash"
    assert not Topics()
    assert after


ASH = Patient("1", "Ada", last_name="Ash", phone="555-0100", street="1 Elm Road")
MARRIED = Patient("1", "Ada", last_name="Alder", phone="555-0100", street="1 Elm Road")
MOVED = Patient("1", "Ada", last_name="Alder", phone="555-0199", street="2 Oak Lane")


@pytest.mark.parametrize(
    ("deliveries", "known_as"),
    [
        ([[ASH]], [ASH]),
        ([[ASH], [MARRIED]], [MARRIED, ASH]),
        ([[ASH], [MARRIED], [MOVED]], [MOVED, MARRIED, ASH]),
        ([[ASH], [], [MARRIED]], [MARRIED, ASH]),
        ([[ASH], [ASH]], [ASH]),
        ([[ASH], [MARRIED], [MARRIED]], [MARRIED, ASH]),
        ([[ASH], [MARRIED], [ASH]], [ASH, MARRIED]),
        ([[ASH], [MARRIED], [ASH], [MOVED]], [MOVED, ASH, MARRIED]),
        ([[ASH], [Patient("1")]], [Patient("1"), ASH]),
        ([[Patient("2")], [ASH]], [ASH]),
    ],
    ids=[
        "new",
        "marriage",
        "marriage and move",
        "a delivery without the patient",
        "same row twice",
        "same row twice after marriage",
        "back to the former name",
        "to a third row after that",
        "a row that says less",
        "another patient",
    ],
)
def test_a_patient_stays_known_by_every_row_the_newest_first(
    deliveries: list[list[Patient]], known_as: list[Patient]
) -> None:
    topics = Topics()
    for rows in deliveries:
        topics = topics.folded(Topics.of(rows))
    assert topics.patients["1"] == known_as[0]
    assert topics.former.get("1", ()) == tuple(known_as[1:])
    assert topics.patients_known_as("1") == tuple(known_as)


@pytest.mark.parametrize("patient_id", [None, "", "2"])
def test_an_unknown_patient_is_known_as_nobody(patient_id: str | None) -> None:
    assert Topics.of([ASH]).folded(Topics.of([MARRIED])).patients_known_as(patient_id) == ()


def test_a_patient_with_former_rows_alone_is_still_known() -> None:
    topics = Topics(former={"1": (ASH,)})
    assert topics
    assert topics.patients_known_as("1") == (ASH,)
    assert topics.folded(Topics.of([MOVED])).patients_known_as("1") == (MOVED, ASH)
    assert Topics.of([MOVED]).folded(topics).patients_known_as("1") == (MOVED, ASH)


def test_topics_with_former_rows_travel_to_worker_processes() -> None:
    topics = Topics.of([ASH]).folded(Topics.of([MARRIED]))
    assert pickle.loads(pickle.dumps(topics)) == topics
    assert "Ash" not in repr(topics)


@given(st.lists(st.sampled_from([ASH, MARRIED, MOVED]), min_size=3), st.data())
def test_deliveries_may_be_folded_in_parts(rows: list[Patient], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(rows)))

    def folded(part: list[Patient]) -> Topics:
        topics = Topics()
        for row in part:
            topics = topics.folded(Topics.of([row]))
        return topics

    assert folded(rows[:cut]).folded(folded(rows[cut:])) == folded(rows)
    assert folded(rows).patients_known_as("1") == tuple(dict.fromkeys(reversed(rows)))


@pytest.mark.parametrize(
    ("watermarks"),
    [
        ["2026-01-05", "2026-01-05T0600", "2026-01-05T0601", "2026-01-12", "20260119"],
        ["1", "2", "10", "9999999"],
    ],
)
def test_deliveries_are_ordered_by_their_watermark(watermarks: list[str]) -> None:
    seqs = [Delivery("ehr", watermark).seq for watermark in watermarks]
    assert seqs == sorted(set(seqs))


@pytest.mark.parametrize(
    "key",
    [
        "ehr",
        "@1",
        "EHR@1",
        "ehr@",
        "ehr@monday",
        "ehr@2026-13-01",
        "ehr@2026-02-30",
        "ehr@../x",
        "ehr@123456789",
        "e@1 ",
    ],
)
def test_a_name_that_does_not_order_by_time_is_refused(key: str) -> None:
    with pytest.raises(DeidError) as error:
        Delivery.parse(key)
    assert error.value.code is Code.DELIVERY_NAME
    assert key not in str(error.value)


def test_a_key_parses_back() -> None:
    assert Delivery.parse("ehr@2026-01-05") == Delivery("ehr", "2026-01-05")
    assert Delivery.parse("ehr@2026-01-05").key == "ehr@2026-01-05"


def test_errors_survive_the_way_back_from_a_worker() -> None:
    error = pickle.loads(pickle.dumps(DeidError(Code.DETECTOR_FAILED, "n_abc")))
    assert (error.code, error.ref) == (Code.DETECTOR_FAILED, "n_abc")

"""The data model: what a record refuses, and what its repr never says."""

from __future__ import annotations

import pickle
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Facility, Note, Patient, Provider, Rejoining, Span, Topics, Withdrawal

MARKER = "Zebulon"


@pytest.mark.parametrize(
    "record",
    [
        Note(MARKER, f"seen by {MARKER}", patient_id=MARKER),
        Patient(MARKER, first_name=MARKER),
        Provider(MARKER, last_name=MARKER),
        Facility(MARKER, name=MARKER),
        Withdrawal(note_id=MARKER),
        Rejoining(MARKER),
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


def test_of_two_rows_of_one_patient_the_later_stands_and_the_earlier_is_known() -> None:
    topics = Topics.of([ASH, Patient("2"), MARRIED, ASH, MOVED])
    assert topics.patients == {"1": MOVED, "2": Patient("2")}
    assert topics.former == {"1": (ASH, MARRIED)}
    assert Topics.of([ASH, ASH]).former == {}


def test_providers_and_facilities_stay_known_by_every_row_too() -> None:
    first = Topics.of([], [Provider("1", last_name="Ash")], [Facility("1", name="Ash House"), Facility("2")])
    second = Topics.of([], [Provider("1", last_name="Alder"), Provider("1", last_name="Aspen")], [Facility("1")])
    topics = first.folded(second).folded(Topics()).folded(second)
    assert topics.providers == {"1": Provider("1", last_name="Aspen")}
    assert [row.last_name for row in topics.every_provider()] == ["Aspen", "Alder", "Ash"]
    assert list(topics.every_facility()) == [Facility("1"), Facility("2"), Facility("1", name="Ash House")]
    assert list(topics.every_patient()) == []
    assert pickle.loads(pickle.dumps(topics)) == topics


BORN = date(1950, 2, 1)


def _born(day: date | None, *, refused: bool = False) -> Topics:
    return Topics.of([Patient("1", last_name="Ash", birth_date=day)], undated=["1"] if refused else [])


@pytest.mark.parametrize(
    ("deliveries", "birth_date"),
    [
        ([_born(BORN), _born(None, refused=True)], BORN),
        ([_born(BORN), _born(None, refused=True), _born(None, refused=True)], BORN),
        ([_born(date(1905, 2, 1)), _born(BORN), _born(None, refused=True)], BORN),
        ([_born(BORN), Topics(), _born(None, refused=True)], BORN),
        ([_born(BORN), _born(None)], None),
        ([_born(None, refused=True)], None),
        ([_born(None, refused=True), _born(BORN)], BORN),
        ([_born(BORN), Topics.of([Patient("2")], undated=["2"])], BORN),
    ],
    ids=[
        "refused",
        "refused twice",
        "the newest earlier one",
        "a delivery without the patient between",
        "taken back by the source",
        "never known",
        "corrected",
        "another patient's",
    ],
)
def test_a_birth_date_that_was_refused_leaves_the_earlier_one(
    deliveries: list[Topics], birth_date: date | None
) -> None:
    topics = Topics()
    for upserts in deliveries:
        topics = topics.folded(upserts)
    assert topics.patients["1"].birth_date == birth_date


def test_a_row_with_the_earlier_birth_date_is_not_former_to_itself() -> None:
    topics = _born(BORN).folded(_born(None, refused=True))
    assert topics == _born(BORN)


@given(st.lists(st.sampled_from([BORN, date(1951, 1, 1), None, "refused"]), min_size=1), st.data())
def test_birth_dates_fold_in_parts_as_they_do_one_by_one(said: list[date | str | None], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(said)))

    def folded(part: list[date | str | None]) -> Topics:
        topics = Topics()
        for word in part:
            topics = topics.folded(_born(None, refused=True) if word == "refused" else _born(word))
        return topics

    dates = [word for word in said if word != "refused"]
    known = [day for day in dates if day is not None]
    expected = said[-1] if said[-1] != "refused" else (known[-1] if known else None)
    assert folded(said).patients["1"].birth_date == expected
    assert folded(said[:cut]).folded(folded(said[cut:])).patients["1"].birth_date == expected


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

"""The date shift: whole weeks, one a patient, from the secret alone."""

import hashlib
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.keys import Keyring
from deid_platform.notes import Note, Patient, Topics
from deid_platform.surrogates.dates import (
    POSSIBLE_WEEKS,
    DateShift,
    note_shift_days,
    season_weeks,
    shift_days,
    shift_scope,
    shifted,
)
from deid_platform.surrogates.written_dates import shift_text

KEYRING = Keyring(hashlib.sha256(b"one").digest(), site="test")
OTHER = Keyring(hashlib.sha256(b"another").digest(), site="test")
DAYS = st.dates(min_value=date(1900, 1, 1), max_value=date(2100, 1, 1))


@given(st.text(max_size=20))
def test_a_shift_is_one_to_fifty_two_whole_weeks(patient_id: str):
    days = shift_days(KEYRING, patient_id)
    assert days % 7 == 0
    assert 7 <= abs(days) <= 52 * 7
    assert days == shift_days(KEYRING, patient_id)


def test_both_directions_and_both_ends_occur():
    weeks = {shift_days(KEYRING, f"p{i}") // 7 for i in range(5000)}
    assert weeks == {*range(-52, 0), *range(1, 53)}


def test_another_secret_shifts_otherwise():
    patients = [f"p{i}" for i in range(50)]
    assert [shift_days(KEYRING, p) for p in patients] != [shift_days(OTHER, p) for p in patients]


@given(DAYS, DAYS, st.text(max_size=10))
def test_weekdays_stay_true_and_intervals_exact(one: date, two: date, patient_id: str):
    moved = [shifted(KEYRING, None, Note(f"n{day}", "", patient_id, note_date=day)) for day in (one, two)]
    assert moved[0].weekday() == one.weekday()
    assert moved[1] - moved[0] == two - one
    assert moved[0] - one == timedelta(days=shift_days(KEYRING, patient_id))


def test_notes_without_a_patient_move_by_themselves():
    day = date(2020, 1, 15)
    moved = {shifted(KEYRING, None, Note(f"n{i}", "", note_date=day)) for i in range(30)}
    assert len(moved) > 10
    assert day not in moved
    # The same string as a patient's id and as a note's id are two things.
    both = [
        (
            shifted(KEYRING, None, Note("n", "", f"x{i}", note_date=day)),
            shifted(KEYRING, None, Note(f"x{i}", "", note_date=day)),
        )
        for i in range(10)
    ]
    assert any(a != b for a, b in both)


def test_where_the_calendar_ends_and_where_there_is_no_date_there_is_no_shifted_one():
    ends = [
        shifted(KEYRING, None, Note("n", "", f"p{i}", note_date=day)) for i in range(20) for day in (date.min, date.max)
    ]
    assert None in ends
    assert shifted(KEYRING, None, Note("n", "", "p1")) is None


MOTHERS = {
    "alone": (Patient("alone"),),
    "newborn": (Patient("newborn", mother_id="mother"), Patient("mother")),
    "twin": (Patient("twin", mother_id="mother"),),
    "of a mother": (Patient("mother", mother_id="grandmother"), Patient("newborn", mother_id="mother")),
    "unlinked since": (Patient("newborn", mother_id="mother"), Patient("newborn")),
    "circle": (Patient("a", mother_id="b"), Patient("b", mother_id="c"), Patient("c", mother_id="b")),
    "own mother": (Patient("a", mother_id="a"),),
}


@pytest.mark.parametrize(
    ("rows", "patient_id", "scope"),
    [
        ("alone", "alone", "alone"),
        ("alone", "unknown", "unknown"),
        ("newborn", "newborn", "mother"),
        ("newborn", "mother", "mother"),
        ("twin", "twin", "mother"),  # whose own row has not come
        ("of a mother", "newborn", "grandmother"),
        ("unlinked since", "newborn", "mother"),
        ("circle", "a", "b"),
        ("circle", "b", "b"),
        ("circle", "c", "b"),
        ("own mother", "a", "a"),
    ],
)
def test_a_newborn_moves_with_the_mother(rows: str, patient_id: str, scope: str):
    topics = Topics.of(patients=MOTHERS[rows])
    assert shift_scope(topics, patient_id) == scope
    assert note_shift_days(KEYRING, topics, Note("n", "", patient_id)) == shift_days(KEYRING, scope)
    assert shift_scope(None, patient_id) == patient_id


# A shift that keeps the season


def test_shifts_near_one_year_by_hand():
    """365 days are 52.2 weeks: 50 weeks are 15 days short, 55 are 20 days more, 49 and 56 lie beyond three weeks."""
    assert season_weeks(1) == (-55, -54, -53, -52, -51, -50, 50, 51, 52, 53, 54, 55)
    assert {*season_weeks(5)} >= {259, 260, 262, 263}
    assert 261 not in season_weeks(5), "five years to the day: March 14 would stay March 14"
    assert [len(season_weeks(years)) for years in (1, 2, 3, 4, 5)] == [12, 24, 36, 48, 56]
    assert len(POSSIBLE_WEEKS[DateShift.SEASON]) == 56


@pytest.mark.parametrize("year", [1999, 2000, 2019, 2023])
def test_every_day_of_a_year_keeps_its_season_and_weekday_and_moves(year: int):
    for ordinal in range(date(year, 1, 1).toordinal(), date(year + 1, 1, 1).toordinal()):
        day = date.fromordinal(ordinal)
        for weeks in POSSIBLE_WEEKS[DateShift.SEASON]:
            moved = day + timedelta(weeks=weeks)
            assert moved.weekday() == day.weekday()
            around = [date(y, day.month, min(day.day, 28)) for y in (moved.year - 1, moved.year, moved.year + 1)]
            nearest = min(around, key=lambda other: abs(other - moved)) + timedelta(days=day.day - min(day.day, 28))
            assert 1 <= abs((moved - nearest).days) <= 20
            assert 49 * 7 < abs((moved - day).days) < 5.1 * 366


def test_all_shifts_that_keep_the_season_occur_and_tell_nothing_of_the_others():
    patients = [f"p{i}" for i in range(3000)]
    shifts = [shift_days(KEYRING, patient, DateShift.SEASON) // 7 for patient in patients]
    assert set(shifts) == set(season_weeks())
    by_weeks = [shift_days(KEYRING, patient) // 7 for patient in patients]
    # Both directions with both, each in about a quarter of cases: the sign of one says nothing of the other's.
    signs = [sum((a > 0) is back and (b > 0) is ahead for a, b in zip(shifts, by_weeks, strict=True))
             for back in (True, False) for ahead in (True, False)]  # fmt: skip
    assert all(650 < count < 850 for count in signs)


def test_a_text_keeps_its_season_in_words_and_intervals_stay():
    days = shift_days(KEYRING, "p1", DateShift.SEASON)
    note = Note("n", "", "p1", note_date=date(2019, 1, 15))
    assert shifted(KEYRING, None, note, DateShift.SEASON) == date(2019, 1, 15) + timedelta(days=days)
    assert note_shift_days(KEYRING, None, note, DateShift.SEASON) == days
    assert shift_text("Tuesday, January 15, 2019", 7 * 156) == "Tuesday, January 11, 2022"
    assert shift_text("January 2019", 7 * 156) == "January 2022"
    assert shift_text("1/15", 7 * 156, note_date=date(2019, 1, 20)) == "1/11"

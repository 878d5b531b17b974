"""Periods order as time does, and each has one name that says which it is."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.corpora.sql.cells import RowsDigest, cell_of
from deid_platform.corpora.sql.periods import Periods
from deid_platform.notes import Delivery

MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))  # noqa: DTZ001 - wall clocks
LENGTHS = st.sampled_from(["hour", "day", "month"])


@given(LENGTHS, MOMENTS, MOMENTS)
def test_deliveries_are_in_the_order_of_their_moments(length, one, other) -> None:
    periods = Periods(length)
    before, after = sorted((one, other))
    first, second = (Delivery("ehr", periods.name(periods.of(moment))) for moment in (before, after))
    assert first.seq <= second.seq
    assert (first == second) == (periods.of(before) == periods.of(after))


@given(LENGTHS, MOMENTS)
def test_a_name_says_its_period(length, moment) -> None:
    periods = Periods(length)
    assert periods.parsed(periods.name(periods.of(moment))) == periods.of(moment)


@given(LENGTHS, st.dates(date(1, 1, 2), date(9999, 12, 30)), MOMENTS)
def test_a_first_load_comes_before_all_that_is_not_in_it(length, initial, moment) -> None:
    periods = Periods(length, initial=initial)
    first, folded = periods.folded(0), periods.folded(periods.of(moment))
    assert folded >= first
    assert (folded == first) or (moment.date() > initial)
    if periods.of(moment) < first:
        assert periods.parsed(periods.name(periods.of(moment))) is None, "it is under another name"


@pytest.mark.parametrize(
    ("length", "watermark"),
    [
        ("day", "20260105"),
        ("day", "2026-01-05T0600"),
        ("day", "2026-1-5"),
        ("day", "2026-02-30"),
        ("day", "7"),
        ("hour", "2026-01-05"),
        ("hour", "20260105T0630"),
        ("hour", "20260105T2400"),
        ("month", "2026-01-05"),
    ],
)
def test_no_other_name_is_one(length, watermark: str) -> None:
    assert Periods(length).parsed(watermark) is None


def test_rows_of_other_values_have_another_digest() -> None:
    rows: list[dict[str, object]] = [
        {"a": "1", "b": "2"},
        {"a": "12", "b": ""},
        {"a": "", "b": "12"},
        {"a": 1, "b": "2"},
        {"a": None, "b": "2"},
        {"a": "1\nb 1 2", "b": None},
        {"b": "1", "a": "2"},
        {"a": "\ud800", "b": datetime(2026, 1, 5, tzinfo=UTC)},
    ]
    prints = set()
    for row in rows:
        digest = RowsDigest()
        digest.add({name: row[name] for name in sorted(row, reverse=True)})
        prints.add(str(digest))
    assert len(prints) == len(rows)
    twice = RowsDigest()
    for _ in range(2):
        twice.add(rows[0])
    assert str(twice) not in prints


def test_a_float_or_a_truth_is_no_id() -> None:
    assert [cell_of(value) for value in (5.0, True, b"x", object())] == ["malformed_row"] * 4

"""How many shifts remain possible: cases counted by hand."""

from datetime import date, timedelta
from math import log2

import pytest

from deid_platform.evaluation.disclosure.shift_secrecy import FITS, left_by_knowledge, left_by_pairs
from deid_platform.surrogates.dates import DateShift

DAY = date(2018, 7, 2)
YEARS = [date(2016, 1, 1) + timedelta(days=7 * step + step % 7) for step in range(208)]


@pytest.mark.parametrize(("by", "possible"), [(DateShift.WEEKS, 104), (DateShift.SEASON, 56)])
def test_whoever_knows_nothing_has_all_shifts_before_him_and_whoever_knows_the_day_one(by: DateShift, possible: int):
    nothing, day = (left_by_knowledge(by, FITS[known], [DAY]) for known in ("nothing", "its day"))
    assert (nothing.mean, nothing.bits, nothing.told) == (possible, pytest.approx(log2(possible)), 0)
    assert (day.mean, day.bits, day.told) == (1, 0, 1)


@pytest.mark.parametrize(("by", "possible"), [(DateShift.WEEKS, 104), (DateShift.SEASON, 56)])
def test_of_a_note_of_today_half_the_shifts_would_lie_in_the_future(by: DateShift, possible: int):
    """The shift furthest ahead fits alone, the next one with it, and so on: 1, 2, ... of them."""
    left = left_by_knowledge(by, FITS["that it was no later than today, of a note of today"], [DAY])
    assert left.mean == (possible + 1) / 2
    assert left.told == 1 / possible


def test_the_year_of_a_day_in_july_tells_the_years_of_a_shift_that_keeps_the_season():
    """Six shifts lie around one year, back or ahead, and around two to four; around five there are four."""
    left = left_by_knowledge(DateShift.SEASON, FITS["its year"], [DAY])
    assert left.mean == pytest.approx((8 * 6 * 6 + 2 * 4 * 4) / 56)


def test_a_month_of_whichever_year_tells_little_where_the_season_is_kept():
    by_weeks, by_season = (left_by_knowledge(by, FITS["its month, of whichever year"], YEARS) for by in DateShift)
    assert by_season.bits > by_weeks.bits + 1


def test_a_year_beside_the_day_tells_less_where_the_season_is_kept_and_many_months_tell_more_than_few():
    by_weeks, by_season = (left_by_pairs(by, "%Y", 4, YEARS) for by in DateShift)
    assert by_season.bits > by_weeks.bits
    one, four = (left_by_pairs(DateShift.SEASON, "%B %Y", pairs, YEARS) for pairs in (1, 4))
    assert 1 <= four.mean < one.mean < 56

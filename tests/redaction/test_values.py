"""What remains of dates, ages and ZIP codes."""

from datetime import date
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.redaction.ages import age90
from deid_platform.redaction.years import kept_year
from deid_platform.redaction.zips import zip3

WRITTEN = date(2020, 1, 15)


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("03/04/2019", "2019"),
        ("3/4/19", "2019"),
        ("3-4-2019", "2019"),
        ("10.3.2019", "2019"),
        ("31/12/2019", "2019"),
        ("2019-03-04", "2019"),
        ("2019/3/4", "2019"),
        ("20190304", "2019"),
        ("20190304101500", "2019"),
        ("2019-03-04T10:15:00Z", "2019"),
        ("3/4/2019 10:15 AM", "2019"),
        ("March 4, 2019", "2019"),
        ("Mar 4 19", "2019"),
        ("MARCH 4TH, 2019", "2019"),
        ("4 Mar 2019", "2019"),
        ("04-MAR-2019", "2019"),
        ("4th of March 2019", "2019"),
        ("Monday, March 4, 2019", "2019"),
        ("Sept. 5th, 2019", "2019"),
        ("Nov 2019", "2019"),
        ("Mar '19", "2019"),
        ("10/2019", "2019"),
        ("11/93", "1993"),
        ("11/'12", "2012"),
        ("2019", "2019"),
        ("spring 2019", "2019"),
        ("fall of 2002", "2002"),
        ("the early fall of 2002", "2002"),
        ("fall, 2002", "2002"),
        ("late summer 2002", "2002"),
        ("verano de 2018", "2018"),
        ("été 2018", "2018"),
        ("Herbst 2018", "2018"),
        ("early 2019", "2019"),
        ("1990s", "1990s"),
        ("the 1990s", "1990s"),
        ("2018-2019", "2018-2019"),
        ("2018 to 2019", "2018-2019"),
        (" 2019 ", "2019"),
        ("6/1/22", "2022"),  # an appointment ahead
        ("6/1/45", "1945"),
        ("March third, nineteen ninety-eight", "1998"),
        ("the twenty-first of June, 2019", "2019"),
        ("the fourth day of March nineteen fifty", "1950"),
        ("three nine nineteen fifty", "1950"),
        ("nineteen ninety-eight", "1998"),
    ],
)
def test_a_date_keeps_its_year(text: str, year: str):
    assert kept_year(text, note_date=WRITTEN) == year


@pytest.mark.parametrize(
    "text",
    [
        "323/20",
        "3/4",
        "11/12",  # day and month, or month and year
        "the 9th",
        "March 4th",
        "March fourth",
        "fall of '02",
        "last winter",
        "winter of 1925",
        "nine ninety-eight",
        "nueve de marzo de mil novecientos",
        "Monday",
        "Christmas",
        "30/13/2019",
        "45/45/2019",
        "0/0/2019",
        "13/2019",
        "2019 John",
        "12345",
        "1700",
        "2100",
        "",
        "3/4/2019 3/5/2019",
    ],
)
def test_what_cannot_be_read_keeps_nothing(text: str):
    assert kept_year(text, note_date=WRITTEN) is None


@pytest.mark.parametrize(
    ("text", "born", "near_birth", "year"),
    [
        # Nobody's birth date is known: whoever was born that year is over 89, or may be.
        ("1929", None, False, None),
        ("1931", None, False, "1931"),
        ("3/4/1925", None, False, None),
        ("1920s", None, False, None),
        ("1925-2019", None, False, None),
        # A patient over 89: neither the year of birth nor a year at that age.
        ("3/4/1925", date(1925, 3, 4), True, None),
        ("3/4/25", date(1925, 3, 4), True, None),
        ("3/4/2019", date(1925, 3, 4), False, None),
        ("2010s", date(1925, 3, 4), False, None),
        ("3/4/2014", date(1925, 3, 4), False, "2014"),  # at 89
        ("3/4/1950", date(1925, 3, 4), False, "1950"),
        # A younger patient keeps both.
        ("3/4/1950", date(1950, 3, 4), True, "1950"),
        ("3/4/50", date(1950, 3, 4), True, "1950"),
        ("3/4/2019", date(1950, 3, 4), False, "2019"),
        ("3/4/19", date(2019, 3, 4), True, "2019"),
        # Two digits after "DOB" and no birth date in the topics: 1919 or 2019?
        ("3/4/19", None, True, None),
        ("3/4/50", None, True, "1950"),
        ("3/4/2019", None, True, "2019"),
    ],
)
def test_a_year_that_tells_of_an_age_over_89_is_not_kept(
    text: str, born: date | None, near_birth: bool, year: str | None
):
    assert kept_year(text, note_date=WRITTEN, birth_date=born, near_birth=near_birth) == year


@given(st.text(max_size=40))
def test_any_text_at_all_can_be_asked_for_its_year_age_and_zip(text: str):
    year = kept_year(text, note_date=WRITTEN)
    assert year is None or set(year) <= set("0123456789s-")
    assert zip3(text) is None or len(zip3(text)) == 3
    age90(text)


@given(st.dates(min_value=date(1850, 1, 1), max_value=date(2025, 1, 1)))
def test_a_kept_year_is_the_true_one_and_never_90_years_back(day: date):
    for text in (day.isoformat(), f"{day:%m/%d/%Y}", f"{day:%B} {day.day}, {day.year}"):
        expected = None if WRITTEN.year - day.year >= 90 else str(day.year)
        assert kept_year(text, note_date=WRITTEN) == expected


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("94", "90+"),
        ("90", "90+"),
        ("101", "90+"),
        ("94-year-old", "90+-year-old"),
        ("94 year old", "90+ year old"),
        ("94yo", "90+yo"),
        ("94 y.o.", "90+ y.o."),
        ("92F", "90+F"),
        ("94 y/o M", "90+ y/o M"),
        ("ninety", "90+"),
        ("ninety-four", "90+"),
        ("Ninety-Two-Year-Old", "90+-Year-Old"),
        ("one hundred and two", "90+"),
        ("in her nineties", "in her 90+"),
        ("90s", "90+"),
        ("90's", "90+"),
        ("95th birthday", "90+ birthday"),
        ("90+", "90+"),
        ("1100 months", "90+"),
        ("85-95", "90+"),
        ("91 years 3 months", "90+"),
        ("nonagenarian", "90+"),
        ("Centenarian", "90+"),
        ("９４", "90+"),
        ("aged 94.5", "aged 90+"),
        ("ninety-fourth", "90+"),
        ("093", "90+"),
        ("1,085 months", "90+"),
        ("4,750 weeks", "90+"),
        ("four thousand seven hundred and fifty weeks", "90+"),
        ("ciento un", "90+"),
        ("noventa y cuatro", "90+"),
        ("quatre-vingt-quatorze", "90+"),
        ("centouno", "90+"),
        ("vierundneunzigsten", "90+"),
        ("nonagénaire", "90+"),
    ],
)
def test_every_shape_of_an_age_over_89_becomes_90_plus(text: str, left: str):
    assert age90(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "89",
        "89.5",
        "45-year-old",
        "8 months",
        "94 months",
        "900 days",
        "mid-50s",
        "fifty-two",
        "3 y.o.",
        "newborn",
        "octogenarian",
        "1,040 weeks",
        "cuarenta y dos",
    ],
)
def test_other_ages_stay(text: str):
    assert age90(text) == text


@pytest.mark.parametrize("text", ["45 Orrin", "ninty-four", "1925", "250", "9" * 5000, "94 Orrin"])
def test_an_age_that_is_not_understood_is_not_kept(text: str):
    assert age90(text) is None


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("43004", "430"),
        ("43004-1182", "430"),
        ("430041182", "430"),
        ("10299", "000"),
        ("03601", "000"),
        ("89301-0001", "000"),
        ("K1A 0B1", None),
        ("4300", None),
        ("430044", None),
        ("OH 43004", None),
        ("４３００４", None),
        ("", None),
    ],
)
def test_a_zip_keeps_three_digits_unless_few_people_live_there(text: str, digits: str | None):
    assert zip3(text) == digits


def test_no_area_that_hhs_lists_by_the_census_of_2000_is_ever_shown():
    areas = data_lines("restricted_zip3_2000.txt")
    assert len(areas) == 17
    assert all(zip3(f"{area}01") == "000" for area in areas)


def test_no_area_of_20000_people_or_fewer_by_the_census_of_2020_is_ever_shown():
    """HRSA's list of 18 areas by the 2020 census (UDS+ FAQ, March 2024), and the sums over the census's own counts."""
    listed = "036 059 102 202 203 204 205 369 556 692 753 772 821 823 878 879 884 893".split()  # noqa: SIM905
    people = dict(line.split("\t") for line in data_lines("zip3_population.tsv"))
    assert sorted(area for area, count in people.items() if int(count) <= 20_000) == listed
    assert all(zip3(f"{area}01") == "000" for area in listed)
    assert sum(map(int, people.values())) == 334_726_586  # of 334,735,155 in the 50 states, DC and Puerto Rico


@pytest.mark.parametrize(
    "area",
    # Of the army and the fleet, of one government office or firm, in no use, on islands that the census counts apart.
    ["090", "093", "098", "340", "962", "966", "055", "192", "311", "375", "399", "885", "942", "000", "008", "969"],
)
def test_an_area_that_the_census_does_not_know_is_never_shown(area: str):
    assert zip3(f"{area}01") == "000"


def test_every_other_area_is_shown():
    shown = [area for area in (f"{number:03}" for number in range(1, 1000)) if zip3(f"{area}01") == area]
    assert len(shown) == 871
    assert {"100", "430", "576", "831"}.intersection(shown) == {"100", "430", "576"}


def data_lines(name: str) -> list[str]:
    lines = (resources.files("deid_platform.redaction") / "data" / name).read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_five_digits_in_another_language_are_no_american_zip():
    assert zip3("20121", language="it") is None
    assert zip3("20121", language="en-US") == "201"

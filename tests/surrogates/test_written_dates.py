"""Dates inside texts, moved and written as they were."""

import re
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deid_platform.lexicon.month_names import LANGUAGES
from deid_platform.surrogates import written_dates
from deid_platform.surrogates.date_order import DateOrder, DateWriting

WRITTEN = date(2019, 4, 2)
MONTH_FIRST = DateWriting(DateOrder.MONTH_FIRST)
MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
WEEKS = st.integers(-52, 52).filter(bool)
DAYS = st.dates(min_value=date(1930, 1, 1), max_value=date(2040, 1, 1))


def shift_text(text: str, days: int, *, language: str = "en", **of_note: object) -> str | None:
    """As a site that says that its notes in English have the month first."""
    said = MONTH_FIRST if language == "en" else DateWriting()
    return written_dates.shift_text(text, days, language=language, **{"writing": said, **of_note})  # type: ignore[arg-type]


# Ways of writing that lose nothing when they are read again.
WAYS = {
    "iso": lambda d: d.isoformat(),
    "slashed": lambda d: f"{d.month}/{d.day}/{d.year}",
    "compact": lambda d: f"{d:%Y%m%d}",
    "timestamp": lambda d: f"{d.isoformat()}T07:45:00Z",
    "long": lambda d: f"{MONTHS[d.month - 1]} {d.day}, {d.year}",
    "weekday": lambda d: f"{d:%A}, {MONTHS[d.month - 1]} {d.day}, {d.year}",
    "british": lambda d: f"{d.day} {MONTHS[d.month - 1].upper()} {d.year}",
    "hyphen": lambda d: f"{d.day:02d}-{MONTHS[d.month - 1][:3].upper()}-{d.year}",
}


@pytest.mark.parametrize(
    ("text", "ten_weeks_back", "thirty_weeks_on"),
    [
        # Numbers: order, separators and the length of the year stay; zeros go by the shape.
        ("3/4/2019", "12/24/2018", "9/30/2019"),
        ("03/04/2019", "12/24/2018", "9/30/2019"),
        ("3/4/19", "12/24/18", "9/30/19"),
        ("3-4-2019", "12-24-2018", "9-30-2019"),
        ("3 / 4 / 2019", "12 / 24 / 2018", "9 / 30 / 2019"),
        ("31/12/2019", "22/10/2019", "28/07/2020"),
        ("2019-03-04", "2018-12-24", "2019-09-30"),
        ("2019/3/4", "2018/12/24", "2019/09/30"),
        ("20190304", "20181224", "20190930"),
        ("03042019", "12242018", "09302019"),
        ("3//4/2019", "12//24/2018", "9//30/2019"),
        ("2/29/2020", "12/21/2019", "9/26/2020"),
        # The time of day stays.
        ("2019-03-04T10:15:00Z", "2018-12-24T10:15:00Z", "2019-09-30T10:15:00Z"),
        ("3/4/2019 10:15 AM", "12/24/2018 10:15 AM", "9/30/2019 10:15 AM"),
        ("20190304101500", "20181224101500", "20190930101500"),
        # Names of months: length, case, full stop, ordinal.
        ("March 4, 2019", "December 24, 2018", "September 30, 2019"),
        ("MARCH 4TH, 2019", "DECEMBER 24TH, 2018", "SEPTEMBER 30TH, 2019"),
        ("Sep. 5th, 2019", "Jun. 27th, 2019", "Apr. 2nd, 2020"),
        ("Sept. 5th, 2019", "Jun. 27th, 2019", "Apr. 2nd, 2020"),
        ("4 Mar 2019", "24 Dec 2018", "30 Sep 2019"),
        ("04-MAR-2019", "24-DEC-2018", "30-SEP-2019"),
        ("4Mar2019", "24Dec2018", "30Sep2019"),
        ("Mar. 14", "Jan. 3", "Oct. 10"),
        ("2019-Mar-14", "2019-Jan-03", "2019-Oct-10"),
        ("March 3 rd", "December 23 rd", "September 29 th"),
        ("4th of March 2019", "24th of December 2018", "30th of September 2019"),
        ("March ninth, 2019", "December twenty-ninth, 2018", "October fifth, 2019"),
        ("Monday, March 4, 2019", "Monday, December 24, 2018", "Monday, September 30, 2019"),
        # Without a year: the one that puts it next to the note.
        ("3/28", "1/17", "10/24"),
        ("March 4th", "December 24th", "September 30th"),
        ("Mon 3/4", "Mon 12/24", "Mon 9/30"),
        ("the 9th", "the 29th", "the 5th"),
        # Without a day: at the precision that it has.
        ("11/93", "9/93", "6/94"),
        ("10/2019", "8/2019", "5/2020"),
        ("2019-10", "2019-08", "2020-05"),
        ("March 2019", "January 2019", "October 2019"),
        ("Mar '19", "Jan '19", "Oct '19"),
        ("2019", "2019", "2020"),
        ("circa 2019", "circa 2019", "circa 2020"),
        ("the 1990s", "the 1990s", "the 1990s"),
        ("Monday", "Monday", "Monday"),
        # Ranges.
        ("2/14-2/17", "12/6-12/9", "9/12-9/15"),
        ("2/14/19 - 2/17/19", "12/6/18 - 12/9/18", "9/12/19 - 9/15/19"),
        ("12/30-1/2", "10/21-10/24", "7/28-7/31"),
        ("March 3-5, 2019", "December 23-25, 2018", "September 29-October 1, 2019"),
        ("3-5 March 2019", "23-25 December 2018", "29 September-1 October 2019"),
        ("March 3rd to 5th", "December 23rd to 25th", "September 29th to October 1st"),
        ("March 3, 2019 to April 5, 2019", "December 23, 2018 to January 25, 2019",
         "September 29, 2019 to November 1, 2019"),
        ("March-April 2019", "January-February 2019", "October-November 2019"),
        ("Mar 14-Apr 16", "Jan 3-Feb 5", "Oct 10-Nov 12"),
        ("3/14-19", "1/3-8", "10/10-15"),
        ("3/9-14", "12/29-1/3", "10/5-10"),
        ("8/1--8/2", "5/23--5/24", "2/27--2/28"),
        ("May 14-16", "March 5-7", "December 10-12"),
        ("2018-2019", "2018-2019", "2019-2020"),
        (" 3/4/2019 ", " 12/24/2018 ", " 9/30/2019 "),
    ],
)  # fmt: skip
def test_a_date_moves_and_is_written_as_it_was(text: str, ten_weeks_back: str, thirty_weeks_on: str):
    assert shift_text(text, -70, note_date=WRITTEN) == ten_weeks_back
    assert shift_text(text, 210, note_date=WRITTEN) == thirty_weeks_on


@pytest.mark.parametrize(
    ("language", "text", "moved"),
    [
        ("it", "4 marzo 2019", "24 dicembre 2018"),
        ("it", "1° marzo 2019", "21 dicembre 2018"),
        ("it", "lunedì 4 marzo 2019", "lunedì 24 dicembre 2018"),
        ("it", "agosto del 2011", "giugno del 2011"),
        ("it", "04/03/2019", "24/12/2018"),
        ("it", "4-9 marzo 2019", "24-29 dicembre 2018"),
        ("es", "4 de marzo de 2019", "24 de diciembre de 2018"),
        ("en", "4 de marzo de 2019", "24 de diciembre de 2018"),  # the note's language is not always right
        ("en", "4 marzo 2019", "24 dicembre 2018"),
        ("es", "15-ene-2019", "06-nov-2018"),
        ("fr", "4 août 2019", "26 mai 2019"),
        ("fr", "1er mars 2019", "21 décembre 2018"),
        ("fr", "DÉCEMBRE 2019", "OCTOBRE 2019"),
        ("fr", "11 aout 2019", "2 juin 2019"),
        ("de", "4. März 2019", "24. Dezember 2018"),
        ("de", "04.03.", "24.12."),
        ("en-GB", "4/3/2019", "24/12/2018"),
        ("en", "4/3/2019", "1/23/2019"),
        ("en", "4/13/2019", "2/2/2019"),
        ("it", "4/13/2019", "2/2/2019"),  # impossible with the day first
    ],
)
def test_the_language_decides_on_words_and_on_which_number_is_the_day(language: str, text: str, moved: str):
    assert shift_text(text, -70, language=language, note_date=WRITTEN) == moved


@pytest.mark.parametrize(
    "text",
    [
        *("Christmas", "Thanksgiving Day", "4th of July", "Ramadan", "New Year's Eve"),
        *("323/20", "2/30/2019", "30/13/2019", "13/2019", "0/0/2019", "3/4/22019", "2/29/2019"),
        *("12345", "Orrin", "3/4/2019 3/5/2019", "week of 3/4", "POD 3", "10:15", "", " ", "March 3 to Orrin"),
        *(
            "spring 2019",
            "early 2019",
            "late March",
            "early March 2019",
            "the end of 2019",
            "3/9/2019-3/4/2019",
            "x" * 5000,
            "3/" * 60,
            "１/２/2019",
        ),
    ],
)
def test_a_holiday_and_what_cannot_be_read_have_no_shifted_form(text: str):
    assert shift_text(text, 70, note_date=WRITTEN) is None


def test_a_day_alone_needs_the_note_to_be_dated():
    assert shift_text("the 9th", 70) is None
    assert shift_text("3/28", 70) == "6/6"
    assert shift_text("2/29", 7) == "3/7"


@pytest.mark.parametrize(
    ("text", "beside", "moved"),
    [
        ("4 May 2019", (), "23 February 2019"),
        ("4 May 2019", ("1 Jun 2019", "4 May 2019"), "23 Feb 2019"),
        ("4 May 2019", ("May 2018", "3 September 2019"), "23 February 2019"),
        ("12/20", (), "10/11"),
        ("2018-12-10", ("3/4/2019",), "2018-10-01"),
        ("May 14-16", ("Jan 3",), "Mar 5-7"),
        ("Sept 14", (), "Jul 6"),
    ],
)
def test_what_one_date_does_not_show_of_the_writers_habits_the_others_do(
    text: str, beside: tuple[str, ...], moved: str
):
    assert shift_text(text, -70, note_date=WRITTEN, beside=beside) == moved


HOUSES = {
    "no zeros": lambda d: f"{d.month}/{d.day}/{d.year}",
    "zeros": lambda d: f"{d:%m/%d/%Y}",
    "dashes": lambda d: f"{d:%m-%d-%y}",
    "day first": lambda d: f"{d.day}.{d.month}.{d.year}",
    "iso": lambda d: d.isoformat(),
    "short iso": lambda d: f"{d.year}/{d.month}/{d.day}",
    "military": lambda d: f"{d.day}-{MONTHS[d.month - 1][:3]}-{d.year}",
    "words": lambda d: f"{MONTHS[d.month - 1]} {d.day:02d}, {d.year}",
    "days": lambda d: f"{d.month}/{d.day}",
}


@settings(max_examples=20)
@given(st.dates(min_value=date(1990, 1, 1), max_value=date(2030, 1, 1)), WEEKS, st.sampled_from(sorted(HOUSES)))
def test_no_shift_can_be_ruled_out_by_the_way_a_shifted_date_is_written(day: date, weeks: int, house: str):
    write = HOUSES[house]
    language = "de" if house == "day first" else "en"
    seen = shift_text(write(day), 7 * weeks, note_date=day, language=language)
    shifted = day + timedelta(weeks=weeks)
    for candidate in filter(bool, range(-52, 53)):
        original = shifted - timedelta(weeks=candidate)
        again = shift_text(write(original), 7 * candidate, note_date=original, language=language)
        assert again == seen, "a candidate that would have been written otherwise is none"


@pytest.mark.parametrize(
    ("text", "beside", "moved"),
    [
        # By themselves: January 2019 and 2019, as the middle moves.
        ("March 2019", (), "January 2019"),
        ("March 2019", ("3/28/2019",), "January 2019"),
        ("March 2019", ("3/2/2019",), "December 2018"),
        ("3/2019", ("2019-03-02", "3/5/2018"), "12/2018"),
        ("2019", ("3/4/2019",), "2018"),
        ("2019", ("Feb 4, 2019", "Oct 3, 2019"), "2019"),  # of two, the one next to the middle
        ("2019", ("Feb 2019",), "2018"),
        ("2019", ("Feb 2019", "Nov 3, 2019"), "2019"),  # a full date before a month
        ("2019", ("3/4/2018", "2/30/2019", "2019"), "2019"),
        ("about 2019", ("3/4/2019",), "about 2018"),
    ],
)
def test_a_date_without_a_day_moves_with_a_full_one_of_its_month_or_year(
    text: str, beside: tuple[str, ...], moved: str
):
    assert shift_text(text, -70, note_date=WRITTEN, beside=(text, *beside)) == moved


@pytest.mark.parametrize(("text", "weeks", "moved"), [("2/32", -20, None), ("11/99", 20, None), ("2/33", -20, "9/32")])
def test_a_month_of_a_year_that_would_be_read_as_a_day_has_no_shifted_form(text: str, weeks: int, moved: str | None):
    assert shift_text(text, 7 * weeks, note_date=WRITTEN) == moved


def test_no_spelling_stays_only_where_the_month_does():
    assert shift_text("Sept 5, 2019", 7) == "Sep 12, 2019" == shift_text("Oct 3, 2019", -21)


def test_with_anything_but_whole_weeks_no_weekday_is_made_false():
    assert shift_text("Monday, March 4, 2019", 3) is None
    assert shift_text("Monday", 3) is None
    assert shift_text("March 4, 2019", 3) == "March 7, 2019"


def test_a_month_and_year_is_no_day_of_a_range():
    assert shift_text("1/40-20", 14, note_date=WRITTEN) is None
    assert shift_text("1/20-24", 14, note_date=WRITTEN) == "2/3-7"


def test_where_the_calendar_ends_nothing_moves():
    assert shift_text("1800-01-02", -364) is not None
    assert shift_text("9999-12-30", 364) is None


@settings(max_examples=150)
@given(DAYS, WEEKS, st.sampled_from(sorted(WAYS)))
def test_full_dates_move_exactly_and_back_again(day: date, weeks: int, way: str):
    text, moved = WAYS[way](day), WAYS[way](day + timedelta(days=7 * weeks))
    assert shift_text(text, 7 * weeks, note_date=WRITTEN) == moved
    assert shift_text(moved, -7 * weeks, note_date=WRITTEN) == text


@settings(max_examples=150)
@given(DAYS, DAYS, WEEKS)
def test_intervals_between_full_dates_stay_exact_whatever_the_way_of_writing(one: date, two: date, weeks: int):
    written = [f"{d.month}/{d.day}/{d.year}" for d in (one, two)]
    moved = [shift_text(text, 7 * weeks, note_date=WRITTEN) for text in written]
    read = [date(y, m, d) for m, d, y in (map(int, text.split("/")) for text in moved)]
    assert read[1] - read[0] == two - one
    assert read[0].weekday() == one.weekday()


@settings(max_examples=200)
@given(st.from_regex(r"[0-9]{1,2}[/.-][0-9]{1,2}([/.-][0-9]{2,4})?", fullmatch=True), WEEKS, st.sampled_from(LANGUAGES))
def test_no_impossible_date_comes_out(text: str, weeks: int, language: str):
    moved = shift_text(text, 7 * weeks, language=language, note_date=WRITTEN)
    if moved is not None:
        numbers = [int(n) for n in re.findall("[0-9]+", moved)]
        assert shift_text(moved, 0, language=language, note_date=WRITTEN) is not None
        # Days of one month ("1/1-04") may come to lie in two, of which the second is then written too.
        assert len(numbers) - len(re.findall("[0-9]+", text)) in (0, 1)


@settings(max_examples=200)
@given(st.text(max_size=60), WEEKS)
def test_any_text_at_all_can_be_asked(text: str, weeks: int):
    moved = shift_text(text, 7 * weeks, note_date=WRITTEN)
    assert moved is None or moved.strip()

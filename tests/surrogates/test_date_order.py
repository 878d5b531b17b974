"""Which of two numbers is the day: what decides, in which order, and that intervals stay exact."""

import re
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.surrogates.date_order import EITHER, NOTHING_SAID, DateOrder, DateWriting, possible_orders
from deid_platform.surrogates.dates import note_shift_days
from deid_platform.surrogates.keyed import Surrogates

KEYRING = Keyring(b"a key of sixteen bytes and more...", site="test")
DMY, MDY = DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST
DATE = re.compile(r"[0-9]+[/.][0-9]+(?:[/.][0-9]+)?")


def moved(text: str, language: str = "en", written: date | None = None, said: DateWriting = NOTHING_SAID) -> list[str]:
    """The dates of a text after the shift of its patient; a tag for each that cannot be read."""
    note = Note("n", text, "p1", note_date=written, language=language)
    spans = [Span(*match.span(), Label.DATE) for match in DATE.finditer(text)]
    return [made or "[DATE]" for made in Surrogates(KEYRING, None, writing=said).replace(note, spans)]


def days(texts: list[str], order: DateOrder) -> list[date]:
    read = [tuple(map(int, re.split("[/.]", text))) for text in texts]
    return [date(y, b, a) if order is DMY else date(y, a, b) for a, b, y in read]


@pytest.mark.parametrize("language", ["en", "und", "", "it"])
def test_a_day_over_twelve_decides_for_the_whole_note_whatever_its_language(language: str):
    """The note that came out as 28/12/2021 and 3/5/2022: an interval of 126 days in the place of 8."""
    texts = moved("Operated 29/03/2022. Reviewed 06/04/2022, day 8", language)
    operated, reviewed = days(texts, DMY)
    assert (reviewed - operated).days == 8
    assert operated - date(2022, 3, 29) == timedelta(days=note_shift_days(KEYRING, None, Note("n", "", "p1")))
    assert all(re.fullmatch(r"\d\d/\d\d/\d{4}", text) for text in texts), "zeros are kept where the day comes first"


@pytest.mark.parametrize(
    ("dates", "language", "written", "said", "orders"),
    [
        # A day over 12.
        (("29/03/2022", "06/04/2022"), "en", None, None, (DMY,)),
        (("03/29/2022", "06/04/2022"), "de", None, DMY, (MDY,)),
        (("14/3", "6/4"), "en-us", None, MDY, (DMY,)),
        (("2/14-2/17", "3/4"), "en", None, None, (MDY,)),
        (("13/04/2022", "04/13/2022", "05/06/2022"), "en", date(2022, 6, 5), MDY, EITHER),
        # A date with dots.
        (("04.03.2022", "06/04/2022"), "en", date(2022, 6, 4), MDY, (DMY,)),
        (("am 04.03.",), "en", None, None, (DMY,)),
        (("4.3",), "en", None, None, EITHER),
        # The note's own date.
        (("06/04/2022", "05/03/2022"), "en", date(2022, 4, 6), None, (DMY,)),
        (("06/04/22", "05/03/2022"), "it", date(2022, 6, 4), None, (MDY,)),
        (("06/04/2021",), "en", date(2022, 4, 6), MDY, (MDY,)),  # another year
        (("05/03/2022", "06/04/2022"), "en", date(2022, 4, 6), None, (DMY,)),
        (("05/03/2022", "06/04/2022"), "en", date(2022, 4, 6), MDY, EITHER),  # by chance, or not
        (("04/04/2022", "05/03/2022"), "en", date(2022, 4, 4), None, EITHER),
        (("06/04/2022", "04/06/2022"), "en", date(2022, 4, 6), MDY, EITHER),
        # The language's region.
        (("06/04/2022",), "en-gb", None, MDY, (DMY,)),
        (("06/04/2022",), "es-us", None, DMY, (MDY,)),
        (("06/04/2022",), "en_US", None, DMY, (MDY,)),
        # The site and the language.
        (("06/04/2022",), "en", None, DMY, (DMY,)),
        (("06/04/2022",), "en", None, MDY, (MDY,)),
        (("06/04/2022",), "und", None, MDY, (MDY,)),
        (("06/04/2022",), "it", None, None, (DMY,)),
        (("06/04/2022",), "it", None, MDY, EITHER),
        (("06/04/2022",), "en-ca", None, None, EITHER),
        (("06/04/2022",), "en", None, None, EITHER),
        # No evidence: year first, compact, a time, a month and a year.
        (("2022-13-04", "20220413", "10/2022", "06/04/2022"), "en", None, None, EITHER),
    ],
)  # fmt: skip
def test_what_decides(
    dates: tuple[str, ...],
    language: str,
    written: date | None,
    said: DateOrder | None,
    orders: tuple[DateOrder, ...],
):
    assert set(possible_orders(dates, language.casefold(), written, said)) == set(orders)


def test_where_nothing_decides_what_can_be_read_both_ways_becomes_a_tag():
    assert moved("seen 06/04/2022 and 6/4") == ["[DATE]", "[DATE]"]
    other = moved("13/04/2022, 04/13/2022, 05/06/2022, 2022.04.13")
    assert other[2] == "[DATE]"
    assert "[DATE]" not in other[:2], "what can be read one way alone moves all the same"


def test_dates_with_dots_and_others_may_differ():
    texts = moved("14.03.2022, 05.06.2022, 3/14/2022, 5/6/2022")
    assert "[DATE]" not in texts
    (one, other), (third, last) = days(texts[:2], DMY), days(texts[2:], MDY)
    assert other - one == date(2022, 6, 5) - date(2022, 3, 14)
    assert last - third == date(2022, 5, 6) - date(2022, 3, 14)


@pytest.mark.parametrize(
    ("said", "shape"),
    [
        (DateWriting(MDY), r"[1-9]\d?/[1-9]\d?/\d{4}"),
        (DateWriting(MDY, zeros=True), r"\d\d/\d\d/\d{4}"),
        (DateWriting(DMY), r"\d\d/\d\d/\d{4}"),
        (DateWriting(DMY, zeros=False), r"[1-9]\d?/[1-9]\d?/\d{4}"),
    ],
)
@pytest.mark.parametrize("text", ["03/04/2019", "3/4/2019", "12/11/2019"])
def test_zeros_go_by_the_site_and_never_by_the_note(said: DateWriting, shape: str, text: str):
    assert all(re.fullmatch(shape, made) for made in moved(" ".join([text] * 2), said=said))


@settings(max_examples=60)
@given(
    st.lists(st.dates(date(2000, 1, 1), date(2030, 1, 1)), min_size=2, max_size=5),
    st.sampled_from(EITHER),
    st.booleans(),
    st.sampled_from(["en", "und", "de"]),
)
def test_intervals_are_exact_or_there_is_a_tag(true: list[date], order: DateOrder, said: bool, language: str):
    way = "%d/%m/%Y" if order is DMY else "%m/%d/%Y"
    site = DateWriting(order if said else None)
    texts = moved(" ".join(day.strftime(way) for day in true), "en" if said else language, said=site)
    shown = [(day, text) for day, text in zip(true, texts, strict=True) if text != "[DATE]"]
    if language == "de" and order is MDY and not said and all(day.day <= 12 for day in true):
        return  # a note that says German and is not written so
    now = days([text for _, text in shown], order)
    assert len({new - old for new, (old, _) in zip(now, shown, strict=True)}) <= 1
    assert not said or len(shown) == len(true)

"""The leak check under a shift: weeks, quarters, zones, named days and years in words that were left."""

from __future__ import annotations

import pytest

from deid_platform.labels import Label
from deid_platform.leakcheck import LeakCheck
from deid_platform.notes import Note, Span, Topics
from deid_platform.redaction.policy import load_policy
from tests.redaction.test_parts_of_years import MISSES

CHECKS = {name: LeakCheck.of(Topics(), load_policy(name)) for name in ("surrogate", "limited_dataset")}


def left(text: str, policy: str = "surrogate") -> set[str]:
    return {leak.kind.value for leak in CHECKS[policy].check(Note("n", text), (), text, [], lengths=[])}


@pytest.mark.parametrize(
    "text",
    [
        *("seen in ISO week 9", "in epi week 12,", "MMWR week 3", "week 9 of the year", "wk 9 of 2018", "in der KW 9"),
        *("in der 9. KW", "Kalenderwoche 9", "sample 2018-W09", "settimana 9 dell'anno", "semana epidemiológica 9"),
        *("day 63 of the year", "the 63rd day of 2018", "julian day 063", "Tag 63 des Jahres"),
        *(
            "in Q1.",
            "since Q3, she",
            "the first quarter of the year",
            "by the end of the first quarter.",
            "im ersten Quartal",
        ),
        *("primo trimestre dell'anno", "premier trimestre de l'année"),
        *("week nine of 2022", "week no. 9 of 2022", "wk 9 '22", "week 9 of '22", "semaine 12/2022"),
        *("settimana 12/2022", "Semaine n° 12/2022", "premier trimestre 2022", "II trimestre 2021"),
        *("2e trimestre 2021", "primer trimestre 2022", "first quarter 2022"),
        *("at 14:05 EST", "2:05 pm CEST", "at 14:05:33+01:00", "T14:05-05:00", "UTC+2"),
        *("2:05 P EDT", "21:05 HRS EST", "EDT 14:05", "at 14:05 est.", "14h05 +0200", "14:05 GMT+1"),
        *("the clocks went back", "daylight savings", "Zeitumstellung", "cambio dell'ora"),
        *("on Election Night", "since All Souls", "at Easter", "a Ferragosto", "zu Weihnachten", "en Nochebuena"),
        *("Halloween party", "Valentine dinner", "New Year's party", "Christmas lights", "trick-or-treating"),
        *("the last day of the year", "the first day of spring", "the longest day of the year"),
    ],
)
def test_what_tells_of_a_time_of_the_year_leaks_beside_shifted_dates_alone(text: str):
    assert left(text) == {"date-shape"}
    assert left(text, "limited_dataset") == set()


@pytest.mark.parametrize(
    "text",
    ["in nineteen ninety-eight", "since twenty eighteen", "nel duemiladiciotto", "en dos mil dieciocho",
     "neunzehnhundertachtundneunzig", "zweitausendachtzehn"],
)  # fmt: skip
def test_a_year_in_words_leaks_as_one_in_digits_does(text: str):
    assert left(text) == {"lone-year"}


@pytest.mark.parametrize(
    "text", [*MISSES, "Christmas disease", "on Easter Island", "a Christmas tree pattern", "first day of summer camp"]
)
def test_what_only_looks_so_holds_no_note_back(text: str):
    assert left(text) == set()


@pytest.mark.parametrize(
    "before",
    [
        "the week prior, in ",
        "week 3 (",
        "last week seen in ",
        "first half ",
        "primo trimestre (",
        "in the third quarter, ",
    ],
)
def test_a_date_behind_what_is_no_part_of_a_year_holds_no_note_back(before: str):
    text, shown = f"{before}3/14/2022)", f"{before}2/7/2021)"
    spans = [Span(len(before), len(text) - 1, Label.DATE)]
    assert CHECKS["surrogate"].check(Note("n", text), (), shown, spans, lengths=[8]) == ()


@pytest.mark.parametrize("put_in", ["2018-12-24T14:05:00+01:00", "12/24/2018 14:05 EST"])
def test_a_zone_in_a_shifted_date_leaks(put_in: str):
    text = "at 2019-03-04T14:05:00+01:00."
    spans = [Span(3, len(text) - 1, Label.DATE)]
    found = CHECKS["surrogate"].check(Note("n", text), (), f"at {put_in}.", spans, lengths=[len(put_in)])
    assert "date-shape" in {leak.kind.value for leak in found}


@pytest.mark.parametrize(
    ("before", "own"),
    [
        ("VIS edition date: ", False),
        ("Vaccine Information Statement version ", False),
        ("Form 12 (Rev. ", False),
        ("template updated ", False),
        ("EUA issued ", False),
        ("approved by the FDA on ", False),
        ("since the pandemic began in ", False),
        ("lot EW0150 exp ", False),
        ("VIS: ", False),
        ("Influenza VIS (", False),
        ("VIS Tdap (", False),
        ("Vaccine Information Statement ", False),
        ("EUA ", False),
        ("FORM 1500 (", False),
        ("Revisione 3 del ", False),
        ("CTCAE v5.0 published ", False),
        ("Confinement du ", False),
        ("privacy practices (effective ", False),
        ("Vaccine | Date given | VIS date\nTdap | today | ", False),
        ("Vaccine | VIS date | Date given\nTdap | old | ", True),
        ("VIS given ", True),
        ("VIS reviewed (", True),
        ("scheduled for EUA ", True),
        ("form (", True),
        ("during the pandemic he was seen on ", True),
        ("expires ", True),
        ("revision ", True),
    ],
)
def test_a_date_that_is_the_same_for_everybody_leaks_where_it_was_moved(before: str, own: bool):
    text, put_in = f"{before}08/06/2021.", "10/12/2020"
    spans = [Span(len(before), len(text) - 1, Label.DATE)]
    for shown, leaks in ((put_in, not own), ("[DATE]", False)):
        released = f"{before}{shown}."
        found = CHECKS["surrogate"].check(Note("n", text), (), released, spans, lengths=[len(shown)])
        assert {leak.kind.value for leak in found} == ({"date-shape"} if leaks else set())


@pytest.mark.parametrize(
    ("text", "leaks"), [("a firefighter on 9/11.", True), ("post 9/11 veteran", True), ("seen on 9/11.", False)]
)
def test_september_11_without_a_year_leaks_beside_who_was_there(text: str, leaks: bool):
    start = text.index("9/11")
    released = text.replace("9/11", "2/3")
    found = CHECKS["surrogate"].check(Note("n", text), (), released, [Span(start, start + 4, Label.DATE)], lengths=[3])
    assert {leak.kind.value for leak in found} == ({"date-shape"} if leaks else set())


def test_september_11_leaks_where_it_was_moved():
    text = "on September 11, 2001."
    spans = [Span(3, len(text) - 1, Label.DATE)]
    shown = "October 2, 2000"
    found = CHECKS["surrogate"].check(Note("n", text), (), f"on {shown}.", spans, lengths=[len(shown)])
    assert {leak.kind.value for leak in found} == {"date-shape"}


@pytest.mark.parametrize(
    ("pairs", "leaks"),
    [
        # The note that came out with an interval of 126 days in the place of 8.
        ((("29/03/2022", "28/12/2021"), ("06/04/2022", "3/5/2022")), True),
        ((("29/03/2022", "28/12/2021"), ("06/04/2022", "05/01/2022")), False),
        ((("3/29/2022", "12/28/2021"), ("4/6/2022", "1/5/2022"), ("2022-03-29", "2021-12-28")), False),
        ((("04/03/2022", "03/12/2021"), ("2022-03-29", "2021-12-28")), False),
        ((("04/03/2022", "01/02/2022"), ("2022-03-29", "2021-12-28")), False),
        ((("04/03/2022", "01/03/2022"), ("2022-03-29", "2021-12-28")), True),
        ((("2022-03-29", "2021-12-28"), ("2022-04-06", "2021-12-28")), True),
        # Dates with dots and others may differ; in both orders, what is read in one alone moves with the rest.
        ((("14.03.2022", "13.12.2021"), ("3/14/2022", "12/13/2021")), False),
        ((("13/04/2022", "12/01/2022"), ("04/13/2022", "1/12/2022")), False),
        ((("13/04/2022", "12/01/2022"), ("04/13/2022", "1/19/2022")), True),
        ((("March 2022", "December 2021"), ("3/4", "5/6")), False),
    ],
)
def test_all_dates_of_a_note_move_by_one_number_of_days(pairs: tuple[tuple[str, str], ...], leaks: bool):
    text, shown, spans = "", "", []
    for old, new in pairs:
        spans.append(Span(len(text), len(text) + len(old), Label.DATE))
        text, shown = f"{text}{old}; ", f"{shown}{new}; "
    lengths = [len(new) for _, new in pairs]
    found = CHECKS["surrogate"].check(Note("n", text), (), shown, spans, lengths=lengths)
    assert ("date-shape" in {leak.kind.value for leak in found}) is leaks

"""The roster beside other sources, and of topics that change; single lines are in `cases/roster.txt`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.topics.roster import date_forms
from deid_platform.notes import Note, Patient, Topics

Found = list[tuple[str, str]]


def test_a_patient_of_whom_nothing_is_known_has_no_roster(find: Callable[..., Found]) -> None:
    assert find("Zebulon Quarmby", patient="unheard of", name="roster", known=True) == []


@pytest.mark.parametrize("text", ["Exercised on the Bruce protocol", "Foley catheter in place"])
def test_the_roster_wins_over_clinical_recovery(text: str, find: Callable[..., Found]) -> None:
    assert find(text, patient="P3", known=True) != []
    assert find(text, patient="P1", known=True) == []


def test_a_full_name_of_common_words_is_found_in_capitals(find: Callable[..., Found]) -> None:
    assert find("WILL GREEN", patient="P2", known=True) == [("WILL GREEN", "PATIENT")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ms. Ostrander, formerly quarmby", [("Ostrander", "PATIENT"), ("quarmby", "PATIENT")]),
        ("Zebulon Quarmby was seen", [("Zebulon Quarmby", "PATIENT")]),
        ("call 555-0123 or 555-0188", [("555-0123", "PHONE"), ("555-0188", "PHONE")]),
        ("moved from 40 Crossbeak Rd", [("40 Crossbeak Rd", "STREET")]),
        ("to 7 quillfeather ln", [("7 quillfeather ln", "STREET")]),
        ("Harlow Falls 27599", [("Harlow Falls", "CITY"), ("27599", "ZIP")]),
        ("zq@example.org", [("zq@example.org", "EMAIL")]),
        ("ssn 900123456", [("900123456", "SSN")]),
    ],
)
@pytest.mark.parametrize("recipe", ["roster", "rules"])
def test_what_a_patient_was_called_and_where_they_lived_stays_hidden(
    recipe: str, text: str, expected: Found, later: Topics
) -> None:
    detector = DetectorSpec(recipe, later).build()
    spans = detector.detect([Note("n", text, patient_id="P1")])[0]
    assert [(text[s.start : s.end], s.label.value) for s in spans] == expected
    if recipe == "roster":
        assert detector.detect([Note("n", text, patient_id="P2")])[0] == ()


def test_a_number_of_today_stays_a_number_where_it_was_once_a_zip_code() -> None:
    topics = Topics.of([Patient("1", zip="27599")]).folded(Topics.of([Patient("1", mrn="27599")]))
    spans = DetectorSpec("roster", topics).build().detect([Note("n", "chart 27599", patient_id="1")])[0]
    assert [s.label.value for s in spans] == ["MEDICALRECORD"]


def test_a_birth_date_is_known_in_the_usual_writings() -> None:
    forms = date_forms(date(1950, 3, 4))
    for writing in (
        "3/4/1950",
        "03/04/50",
        "4/3/1950",
        "4.3.1950",
        "1950-03-04",
        "March 4, 1950",
        "4-Mar-50",
        "03041950",
    ):
        assert writing in forms

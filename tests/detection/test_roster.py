from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.topics.roster import date_forms
from deid_platform.notes import Note, Patient, Topics

Found = list[tuple[str, str]]

HITS = [
    # the rare name, in any case and in every part
    ("P1", "Zebulon is well", [("Zebulon", "PATIENT")]),
    ("P1", "QUARMBY, ZEBULON T.", [("QUARMBY, ZEBULON T.", "PATIENT")]),
    ("P1", "zebulon tait quarmby", [("zebulon tait quarmby", "PATIENT")]),
    ("P1", "Mr. Quarmby's leg", [("Quarmby", "PATIENT")]),
    ("P1", "Zebulon T. Quarmby was seen", [("Zebulon T. Quarmby", "PATIENT")]),
    # numbers and addresses in any writing
    ("P1", "cell 617.555.0123", [("617.555.0123", "PHONE")]),
    ("P1", "call 555-0123", [("555-0123", "PHONE")]),
    ("P1", "(617)555-0123", [("(617)555-0123", "PHONE")]),
    ("P1", "ssn 900123456", [("900123456", "SSN")]),
    ("P1", "MR 987654", [("987654", "MEDICALRECORD")]),
    ("P1", "MR 0098-7654", [("0098-7654", "MEDICALRECORD")]),
    ("P1", "zq@example.org", [("zq@example.org", "EMAIL")]),
    ("P1", "40 crossbeak rd", [("40 crossbeak rd", "STREET")]),
    ("P1", "of Harlow Falls 27599", [("Harlow Falls", "CITY"), ("27599", "ZIP")]),
    ("P1", "we r in harlow falls now", [("harlow falls", "CITY")]),
    ("P1", "moved off CROSSBEAK RD", [("CROSSBEAK RD", "STREET")]),
    ("P1", "moved off crossbeak rd", [("crossbeak rd", "STREET")]),
    ("P7", "lives in mobile with her son", [("mobile", "CITY")]),
    ("P7", "still on oak street, home on oak street", [("oak street", "STREET")]),
    ("P1", "born 3/4/50", [("3/4/50", "DATE")]),
    ("P1", "born 04-MAR-1950", [("04-MAR-1950", "DATE")]),
    ("P1", "born March 4th, 1950", [("March 4th, 1950", "DATE")]),
    ("P1", "born 1950-03-04", [("1950-03-04", "DATE")]),
    # accents and particles
    ("P4", "JOSE is here", [("JOSE", "PATIENT")]),
    ("P4", "Ms. Ibanez", [("Ibanez", "PATIENT")]),
    ("P4", "de la Cruz-Ibáñez", [("de la Cruz-Ibáñez", "PATIENT")]),
    # names that are common words, where they read as names
    ("P2", "Will denies pain.", [("Will", "PATIENT")]),
    ("P2", "I saw Will today", [("Will", "PATIENT")]),
    ("P2", "Green, Will", [("Green, Will", "PATIENT")]),
    ("P2", "Mr. Green called", [("Green", "PATIENT")]),
    ("P2", "MR. GREEN CALLED", [("GREEN", "PATIENT")]),
    ("P5", "Born denies any claudication", [("Born", "PATIENT")]),
    ("P5", "Max is feeling better", [("Max", "PATIENT")]),
    ("P6", "Ng reports pain", [("Ng", "PATIENT")]),
    # never given back as clinical
    ("P3", "Exercised on the Bruce protocol", [("Bruce", "PATIENT")]),
    ("P3", "Foley catheter in place", [("Foley", "PATIENT")]),
]

NEAR_MISSES = [
    ("P2", "will return in a week"),
    ("P7", "mobile in bed; phone is mobile"),
    ("P2", "Will return in a week"),
    ("P2", "PATIENT STABLE. WILL FOLLOW UP."),
    ("P2", "green sputum"),
    ("P5", "born at term"),
    ("P5", "max dose reached"),
    ("P4", "a la carte de novo"),
    ("P6", "ng tube in place"),
    ("P1", "Taits and Zebulonian"),
    ("P1", "MR 9876545"),
    ("P1", "275991"),
    ("P2", "Zebulon Quarmby"),
    (None, "Zebulon Quarmby"),
    ("unheard of", "Zebulon Quarmby"),
]


@pytest.mark.parametrize(("patient", "text", "expected"), HITS)
def test_the_note_s_own_patient_is_found(patient: str, text: str, expected: Found, find: Callable[..., Found]) -> None:
    assert find(text, patient=patient, name="roster", known=True) == expected


@pytest.mark.parametrize(("patient", "text"), NEAR_MISSES)
def test_common_words_and_other_people_are_not_the_patient(
    patient: str | None, text: str, find: Callable[..., Found]
) -> None:
    assert find(text, patient=patient, name="roster", known=True) == []


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

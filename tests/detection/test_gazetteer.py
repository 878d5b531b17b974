from __future__ import annotations

from collections.abc import Callable

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.gazetteer import institution_terms
from deid_platform.labels import Label
from deid_platform.notes import Note, Topics

Found = list[tuple[str, str]]

HITS = [
    ("GH8715 Sylvia Ndu MD", [("GH8715", "USERNAME"), ("Sylvia Ndu", "DOCTOR")]),
    ("NDU, SYLVIA", [("NDU, SYLVIA", "DOCTOR")]),
    ("sylvia ndu called", [("sylvia ndu", "DOCTOR")]),
    ("Sylvia  \n Ndu called", [("Sylvia  \n Ndu", "DOCTOR")]),
    ("seen at memorial place primary care today", [("memorial place primary care", "HOSPITAL")]),
    ("MEMPLCPC Patient Instructions", [("MEMPLCPC", "HOSPITAL")]),
    ("(memplcpc)", [("memplcpc", "HOSPITAL")]),
    ("WBFM visit", [("WBFM", "HOSPITAL")]),
    ("Westbrook Family Medicine Mebane", [("Westbrook Family Medicine Mebane", "HOSPITAL")]),
    ("other family: Zebulon Quarmby", [("Zebulon Quarmby", "PATIENT")]),
    ("Quarmby,Zebulon T.", [("Quarmby,Zebulon", "PATIENT")]),
    ("tel (617) 555 0123", [("(617) 555 0123", "PHONE")]),
    ("tel +1.617.555.0177", [("1.617.555.0177", "PHONE")]),
    ("chart 00987654.", [("00987654", "MEDICALRECORD")]),
    ("900 12 3456", [("900 12 3456", "SSN")]),
    ("mail ZQ@EXAMPLE.ORG", [("ZQ@EXAMPLE.ORG", "EMAIL")]),
    ("40 CROSSBEAK RD, APT 3", [("40 CROSSBEAK RD, APT 3", "STREET")]),
    ("Dr. May Brown", [("May Brown", "DOCTOR")]),
    ("JOSE\u0301 DE LA CRUZ-IBA\u0301N\u0303EZ", [("JOSE\u0301 DE LA CRUZ-IBA\u0301N\u0303EZ", "PATIENT")]),
    ("Jose de la Cruz-Ibanez", [("Jose de la Cruz-Ibanez", "PATIENT")]),
    ("in Harlow Falls", [("Harlow Falls", "CITY")]),
]

NEAR_MISSES = [
    "follow up with primary care",  # a facility of that very name is in the topics
    "transferred to the ICU",
    "Radiology Department",
    "may brown the wound edges",  # a provider May Brown is in the topics
    "Sylvia said nothing",  # single names are the roster's
    "wbfm",  # a short abbreviation in small letters
    "MEMPLCPCX and XMEMPLCPC",
    "100987654 and 009876545",
    "will green light the plan",
]


@pytest.mark.parametrize(("text", "expected"), HITS)
def test_terms_of_the_topics_are_found_however_they_are_written(
    text: str, expected: Found, find: Callable[..., Found]
) -> None:
    assert find(text, name="gazetteer", known=True) == expected


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_only_resembles_a_term_is_left(text: str, find: Callable[..., Found]) -> None:
    assert find(text, name="gazetteer", known=True) == []


def test_offsets_survive_characters_whose_lower_case_grows(find: Callable[..., Found]) -> None:
    assert find("İİİ ẞ Sylvia Ndu", name="gazetteer", known=True) == [("Sylvia Ndu", "DOCTOR")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sister Zebulon Quarmby, now Zebulon Ostrander", ["Zebulon Quarmby", "Zebulon Ostrander"]),
        ("tel (617) 555 0123 or 919.555.0188", ["(617) 555 0123", "919.555.0188"]),
        ("from 40 CROSSBEAK RD to 7 Quillfeather Lane", ["40 CROSSBEAK RD", "7 Quillfeather Lane"]),
        ("mail zq@example.org", ["zq@example.org"]),
        ("Quarmby or Ostrander alone", []),
    ],
)
def test_former_values_of_a_patient_are_found_in_everybody_s_notes(
    text: str, expected: list[str], later: Topics
) -> None:
    spans = DetectorSpec("gazetteer", later).build().detect([Note("n", text, patient_id="P2")])[0]
    assert [text[s.start : s.end] for s in spans] == expected


def test_former_values_are_among_the_institution_s_terms(later: Topics) -> None:
    assert {("zebulon quarmby", Label.PATIENT), ("zebulon ostrander", Label.PATIENT)} <= set(institution_terms(later))

"""The gazetteer, of topics that change and that share names; single lines are in `cases/gazetteer.txt`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.topics.terms import institution_terms
from deid_platform.labels import Label
from deid_platform.notes import Facility, Note, Provider, Topics

Found = list[tuple[str, str]]


def test_accents_may_be_written_apart_from_their_letters(find: Callable[..., Found]) -> None:
    written = "JOSE\u0301 DE LA CRUZ-IBA\u0301N\u0303EZ"
    assert find(written, name="gazetteer", known=True) == [(written, "PATIENT")]


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


@pytest.mark.parametrize(
    "name", ["Primary Care", "Family Medicine", "Cancer Center", "University Hospital", "Urgent Care East"]
)
def test_a_generic_name_is_nobody_s(name: str) -> None:
    assert list(institution_terms(Topics.of([], [], [Facility("F1", name)]))) == []


def test_the_label_says_whose_name_it_is_even_if_a_patient_shares_it(topics: Topics) -> None:
    shared = topics.folded(Topics.of([], [Provider("D7", "Ada", "Quarmby")]))
    text = "Ada Quarmby saw Zebulon Quarmby. Dr. Quarmby agreed; Mr. Quarmby too."
    spans = DetectorSpec("gazetteer", shared).build().detect([Note("n", text)])[0]
    assert [(text[s.start : s.end], s.label.value) for s in spans] == [
        ("Ada Quarmby", "DOCTOR"),
        ("Zebulon Quarmby", "PATIENT"),
        ("Quarmby", "DOCTOR"),
        ("Quarmby", "PATIENT"),
    ]


def test_clinical_recovery_may_give_back_what_only_part_of_a_name_says(topics: Topics) -> None:
    shared = topics.folded(Topics.of([], [Provider("D7", "Ada", "Babinski")], []))
    detector = DetectorSpec("rules", shared).build()
    assert detector.detect([Note("n", "Babinski sign negative")])[0] == ()
    assert [s.label.value for s in detector.detect([Note("n", "Dr. Babinski called")])[0]] == ["DOCTOR"]

from __future__ import annotations

from collections.abc import Callable

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.topics.gazetteer import institution_terms
from deid_platform.labels import Label
from deid_platform.notes import Facility, Note, Provider, Topics

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
    ("Quarmby,Zebulon T.", [("Quarmby,Zebulon T.", "PATIENT")]),
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
    # names in part, where something says that a person is meant
    ("Dr. Ndu agrees", [("Ndu", "DOCTOR")]),
    ("dr. ndu agrees", [("ndu", "DOCTOR")]),
    ("Mr. Quarmby's brother", [("Quarmby", "PATIENT")]),
    ("J. Quarmby signed", [("J. Quarmby", "PATIENT")]),
    ("her husband Quarmby", [("Quarmby", "PATIENT")]),
    ("Quarmby, RN", [("Quarmby", "DOCTOR")]),
    ("Dr. Brown agrees", [("Brown", "DOCTOR")]),
    ("paged Okonkwo at noon", [("Okonkwo", "DOCTOR")]),  # a provider's uncommon surname
    ("Chidi\nOkonkwo", [("Chidi\nOkonkwo", "DOCTOR")]),
    ("Tait Quarmby", [("Tait Quarmby", "PATIENT")]),
    ("Cruz, Jose", [("Cruz, Jose", "PATIENT")]),
    ("José Cruz", [("José Cruz", "PATIENT")]),
    # a colleague's surname that is a word, where colleagues are named
    ("Asked by Brown re the wound", [("Brown", "DOCTOR")]),
    ("Brown paged at noon", [("Brown", "DOCTOR")]),
    ("PCP Brown aware", [("Brown", "DOCTOR")]),
    ("discussed w/ dr brown", [("brown", "DOCTOR")]),
    ("D/w M. Brown", [("M. Brown", "DOCTOR")]),
    ("Report to Sylvia, bed 11", [("Sylvia", "DOCTOR")]),
    ("Sylvia from nursing called", [("Sylvia", "DOCTOR")]),
    ("as above.\n- Sylvia\n", [("Sylvia", "DOCTOR")]),
    ("@SylviaNdu please advise", [("SylviaNdu", "DOCTOR")]),
    (
        "Vee Reddy-De, MD; Reddy-De, Vee; V. Reddy-De",
        [("Vee Reddy-De", "DOCTOR"), ("Reddy-De, Vee", "DOCTOR"), ("V. Reddy-De", "DOCTOR")],
    ),
    ("Dictated by: Sylvia Ndu\nD: 08/05  T: 8/7", [("Sylvia Ndu", "DOCTOR")]),
    ("Sylvia Ndu, M.D.", [("Sylvia Ndu", "DOCTOR")]),
    # clinics: shortened, written out, with their generic part dropped
    ("WESTBROOK FAMILY MED MEBANE", [("WESTBROOK FAMILY MED MEBANE", "HOSPITAL")]),
    ("the Westbrook office", [("Westbrook", "HOSPITAL")]),
    ("St. Alder's Hosp called", [("St. Alder's Hosp", "HOSPITAL")]),
    ("Saint Alder's Hospital", [("Saint Alder's Hospital", "HOSPITAL")]),
    ("Coombe and Lark Pediatrics", [("Coombe and Lark Pediatrics", "HOSPITAL")]),
    # streets with and without suffix and unit, and numbers as dialled
    ("at 40 Crossbeak", [("40 Crossbeak", "STREET")]),
    ("40 crossbeak road #3", [("40 crossbeak road #3", "STREET")]),
    ("page 555-0177 or 617-555-0142", [("555-0177", "PHONE"), ("617-555-0142", "PHONE")]),
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
    "an okonkwo in small letters",
    "Quarmby and Foley",  # surnames of patients, with nothing to say so
    "Foley catheter, Bruce protocol",
    "E. coli and S. aureus",
    "Family Medicine, Cancer Center and the Main Hospital",
    "Mr. Carter will return",
    "40 mg, 40 Cross",
    "Brown sputum; X. Brown stool; by brown bag; dr may see",
    "5550177",  # seven digits without a separator
]


@pytest.fixture(scope="module")
def find_terms(topics: Topics) -> Callable[[str], Found]:
    """What the gazetteer finds, of topics with a few more people and places."""
    more = Topics.of(
        [],
        [
            Provider("D8", "Chidi", "Okonkwo", phone="617-555-0142"),
            Provider("D9", "Coli", "Coli"),
            Provider("D10", "Vee", "Reddy-De"),
        ],
        [
            Facility("F8", "St. Alder's Hospital"),
            Facility("F9", "Coombe & Lark Pediatrics"),
            Facility("F10", "Main Hospital"),
        ],
    )
    detector = DetectorSpec("gazetteer", topics.folded(more)).build()

    def _find(text: str) -> Found:
        return [(text[s.start : s.end], s.label.value) for s in detector.detect([Note("n", text)])[0]]

    return _find


@pytest.mark.parametrize(("text", "expected"), HITS)
def test_terms_of_the_topics_are_found_however_they_are_written(
    text: str, expected: Found, find_terms: Callable[[str], Found]
) -> None:
    assert find_terms(text) == expected


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_only_resembles_a_term_is_left(text: str, find_terms: Callable[[str], Found]) -> None:
    assert find_terms(text) == []


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

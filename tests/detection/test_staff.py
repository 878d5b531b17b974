from __future__ import annotations

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.staff import initials_of, name_initials, staff_initials
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

TABLE = "Time | BP | Pain | Init\n10:23 | 133/79 | 0 | {}\n18:54 | 129/73 | 78 | CC/KR\nContact | someone"

HITS = [
    # signatures
    ("Will return in a week.\n- KR\n", ["KR"]),
    ("Will return in a week. - BY", ["BY"]),
    ("Will return in a week.\n\n- CC\n12/8/2024", ["CC"]),
    ("/s/ KR\n", ["KR"]),
    ("Slept well. (KR)", ["KR"]),
    ("Slept well. /KR", ["KR"]),
    ("Line placed by KR", ["KR"]),
    ("RN: KR", ["KR"]),
    ("AS LPN\n", ["AS"]),
    ("- DC CMA\r\nnext", ["DC"]),
    ("Report to AM, RN. Bed is low.", ["AM"]),
    ("(AM) DAMIANO QUILL, MD\n", ["AM"]),
    # who dictated and who typed
    ("Plan as above.\n\nKR:dc\n", ["KR", "dc"]),
    ("PB/FV\ncc: chart", ["PB", "FV"]),
    ("Plan as above.\n\nST/SM\n", ["ST", "SM"]),
    ("JS/ab 01/02/2024", ["JS", "ab"]),
    ("D: JS T: ab", ["JS", "ab"]),
    ("Dictated: Iwo Quill. Transcribed: sa\n", ["sa"]),
    ("Typed by: PW", ["PW"]),
    # charting
    ("12:26 Handoff AM to CC.", ["AM", "CC"]),
    ("Technologist AM, room 4.", ["AM"]),
    ("Technologist | KR |", ["KR"]),
    ("witnessed by AM", ["AM"]),
    (TABLE.format("AM"), ["AM", "CC", "KR"]),
    (TABLE.format("AM").replace("|", "\t"), ["AM", "CC", "KR"]),
]

NEAR_MISSES = [
    "PMH:\n- MI\n- DM\n- KX\n",
    "- CT abdomen\n",
    "PT/OT\n",
    "NC/AT\n",
    "Head is normal.\n\nNC/AT\n\nNeck",
    "Vital signs.\n\nBP/HR\n",
    "CC: BPH\n",
    "ED RN\n",
    "12:00 Handoff ED to ICU",
    "Report to ED, RN aware",
    "D: 08/05  T: 8/7",
    "Transcribed: by",
    "Dictated: MD",
    "seen per GI and by ID; AM labs; PM dose",
    "Time | BP | HR\n10:23 | AM | PM\n",
    "signed by RN",
    "read by CT; seen by GI; RN: AM",
    "Slept well. (PT)",
    "KR is a protein",
]


def _found(text: str, known: frozenset[str] = frozenset()) -> list[str]:
    spans = sorted(set(staff_initials(text, known, "patterns:staff-initials")), key=lambda s: s.start)
    assert all(s.label is Label.DOCTOR for s in spans)
    return [text[s.start : s.end] for s in spans]


@pytest.mark.parametrize(("text", "expected"), HITS)
def test_initials_are_found_where_staff_writes_them(text: str, expected: list[str]) -> None:
    assert _found(text) == expected


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_a_clinic_abbreviates_is_no_colleague(text: str) -> None:
    assert _found(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("done per KR", ["KR"]),
        ("KR paged at noon", ["KR"]),
        ("KR\n", ["KR"]),
        ("AM paged", []),
        ("BP/AM\n", ["BP", "AM"]),
    ],
)
def test_initials_of_those_whom_the_note_names_need_less(text: str, expected: list[str]) -> None:
    known = frozenset({"kr", "am"})
    assert _found(text, known) == expected
    assert _found(text) == []


def test_among_very_many_people_to_have_these_initials_says_nothing() -> None:
    everybody = frozenset(a + b for a in "abcdefghijklmnopqrstuvwxyz" for b in "abcdefghijklmnopqrstuvwxyz")
    assert _found("done per KR", everybody) == []


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Kristina Quill", ["kq"]),
        ("Quill, Kristina", ["kq"]),
        ("Ana Liz Quill", ["aq", "alq"]),
        ("Özgür de la Quill", ["oq"]),
        ("Quill", []),
    ],
)
def test_a_full_name_gives_its_initials(name: str, letters: list[str]) -> None:
    assert list(name_initials(name)) == letters


def test_only_staff_among_the_people_of_a_note_lends_initials() -> None:
    text = "Kristina Quill and Zebulon Quarmby"
    people = [Span(0, 14, Label.DOCTOR, 0.9, "x"), Span(19, 34, Label.PATIENT, 0.9, "x")]
    assert initials_of(text, people) == {"kq"}


def test_the_rules_hide_staff_initials_that_are_abbreviations_elsewhere() -> None:
    text = "12:26 Handoff AM to CC.\nAM labs drawn. CC: cough."
    found = DetectorSpec("rules").build().detect([Note("n", text)])[0]
    assert [(text[s.start : s.end], s.start) for s in found] == [("AM", 14), ("CC", 20)]

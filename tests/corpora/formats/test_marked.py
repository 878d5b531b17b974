"""Marked text: what a header tells, what a mark tells, and what is refused."""

from __future__ import annotations

from datetime import date

import pytest

from deid_platform.corpora import Reason
from deid_platform.corpora.annotations import GoldFaultError
from deid_platform.corpora.formats.marked import marked_note
from deid_platform.corpora.schemes import scheme_of
from deid_platform.labels import Label

SCHEME = scheme_of("i2b2-2014")
HEADER = """kind: ED triage
style: telegraphic
language: en
date: 2024-11-03
patient: first=Ann; last=Example; birth_date=1961-04-07; relatives=Bo Example, Cy Example
provider: first=Lee; last=Example; title=RN; user_id=lexample
provider: last=Other
facility: name=Example Clinic; abbreviation=EC
"""


def test_the_header_tells_what_the_master_index_knows():
    note = marked_note(HEADER + "\nx", "n1", SCHEME)
    assert (note.gold.note.note_type, note.gold.note.note_date) == ("ED triage", date(2024, 11, 3))
    assert note.style == "telegraphic"
    assert (note.patient.last_name, note.patient.birth_date) == ("Example", date(1961, 4, 7))
    assert note.patient.relatives == "Bo Example;Cy Example"
    assert [provider.last_name for provider in note.providers] == ["Example", "Other"]
    assert note.facilities[0].abbreviation == "EC"
    assert note.gold.note.patient_id == note.patient.patient_id


def test_without_a_patient_the_note_is_nobodys():
    note = marked_note("language: en\n\nx", "n1", SCHEME)
    assert (note.patient, note.gold.note.patient_id) == (None, None)


def test_marks_say_label_and_whom():
    note = marked_note(
        "language: en\n\nHi ⟦Ann|PATIENT patient⟧, ⟦a|b|IDNUM⟧ ⟦Bo\nEx|PATIENT relative⟧.\n", "n1", SCHEME
    )
    text = note.gold.note.text
    assert text == "Hi Ann, a|b Bo\nEx.\n"
    assert [text[s.start : s.end] for s in note.gold.spans] == ["Ann", "a|b", "Bo\nEx"]
    assert [s.label for s in note.gold.spans] == [Label.PATIENT, Label.IDNUM, Label.PATIENT]
    assert note.whom == ("patient", "patient", "relative")


@pytest.mark.parametrize(
    ("written", "reason", "line"),
    [
        ("no header", Reason.MALFORMED_ROW, None),
        ("kind: x\nother: y\n\nx", Reason.MALFORMED_ROW, 2),
        ("date: 3/4/24\n\nx", Reason.IMPOSSIBLE_DATE, None),
        ("patient: hair=grey\n\nx", Reason.MALFORMED_ROW, None),
        ("patient: last=A\npatient: last=B\n\nx", Reason.MALFORMED_ROW, None),
        ("kind: x\n\none\n⟦Ann|WARD⟧", Reason.UNKNOWN_LABEL, 4),
        ("kind: x\n\none\n⟦Ann|PATIENT friend⟧", Reason.UNKNOWN_LABEL, 4),
        ("kind: x\n\none\ntwo ⟦Ann", Reason.MALFORMED_ROW, 4),
        ("kind: x\n\n\n", Reason.EMPTY_TEXT, None),
    ],
)
def test_what_is_refused(written, reason, line):
    with pytest.raises(GoldFaultError) as caught:
        marked_note(written, "n1", SCHEME)
    assert (caught.value.reason, caught.value.place) == (reason, line)

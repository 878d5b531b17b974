r"""Identifiers behind escapes are found, whole, in the offsets of the note as it is written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.labels import Label
from deid_platform.notes import Span

Find = Callable[..., list[tuple[str, str]]]

ENCODED = [
    ("Seen by Dr. M&uuml;ller on Monday", "M&uuml;ller", "DOCTOR"),
    ("Seen by Dr. M&amp;uuml;ller on Monday", "M&amp;uuml;ller", "DOCTOR"),
    ("MRN:&nbsp;88&#49;23456 filed", "88&#49;23456", "MEDICALRECORD"),
    (r"Seen by Dr. M\'fcller on Monday", r"M\'fcller", "DOCTOR"),
    (r"Seen by Dr. M\u252?ller on Monday", r"M\u252?ller", "DOCTOR"),
    (r"{\rtf1 Seen by Dr. \b Nd\b0 oye\par on Monday}", r"Nd\b0 oye", "DOCTOR"),
    ("Seen by Dr. M=FCller on Monday", "M=FCller", "DOCTOR"),
    ("Seen by Dr. M=C3=BCller on Monday", "M=C3=BCller", "DOCTOR"),
    ("Seen by Dr. Ndo=\nye on Monday", "Ndo=\nye", "DOCTOR"),
    ("Seen by Dr. M%C3%BCller on Monday", "M%C3%BCller", "DOCTOR"),
    ("Seen by Dr.%20Ndoye%20on%20Monday", "Ndoye", "DOCTOR"),
    ("call 617%2D555%2D0123 today", "617%2D555%2D0123", "PHONE"),
    ("seen 03%2F04%2F2019 again", "03%2F04%2F2019", "DATE"),
    (r"seen 03\/04\/2019 again", r"03\/04\/2019", "DATE"),
    ("seen 03&#47;04&#x2f;2019 again", "03&#47;04&#x2f;2019", "DATE"),
    (r"Seen by Dr. M\u00fcller on Monday", r"M\u00fcller", "DOCTOR"),
    (r"Seen by Dr. M\xc3\xbcller on Monday", r"M\xc3\xbcller", "DOCTOR"),
    (r"seen today\nDr. Ndoye", "Ndoye", "DOCTOR"),
    ("Seen by Dr. M%u00fcller on Monday", "M%u00fcller", "DOCTOR"),
    ("Seen by Dr. M+APw-ller on Monday", "M+APw-ller", "DOCTOR"),
    ("Seen by Dr. Mu\u0308ller on Monday", "Mu\u0308ller", "DOCTOR"),
    ("Seen by Dr. N\u0337d\u0337o\u0337y\u0337e\u0337 on Monday", "N\u0337d\u0337o\u0337y\u0337e\u0337", "DOCTOR"),
    ("Seen by Dr. Nd<b>oye</b> on Monday", "Nd<b>oye", "DOCTOR"),
    ("Seen by Dr. Nd\U000e0041oye on Monday", "Nd\U000e0041oye", "DOCTOR"),
    ("Seen by Dr. Nd\U000e0101o\u034fye on Monday", "Nd\U000e0101o\u034fye", "DOCTOR"),
    ("Seen by Dr. \U0001f13d\u24d3\u24de\u24e8\u24d4 on Monday", "\U0001f13d\u24d3\u24de\u24e8\u24d4", "DOCTOR"),
    ("Seen by Dr. \u202eeyodN\u202c on Monday", "\u202eeyodN\u202c", "DOCTOR"),
    ("Seen by Dr. \u202eNdoye\u202c on Monday", "Ndoye", "DOCTOR"),  # turned around, and found as it is stored
]


@pytest.mark.parametrize(("text", "surface", "label"), ENCODED, ids=[f"{text!a}" for text, *_ in ENCODED])
def test_an_escaped_identifier_is_found_with_all_of_its_escapes(
    text: str, surface: str, label: str, find: Find
) -> None:
    found = find(text)
    assert any(surface in whole and kind == label for whole, kind in found), found


@pytest.mark.parametrize(
    "written",
    [
        "Zebulon%20Quarmby", "Zebulon&nbsp;Quar&shy;mby", "Zebulon Q&#117;armby", r"Zebulon Qu\u0061rmby",
        "Zebulon Qu=\narmby", r"Zebulon Qu\'61rmby", "Zebulon Q%75armby", "\u202eybmrauQ nolubeZ\u202c",
        "<b>Zebulon</b> Qu<i>arm</i>by",
    ],
)  # fmt: skip
def test_an_escaped_patient_is_found_by_the_roster_and_by_the_gazetteer(written: str, find: Find) -> None:
    text = f"saw {written} today"
    for patient in ("P1", None):
        marked = {surface for surface, label in find(text, patient=patient, known=True) if label == "PATIENT"}
        assert any(written.strip("</b>") in surface for surface in marked), marked


def test_what_an_escaped_note_names_is_sought_in_the_patients_other_notes_as_it_is_read() -> None:
    text = "Mrs. Ostr&ouml;we came"
    told = mentioned_in(text, [Span(5, 17, Label.PATIENT, 0.9, "rules:x")])
    assert set(told.names) == {"ostrowe"}

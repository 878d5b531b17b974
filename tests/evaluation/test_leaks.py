"""The leak check: what of a patient is left, however it is written."""

import ast
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.evaluation import leaks as leaks_module
from deid_platform.evaluation.leaks import Leak, LeakKind, find_leaks
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact

VASK = Patient(
    "p1",
    first_name="Zoë",
    middle_name="Marguerite",
    last_name="O'Vask-Brennock",
    birth_date=date(1950, 3, 4),
    mrn="00718822",
    ssn="512-45-6789",
    phone="(614) 555-0142",
    email="Zoe.Vask@example.org",
    street="18 Teasel Row, Apt 4",
)


def kinds(text: str, *known_as: Patient) -> set[str]:
    """What is found in a text from which nothing was removed."""
    return {leak.kind.value for leak in find_leaks(Note("n", text), known_as, text, ())}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Zoë came", "first-name"),
        ("ZOE came", "first-name"),
        ("zoe\u0308 came", "first-name"),
        ("Zo\u00ad\u00eb came", "first-name"),  # a soft hyphen inside
        ("Zoë's knee", "first-name"),
        ("Zoes knee", "first-name"),
        ("Ms. marguerite", "middle-name"),
        ("Mrs. O'Vask", "last-name"),
        ("Mrs. O’Vask’s knee", "last-name"),
        ("Mrs. OVASK", "last-name"),
        ("the Brennock family", "last-name"),
        ("Brennock[PATIENT]er[DATE]n", "last-name"),
        ("file zoeovaskbrennock.pdf", "last-name"),
        ("Tel 614-555-0142", "phone"),
        ("Tel 614.555.0142", "phone"),
        ("Tel 6145550142", "phone"),
        ("Tel 614–555–0142", "phone"),
        ("Tel +1 (614) 555 0142", "phone"),
        ("Tel 16145550142", "phone"),
        ("call 555-0142", "phone"),
        ("SSN 512 45 6789", "ssn"),
        ("SSN 512456789", "ssn"),
        ("MRN 00718822", "mrn"),
        ("MRN: 718822.", "mrn"),
        ("MRN 007-188-22", "mrn"),
        ("zoe.vask@EXAMPLE.org", "email"),
        ("lives at 18 Teasel Row", "street"),
        ("lives at 18 TEASEL R.", "street"),
        ("DOB 3/4/1950", "birth-date"),
        ("DOB 03/04/50", "birth-date"),
        ("DOB 03-04-50", "birth-date"),
        ("DOB 4.3.1950", "birth-date"),
        ("DOB 1950-03-04", "birth-date"),
        ("DOB 19500304", "birth-date"),
        ("DOB 03041950", "birth-date"),
        ("born March 4th, 1950", "birth-date"),
        ("born on the 4th of March 1950", "birth-date"),
        ("born 04-MAR-50", "birth-date"),
        ("mail someone@else.example", "email-shape"),
        ("SSN 900-12-3456", "ssn-shape"),
        ("Tel (614) 555-9999", "phone-shape"),
        ("Tel 614-555-9999", "phone-shape"),
        ("Tel 614–555–9999", "phone-shape"),
        ("see https://portal.example/x", "url-shape"),
        ("see www.portal.example", "url-shape"),
    ],
)
def test_what_is_left_is_found(text: str, kind: str):
    assert kind in kinds(text, VASK)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The patient came.",
        "zoea larvae",
        "vask, broken, brenn",
        "555 01420",
        "BP 120/80, HR 72, 10.5 mg, L4-L5, 3/16 inch",
        "WBC 7.1 4 3 50 11",
        "on 3/4/1951 and 4/5/1950",
        "in 1950",
        "18 teaspoons, Teasel",
        "MRN 07188221",
        "Na 135 140 2019",
        "ratio 512:45, pages 6789",
        "a@b",
        "[PATIENT] and [DATE 1950], [ZIP 430], [EMAIL]",
    ],
)
def test_what_is_somebody_elses_or_nothing_is_not_found(text: str):
    assert kinds(text, VASK) == set()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("he will return", False),
        ("Will return in May.", False),
        ("Plan: Will return", False),
        ("Seen.\nWill call back", False),
        ("PLAN: PT TO RETURN, WILL CALL", False),
        ("Seen with Will today", True),
        ("Name: Will", True),
        ("Mr. Will", True),
        ("Will is better", True),
        ("Will [PATIENT] came", True),
        ("[PATIENT] Will came", True),
        ("seen with WILL, for his knee", True),
    ],
)
def test_a_name_that_is_a_common_word_counts_where_it_is_written_as_a_name(text: str, left: bool):
    patient = Patient("p", first_name="Will", last_name="Li")
    assert ("first-name" in kinds(text, patient)) == left


def test_the_roster_wins_over_medicine():
    assert kinds("4 minutes on the Bruce protocol", Patient("p", last_name="Bruce")) == {"last-name"}
    assert kinds("4 minutes on the Bruce protocol", Patient("p", last_name="Bruck")) == set()


def test_names_of_two_letters_are_left_out_and_caseless_scripts_are_sought_inside_words():
    assert kinds("li Li LI", Patient("p", last_name="Li")) == set()
    assert kinds("患者王小明来院", Patient("p", last_name="王小明")) == {"last-name"}


def test_tags_leak_nobody_who_is_called_like_one():
    assert kinds("[PATIENT] at [STREET] in [CITY]", Patient("p", first_name="Patient", last_name="Street")) == set()
    assert kinds("at [STREET], said Patient", Patient("p", first_name="Patient")) == {"first-name"}
    assert "mrn" in kinds("[MRN 718822]", VASK)


def test_an_mrn_with_letters_counts_as_a_whole():
    patient = Patient("p", mrn="AB-4411")
    assert kinds("MRN AB-4411", patient) == {"mrn"}
    assert kinds("MRN ab4411", patient) == {"mrn"}
    assert kinds("4411 platelets", patient) == set()


def test_blank_fields_of_the_topics_match_nothing():
    blank = Patient("p", *([" "] * 3), None, None, *([" "] * 5))
    assert kinds("Any text at all, 12 3 4", blank) == set()


def test_without_a_known_patient_shapes_are_still_sought():
    assert kinds("Zoë, 614-555-0142") == {"phone-shape"}


MARRIED = replace(VASK, last_name="Tolliver", phone="(919) 555-0188", street="7 Quillfeather Lane", email=None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Mrs. Tolliver came", "last-name"),
        ("Mrs. Tolliver, born O'Vask", "last-name"),
        ("the Brennock family", "last-name"),
        ("file zoetolliver.pdf", "last-name"),
        ("call 555-0188", "phone"),
        ("call 555-0142", "phone"),
        ("moved to 7 Quillfeather Lane", "street"),
        ("moved from 18 Teasel Row", "street"),
        ("zoe.vask@example.org", "email"),
    ],
)
def test_what_a_patient_was_called_and_where_they_lived_is_left_too(text: str, kind: str):
    topics = Topics.of([VASK]).folded(Topics.of([MARRIED]))
    assert kind in kinds(text, *topics.patients_known_as("p1"))


def test_the_same_kind_left_of_two_rows_is_one_leak():
    found = find_leaks(Note("n", "Tolliver Brennock"), (MARRIED, VASK), "Tolliver Brennock", ())
    assert found == (Leak(LeakKind.LAST_NAME),)
    assert kinds("Brennock, 555-0142, 18 Teasel Row", MARRIED) == set()


@pytest.mark.parametrize(
    ("redacted", "clean"),
    [
        ("Seen [PATIENT] on [DATE 2019].", True),
        ("Seen [PATIENT] on [DATE 2019]", False),
        ("seen [PATIENT] on [DATE 2019].", False),
        ("Seen [PATIENT]  [DATE 2019].", False),
        ("Seen [PATIENT] on [DATE 2019]. More", False),
        ("Seen ", False),
        ("", False),
    ],
)
def test_a_text_that_is_not_the_original_with_its_spans_replaced_is_refused(redacted: str, clean: bool):
    note = Note("n", "Seen Orrin on 3/4/2019.")
    spans = (Span(5, 10, Label.PATIENT), Span(14, 22, Label.DATE))
    found = find_leaks(note, (), redacted, spans)
    assert found == (() if clean else (Leak(LeakKind.MISALIGNED),))


def test_spans_that_overlap_or_leave_the_text_are_misaligned():
    note = Note("n", "Seen Orrin")
    for spans in ([Span(0, 5, Label.DATE), Span(4, 6, Label.DATE)], [Span(5, 11, Label.DATE)]):
        assert Leak(LeakKind.MISALIGNED) in find_leaks(note, (), "Seen [DATE]", spans)


def test_an_identifier_that_stands_in_its_own_place_is_found():
    note, span = Note("n", "mail zoe.vask@example.org"), Span(5, 25, Label.EMAIL)
    found = {leak.kind for leak in find_leaks(note, (VASK,), note.text, [span])}
    assert {LeakKind.EMAIL, LeakKind.EMAIL_SHAPE} <= found


def test_every_kind_is_reported_once_and_in_order():
    found = find_leaks(Note("n", ""), [VASK], "Zoë Zoë 3/4/50 3/4/50 Brennock", ())
    assert [leak.kind for leak in found] == [
        LeakKind.MISALIGNED,
        LeakKind.FIRST_NAME,
        LeakKind.LAST_NAME,
        LeakKind.BIRTH_DATE,
    ]
    assert "Zo" not in repr(found)


@given(st.lists(st.sampled_from(["Zoë", "Brennock", "came", "on", "3/4/1950", "to", "Ohio", "."]), max_size=12))
def test_a_fully_redacted_note_is_clean_and_a_forgotten_span_is_not(words: list[str]):
    text = " ".join(words)
    labels = {"Zoë": Label.PATIENT, "Brennock": Label.PATIENT, "3/4/1950": Label.DATE}
    spans, position = [], 0
    for word in words:
        if word in labels:
            spans.append(Span(position, position + len(word), labels[word]))
        position += len(word) + 1
    note, policy = Note("n", text, note_date=date(2020, 1, 1)), load_policy("safe_harbor")
    whole = redact(note, spans, policy, birth_date=VASK.birth_date)
    assert find_leaks(note, (VASK,), whole.text, whole.applied) == ()
    if spans:
        part = redact(note, spans[1:], policy, birth_date=VASK.birth_date)
        assert find_leaks(note, (VASK,), part.text, part.applied) != ()


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_and_any_roster_can_be_checked(text: str, value: str):
    patient = Patient("p", *([value] * 3), date(1950, 3, 4), None, *([value] * 5))
    find_leaks(Note("n", text), [patient], text, ())


@pytest.mark.parametrize("text", ["a.a.a" * 20_000, "1" * 200_000, "1 " * 50_000, "@" * 100_000, "Will " * 20_000])
def test_hostile_texts_end(text: str):
    assert kinds(text, VASK) <= {"mrn", "phone"}


def test_the_check_shares_no_code_with_detection():
    folder = Path(leaks_module.__file__).parent
    for name in ("leaks.py", "residue.py"):
        for node in ast.walk(ast.parse((folder / name).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.module is None or not node.module.startswith(
                    ("deid_platform.detection", "deid_platform.redaction")
                )

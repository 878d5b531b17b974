"""The leak check: text, replaced places, columns, and what was reported. test_leaks_planted.py holds the table."""

import ast
import hashlib
import random
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deid_platform.leakcheck as leaks_package
from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.leakcheck import Leak, LeakCheck, LeakKind, Released
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.redaction.policy import Action, NoteDateRule, Policy, load_policy
from deid_platform.redaction.redact import redact

POLICY = load_policy("safe_harbor")
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


def of(topics: Topics | None = None, policy: Policy = POLICY, **options) -> LeakCheck:
    return LeakCheck.of(topics or Topics(), policy, **options)


def kinds(text: str, *known_as: Patient) -> set[str]:
    """What is found in a text from which nothing was removed."""
    return {leak.kind.value for leak in of().check(Note("n", text), known_as, text, ())}


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
    note, spans = Note("n", text.replace("[PATIENT]", "Bo")), []
    if (place := text.find("[PATIENT]")) >= 0:
        spans = [Span(place, place + 2, Label.PATIENT)]
    assert (Leak(LeakKind.FIRST_NAME) in of().check(note, [patient], text, spans)) == left


def test_the_roster_wins_over_medicine():
    assert kinds("4 minutes on the Bruce protocol", Patient("p", last_name="Bruce")) == {"last-name"}
    assert kinds("4 minutes on the Bruce protocol", Patient("p", last_name="Bruck")) == set()


def test_tags_leak_nobody_who_is_called_like_one():
    note, spans = Note("n", "Ann at 4 Elm St"), [Span(0, 3, Label.PATIENT), Span(7, 15, Label.STREET)]
    called = Patient("p", first_name="Patient", last_name="Street")
    assert of().check(note, [called], "[PATIENT] at [STREET]", spans) == ()
    assert kinds("at home, said Patient", called) == {"first-name"}


def test_a_tag_with_more_in_it_than_the_policy_puts_there_is_no_tag():
    note, spans = Note("n", "MRN 718822"), [Span(4, 10, Label.MEDICALRECORD)]
    assert of().check(note, [VASK], "MRN [MEDICALRECORD]", spans) == ()
    assert of().check(note, [VASK], "MRN [MRN 718822]", spans) == (Leak(LeakKind.SURROGATE),)


def test_tags_of_another_form_are_known_from_the_policy():
    note, spans = Note("n", "Seen Orrin on 3/4/2019."), (Span(5, 10, Label.PATIENT), Span(14, 22, Label.DATE))
    policy = replace(POLICY, tag="<<{label}>>", tag_with_value="<<{label}:{value}>>")
    called = Patient("p", first_name="Patient", last_name="Date")
    assert of(policy=policy).check(note, [called], "Seen <<PATIENT>> on <<DATE:2019>>.", spans) == ()


def test_blank_fields_of_the_topics_match_nothing():
    blank = Patient("p", *([" "] * 3), None, None, *([" "] * 8))
    assert kinds("Any text at all, 12 3 4", blank) == set()
    assert of(Topics.of([blank])).check(Note("n", "Any text"), (), "Any text", ()) == ()


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


def test_what_another_patient_was_called_is_left_too():
    topics = Topics.of([VASK, Patient("p2")]).folded(Topics.of([MARRIED]))
    text = "with Zoe Tolliver; then Zoë O’Vask Brennock"
    assert of(topics).check(Note("n", text, "p2"), (), text, ()) == (Leak(LeakKind.OTHER_NAME),)


def test_the_same_kind_left_of_two_rows_is_one_leak():
    text = "Tolliver Brennock"
    assert of().check(Note("n", text), (MARRIED, VASK), text, ()) == (Leak(LeakKind.LAST_NAME),)
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
    assert of().check(note, (), redacted, spans) == (() if clean else (Leak(LeakKind.MISALIGNED),))


def test_spans_that_overlap_or_leave_the_text_are_misaligned():
    note = Note("n", "Seen Orrin")
    for spans in ([Span(0, 5, Label.DATE), Span(4, 6, Label.DATE)], [Span(5, 11, Label.DATE)]):
        assert Leak(LeakKind.MISALIGNED) in of().check(note, (), "Seen [DATE]", spans)


@pytest.mark.parametrize(
    ("put_in", "leaks"),
    [
        ("[PATIENT]", False),
        ("Orla Fenwick", False),
        ("Orrin", True),
        ("ORRIN", True),
        ("Orrin Fenwick", True),
        ("Fenwick-Orrin", True),
        ("Orrington", False),
        ("Zoe Fenwick", True),
        ("Ms. Brennock", True),
        ("718822", True),
        ("614-555-9999", False),  # a surrogate may have the shape of what it stands for
        ("[PATIENT] (Orrin)", True),
    ],
)
def test_what_stands_for_a_removed_text_must_show_neither_it_nor_the_patient(put_in: str, leaks: bool):
    note, spans = Note("n", "Seen Orrin today."), [Span(5, 10, Label.PATIENT)]
    found = of().check(note, [VASK], f"Seen {put_in} today.", spans)
    assert found == ((Leak(LeakKind.SURROGATE),) if leaks else ())


def test_an_aggregated_age_is_no_leak():
    note, spans = Note("n", "a 90-year-old man"), [Span(2, 13, Label.AGE)]
    assert of().check(note, [VASK], "a 90+-year-old man", spans) == ()


def test_words_on_both_sides_of_a_removed_text_are_no_neighbours():
    topics = Topics.of([Patient("p2", first_name="Thandiwe", last_name="Quillfeather")])
    note, spans = Note("n", "Thandiwe B Quillfeather"), [Span(9, 10, Label.PATIENT)]
    assert of(topics).check(note, (), "Thandiwe [PATIENT] Quillfeather", spans) == ()
    # A character like the mark of a removed text, in the original, parts no name.
    assert kinds("Ms. Brenn\ufffcock", VASK) == {"last-name"}


@pytest.mark.parametrize(
    ("born", "year", "leaks"),
    [(date(1950, 1, 1), 2019, False), (None, 2019, False), (date(1929, 1, 1), 2019, True), (None, 1931, True)],
)
def test_a_year_in_a_tag_must_not_tell_an_age_over_89(born: date | None, year: int, leaks: bool):
    note, spans = Note("n", f"since 3/4/{year}", note_date=date(2026, 1, 5)), [Span(6, 14, Label.DATE)]
    found = of().check(note, [Patient("p", birth_date=born)], f"since [DATE {year}]", spans)
    assert found == ((Leak(LeakKind.TAG_YEAR),) if leaks else ())


def keeping(*labels: Label) -> Policy:
    return replace(POLICY, labels={**POLICY.labels, **dict.fromkeys(labels, Action.KEEP)})


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("seen 3/4/2019", Label.DATE),
        ("born 3/4/1950", Label.DATE),
        ("call 614-555-0142", Label.PHONE),
        ("a 95-year-old", Label.AGE),
        ("from 192.0.2.17", Label.IPADDR),
        ("at 18 Teasel Row", Label.STREET),
    ],
)
def test_what_the_policy_keeps_is_no_leak(text: str, label: Label):
    note = Note("n", text)
    assert of().check(note, [VASK], text, ()) != ()
    assert of(policy=keeping(label)).check(note, [VASK], text, ()) == ()


def test_a_name_of_the_patient_leaks_under_every_policy():
    assert of(policy=keeping(*Label)).check(Note("n", "Zoë"), [VASK], "Zoë", ()) == (Leak(LeakKind.FIRST_NAME),)


NOTE = Note("note-1234", "Well.", "MRN00718822", "E1", "D1", "north", "progress note", date(2026, 1, 5))
KEYS = Keyring(hashlib.sha256(b"leaks").digest(), site="north")
SHOWN = Released("progress note", "en", 2026, None, "north", (KEYS.key("note", "f", "note-1234"),))


@pytest.mark.parametrize(
    ("shown", "rule", "kind"),
    [
        (SHOWN, "year", None),
        (replace(SHOWN, note_year=None), "drop", None),
        (replace(SHOWN, note_year=None, shifted_date=date(2026, 1, 12)), "shift", None),
        (replace(SHOWN, note_type="other", language="und"), "year", None),
        (Released(), "year", None),
        (replace(SHOWN, note_type="Letter to Ms. Brennock"), "year", "column-note-type"),
        (replace(SHOWN, note_type="letter to thandiwe quillfeather"), "year", "column-note-type"),
        (replace(SHOWN, note_type="call 614 555 0142"), "year", "column-note-type"),
        (replace(SHOWN, note_type="report of 3/14/2025"), "year", "column-note-type"),
        (replace(SHOWN, note_type="note-1234"), "year", "column-note-type"),
        (replace(SHOWN, language="en-Brennock"), "year", "column-language"),
        (replace(SHOWN, language="Brennock"), "year", "column-language"),
        (replace(SHOWN, site="north-00718822"), "year", "column-site"),
        (replace(SHOWN, site="E1"), "year", "column-site"),
        (replace(SHOWN, shifted_date=date(2026, 1, 5)), "year", "column-date"),
        (replace(SHOWN, shifted_date=date(2026, 1, 12)), "drop", "column-date"),
        (replace(SHOWN, note_year=None, shifted_date=date(2026, 1, 5)), "shift", "column-date"),
        (replace(SHOWN, note_year=2025), "year", "column-year"),
        (SHOWN, "drop", "column-year"),
        (replace(SHOWN, shifted_date=date(2026, 1, 12)), "shift", "column-year"),
        (replace(SHOWN, keys=("n_" + "a" * 26, "D1")), "year", "column-key"),
        (replace(SHOWN, keys=("n_note-1234",)), "year", "column-key"),
        (replace(SHOWN, keys=("p_xmrn00718822x",)), "year", "column-key"),
    ],
)
def test_columns_tell_nothing_that_the_policy_hides(shown: Released, rule: str, kind: str | None):
    topics = Topics.of([Patient("p2", first_name="Thandiwe", last_name="Quillfeather")])
    check = of(topics, replace(POLICY, note_date=NoteDateRule(rule)))
    found = {leak.kind.value for leak in check.check(NOTE, [VASK], "Well.", (), shown)}
    assert kind in found if kind else found == set()


def test_a_year_that_tells_an_age_over_89_is_a_leak_in_its_column():
    assert of().check(NOTE, [replace(VASK, birth_date=date(1936, 12, 31))], "Well.", (), SHOWN) == (
        Leak(LeakKind.COLUMN_YEAR),
    )
    assert of().check(NOTE, [replace(VASK, birth_date=date(1937, 1, 1))], "Well.", (), SHOWN) == ()


def test_keys_hold_no_source_id_by_chance():
    check = of()
    for number in range(2000):
        note = Note(str(number), "Well.", f"p{number}", f"{10_000 + number}")
        keys = tuple(KEYS.key(kind, i) for kind, i in (("note", note.note_id), ("patient", f"p{number}")))
        assert check.check(note, (), "Well.", (), Released(keys=keys)) == ()


def test_what_was_reported_leaks_everywhere_and_blanks_nowhere():
    check = of(reported=["Wren Cottage", " ", "", "—", "a"])
    for text, leaks in (("at wren\ncottage", True), ("Wrens cottages", False), ("Well - done", False), ("a", True)):
        assert check.check(Note("n", text), (), text, ()) == ((Leak(LeakKind.REPORTED),) if leaks else ())
    spans = [Span(3, 7, Label.HOSPITAL)]
    assert check.check(Note("n", "at Elms"), (), "at Wren Cottage", spans) == (Leak(LeakKind.SURROGATE),)


def test_a_reported_name_leaks_also_where_the_tag_beside_it_is_of_an_earlier_policy():
    check = of(reported=["[INDIRECT] Wren", "[an event] 4471902"])
    for text in ("Wren is well.", "no. 4471902"):
        assert check.check(Note("n", text), (), text, ()) == (Leak(LeakKind.REPORTED),)


def test_what_is_common_leaks_in_the_note_alone_in_which_it_was_reported():
    check = of(reported_in={"n1": ["Rose"], "n2": ["4471902"]})
    found = {
        (note_id, text)
        for note_id in ("n1", "n2", "n3")
        for text in ("seen with Rose", "no 447-1902", "in a rose garden", "well")
        if check.check(Note(note_id, text), (), text, ())
    }
    assert found == {("n1", "seen with Rose"), ("n1", "in a rose garden"), ("n2", "no 447-1902")}


def test_every_kind_is_reported_once_and_in_order():
    found = of().check(Note("n", ""), [VASK], "Zoë Zoë 3/4/50 3/4/50 Brennock", ())
    assert [leak.kind for leak in found] == [
        LeakKind.MISALIGNED,
        LeakKind.FIRST_NAME,
        LeakKind.LAST_NAME,
        LeakKind.BIRTH_DATE,
        LeakKind.DATE_SHAPE,
    ]
    assert "Zo" not in repr(found)


def test_no_repr_shows_whom_the_check_knows():
    check = of(Topics.of([VASK]), reported=["Wren Cottage"])
    shown = repr([check, check.strangers, check.reported, SHOWN])
    assert not any(name in shown for name in ("vask", "Vask", "wren", "Wren", "note-1234"))


@given(st.lists(st.sampled_from(["Zoë", "Brennock", "came", "on", "3/4/1950", "to", "Ohio", "."]), max_size=12))
def test_a_fully_redacted_note_is_clean_and_a_forgotten_span_is_not(words: list[str]):
    text = " ".join(words)
    labels = {"Zoë": Label.PATIENT, "Brennock": Label.PATIENT, "3/4/1950": Label.DATE}
    spans, position = [], 0
    for word in words:
        if word in labels:
            spans.append(Span(position, position + len(word), labels[word]))
        position += len(word) + 1
    note = Note("n", text, note_date=date(2020, 1, 1))
    whole = redact(note, spans, POLICY, birth_date=VASK.birth_date)
    assert of().check(note, (VASK,), whole.text, whole.applied) == ()
    if spans:
        part = redact(note, spans[1:], POLICY, birth_date=VASK.birth_date)
        assert of().check(note, (VASK,), part.text, part.applied) != ()


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_and_any_roster_can_be_checked(text: str, value: str):
    patient = Patient("p", *([value] * 3), date(1950, 3, 4), None, *([value] * 8))
    topics = Topics.of([patient, replace(patient, patient_id="q")])
    check = of(topics, reported=[value])
    check.check(Note("n", text, "p", value), [patient], text, (), Released(value, value, 2020, None, value, (value,)))


@given(st.text(max_size=30), st.text(max_size=12), st.text(max_size=30), st.booleans())
def test_a_search_misses_no_report_that_the_check_would_find(before: str, value: str, after: str, shown: bool):
    text = f"{before} {value if shown else 'it'} {after}"
    check = of(reported=[value])
    spans = [Span(0, len(before), Label.PATIENT)] if before else []
    made = redact(Note("n", text), spans, POLICY)
    found = check.check(Note("n", text), (), made.text, made.applied, Released(after, None, None, None, None))
    if any(leak.kind in (LeakKind.REPORTED, LeakKind.COLUMN_TYPE) for leak in found):
        nothing = of().check(Note("n", text), (), made.text, made.applied, Released(after, None, None, None, None))
        assert check.could_find(Note("n", text), (), made.text, made.applied, Released(after)) or found == nothing


def test_a_search_reads_what_is_left_what_was_put_in_and_the_type() -> None:
    check = of(reported=["Wren Cottage"])
    place = [Span(8, 12, Label.PATIENT)]

    def found(text: str, redacted: str, spans: list[Span], note_type: str = "letter", known_as=()) -> bool:
        return check.could_find(Note("n", text, "p"), known_as, redacted, spans, Released(note_type))

    assert found("lives in wren  cottage", "lives in wren  cottage", [])
    assert found("Seen by Ann.", "Seen by Wren Cottage.", place)
    assert found("Seen.", "Seen.", [], "wren cottage letter")
    assert found("Seen.", "Seen.", [Span(2, 90, Label.PATIENT)])
    assert not found("Seen by Ann.", "Seen by [PATIENT].", place)
    assert not found("at Wren Cottage", "at [PATIENT]", [Span(3, 15, Label.PATIENT)])
    # So it reads for somebody of whom only a later row tells.
    for text, redacted, spans in (("keeps vask.", "keeps vask.", []), ("Seen by Ann.", "Seen by Vask.", place)):
        assert found(text, redacted, spans, known_as=(VASK,))
        assert not found(text, redacted, spans)
    assert not found("at Vask", "at [PATIENT]", [Span(3, 7, Label.PATIENT)], known_as=(VASK,))


@given(st.text(min_size=1, max_size=40), st.sampled_from(["Zoë", "Brennock", "zoe.vask@example.org", "512-45-6789"]))
def test_an_identifier_between_spaces_is_found_in_any_surroundings(text: str, planted: str):
    assert kinds(f"{text} {planted} {text}", VASK)


@pytest.mark.parametrize(
    "text",
    [
        "a.a.a" * 20_000,
        "1" * 200_000,
        "1 " * 50_000,
        "1-" * 50_000,
        "1." * 50_000,
        "@" * 100_000,
        "a@" * 50_000,
        ":a" * 50_000,
        "Will " * 20_000,
        "z o e b r e n n o c " * 5_000,
        "Faith hill Faith, hill " * 5_000,
        "born " * 20_000,
        "last four " * 10_000,
        "4111 " * 20_000,
        "March " * 20_000,
        "\u200b" * 50_000,
        "\u202d" * 50_000,
        "\U0001f3f4" + "\U000e0041" * 50_000,
        "4a" * 50_000,
        "Ab1" * 30_000 + "===",
        "%4a" * 20_000,
        "=\\x4a" * 20_000,
        "&#74" * 20_000,
        "a<a " * 20_000,
        "ﷺ" * 20_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_texts_end(text: str):
    will = replace(VASK, first_name="Will")
    topics = Topics.of([Patient("h", first_name="Faith", last_name="Hill")])
    assert Leak(LeakKind.MISALIGNED) not in of(topics).check(Note("n", text), [will], text, ())


def test_random_numbers_seldom_look_like_the_patients():
    draw = random.Random(7)
    hits = 0
    for _ in range(2_000):
        text = " ".join(f"{draw.uniform(0, 400):.1f}" for _ in range(12))
        hits += bool(kinds(text, VASK))
    assert hits <= 4


def test_the_check_shares_no_code_with_detection_and_reads_the_policy_alone_of_redaction():
    for path in Path(leaks_package.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                assert not node.module.startswith("deid_platform.detection")
                assert node.module == "deid_platform.redaction.policy" or not node.module.startswith(
                    "deid_platform.redaction"
                )

"""What holds for all patterns, whatever they look for; single lines are in `cases/`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from case_files import BREAK, cases_of
from marked_text import MARK

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Document
from deid_platform.detection.rules import Rules
from deid_platform.detection.rules.catalogue import load_recognizers
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.lexicon.lists import written_terms
from deid_platform.notes import Note, Patient, Topics
from deid_platform.redaction.policy import load_policy, policy_names

RULES = DetectorSpec("rules").build()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_header_is_found_at_the_start_of_a_line_whatever_ends_lines(newline: str) -> None:
    text = f"Visit{newline}RE: Quarmby, Jane{newline}stable"
    spans = RULES.detect([Note("n", text)])[0]
    assert [text[s.start : s.end] for s in spans] == ["Quarmby, Jane"]


HOSTILE = (
    *("a.a.a.", "7", "12-34-", "Aa ", "A", "1/", "1/1/", "a@", "a:", " ", "Dr. ", "May 1 ", "mar-", "on the 9th and "),
    *("call 617-", "a.com.", "1:ab:", "fax ", "MRN ####", "#1", "A1", "12 34 ", "id number ", "GB82 "),
    *("617-\n", "1-\n", "617 555\n", "6 1 7 ", "3/14/", "3/14,", "Setpember 3 ", "March l4, ", "Easter ", "MA 15000 "),
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_ends_in_spans_or_in_a_coded_failure(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    try:
        spans = Rules(timeout_s=0.2).detect([Document(Note("n", text))])[0]
    except DeidError as error:
        assert error.code is Code.DETECTOR_FAILED
        assert error.ref is not None
        assert text[:12] not in str(error)
    else:
        assert all(0 <= span.start < span.end <= len(text) for span in spans)


def test_recognizers_have_names_of_their_own_and_sound_confidences() -> None:
    recognizers = load_recognizers()
    assert len({r.name for r in recognizers}) == len(recognizers)
    assert all(0 < r.confidence <= 1 for r in recognizers)


def test_all_entities_of_murugadoss_2024_have_a_case_and_nearly_all_labels() -> None:
    cases = cases_of("murugadoss-2024")
    assert len({case.section for case in cases}) == 21
    shown = {label for case in cases for _, label in MARK.findall(case.line)}
    # Not among the paper's: landmarks, trades, fingerprints, and numbers of no named kind.
    assert {label.value for label in Label} - shown == {"LOCATION-OTHER", "PROFESSION", "BIOID", "IDNUM"}


@pytest.mark.parametrize("mark", ["> ", ">", "> > ", ">> ", ">>>", "  > "])
def test_quoted_lines_are_read_as_plain_ones_at_any_depth(mark: str, found_in: Callable[[str], str]) -> None:
    sections = {"greetings", "closings", "mail"}
    messages = [case for case in cases_of("messages") if case.section in sections and case.text[0].isalpha()]
    assert {case.section for case in messages} == sections
    for case in messages:
        quoted, marked = (
            "\n".join(mark + line for line in text.split("\n")) for text in (case.text, case.line.replace(BREAK, "\n"))
        )
        assert found_in(quoted) == marked


def test_a_birth_year_is_found_as_soon_as_it_tells_an_age_over_89(found_in: Callable[[str], str]) -> None:
    year = datetime.now(UTC).year - 90
    assert found_in(f"born in {year}") == f"born in [[{year}|DATE]]"
    assert found_in(f"born in {year + 1}") == f"born in {year + 1}"


def test_every_listed_holiday_is_found_after_a_word_of_dates(found_in: Callable[[str], str]) -> None:
    missed = [name for name in written_terms("holidays") if f"[[{name}|DATE]]" not in found_in(f"ill since {name}, he")]
    assert missed == []


@pytest.mark.parametrize("drug", ["Tylenol", "Lovenox", "Keppra", "Coumadin", "Zosyn"])
@pytest.mark.parametrize(
    "cue", ["relieved by {}", "home with {}", "asked for {}", "{} was refused", "RN gave {}", "per {}"]
)
def test_drugs_are_nobody(cue: str, drug: str, found_in: Callable[[str], str]) -> None:
    assert word_class(drug) & WordClass.CLINICAL
    assert found_in(cue.format(drug)) == cue.format(drug)


@pytest.mark.parametrize("text", ["Name: Metformin", "Name: Metformin 500 mg", "Medication Name: METFORMIN"])
def test_a_listed_patient_outranks_the_drug_of_the_same_name(text: str) -> None:
    known = DetectorSpec("rules", Topics.of([Patient("1", "Zelda", None, "Metformin")])).build()
    spans = known.detect([Note("n", text, patient_id="1")])[0]
    assert [text[s.start : s.end].lower() for s in spans] == ["metformin"]


def test_a_profession_takes_the_label_of_nothing_else() -> None:
    topics = Topics.of([Patient("P1", "Zebulon", None, "Glazier")], [], [])
    text = "Occupation: cheesemaker glazier"
    spans = DetectorSpec("rules", topics=topics, professions=True).build().detect([Note("n", text, patient_id="P1")])[0]
    assert [(text[s.start : s.end], s.label) for s in spans] == [("cheesemaker glazier", Label.PATIENT)]


@pytest.mark.parametrize("name", policy_names())
def test_ages_under_90_are_sought_where_a_policy_hides_them(name: str) -> None:
    policy = load_policy(name)
    assert policy.hides_ages == (name == "gdpr_it")
    spec, plain = DetectorSpec("patterns", ages=policy.hides_ages), DetectorSpec("patterns")
    note = Note("n", "A 72-year-old man, whose mother is a 93-year-old widow.")
    found = [note.text[s.start : s.end] for s in spec.build().detect([note])[0]]
    assert found == (["72", "93"] if policy.hides_ages else ["93"])
    # The bench approves the one and not the other.
    assert (spec.detector_digest != plain.detector_digest) == policy.hides_ages


def test_gold_without_ages_under_90_is_read_without_them_by_the_same_detector() -> None:
    spec = DetectorSpec("patterns", ages=True)
    note = Note("n", "A 72-year-old man.")
    found = {marked: spec.as_measured(young_marked=marked).build().detect([note])[0] for marked in (False, True)}
    assert [bool(found[marked]) for marked in (False, True)] == [False, True]
    assert spec.as_measured().detector_digest == spec.detector_digest


@pytest.mark.parametrize("name", policy_names())
def test_professions_are_sought_where_a_policy_hides_them(name: str) -> None:
    policy = load_policy(name)
    assert policy.hides_professions == (name == "gdpr_it")
    note = Note("n", "Occupation: glazier")
    spans = DetectorSpec("rules", professions=policy.hides_professions).build().detect([note])[0]
    assert bool(spans) == policy.hides_professions
    patterns = DetectorSpec("patterns", professions=policy.hides_professions).build().detect([note])[0]
    assert bool(patterns) == policy.hides_professions

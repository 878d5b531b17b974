from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.detector import word_list
from deid_platform.detection.reading import Reading
from deid_platform.detection.recovery import LISTS, Recovery
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

RECOVERY = Recovery()

# One row each for what a detector took for an identifier: sentence, the wrong span, its label. The first
# nine are the kinds of paper 001, table 4.
RECOVERED = [
    ('pen needle 31 gauge x 3/16" needle', "3/16", Label.DATE),
    ("by the 2017 AAP Clinical Practice Guideline.", "AAP Clinical Practice Guideline", Label.ORGANIZATION),
    ("BASAGLAR KWIKPEN U-100 pen injector", "BASAGLAR KWIKPEN", Label.PATIENT),
    ("stress test on a standard Bruce protocol", "Bruce", Label.PATIENT),
    ("No results for FK506 yet", "FK506", Label.IDNUM),
    ("sitting up, in NAD.", "NAD", Label.LOCATION_OTHER),
    ("s/p MVR (29mm St. Jude)", "St. Jude", Label.LOCATION_OTHER),
    ("Write to us through MyChart with concerns", "MyChart", Label.ORGANIZATION),
    ("Schedule: Breakfast (0630)", "0630", Label.PHONE),
    ("New York Heart Association class II", "New York", Label.STATE),
    ("a Tuohy needle was used", "Tuohy", Label.PATIENT),
    ("Kawasaki disease in childhood", "Kawasaki", Label.PATIENT),
    ("Parkinson's disease", "Parkinson", Label.PATIENT),
    ("variant g.7578395G>C was seen", "g.7578395G>C", Label.IDNUM),
    ("BRCA1 c.68_69delAG", "c.68_69delAG", Label.IDNUM),
    ("p.(Val600Glu)", "p.(Val600Glu)", Label.IDNUM),
    ("an unlisted Quarmby retractor", "Quarmby", Label.PATIENT),
    ("ICD S72.001A", "S72.001A", Label.IDNUM),
]

KEPT = [
    ("Mr. Bruce jumped", "Bruce", Label.PATIENT),
    ("Bruce jumped", "Bruce", Label.PATIENT),
    ("Dr. Wright's test was late", "Wright", Label.DOCTOR),
    ("John Bruce protocol", "John Bruce", Label.PATIENT),  # the term does not cover the whole span
    ("Robert Jones came", "Robert Jones", Label.PATIENT),  # an orthopaedic dressing, but names alone
    ("lives in Denver", "Denver", Label.CITY),  # a shunt and a screening test, but a place
    ("gx12345GC", "gx12345GC", Label.IDNUM),  # the dot of a variant is a dot
    ("call 0630", "0630", Label.PHONE),
]


def span_of(text: str, surface: str, label: Label, *, score: float = 0.7, source: str = "patterns:x") -> Span:
    start = text.index(surface)
    return Span(start, start + len(surface), label, score, source)


def kept(text: str, *spans: Span) -> list[Span]:
    return RECOVERY.keep(Reading(Note("n", text)), spans)


@pytest.mark.parametrize(("text", "surface", "label"), RECOVERED)
def test_clinical_terms_are_given_back(text: str, surface: str, label: Label) -> None:
    assert kept(text, span_of(text, surface, label)) == []


@pytest.mark.parametrize(("text", "surface", "label"), KEPT)
def test_people_and_places_are_not_given_back(text: str, surface: str, label: Label) -> None:
    span = span_of(text, surface, label)
    assert kept(text, span) == [span]


@pytest.mark.parametrize(("text", "surface", "label"), RECOVERED)
def test_nothing_of_the_roster_is_ever_given_back(text: str, surface: str, label: Label) -> None:
    span = span_of(text, surface, label, source="roster")
    assert kept(text, span) == [span]


def test_what_a_check_has_proved_is_not_given_back() -> None:
    text = "FK506"
    proved = span_of(text, "FK506", Label.LICENSE, score=0.95)
    assert kept(text, proved) == [proved]


def test_an_eponym_alone_stays_hidden_in_the_note_of_a_person_of_that_name() -> None:
    text = "Mr. Babinski was seen. Babinski negative; Babinski sign absent."
    person = span_of(text, "Babinski", Label.PATIENT, score=0.9)
    alone = Span(23, 31, Label.PATIENT, 0.7, "patterns:name-repeated")
    sign = Span(42, 50, Label.PATIENT, 0.7, "patterns:name-repeated")
    assert kept(text, person, alone, sign) == [person, alone]
    assert kept(text, alone) == []


@pytest.mark.parametrize("text", [row[0] for row in RECOVERED[:9]])
def test_the_rules_leave_the_rows_of_table_4_untouched(text: str, find: Callable[..., list[tuple[str, str]]]) -> None:
    assert find(text) == []


def test_a_site_adds_terms_of_its_own(tmp_path: Path) -> None:
    terms = tmp_path / "terms.txt"
    terms.write_text("# procedures of this house\nQuarmby manoeuvre\nJane Boyd\n", "utf-8")
    text = "Dictated by Jane Boyd. Named Quarmby manoeuvre done."
    plain, own = DetectorSpec().build(), DetectorSpec(medical_terms=(terms,)).build()

    def surfaces(found: list[tuple[Span, ...]]) -> list[str]:
        return [text[s.start : s.end] for s in found[0]]

    assert surfaces(plain.detect([Note("n", text)])) == ["Jane Boyd", "Quarmby"]
    assert surfaces(own.detect([Note("n", text)])) == ["Jane Boyd"], "names alone are no clinical term"


def test_the_first_lists_are_large_enough_to_matter() -> None:
    assert len(word_list("eponyms")) >= 300
    assert len(word_list("drugs")) >= 100
    assert all(word_list(name) for name in LISTS)

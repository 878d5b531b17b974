"""Linking released notes to patients: by hand, beside chance, and at a hospital's size."""

from __future__ import annotations

import random
import time
from datetime import date

import pytest

from deid_platform.evaluation.disclosure.linkage import AttackedNote, link
from deid_platform.notes import Patient, Topics

PATIENTS = [
    Patient("a", first_name="Orrin", last_name="Quillfeather", birth_date=date(1950, 3, 4), mrn="441-7702"),
    Patient("b", first_name="Ann", last_name="Smith", birth_date=date(1961, 7, 8), phone="(617) 555-0134"),
    Patient("c", first_name="Ann", last_name="Smith", birth_date=date(1990, 1, 2), city="Millbrook"),
    Patient("d", first_name="Will", last_name="Smith", birth_date=date(1950, 9, 9), email="w.s@pell.org"),
]
TOPICS = Topics.of(PATIENTS)


def first(text: str, patient: str, *, year: int | None = None) -> float:
    found = link([AttackedNote(text, patient, year)], TOPICS, resamples=2)
    assert found.first.value is not None
    return found.first.value


@pytest.mark.parametrize(
    ("text", "patient", "expected"),
    [
        ("Mr. Quillfeather is well.", "a", 1.0),
        ("Mr. Quillfeather is well.", "b", 0.0),
        ("Seen: Ann Smith.", "b", 1 / 2),  # two have that name
        ("Seen: Smith.", "b", 1 / 3),
        ("Seen: Ann Smith, born 7/8/1961.", "b", 1.0),
        ("Seen: Ann Smith, born 8 July 1961.", "b", 1.0),
        ("Call 617.555.0134", "b", 1.0),
        ("MRN 4417702", "a", 1.0),
        ("Write to W.S@Pell.org", "d", 1.0),
        ("Ann of Millbrook", "c", 1.0),
        ("[PATIENT] is well.", "a", 1 / 4),  # nothing is left, so it is a guess
        ("Ms. Jones is well.", "a", 1 / 4),  # a surrogate that nobody has
        ("Mr. Quillfeather is well.", "nobody", 0.0),
    ],
)
def test_the_patient_who_shares_most_with_a_note_ranks_first(text: str, patient: str, expected: float) -> None:
    assert first(text, patient) == pytest.approx(expected)


def test_an_age_tells_the_year_of_birth_if_the_year_of_the_note_is_known() -> None:
    assert first("A 74-year-old", "a", year=2024) == pytest.approx(1 / 2)  # a and d were born in 1950
    assert first("A 73-year-old", "d", year=2024) == pytest.approx(1 / 2)  # not yet 74 in that year
    assert first("A 74-year-old", "a") == pytest.approx(1 / 4)


def test_a_word_that_all_notes_use_says_little_and_a_surrogate_misleads() -> None:
    notes = [AttackedNote("Will follow up.", "a")] * 8
    found = link([*notes, AttackedNote("Will follow up with Quillfeather.", "a")], TOPICS, resamples=2)
    assert found.first.value == pytest.approx(1 / 9)  # "will" points to d, whose name it is; the rare surname wins
    assert first("Mr. Smith, formerly Quillfeather", "a") == 1.0
    assert first("Will Smith", "a") == 0.0


def test_chance_ties_and_silence_are_reported() -> None:
    many = Topics.of(Patient(f"p{i}", last_name=f"Name{'abcdefghij'[i % 10]}{'klmno'[i // 10]}") for i in range(50))
    found = link([AttackedNote("x", "p0"), AttackedNote("Nameak", "p0")], many)
    assert (found.chance_first, found.chance_top, found.candidates, found.silent) == (0.02, 0.2, 50, 1)
    assert found.first.value == pytest.approx((0.02 + 1) / 2)
    assert found.top.value == pytest.approx((0.2 + 1) / 2)
    assert found.first.low is None, "both notes are of one patient"
    assert link([], TOPICS).first.value is None


def test_raw_notes_are_found_and_released_ones_are_a_guess_among_10_000_patients_in_seconds() -> None:
    dice = random.Random(7)
    syllables = ["ba", "ke", "lo", "mi", "nu", "po", "ra", "si", "tu", "ve", "zor", "dan", "fel"]

    def name() -> str:
        return "".join(dice.choices(syllables, k=3)).capitalize()

    people = [
        Patient(f"p{i}", first_name=name(), last_name=name(), birth_date=date(1930 + i % 80, 1 + i % 12, 1 + i % 28))
        for i in range(10_000)
    ]
    prose = " ".join(dice.choices(["the", "patient", "was", "seen", "today", "better", "will", "return", "may"], k=300))
    raw, released = [], []
    for person in people[:1000]:
        told = f"{person.first_name} {person.last_name}, born {person.birth_date}. "
        raw.append(AttackedNote(told + prose, person.patient_id))
        other = dice.choice(people)
        released.append(AttackedNote(f"{other.first_name} {other.last_name}. {prose}", person.patient_id))
    topics = Topics.of(people)
    began = time.process_time()
    before, after = link(raw, topics), link(released, topics)
    assert time.process_time() - began < 20
    assert before.first.value is not None and before.first.value > 0.99
    assert after.first.value is not None and after.first.value < 0.01
    assert after.chance_first == 1 / 10_000

"""Dictated notes of an old patient: nothing in words stays, and the leak check finds nothing to hold back."""

from __future__ import annotations

from datetime import date

import pytest

import deid_platform
from deid_platform.deidentify.deidentifier import Deidentifier
from deid_platform.leakcheck import LeakCheck
from deid_platform.notes import Note, Patient, Topics
from deid_platform.redaction.policy import load_policy

OLD = Patient(
    "p1", first_name="Zoe", last_name="Quillfeather", birth_date=date(1931, 3, 9), mrn="881247", phone="6145550142"
)
TOPICS = Topics.of([OLD])
POLICIES = ("safe_harbor", "safe_harbor_plus_providers", "surrogate", "gdpr_it", "patient_only")
NOTES = {
    "en": (
        "The patient was born three nine thirty one. In her ninety-fourth year, age 093Y, 1120 months. "
        "MRN eight eight one two, then four seven. Call six one four, five five five, oh one four two."
    ),
    "es": "Nacida el nueve de marzo de mil novecientos treinta y uno. Paciente de noventa y cuatro años.",
    "it": "Nata il nove marzo millenovecentotrentuno. Donna novantaquattrenne, di novantaquattro anni.",
    "fr": "Née le neuf mars mille neuf cent trente et un. Femme de quatre-vingt-quatorze ans.",
    "de": "Geboren am neunten März neunzehnhunderteinunddreißig. Frau, vierundneunzig Jahre alt.",
}


@pytest.fixture(scope="module", params=POLICIES)
def deid(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Deidentifier:
    secret = tmp_path_factory.mktemp("secret") / "secret"
    secret.write_text("6d1f0c8a94e7b25310fd86a2c7e95b40")
    return deid_platform.load("rules", policy=request.param, topics=TOPICS, secret_file=secret, languages=["de"])


@pytest.mark.parametrize("language", NOTES)
def test_nothing_in_words_stays(deid: Deidentifier, language: str) -> None:
    note = Note("n1", NOTES[language], patient_id="p1", note_date=date(2026, 1, 5), language=language)
    text = deid.redact(note).text
    # Where a policy keeps ages, they are no leak.
    kinds = {leak.kind.value for leak in LeakCheck.of(TOPICS, load_policy("safe_harbor")).check(note, [OLD], text, ())}
    assert "birth-date" not in kinds
    for said in ("thirty", "treinta", "trentuno", "trente", "dreißig", "eight eight", "one four two"):
        assert said not in text


@pytest.mark.parametrize(
    "text",
    [
        "DOB 0 3 0 9 1 9 3 1 on the band. DOB 1 9 3 1 0 3 0 9.",
        "DOB is the third month, ninth day, year thirty-one. D O B oh three oh nine thirty one.",
        "phone six one four um five five five uh zero one four two. MRN is eight eight one, uh, two four seven.",
        "Her number six one four, five five five, the last four digits oh one four two.",
    ],
)
def test_nothing_of_the_patients_own_stays(deid: Deidentifier, text: str) -> None:
    note = Note("n1", text, patient_id="p1", note_date=date(2026, 1, 5))
    assert LeakCheck.of(TOPICS, load_policy("safe_harbor")).check(note, [OLD], text, ())
    redacted = deid.redact(note).text
    for written in ("0 3", "1 9", "third", "thirty", "three", "five", "eight", "zero", "oh "):
        assert written not in redacted


@pytest.mark.parametrize(
    ("text", "language"),
    [("el veintidós de enero", "es"), ("le vingt et un mars", "fr"), ("il ventun marzo", "it")],
)
def test_a_day_of_the_month_goes_with_its_month(deid: Deidentifier, text: str, language: str) -> None:
    note = Note("n1", text, patient_id="p1", note_date=date(2026, 1, 5), language=language)
    redacted = deid.redact(note).text
    # Where a policy keeps dates, it keeps them whole.
    assert redacted == text or not set(text.split()[1:]) & set(redacted.split())


@pytest.mark.parametrize("language", NOTES)
def test_each_is_a_leak_if_it_stays(language: str) -> None:
    note = Note("n1", NOTES[language], patient_id="p1", note_date=date(2026, 1, 5), language=language)
    found = LeakCheck.of(TOPICS, load_policy("safe_harbor")).check(note, [OLD], note.text, ())
    expected = {"birth-date", "age-shape"} | ({"phone", "mrn"} if language == "en" else set())
    assert {leak.kind.value for leak in found} == expected

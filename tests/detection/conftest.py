from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import cache

import pytest
from marked_text import marked

from deid_platform.detection import DetectorSpec, NoteDetector
from deid_platform.notes import Facility, Note, Patient, Provider, Topics

Found = list[tuple[str, str]]


@pytest.fixture(scope="session")
def topics() -> Topics:
    return Topics.of(
        [
            Patient(
                "P1",
                "Zebulon",
                "Tait",
                "Quarmby",
                date(1950, 3, 4),
                mrn="00987654",
                ssn="900-12-3456",
                phone="617-555-0123",
                email="zq@example.org",
                street="40 Crossbeak Road, Apt 3",
                city="Harlow Falls",
                zip="27599",
            ),
            Patient("P2", "Will", None, "Green"),
            Patient("P3", "Bruce", None, "Foley"),
            Patient("P4", "José", None, "de la Cruz-Ibáñez"),
            Patient("P5", "Max", None, "Born"),
            Patient("P6", "Li", None, "Ng"),
            Patient("P7", street="12 Oak Street", city="Mobile"),
        ],
        [
            Provider("D1", "Sylvia", "Ndu", user_id="GH8715"),
            Provider("D2", "May", "Brown"),
            Provider("D3", "Chidi", "Okonkwo", phone="617-555-0142"),
            Provider("D4", "Coli", "Coli"),
            Provider("D5", "Vee", "Reddy-De"),
        ],
        [
            Facility("F1", "Memorial Place Primary Care", "MEMPLCPC", city="Harlow Falls", phone="(617) 555-0177"),
            Facility("F2", "Primary Care", "ICU"),
            Facility("F3", "Radiology Department"),
            Facility("F4", "Westbrook Family Medicine-Mebane", "WBFM"),
            Facility("F5", "St. Alder's Hospital"),
            Facility("F6", "Coombe & Lark Pediatrics"),
            Facility("F7", "Main Hospital"),
        ],
    )


@pytest.fixture(scope="session")
def later(topics: Topics) -> Topics:
    """The topics after a marriage, a move and a new number of P1."""
    return topics.folded(Topics.of([replace(topics.patients["P1"], last_name="Ostrander")])).folded(
        Topics.of(
            [
                Patient(
                    "P1",
                    "Zebulon",
                    "Tait",
                    "Ostrander",
                    date(1950, 3, 4),
                    mrn="00987654",
                    phone="919-555-0188",
                    email="zo@example.org",
                    street="7 Quillfeather Lane",
                    city="Marrowgate",
                    zip="02139",
                )
            ]
        )
    )


@pytest.fixture(scope="session")
def built(topics: Topics) -> Callable[..., NoteDetector]:
    """Builds a detector from a recipe, with topics, professions and ages under 90 or without; each once a process."""

    @cache
    def _built(name: str, known: bool, professions: bool, ages: bool = False) -> NoteDetector:
        return DetectorSpec(name, topics if known else None, professions=professions, ages=ages).build()

    return _built


@pytest.fixture(scope="session")
def find(built: Callable[..., NoteDetector]) -> Callable[..., Found]:
    """What a recipe finds in a text, as (surface, label) in order; `known` gives it the topics."""

    def _find(text: str, *, patient: str | None = None, name: str = "rules", known: bool = False) -> Found:
        spans = built(name, known, False).detect([Note("n", text, patient_id=patient)])[0]
        return [(text[s.start : s.end], s.label.value) for s in spans]

    return _find


@pytest.fixture(scope="session")
def found_in(built: Callable[..., NoteDetector]) -> Callable[[str], str]:
    """A text with marks around what the rules find in it alone, professions too."""
    return lambda text: marked(text, built("rules", False, True).detect([Note("n", text)])[0])

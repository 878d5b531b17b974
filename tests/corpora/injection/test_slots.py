"""Slots: what a pattern writes."""

from __future__ import annotations

import re
from datetime import date

import pytest

from deid_platform.corpora.injection.chart import Chart
from deid_platform.corpora.injection.corpus import InjectionSpec
from deid_platform.corpora.injection.patients import PatientFile
from deid_platform.corpora.injection.slots import in_pattern, writer, written_date
from deid_platform.corpora.injection.ways import OPEN, SEALED, TUNING, Way, ways_of
from deid_platform.corpora.injection.weaving import write
from deid_platform.corpora.injection.words import LANGUAGES
from deid_platform.labels import Label
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import Person

DAY = date(2019, 3, 4)


@pytest.mark.parametrize(
    ("pattern", "language", "written"),
    [
        ("MM/DD/YYYY", "en", "03/04/2019"),
        ("M/D/YY", "en", "3/4/19"),
        ("Month Do, YYYY", "en", "March 4th, 2019"),
        ("DD-Mon-YYYY", "en", "04-Mar-2019"),
        ("D de Month de YYYY", "es", "4 de marzo de 2019"),
        ("D Month YYYY", "it", "4 marzo 2019"),
        ("D Mon YYYY", "fr", "4 mars 2019"),
    ],
)
def test_dates(pattern: str, language: str, written: str) -> None:
    assert written_date(DAY, pattern, language) == written


@pytest.mark.parametrize(
    ("number", "pattern", "written"),
    [
        ("12345678", "###-##-###", "123-45-678"),
        ("12345678", "##-##", "12-345678"),
        ("123", "###-###-####", "123"),
        ("(212) 555-0123", "###.###.####", "212.555.0123"),
        ("AB12", "##-##", "AB12"),
        ("", "###", ""),
    ],
)
def test_numbers(number: str, pattern: str, written: str) -> None:
    assert in_pattern(number, pattern) == written


def chart_of(person: Person) -> Chart:
    institution = InjectionSpec("dev", "en_US").institution()
    patient = PatientFile(institution, "P1", sex="F", age=40, day=DAY, language="en")
    patient.person = person
    return Chart(institution, patient, day=DAY, dice=Dice(1), language="en")


@pytest.mark.parametrize(
    ("pattern", "with_all", "with_less"),
    [
        ("F K L", "Ana Rosa Vidal Soler", "Ana Vidal"),
        ("F K", "Ana Rosa", "Ana"),
        ("L, F K", "Vidal Soler, Ana Rosa", "Vidal, Ana"),
        ("K", "Rosa", ""),
        ("F M. L", "Ana R. Vidal Soler", "Ana Vidal"),
        ("F M L", "Ana R Vidal Soler", "Ana Vidal"),
        ("f. M. L", "A. R. Vidal Soler", "A. Vidal"),
        ("f.M.l.", "A.R.V.", "A.V."),
        ("f.M.", "A.R.", "A."),
        ("flM", "AVR", "AV"),
        ("L, F M.   ", "Vidal Soler, Ana R.   ", "Vidal, Ana   "),
        ("L, F (M)", "Vidal Soler, Ana (R)", "Vidal, Ana"),
        ("U^E^M", "VIDAL SOLER^ANA^R", "VIDAL^ANA"),
        ("E M U", "ANA R VIDAL SOLER", "ANA VIDAL"),
        ("M. L", "R. Vidal Soler", "Vidal"),
        ("F (K) L", "Ana (Rosa) Vidal Soler", "Ana Vidal"),
        ("M", "R", ""),
        ("P W", "Vidal Soler", "Vidal"),
        ("P W, F", "Vidal Soler, Ana", "Vidal, Ana"),
        ("F P W", "Ana Vidal Soler", "Ana Vidal"),
        ("f.P.W.", "A.Vidal.Soler.", "A.Vidal."),
        ("W", "Soler", ""),
        ("N L", "Nani Vidal Soler", "Ana Vidal"),
        ('F "N" L', 'Ana "Nani" Vidal Soler', "Ana Vidal"),
        ("F (N)", "Ana (Nani)", "Ana"),
    ],
)
def test_a_part_that_a_person_lacks_leaves_no_gap(pattern: str, with_all: str, with_less: str) -> None:
    for person, written in (
        (Person("Ana", "Rosa", "Vidal Soler", "Nani", "F"), with_all),
        (Person("Ana", "", "Vidal", "", "F"), with_less),
    ):
        assert writer("patient", pattern, "es").write(chart_of(person)) == written


@pytest.mark.parametrize("name", [*OPEN, TUNING, SEALED])
def test_no_way_writes_a_part_of_a_name_twice(name: str) -> None:
    chart = chart_of(Person("Ana", "", "Vidal", "", "F"))
    written = [
        "".join(piece.text for piece in pieces if piece.label is Label.PATIENT)
        for language in LANGUAGES
        for listed in ways_of(name, language).values()
        for way in listed
        for op in way.ops
        if (pieces := write(Way(way.key, (op,), frozenset()), chart)) is not None
    ]
    assert sum("Ana" in text for text in written) > 10
    faults = re.compile(r"(Ana|Vidal|\bA|\bV)\W+\1\b|\S  +\S|\( *\)|, *,|\.\.|[,(^]\s*$", re.I)
    assert sum(bool(faults.search(text)) for text in written) == 0

"""Filling a carrier's own slots: one person stays one, and a name is written as the old one was."""

from __future__ import annotations

import re

import pytest

from deid_platform.corpora.injection.carriers import Carrier
from deid_platform.corpora.injection.corpus import Injected, InjectionSpec, Part, inject
from deid_platform.labels import Label
from deid_platform.surrogates.locales import LOCALES
from tests.corpora.injection.conftest import carrier

P, D, H, T = Label.PATIENT, Label.DOCTOR, Label.HOSPITAL, Label.DATE


def filled(*carriers: Carrier, locale: str = "en_US") -> list[Injected]:
    return list(inject(InjectionSpec("dev", locale, Part.TRAINING, weave=False), carriers))


def surfaces(made: Injected, label: Label) -> list[str]:
    return [made.note.text[s.start : s.end] for s in made.gold if s.label is label]


def test_the_text_around_slots_stays() -> None:
    made = filled(carrier("Seen: John Smith, today.", ("John Smith", P)))[0]
    assert made.note.text.startswith("Seen: ")
    assert made.note.text.endswith(", today.")
    assert "Smith" not in made.note.text


def test_one_person_has_one_name_however_it_is_written() -> None:
    text = "Patient: SMITH, JOHN. Mr. Smith is well. John agrees. J.S. left."
    slots = [("SMITH, JOHN", P), ("Smith", P), ("John", P), ("J.S.", P)]
    whole, last, first, initials = surfaces(filled(carrier(text, *slots))[0], P)
    assert whole == f"{last}, {first}".upper()
    assert initials == f"{first[0]}.{last[0]}."


def test_a_year_alone_moves_and_is_no_identifier() -> None:
    made = filled(carrier("Dialyse depuis 1994, greffe le 3/4/1999.", ("1994", T), ("3/4/1999", T)))[0]
    (date,) = surfaces(made, T)
    assert (began := re.search(r"depuis (\d{4}),", made.note.text)) is not None
    assert int(date[-4:]) - int(began[1]) in (4, 5, 6)
    assert began[1] != "1994"


@pytest.mark.parametrize(
    ("written", "as_now"),
    [
        ("John M. Smith", "{first} {last}"),
        ("John M Smith", "{first} {last}"),
        ("Smith, John M.", "{last}, {first}"),
        ("J. M. Smith", "{first[0]}. {last}"),
        ("J.M. Smith", "{first[0]}. {last}"),
    ],
)
def test_an_initial_that_the_new_name_lacks_leaves_no_gap(written: str, as_now: str) -> None:
    made = filled(carrier(f"Seen: {written}, today.", (written, P)), locale="zh")[0]
    patient = made.patient
    assert patient.middle_name is None
    assert surfaces(made, P) == [as_now.format(first=patient.first_name, last=patient.last_name)]
    assert made.note.text == f"Seen: {surfaces(made, P)[0]}, today."


def test_the_patient_of_the_note_is_the_one_of_the_topics() -> None:
    made = filled(carrier("John Smith was seen with his wife Ann Miller.", ("John Smith", P), ("Ann Miller", P)))[0]
    patient, wife = surfaces(made, P)
    assert patient == f"{made.patient.first_name} {made.patient.last_name}"
    assert wife != patient


@pytest.mark.parametrize(
    ("text", "one", "other"), [("NOM: DURAND Paul.", "DURAND", "Paul"), ("Paul Durand", "Paul", "Durand")]
)
def test_two_slots_side_by_side_are_first_name_and_surname(text: str, one: str, other: str) -> None:
    made = filled(carrier(text, (one, P), (other, P), language="fr"))[0]
    patient = [made.patient.first_name, (made.patient.last_name or "")]
    assert [name.casefold() for name in surfaces(made, P)] == [
        (name or "").casefold() for name in (reversed(patient) if one.isupper() else patient)
    ]


def test_a_clinician_is_the_same_in_all_notes_and_a_placeholder_is_not() -> None:
    texts = [f"Note {number}. Dr. Miriam Zeller and Dr. X saw him." for number in range(12)]
    made = filled(*(carrier(t, ("Miriam Zeller", D), ("X", D), note_id=t[:8]) for t in texts))
    named = [surfaces(one, D) for one in made]
    assert len({name for name, _ in named}) == 1
    assert len({other for _, other in named}) > 3
    assert all(" " not in other for _, other in named)  # a surname follows a title


def test_an_institution_is_the_same_in_all_notes() -> None:
    made = filled(*(carrier(f"Sent to St. Elsewhere ({n}).", ("St. Elsewhere", H), note_id=f"n{n}") for n in range(5)))
    assert len({surfaces(one, H)[0] for one in made}) == 1


def test_dates_keep_their_distance_and_their_writing() -> None:
    made = filled(carrier("Seen 03/04/2019 and 03/11/2019, MM/DD/YYYY.", ("03/04/2019", T), ("03/11/2019", T),
                          ("MM/DD/YYYY", T)))[0]  # fmt: skip
    first, second, drawn = surfaces(made, T)
    assert first != "03/04/2019"
    from datetime import datetime

    days = [datetime.strptime(day, "%m/%d/%Y").date() for day in (first, second, drawn)]  # noqa: DTZ007
    assert (days[1] - days[0]).days == 7


def test_ages_are_identifiers_above_89_alone() -> None:
    made = filled(carrier("A 57-year-old and a 93-year-old.", ("57", Label.AGE), ("93", Label.AGE)))[0]
    assert [int(age) > 89 for age in surfaces(made, Label.AGE)] == [True]
    assert "57" in made.note.text


@pytest.mark.parametrize("locale", LOCALES)
def test_spanish_notes_take_the_names_of_every_locale(locale: str) -> None:
    text = "Nombre: Pedro. Apellidos: Sanz Roca. CP: 28001. Médico: Ignacio Rubio Tortosa. El Dr. Rubio Tortosa firma."
    slots = [("Pedro", P), ("Sanz Roca", P), ("28001", Label.ZIP), ("Ignacio Rubio Tortosa", D), ("Rubio Tortosa", D)]
    made = filled(carrier(text, *slots, language="es"), locale=locale)[0]
    assert surfaces(made, P) == [made.patient.first_name, made.patient.last_name]
    assert surfaces(made, Label.ZIP) == [made.patient.zip]
    whole, last = surfaces(made, D)
    assert whole.endswith(last)
    assert not {"Pedro", "Sanz", "Roca", "Ignacio", "Tortosa"} & set(made.note.text.replace(".", " ").split())


def test_a_second_value_of_a_label_is_of_its_kind() -> None:
    text = "A teacher, then a nurse, met at Elm Park and Oak Park."
    slots = [("teacher", Label.PROFESSION), ("nurse", Label.PROFESSION), ("Elm Park", Label.LOCATION_OTHER)]
    made = filled(carrier(text, *slots, ("Oak Park", Label.LOCATION_OTHER)))[0]
    found = surfaces(made, Label.PROFESSION) + surfaces(made, Label.LOCATION_OTHER)
    assert len(found) == 4
    assert not any(c.isdigit() for surface in found for c in surface)


@pytest.mark.parametrize("written", ["9 8 7 6 0 3 2 8", "0 0 7", "43567891"])
def test_a_number_with_spaces_gets_another_one_with_the_same_spaces(written: str) -> None:
    made = filled(carrier(f"N° FINESS\n{written}\nFin", (written, Label.IDNUM), language="fr"), locale="fr_FR")[0]
    (new,) = surfaces(made, Label.IDNUM)
    assert new != written
    assert re.sub("[0-9]", "#", new) == re.sub("[0-9]", "#", written)
    assert made.note.text == f"N° FINESS\n{new}\nFin"


@pytest.mark.parametrize(
    "label", [Label.LICENSE, Label.SSN, Label.PHONE, Label.DATE, Label.MEDICALRECORD, Label.DEVICE]
)
def test_spaced_digits_under_any_label_are_replaced_whole(label: Label) -> None:
    written = "9 8 7 6 0 3 2 8"
    made = filled(carrier(f"N° {written}\nFin", (written, label), language="fr"), locale="fr_FR")[0]
    (span,) = made.gold
    assert written not in made.note.text
    assert (made.note.text[: span.start], made.note.text[span.end :]) == ("N° ", "\nFin")

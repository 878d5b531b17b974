"""When the topics know a patient: by a last name that is one; and what is read by other columns is another release."""

from __future__ import annotations

from datetime import date

import pytest

from deid_platform.notes import Facility, Patient, Provider
from deid_platform.refresh.known import filler_of, known, names_a_place, names_somebody

NAMES = (
    *("Quillfeather", "O'Brien", "de la Cruz", "van der Berg-O'Dea", "Le", "Ng", "Xu", "Oo", "Smith Jr.", "Nguyễn"),
    *("李", "김", "Ямамото", "العلي", "राव", "Test-Marchetti", "Unknown Marchetti", "Nullen", "Marchetti 2nd", "Blank"),
    "Quillfeather, Thandiwe",
)
NOT_NAMES = (
    *("", " ", ".", "..", "---", "?", "Q", "Q.", "X", "XXX", "xx", "ZZZZ", "N/A", "n.a.", "NULL", "None", "Unknown"),
    *("UNKNOWN UNKNOWN", "unk.", "Not Known", "No Name", "Anonymous", "[REDACTED]", "Last name", "PATIENT 12", "Test"),
    *("Test Patient", "12345", "P0012", "a9f3c2d1", "Desconocido", "sconosciuta", "Unbekannt", "inconnu", "Baby Girl"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_last_name_is_one(name: str) -> None:
    assert names_somebody(Patient("p1", first_name="Thandiwe", last_name=name))
    assert names_somebody(Patient("p1", last_name=name))
    assert names_somebody(Provider("d1", last_name=name))
    assert names_a_place(Facility("f1", name=name))


@pytest.mark.parametrize("name", [None, *NOT_NAMES])
def test_what_stands_where_no_name_is_known_is_none(name: str | None) -> None:
    assert not names_somebody(Patient("p1", first_name="Thandiwe", last_name=name))
    assert not names_somebody(Provider("d1", last_name=name))
    assert not names_a_place(Facility("f1", name=name))


def test_a_row_s_own_number_is_no_name() -> None:
    assert not names_somebody(Patient("qfeather", last_name="QFeather"))
    assert not names_somebody(Patient("p1", mrn="AB-CD", last_name="AB-CD"))
    assert not names_somebody(Provider("ABCD", last_name="abcd"))
    assert names_somebody(Provider("d1", user_id="marchetti", last_name="Marchetti"))


@pytest.mark.parametrize(
    ("first", "last", "is_one"),
    [
        *((first, "Doe", False) for first in ("John", "JANE", None, "Baby Boy", "J.", "Unknown")),
        ("Marcus", "Doe", True),
        ("John", "Doering", True),
        ("John", "Doe-Marchetti", True),
        ("Max", "Mustermann", False),
        (None, "Marchetti", True),
    ],
)
def test_doe_alone_names_nobody(first: str | None, last: str, is_one: bool) -> None:
    assert names_somebody(Patient("p1", first_name=first, last_name=last)) is is_one


def test_every_row_of_a_patient_counts_so_that_a_later_one_takes_no_name_away() -> None:
    today, before = (
        Patient("p1", mrn="0"),
        Patient("p1", last_name="Quillfeather", birth_date=date(1950, 3, 4), mrn="41"),
    )
    assert known([today]) == (False, False, False)
    assert known([today, before]) == known([before]) == (True, True, True)
    assert known([]) == (False, False, False)
    assert not known([Patient("p1", birth_date=date(1900, 1, 1))]).dated


def test_a_last_name_of_most_patients_names_none_of_them() -> None:
    assert filler_of([("hospital", 15), ("marchetti", 5)], 20) == "hospital"
    assert known([Patient("p1", last_name="HOSPITAL")], "hospital") == (False, False, False)
    assert known([Patient("p1", last_name="Marchetti")], "hospital").named
    # Two in five patients of a town are called Nguyễn, and a family has one name.
    assert filler_of([("nguyễn", 40), ("trần", 11)], 100) is None
    assert filler_of([("quillfeather", 4)], 4) is None
    assert filler_of([], 40) is None

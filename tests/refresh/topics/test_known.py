"""When the topics know a patient: by a last name that is one; and what is read by other columns is another release."""

from __future__ import annotations

from datetime import date

import pytest

from deid_platform.notes import Facility, Patient, Provider
from deid_platform.refresh.topics.known import fillers_of, known, names_a_place, names_somebody

NAMES = (
    *("Quillfeather", "O'Brien", "de la Cruz", "van der Berg-O'Dea", "Le", "Ng", "Xu", "Oo", "Smith Jr.", "Nguyễn"),
    *("李", "김", "Ямамото", "العلي", "राव", "Test-Marchetti", "Unknown Marchetti", "Nullen", "Marchetti 2nd", "Blank"),
    *("Quillfeather, Thandiwe", "Mrs Marchetti", "Victor", "Malek", "Private-Marchetti", "Trauma Marchetti", "Alpha"),
)
NOT_NAMES = (
    *("", " ", ".", "..", "---", "?", "Q", "Q.", "X", "XXX", "xx", "ZZZZ", "N/A", "n.a.", "NULL", "None", "Unknown"),
    *("UNKNOWN UNKNOWN", "unk.", "Not Known", "No Name", "Anonymous", "[REDACTED]", "Last name", "PATIENT 12", "Test"),
    *("Test Patient", "12345", "P0012", "a9f3c2d1", "Desconocido", "sconosciuta", "Unbekannt", "inconnu", "Baby Girl"),
    *("Male", "FEMALE", "Hidden", "private", "Masked", "Mr.", "MRS", "Deceased", "Alias", "Default", "Onbekend"),
    *("entfernt", "SUPPRIMÉ", "Eliminado", "PSEUDO", "CODED", "Trauma Alpha", "TRAUMA ZULU", "Trauma, Romeo"),
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


@pytest.mark.parametrize(
    ("names", "patients", "fillers"),
    [
        ({"hospital": 15, "marchetti": 5}, 20, {"hospital"}),
        ({"north": 60, "south": 25, "marchetti": 15}, 100, {"north", "south"}),
        ({"pseudo a": 11, "pseudo b": 9}, 20, {"pseudo a", "pseudo b"}),
        ({"porto": 6, "lisboa": 5, "braga": 5, "faro": 4}, 20, {"porto", "lisboa", "braga"}),
        ({"north": 250, "south": 250, "east": 250, "west": 250}, 1_000, {"north", "south", "east", "west"}),
        ({"reserved": 300, "blocked": 250, "marchetti": 100, "quillfeather": 100}, 1_000, {"reserved", "blocked"}),
        ({"tq": 1, "bw": 2, "ng": 1, "kd": 9, "rossi": 4, "marchetti": 3}, 20, {"tq", "bw", "ng", "kd"}),
        # Two in five patients of a town are called Nguyễn, all may be Singh and Kaur, and a family has one name.
        ({"nguyễn": 40, "trần": 12, "lê": 11}, 100, set()),
        ({"kim": 22, "lee": 15, "park": 12, "choi": 11}, 100, set()),
        ({"singh": 55, "kaur": 45}, 100, set()),
        ({"smith": 12, "johnson": 11, "williams": 11}, 100, set()),
        ({"li": 8, "wu": 4, "ng": 3, "xu": 3, "ma": 2} | {f"marchetti {sign}": 8 for sign in "abcdefghij"}, 100, set()),
        ({"李": 30, "王": 30, "김": 40}, 100, {"李", "王", "김"}),
        ({f"{sign}": 1 for sign in "李王张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗"}, 20, set()),
        ({"rossi": 4, "bianchi": 4, "ferrari": 4, "marchetti": 4, "quillfeather": 4}, 20, set()),
        ({"quillfeather": 4}, 4, set()),
        ({}, 40, set()),
    ],
)
def test_last_names_that_stand_for_most_patients_name_none(names: dict[str, int], patients: int, fillers: set[str]):
    assert fillers_of(names.items(), patients) == fillers


def test_a_patient_of_a_name_that_stands_for_most_is_not_known_by_it() -> None:
    assert known([Patient("p1", last_name="HOSPITAL")], {"hospital", "tq"}) == (False, False, False)
    assert known([Patient("p1", last_name="Marchetti")], {"hospital", "tq"}).named

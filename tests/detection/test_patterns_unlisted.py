"""Names that no list knows, by what is said of whom they name; and what things do as well."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Find = Callable[..., list[tuple[str, str]]]

PEOPLE = [
    ("At this point Qadirovec is stable for transfer.", ["Qadirovec"]),
    ("Unfortunately Tzabeth denies taking it.", ["Tzabeth"]),
    ("Wounds clean. Jewlene reports that sleep is better.", ["Jewlene"]),
    ("When Chayotl was brought in by ambulance", ["Chayotl"]),
    ("The patient Oskarvil Tzanhuac was examined on rounds.", ["Oskarvil Tzanhuac"]),
    ("She was examined with B. Pickelhaub, who agreed.", ["B. Pickelhaub"]),
    ("Discussed with (R.T. Oskarvil) today.", ["R.T. Oskarvil"]),
    ("T.S. reports less pain than last week.", ["T.S."]),
    ("Oskarvil Tzanhuac tolerated the procedure well.", ["Oskarvil Tzanhuac"]),
]
THINGS = [
    "Cultures grew S. Aureus and E. Coli; treated for C. Difficile.",
    "The U.S. reports more cases. The E.R. was crowded.",
    "The Contravex was placed in the left ventricle.",
    "Laparotome was positioned. Centralizer was placed.",
    "Then Mannitol was started and Darvocet was continued.",
    "Tetracycline is a very safe antibiotic. Tetracycline has been stopped.",
    "Her Coblator was taken from the tray.",
    "Nephrology was called. Anesthesia was called.",
    "Hemostasis was obtained; Ventriculography was performed.",
]


@pytest.mark.parametrize(("text", "found"), PEOPLE)
def test_who_does_what_persons_do_is_a_person_on_no_list(text: str, found: list[str], find: Find) -> None:
    assert [surface for surface, _ in find(text)] == found


@pytest.mark.parametrize("text", THINGS)
def test_what_is_done_to_things_tells_nothing(text: str, find: Find) -> None:
    assert find(text) == []

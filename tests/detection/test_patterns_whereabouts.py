"""Places and user names in running prose: hits beside what only looks like them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Find = Callable[..., list[tuple[str, str]]]

HITS = [
    ("Mail to PO Box 88, Vrindel CA today", "CITY", ["Vrindel"]),
    ("Fell outside the bakery on Quillan Street this morning.", "STREET", ["Quillan Street"]),
    ("Collision at Harrowgate Avenue and North Tamsin Road.", "STREET", ["Harrowgate Avenue", "North Tamsin Road"]),
    ("Found wandering near NE Quillan Dr. by police.", "STREET", ["NE Quillan Dr."]),
    ("He drove down Third Avenue.", "STREET", ["Third Avenue"]),
    ("Hit by a car, Tamsin Blvd & 9th Street.", "STREET", ["Tamsin Blvd", "9th Street"]),
    ("She was in Vrindel last month.", "CITY", ["Vrindel"]),
    ("Recent trip to Oskarvik, no sick contacts.", "CITY", ["Oskarvik"]),
    ("Parents emigrated, originally from Tzanhuac.", "CITY", ["Tzanhuac"]),
    ("Stationed in Qarabel for two years.", "CITY", ["Qarabel"]),
    ("Records from Westerhagen have been requested.", "HOSPITAL", ["Westerhagen"]),
    ("Notes from Hollisdene were received.", "HOSPITAL", ["Hollisdene"]),
    ("Images uploaded by tmarquard to the portal.", "USERNAME", ["tmarquard"]),
    ("Last edited by jq_vance, locked by k4vance", "USERNAME", ["jq_vance", "k4vance"]),
    ("Gets chemo at Westerhagen.", "HOSPITAL", ["Westerhagen"]),
    ("Comparison: CT from Westerhagen dated last week", "HOSPITAL", ["Westerhagen"]),
    ("She grew up outside Oskarvik. Vacationed in Vrindel last month.", "CITY", ["Oskarvik", "Vrindel"]),
    ("mychart msg from quillan61 today", "USERNAME", ["quillan61"]),
    ("Pharmacy: Rendle, Quillan Ave", "STREET", ["Quillan Ave"]),
    ("INR 10/4 2.4, 11/18 3.1.", "DATE", ["10/4", "11/18"]),
]
NEAR_MISSES = [
    "She is on the road to recovery.",
    "Sex drive is low; on Recovery Road.",
    "Pain along the lateral aspect of the foot and in the heel.",
    "Patient was in Trendelenburg position, then was in Afib.",
    "She was in Winter quite well.",
    "He was in Hospice for two weeks.",
    "Records from Radiology have been requested.",
    "Transferred from Recovery to the ward.",
    "Admitted to Medicine for observation; admitted to Telemetry.",
    "Report from Pathology pending.",
    "Images reviewed by cardiology and entered by transcription.",
    "Released by surgery, typed by dictation.",
    "MRI from Baseline dated last week, study from Radiology.",
    "Chemo at Home, dialysis at Bedside, surgery at Risk, message from patient2.",
    "Strength 5/5 4.5, reflexes 2/4.",
    "BP 10/6 2.4 is an error.",
]


@pytest.mark.parametrize(("text", "label", "found"), HITS)
def test_places_and_users_that_prose_speaks_of(text: str, label: str, found: list[str], find: Find) -> None:
    assert [surface for surface, what in find(text) if what == label] == found


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_is_no_place_stays(text: str, find: Find) -> None:
    assert find(text) == []

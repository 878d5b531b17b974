"""Checks of what a pattern matched: check digits, and the numbering plans of telephones."""

from __future__ import annotations

import pytest

from deid_platform.detection.api import Document
from deid_platform.detection.rules.catalogue import load_recognizers
from deid_platform.detection.rules.en import contacts
from deid_platform.detection.rules.engine.validator import validator_named
from deid_platform.notes import Note
from deid_platform.text.check_digits import CHECK_DIGITS

# A number of each recognizer that counts check digits, and the place of the one that proves it.
CHECKED = [
    ("npi-bare", "signed 1234567893", -1),
    ("dea", "AB1234563", -1),
    ("card", "4111 1111 1111 1111", -1),
    ("card", "371449635398431", -1),
    ("nie", "X2482300W", -1),
    ("dni", "54362315K", -1),
    ("tfn", "TFN 112 474 082", -1),
    ("au-medicare", "2123 45670 1", -3),
    ("nir", "1 85 05 78 006 084 91", -1),
    ("aadhaar", "2341 2341 2346", -1),
    ("iban", "GB82 WEST 1234 5698 7654 32", 3),
    ("device-imei", "490154203237518", -1),
    ("vehicle-vin", "1M8GDM9AXKP042788", 8),
    ("nhs-number", "943 476 5919", -1),
    ("sin", "130-692-544", -1),
    ("codice-fiscale", "RSSMRA85T10A562S", -1),
    ("italian-tax-code", "RSSMRA85T10A562S", -1),
]


@pytest.mark.parametrize(("name", "text", "at"), CHECKED)
def test_of_all_check_digits_only_the_right_one_proves_a_number(name: str, text: str, at: int) -> None:
    recognizer = next(r for r in load_recognizers() if r.name == name)
    signs = "0123456789" + ("ABCDEFGHIJKLMNOPQRSTUVWXYZ" if text[at].isalpha() else "")
    at %= len(text)
    proven = [c for c in signs if list(recognizer.find(Document(Note("n", text[:at] + c + text[at + 1 :]))))]
    assert proven == [text[at]]


def test_every_recognizer_with_a_check_digit_is_here() -> None:
    counting = {validator_named(name) for name in CHECK_DIGITS if name != "pan"}  # which has a form and no check digit
    assert {r.name for r in load_recognizers() if r.validator in counting} == {name for name, _, _ in CHECKED}


# A number of each numbering plan, and one of the same writing that the plan does not have.
OF_PLANS = [
    ("US", "(201) 555-0123", "(201) 155-0123"),
    ("CA", "(506) 234-5678", "(506) 134-5678"),
    ("GB", "0121 234 5678", "0100 234 5678"),
    ("AU", "(02) 9374 4000", "(01) 9374 4000"),
    ("FR", "01 42 68 53 00", "00 42 68 53 00"),
    ("ES", "967 597 100", "267 597 100"),
    ("IT", "347 123 4567", "247 123 4567"),
    ("IN", "98765 43210", "50000 00000"),
    ("DE", "030 901820", "010 901820"),
]


@pytest.mark.parametrize(("region", "assigned", "invalid"), OF_PLANS)
def test_a_number_without_a_country_must_be_one_of_a_plan(
    region: str, assigned: str, invalid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contacts, "_REGIONS", (region,))
    assert contacts.regional_phone(assigned, 0, len(assigned)) == (0, len(assigned))
    assert contacts.regional_phone(invalid, 0, len(invalid)) is None


def test_every_plan_that_is_tried_has_its_numbers_here() -> None:
    assert tuple(region for region, _, _ in OF_PLANS) == contacts._REGIONS


@pytest.mark.parametrize("number", ["(101) 555-0123", "00 42 68 53 00", "000 000 0000"])
def test_a_number_of_no_plan_is_none(number: str) -> None:
    assert contacts.regional_phone(number, 0, len(number)) is None

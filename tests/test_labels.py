"""Labels and their tables: every label is placed, and every crosswalk leads to ours, or says that there is none."""

from __future__ import annotations

import pytest

from deid_platform.labels import CROSSWALKS, HIPAA_IDENTIFIER, RISK, Label, Risk


def test_every_label_has_its_hipaa_identifier_and_its_risk() -> None:
    assert set(HIPAA_IDENTIFIER) == set(RISK) == set(Label)


def test_the_identifiers_are_letters_of_the_safe_harbor_list() -> None:
    letters = {letter for letter in HIPAA_IDENTIFIER.values() if letter is not None}
    # A to R without Q, full-face photographs, which no text holds.
    assert letters == set("ABCDEFGHIJKLMNOPR")


@pytest.mark.parametrize("label", [Label.PATIENT, Label.SSN, Label.MEDICALRECORD])
def test_what_names_a_patient_is_a_high_risk(label: Label) -> None:
    assert RISK[label] is Risk.HIGH


@pytest.mark.parametrize("scheme", CROSSWALKS)
def test_a_crosswalk_leads_to_labels(scheme: str) -> None:
    assert CROSSWALKS[scheme]
    assert set(CROSSWALKS[scheme].values()) <= {*Label, None}


def test_i2b2_labels_are_our_own() -> None:
    assert {label.value: label for label in Label}.items() <= CROSSWALKS["i2b2-2014"].items()

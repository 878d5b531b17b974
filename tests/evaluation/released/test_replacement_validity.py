"""Replacements judged by hand: covered, labelled, plausible."""

from __future__ import annotations

import pytest

from deid_platform.errors import DeidError
from deid_platform.evaluation.released.replacement_validity import count_validity, plausible, validity
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact

#       0         1         2         3         4
#       01234567890123456789012345678901234567890123456
TEXT = "Ann Vask of Millbrook, MRN 4417, seen 3/4/2019."
NAME, TOWN, MRN, DATE = (
    Span(0, 8, Label.PATIENT),
    Span(12, 21, Label.CITY),
    Span(27, 31, Label.MEDICALRECORD),
    Span(38, 46, Label.DATE),
)
GOLD = (NAME, TOWN, MRN, DATE)


def note(patient: str = "p") -> Note:
    return Note("n", TEXT, patient)


def test_each_part_by_hand() -> None:
    # The name is replaced but for its last letter, the town under another label, the number by its own digits again,
    # the date well.
    applied = [Span(0, 7, Label.PATIENT), Span(12, 21, Label.HOSPITAL), MRN, DATE]
    counts = count_validity(note(), GOLD, applied, ["Eve Pell", "Pell Clinic", "44-17", "11/4/2019"])
    assert counts.labels == {
        Label.PATIENT: (1, 0, 1, 1, 0),
        Label.CITY: (1, 1, 0, 1, 0),
        Label.MEDICALRECORD: (1, 1, 1, 0, 0),
        Label.DATE: (1, 1, 1, 1, 1),
    }
    scores = validity([counts])
    assert [(it.hits, it.total) for it in (scores.covered, scores.labelled, scores.plausible, scores.valid)] == [
        (3, 4), (3, 4), (3, 4), (1, 4),
    ]  # fmt: skip
    assert scores.labels[Label.DATE].value == 1.0 and scores.labels[Label.CITY].value == 0.0


def test_what_was_missed_is_none_of_the_three_and_intervals_are_over_patients() -> None:
    missed = count_validity(note("a"), [NAME], [], [])
    assert missed.labels == {Label.PATIENT: (1, 0, 0, 0, 0)}
    scores = validity([missed, count_validity(note("b"), [NAME], [NAME], ["Eve Pell"])])
    assert (scores.valid.low, scores.valid.value, scores.valid.high) == (0.0, 0.5, 1.0)
    assert validity([]).valid.value is None


def test_a_name_in_two_spans_has_the_label_of_the_longer_and_both_must_be_plausible() -> None:
    applied = [Span(0, 3, Label.DOCTOR), Span(4, 8, Label.PATIENT)]
    assert count_validity(note(), [NAME], applied, ["Eve", "Pell"]).labels[Label.PATIENT] == (1, 1, 1, 1, 1)
    assert count_validity(note(), [NAME], applied, ["[DOCTOR]", "Pell"]).labels[Label.PATIENT] == (1, 1, 1, 0, 0)


@pytest.mark.parametrize(
    ("label", "original", "new", "fits"),
    [
        (Label.PATIENT, "Ann Vask", "Eve Pell", True),
        (Label.PATIENT, "ANN VASK", "EVE PELL", True),
        (Label.PATIENT, "ANN VASK", "Eve Pell", False),
        (Label.PATIENT, "Ann Vask", "ann  VASK", False),
        (Label.PATIENT, "Ann Vask", "[PATIENT]", False),
        (Label.PATIENT, "Ann Vask", "***", False),
        (Label.PATIENT, "Ann Vask", "Eve 3", False),
        (Label.PATIENT, "Ann Vask", "", False),
        (Label.STREET, "12 Oak St", "7 Elm St", True),
        (Label.STREET, "12 Oak St", "74", False),
        (Label.DATE, "3/4/2019", "11/4/2019", True),
        (Label.DATE, "3/4/2019", "31/31/2019", False),
        (Label.DATE, "Easter", "Whitsun", True),  # neither can be read as a date
        (Label.PHONE, "617-555-0134", "617-555-0199", True),
        (Label.PHONE, "617-555-0134", "617-555", False),
        (Label.EMAIL, "a@b.org", "c@d.org", True),
        (Label.EMAIL, "a@b.org", "c at d", False),
        (Label.URL, "www.pell.org", "www.vask.org", True),
        (Label.IPADDR, "10.0.0.1", "10.0.0.999", False),
        (Label.SSN, "123-45-6789", "923-45-6789", True),
        (Label.AGE, "91", "90+", True),
    ],
)
def test_a_replacement_is_plausible_by_its_form(label: Label, original: str, new: str, fits: bool) -> None:
    assert plausible(label, original, new) is fits


def test_tags_of_a_policy_are_no_surrogates() -> None:
    done = redact(note(), GOLD, load_policy("safe_harbor"))
    scores = validity([count_validity(note(), GOLD, done.applied, done.replacements)])
    assert scores.covered.value == scores.labelled.value == 1.0
    assert scores.plausible.hits == 0


def test_spans_and_replacements_go_together() -> None:
    with pytest.raises(ValueError, match="zip"):
        count_validity(note(), GOLD, [NAME], [])
    with pytest.raises(DeidError):
        count_validity(note(), [Span(0, 99, Label.DATE)], [], [])

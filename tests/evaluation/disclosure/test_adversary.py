"""Notes and patients with a direct identifier left: exact bounds, and Murugadoss 2024's numbers at a site's scale."""

from __future__ import annotations

import math

import pytest

from deid_platform.evaluation.disclosure.adversary import (
    Exact,
    ExposureNote,
    at_notes_a_patient,
    exact,
    exposure,
    exposure_note,
)
from deid_platform.evaluation.scores.missed_by_risk import ReadNote
from deid_platform.labels import Label
from deid_platform.notes import Span


def test_the_papers_six_of_14631_patients_at_one_note_and_at_400() -> None:
    names = exact(6, 14_631)
    assert names.value == pytest.approx(0.0004, abs=0.00005)
    assert (names.low, names.high) == pytest.approx((0.0001505, 0.0008924), abs=2e-7)
    site = at_notes_a_patient(names, 400)
    assert site.value == pytest.approx(1 - (1 - 6 / 14_631) ** 400)
    assert site.value == pytest.approx(0.15, abs=0.005)
    assert site.low == pytest.approx(0.06, abs=0.005) and site.high == pytest.approx(0.30, abs=0.005)
    assert (site.hits, site.total) == (6, 14_631)


def test_patients_with_few_notes_leak_less_than_their_mean_says() -> None:
    a_note = exact(1, 10)
    assert at_notes_a_patient(a_note, [1, 3]).value == pytest.approx((0.1 + (1 - 0.9**3)) / 2)
    assert at_notes_a_patient(a_note, 2).value == pytest.approx(1 - 0.9**2)


@pytest.mark.parametrize(("hits", "total"), [(1, 10), (5, 10), (9, 10), (6, 14_631), (3, 3), (0, 40)])
def test_the_bounds_are_where_the_binomial_tails_are_a_fortieth(hits: int, total: int) -> None:
    found = exact(hits, total)

    def at_most(k: int, p: float) -> float:
        return math.fsum(math.comb(total, i) * p**i * (1 - p) ** (total - i) for i in range(k + 1))

    if hits < total:
        assert at_most(hits, found.high) == pytest.approx(0.025)
    else:
        assert found.high == 1.0
    if hits:
        assert 1 - at_most(hits - 1, found.low) == pytest.approx(0.025)
    else:
        assert found.low == 0.0


def test_nothing_found_in_n_still_has_an_upper_bound() -> None:
    assert exact(0, 1000).high == pytest.approx(1 - 0.025 ** (1 / 1000))
    assert exact(0, 0) == Exact(None, 0.0, 1.0, 0, 0)
    with pytest.raises(ValueError, match="more hits"):
        exact(2, 1)


def test_notes_and_patients_are_counted_apart() -> None:
    notes = [ExposureNote(leaks, who) for leaks, who in
             [(True, "a"), (True, "a"), (False, "a"), (False, "b"), (True, None), (False, None)]]  # fmt: skip
    found = exposure(notes)
    assert (found.notes.hits, found.notes.total) == (3, 6)
    assert (found.patients.hits, found.patients.total) == (2, 4)
    assert found.notes_a_patient == 1.5
    assert exposure([]).patients.value is None


@pytest.mark.parametrize(
    ("hidden", "leaks"),
    [
        ([(0, 8), (12, 18)], False),  # the date is left, which is no direct identifier
        ([(0, 7), (12, 18)], True),  # the last letter of the name is left
        ([(12, 18)], True),
    ],
)
def test_a_note_leaks_with_a_direct_identifier_alone(hidden: list[tuple[int, int]], leaks: bool) -> None:
    text = "Ann Vask of 441-77 on 3/4"
    gold = [Span(0, 8, Label.PATIENT), Span(12, 18, Label.MEDICALRECORD), Span(22, 25, Label.DATE)]
    note = ReadNote(text, gold, [Span(a, b, Label.IDNUM) for a, b in hidden], "p")
    assert exposure_note(note) == ExposureNote(leaks, "p")

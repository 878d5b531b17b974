"""The difference of two recalls: worked examples, and what pairing is for."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.comparison import FoundByBoth, recall_difference


def test_the_difference_is_that_of_the_shares() -> None:
    found = recall_difference([FoundByBoth(10, 8, 9, "a"), FoundByBoth(10, 10, 9, "b"), FoundByBoth(20, 18, 19, "c")])
    assert (found.notes, found.recall, found.recall_before) == (3, 0.9, 0.925)
    assert found.difference == pytest.approx(-0.025)
    assert found.low is not None
    assert found.high is not None
    assert found.low < -0.025 < found.high


def test_two_that_find_the_same_differ_by_nothing_however_few_the_notes() -> None:
    # Each recall by itself has a wide interval here.
    same = recall_difference([FoundByBoth(5, at % 6, at % 6, f"p{at}") for at in range(6)])
    assert (same.difference, same.low, same.high) == (0.0, 0.0, 0.0)


def test_notes_of_one_patient_are_resampled_together() -> None:
    one_patient = [FoundByBoth(10, 9, 10, "a") for _ in range(20)]
    assert recall_difference(one_patient).low is None
    each_their_own = recall_difference([FoundByBoth(10, 9, 10) for _ in range(20)])
    assert each_their_own.low == pytest.approx(-0.1)


@pytest.mark.parametrize("notes", [[], [FoundByBoth(0, 0, 0, "a"), FoundByBoth(0, 0, 0, "b")]])
def test_without_a_word_of_gold_nothing_is_compared(notes) -> None:
    assert recall_difference(notes).difference is None

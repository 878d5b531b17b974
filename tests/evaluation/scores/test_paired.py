"""Differences between two detectors on the same notes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deid_platform.evaluation.scores.paired import difference
from deid_platform.evaluation.scores.scores import NoteCounts


def note(found: int, missed: int, wrong: int = 0, *, cluster: str | None = None) -> NoteCounts:
    return NoteCounts(20, found, wrong, missed, found + missed, found, cluster=cluster)


def test_a_difference_by_hand() -> None:
    one = [note(9, 1), note(10, 0)]  # 19 of 20
    other = [note(8, 2), note(9, 1)]  # 17 of 20
    found = difference(one, other, "recall")
    assert found.value == pytest.approx(0.10)
    assert found.low == found.high == pytest.approx(0.10)  # it is the same on either note
    assert found.is_significant and found.p == 0


def test_precision_counts_what_is_hidden_wrongly() -> None:
    found = difference([note(8, 0, 2)], [note(7, 1, 0)], "precision")
    assert found.value == pytest.approx(0.8 - 1.0)
    assert found.low is None  # one note has no spread


def test_the_same_detector_differs_from_itself_by_nothing() -> None:
    notes = [note(9, 1), note(3, 4, 2), note(0, 0)]
    found = difference(notes, notes, "recall")
    assert (found.value, found.low, found.high, found.p) == (0, 0, 0, 1)
    assert not found.is_significant


def test_what_is_hard_for_both_does_not_widen_the_interval() -> None:
    hard = [note(1, 9) for _ in range(10)]
    easy = [note(10, 0) for _ in range(10)]
    better = [replace(it, true_positives=2, false_negatives=8) for it in hard]
    found = difference([*better, *easy], [*hard, *easy], "recall")
    assert found.low is not None and 0 < found.low < 0.05 < found.high  # type: ignore[operator]


def test_notes_of_a_patient_are_drawn_together() -> None:
    one = [note(10, 0, cluster="a") for _ in range(8)] + [note(5, 5, cluster="b") for _ in range(8)]
    other = [note(9, 1, cluster="a") for _ in range(8)] + [note(5, 5, cluster="b") for _ in range(8)]
    together = difference(one, other, "recall")
    apart = difference([replace(it, cluster=None) for it in one], [replace(it, cluster=None) for it in other], "recall")
    assert together.high is not None and apart.high is not None
    assert together.high - together.low > apart.high - apart.low  # type: ignore[operator]


def test_nothing_to_find_has_no_difference() -> None:
    assert difference([note(0, 0), note(0, 0)], [note(0, 0), note(0, 0)], "recall").value is None


def test_other_notes_are_refused() -> None:
    with pytest.raises(ValueError, match="other notes"):
        difference([note(1, 0)], [note(2, 0)], "recall")

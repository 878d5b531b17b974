"""F1 by note length, by hand."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.scores.by_length import by_length
from deid_platform.evaluation.scores.token_scores import Confusion, TokenCounts


def note(tokens: int, tp: int, fp: int, fn: int) -> TokenCounts:
    return TokenCounts(tokens, Confusion(tp=tp, tn=tokens - tp - fp - fn, fp=fp, fn=fn))


def test_f1_of_each_bin_pools_its_notes() -> None:
    counts = [note(10, 2, 0, 0), note(19, 1, 1, 1), note(20, 2, 2, 2), note(500, 0, 0, 5)]
    short, middle, long = by_length(counts, (0, 20, 100, 400))
    assert (short.least, short.below, short.notes) == (0, 20, 2)
    assert short.scores.f1.value == pytest.approx(2 * 3 / (2 * 3 + 1 + 1))  # not the mean of 1 and 1/2
    assert (middle.least, middle.below, middle.notes) == (20, 100, 1)
    assert middle.scores.f1.value == pytest.approx(0.5)
    assert middle.scores.f1.low is None, "one note has no spread"
    assert (long.least, long.below, long.notes, long.scores.f1.value) == (400, None, 1, 0.0)


def test_a_bin_without_notes_is_not_shown_and_a_note_below_all_bins_is_in_none() -> None:
    found = by_length([note(5, 1, 0, 0), note(50, 1, 0, 0)], (10, 20, 40))
    assert [(it.least, it.notes) for it in found] == [(40, 1)]


def test_edges_rise() -> None:
    with pytest.raises(ValueError, match="rise"):
        by_length([], (0, 5, 5))

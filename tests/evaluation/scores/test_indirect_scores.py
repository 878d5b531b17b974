"""Planted indirect identifiers that are found, named, missed, and what is found elsewhere: by hand."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.scores.indirect_scores import TaggedNote, indirect_scores
from deid_platform.labels import Indirect

TEXT = "Keeps a tame wolf. Is a twin. BP 120/80."
WOLF, TWIN = (6, 17, Indirect.WAY_OF_LIFE), (22, 28, Indirect.FAMILY)


@pytest.mark.parametrize(
    ("found", "hits", "named", "elsewhere"),
    [
        ([WOLF, TWIN], 2, 2, 0),
        ([(0, 29, Indirect.FAMILY)], 2, 1, 0),
        ([(13, 17, Indirect.WAY_OF_LIFE)], 0, 0, 0),  # four of nine letters
        ([(8, 13, Indirect.CARE), WOLF], 1, 1, 0),
        ([(30, 39, Indirect.CARE)], 0, 0, 1),
        ([], 0, 0, 0),
        (None, 0, 0, 0),
    ],
)
def test_one_note(found, hits: int, named: int, elsewhere: int) -> None:
    scores = indirect_scores([TaggedNote(TEXT, [WOLF, TWIN], found)], resamples=2)
    assert (scores.found.hits, scores.found.total, scores.named.hits) == (hits, 2, named)
    assert (scores.elsewhere.value, scores.failed) == (elsewhere, found is None)
    assert set(scores.by_category) == {Indirect.WAY_OF_LIFE, Indirect.FAMILY}


def test_a_failed_note_counts_as_all_missed_and_intervals_are_over_patients() -> None:
    notes = [TaggedNote(TEXT, [WOLF], [WOLF], "a"), TaggedNote(TEXT, [WOLF], None, "b")]
    scores = indirect_scores(notes, resamples=200)
    assert (scores.found.value, scores.found.low, scores.found.high, scores.failed) == (0.5, 0.0, 1.0, 1)
    assert indirect_scores([]).found.value is None

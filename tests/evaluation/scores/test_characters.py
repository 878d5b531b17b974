"""Shares of characters, by hand."""

from __future__ import annotations

import pytest

from deid_platform.errors import DeidError
from deid_platform.evaluation.scores.characters import character_scores, count_characters
from deid_platform.labels import Label
from deid_platform.notes import Span

TEXT = "Ann Vask  saw\nus on 3/4."
#       0123456789012 3456789012
GOLD = [Span(0, 8, Label.PATIENT), Span(20, 23, Label.DATE)]


def test_characters_are_counted_without_white_space() -> None:
    # "nn Vask  s" hides 6 of the 7 letters of the name, and the s of "saw"; the date stays.
    counts = count_characters(TEXT, GOLD, [Span(1, 11, Label.DOCTOR)])
    assert (counts.identifying, counts.found) == (7 + 3, 6)
    assert (counts.other, counts.hidden) == (len("sawuson."), 1)
    assert counts.labels == {Label.PATIENT: (7, 6), Label.DATE: (3, 0)}
    scores = character_scores([counts])
    assert scores.found.value == pytest.approx(6 / 10)
    assert scores.hidden.value == pytest.approx(1 / 8)
    assert scores.labels[Label.PATIENT].value == pytest.approx(6 / 7)


def test_what_overlaps_counts_once() -> None:
    gold = [*GOLD, Span(0, 3, Label.PATIENT)]
    counts = count_characters(TEXT, gold, [Span(0, 3, Label.PATIENT), Span(2, 3, Label.DATE)])
    assert (counts.identifying, counts.found, counts.labels[Label.PATIENT]) == (10, 3, (7, 3))


def test_shares_pool_notes_and_of_nothing_there_is_none() -> None:
    none, all_of_it = count_characters(TEXT, GOLD, []), count_characters(TEXT, GOLD, GOLD)
    scores = character_scores([none, all_of_it])
    assert (scores.found.value, scores.found.low, scores.found.high) == (0.5, 0.0, 1.0)
    assert scores.hidden.value == 0.0
    assert character_scores([count_characters("", [], [])]).found.value is None


def test_a_span_outside_the_text_is_refused() -> None:
    with pytest.raises(DeidError):
        count_characters("a", [Span(0, 2, Label.AGE)], [])

"""Scores on claimed labels, worked out by hand."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.comparison.claimed import count_claimed
from deid_platform.evaluation.scores.scores import count_note
from deid_platform.labels import Label
from deid_platform.notes import Span

TEXT = "Patient: Ann Roe, clerk, of Leeds, seen 3/4/2019 on Monday."
GOLD = [
    Span(9, 16, Label.PATIENT),  # 2 words
    Span(18, 23, Label.PROFESSION),  # 1
    Span(28, 33, Label.CITY),  # 1
    Span(40, 48, Label.DATE),  # 3
]


def place(words: str) -> tuple[int, int]:
    start = TEXT.index(words)
    return start, start + len(words)


def test_a_peer_of_persons_and_dates() -> None:
    """It hides one of two words of the name, the city as a person, the job as nothing that it claims, and a weekday."""
    persons_and_dates = [place("Roe"), place("Leeds"), place("Monday")]
    hidden = [*persons_and_dates, place("clerk"), place("seen")]
    counts = count_claimed(TEXT, GOLD, hidden, persons_and_dates, {Label.PATIENT, Label.DATE})
    # Claimed gold is "Ann Roe" and three words of the date. City and job are left out, although they are hidden;
    # "seen" is hidden under no claimed label; "Monday" is wrong.
    assert (counts.true_positives, counts.false_negatives, counts.false_positives) == (1, 4, 1)
    assert (counts.entities, counts.covered_entities) == (2, 0)


def test_a_claimed_word_under_another_label_is_found() -> None:
    counts = count_claimed(TEXT, GOLD, [place("Ann Roe"), place("Monday")], [], {Label.PATIENT})
    assert (counts.true_positives, counts.false_negatives, counts.false_positives) == (2, 0, 0)
    assert (counts.entities, counts.covered_entities) == (1, 1)


def test_a_word_of_a_claimed_and_of_another_identifier_is_claimed() -> None:
    gold = [*GOLD, Span(9, 12, Label.USERNAME)]
    counts = count_claimed(TEXT, gold, [], [], {Label.USERNAME})
    assert (counts.true_positives, counts.false_negatives) == (0, 1)


@pytest.mark.parametrize("hidden", [[], ["Roe", "Monday"], ["Ann Roe, clerk", "3/4", "Patient"]])
def test_who_claims_all_labels_has_the_scores_of_all(hidden) -> None:
    places = [place(words) for words in hidden]
    claimed = count_claimed(TEXT, GOLD, places, places, frozenset(Label), cluster="p")
    plain = count_note(TEXT, GOLD, [Span(*it, Label.IDNUM) for it in places], cluster="p")
    same = ("words", "true_positives", "false_positives", "false_negatives", "entities", "covered_entities", "cluster")
    assert [getattr(claimed, name) for name in same] == [getattr(plain, name) for name in same]

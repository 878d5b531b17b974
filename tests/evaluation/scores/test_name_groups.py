"""Recall of names by sex, popularity, decade and meaning."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.scores.name_groups import (
    ALL,
    DECADES,
    GROUPS,
    MEANINGS,
    POPULARITY,
    SEXES,
    count_names,
    groups_of,
    name_recalls,
)
from deid_platform.labels import Label
from deid_platform.notes import Span

TEXT = "Gertrude de Smith saw Dr. Zilpah Rose in Dover."
GOLD = (
    Span(0, 17, Label.PATIENT),
    Span(26, 37, Label.DOCTOR),
    Span(41, 46, Label.CITY),
)


@pytest.mark.parametrize(
    ("word", "groups"),
    [
        ("smith", {POPULARITY[0], MEANINGS[1]}),
        ("gertrude", {POPULARITY[1], DECADES[0], MEANINGS[1]}),
        ("aaliyah", {POPULARITY[1], DECADES[1], MEANINGS[1]}),
        ("zilpah", {POPULARITY[2], MEANINGS[1]}),
        ("ndoyeke", {POPULARITY[2], MEANINGS[1]}),
    ],
)
def test_a_name_is_of_the_groups_that_the_registers_say(word: str, groups: set[str]) -> None:
    assert set(groups_of(word, american=True)) == groups


@pytest.mark.parametrize("word", ["rose", "dover", "long", "brown"])
def test_a_name_that_means_something_else_is_told(word: str) -> None:
    assert groups_of(word, american=False) == (MEANINGS[0],)


def test_words_of_names_alone_count_and_sex_is_the_patients() -> None:
    counts = count_names(TEXT, GOLD, [(0, 8), (33, 37)], sex="F", locale="en_US")
    assert counts.total[ALL] == 4  # "de" is nobody's, "Dover" no name here
    assert (counts.total[SEXES["F"]], counts.hidden[SEXES["F"]]) == (2, 1)
    assert SEXES["M"] not in counts.total
    assert (counts.total[MEANINGS[0]], counts.hidden[MEANINGS[0]]) == (1, 1)  # Rose
    assert counts.hidden[ALL] == 2


def test_other_countries_have_no_popularity_and_no_decade() -> None:
    counts = count_names(TEXT, GOLD, [], sex="F", locale="zh")
    assert not set(counts.total) & {*POPULARITY, *DECADES}
    assert count_names(TEXT, GOLD, [], sex="F", locale="en_US").total[DECADES[0]] == 1


def test_the_recall_of_each_group_is_over_all_notes() -> None:
    counts = [
        count_names(TEXT, GOLD, hidden, sex=sex, locale="en_US", cluster=sex)
        for sex, hidden in (("F", [(0, 17)]), ("M", []))
    ]
    recalls = {group: (it.hits, it.total) for group, it in name_recalls(counts, resamples=20)}
    assert (recalls[SEXES["F"]], recalls[SEXES["M"]], recalls[ALL]) == ((2, 2), (0, 2), (2, 8))
    assert set(recalls) <= set(GROUPS)
    assert list(name_recalls([])) == []

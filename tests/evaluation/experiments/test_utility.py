"""A classifier on raw and on released notes."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from deid_platform.evaluation.experiments.utility import Example, features, fit, predict, utility

FILLING = ("seen", "today", "in", "clinic", "plan", "reviewed", "questions", "answered", "by", "the", "team")


def notes(released: dict[str, str], n: int = 60) -> list[Example]:
    """Notes of two kinds that one word tells apart, and what a release makes of that word."""
    dice = Random(3)
    made = []
    for i in range(n):
        word = ("asthma", "gout")[i % 2]
        words = dice.sample(FILLING, 6)
        raw, after = (" ".join([*words[:3], it, *words[3:]]) for it in (word, released.get(word, word)))
        made.append(Example(raw, after, "respiratory" if word == "asthma" else "joints", cluster=f"p{i // 3}"))
    return made


def test_what_a_release_keeps_can_still_be_learned() -> None:
    found = utility("specialty", notes({}), resamples=200)
    assert (found.notes, found.classes, found.most_frequent) == (60, 2, 0.5)
    assert found.raw == found.released == found.transferred == 1
    assert (found.loss.value, found.loss.low, found.loss.high) == (0, 0, 0)


def test_what_a_release_hides_cannot() -> None:
    found = utility("specialty", notes({"asthma": "[NAME]", "gout": "[NAME]"}), resamples=200)
    assert found.raw == 1
    assert 0.2 < found.released < 0.8
    assert found.loss.value == pytest.approx(found.released - 1)
    assert found.loss.is_significant and found.loss.high is not None and found.loss.high < 0


def test_a_placeholder_that_stands_for_one_class_helps_only_on_released_notes() -> None:
    found = utility("specialty", notes({"asthma": "[NAME]", "gout": "[DATE]"}), resamples=200)
    assert found.released == 1
    assert found.transferred < 0.8 and found.transfer_loss.value == pytest.approx(found.transferred - 1)


def test_the_same_notes_give_the_same_figures() -> None:
    one, other = (utility("t", notes({"gout": "[NAME]"}), resamples=200) for _ in range(2))
    assert one == other


def test_features_by_hand() -> None:
    # "a a b": log(3) and log(2), scaled to length 1.
    row = features(["A a b", ""])[0]
    got = sorted(row[row > 0].tolist())
    length = np.hypot(np.log(3), np.log(2))
    assert got == pytest.approx([np.log(2) / length, np.log(3) / length])
    assert features(["", "x"])[0].sum() == 0


def test_a_classifier_separates_two_points() -> None:
    rows = np.eye(2, dtype=np.float32)
    target = np.array([0, 1])
    assert predict(fit(rows, target, 2), rows).tolist() == [0, 1]


@pytest.mark.parametrize("made", [notes({})[:1], [e for e in notes({}) if e.label == "joints"], notes({})[:6]])
def test_too_little_to_learn_from(made: list[Example]) -> None:
    with pytest.raises(ValueError):
        utility("t", made)

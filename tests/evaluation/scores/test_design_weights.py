"""Design-weighted scores: by hand, and against a population whose truth is known."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence

import pytest

from deid_platform.evaluation.scores.design_weights import Design, stratum_of, weighted_scores
from deid_platform.evaluation.scores.sampling import EligibleNote, sample
from deid_platform.evaluation.scores.scores import NoteCounts, summarise

WITH, WITHOUT = ("progress", "2024", True), ("progress", "2024", False)


def note(found: int, missed: int, wrong: int = 0, *, cluster: str | None = None) -> NoteCounts:
    return NoteCounts(50, found, wrong, missed, found + missed, found, cluster=cluster)


def design_of(population: Sequence[EligibleNote], sampled: Collection[str]) -> Design:
    taken = (it for it in population if it.note_id in sampled)
    return Design(Counter(map(stratum_of, population)), Counter(map(stratum_of, taken)))


def test_a_note_stands_for_its_stratum() -> None:
    # 10 of 20 notes with identifiers would do; here 2 of 20, and 1 of 60 without: weights 10 and 60.
    design = Design({WITH: 20, WITHOUT: 60}, {WITH: 2, WITHOUT: 1})
    counts = [note(9, 1), note(8, 2, 5), note(1, 1, 4)]
    scores = weighted_scores(counts, [WITH, WITH, WITHOUT], design)
    assert scores.recall.value == pytest.approx((10 * 17 + 60 * 1) / (10 * 20 + 60 * 2))
    assert scores.precision.value == pytest.approx((10 * 17 + 60 * 1) / (10 * 22 + 60 * 5))
    assert scores.f1.value == pytest.approx(2 * 230 / (2 * 230 + 10 * 5 + 60 * 4 + 10 * 3 + 60 * 1))
    assert scores.leak_rate.value == 1.0
    assert scores.recall.n == 3
    assert scores.recall.low is not None and scores.recall.low < scores.recall.value < scores.recall.high  # type: ignore[operator]


def test_equal_weights_change_nothing() -> None:
    counts = [note(9, 1, cluster="a"), note(3, 2, 1, cluster="a"), note(5, 0, cluster="b")]
    weighted = weighted_scores(counts, [WITH] * 3, Design({WITH: 30}, {WITH: 3}))
    plain = summarise(counts, resamples=1000)
    assert weighted.recall.value == pytest.approx(plain.recall.value)
    assert (weighted.recall.low, weighted.recall.high) == pytest.approx((plain.recall.low, plain.recall.high))


def test_a_stratum_without_a_sampled_note_is_named_and_has_no_weight() -> None:
    design = Design({WITH: 20, WITHOUT: 60}, {WITH: 2})
    assert design.unrepresented == 60
    with pytest.raises(ValueError, match="stratum"):
        design.weight(WITHOUT)


def test_the_design_is_that_of_the_sampler() -> None:
    population = [EligibleNote(f"n{i}", f"p{i}", "progress", "2024", 100, has_phi=i < 10) for i in range(50)]
    drawn = sample(population, size=15, minimum=1)
    design = design_of(population, drawn.note_ids)
    assert design.population == {WITH: 10, WITHOUT: 40}
    assert design.sampled == {WITH: 10, WITHOUT: 5}
    assert (design.weight(WITH), design.weight(WITHOUT)) == (1.0, 8.0)


def test_weighted_recall_is_that_of_the_population_where_the_plain_one_is_not() -> None:
    dice = random.Random(3)
    population = [
        EligibleNote(f"n{i}", f"p{i}", "progress", "2024", 100, has_phi=dice.random() < 0.1) for i in range(4000)
    ]
    # Notes with their own patient's identifier are easier: 19 of 20 words found, else 3 of 5.
    counted = {it.note_id: note(19, 1) if it.has_phi else note(3, 2) for it in population}
    found, missed = (sum(getattr(c, n) for c in counted.values()) for n in ("true_positives", "false_negatives"))
    truth = found / (found + missed)
    drawn = sample(population, size=600, minimum=10)
    by_id = {it.note_id: it for it in population}
    counts = [counted[name] for name in drawn.note_ids]
    weighted = weighted_scores(
        counts, [stratum_of(by_id[name]) for name in drawn.note_ids], design_of(population, drawn.note_ids)
    )
    plain = summarise(counts).recall.value
    assert plain is not None and plain > truth + 0.05
    assert weighted.recall.value == pytest.approx(truth, abs=1e-9)

"""How good a judge is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from deid_platform.evaluation.retention.judge_validation import (
    Quality,
    agreement,
    correlation,
    fleiss_kappa,
    pearson,
    quality,
    spearman,
    validate,
)
from deid_platform.evaluation.retention.judges import ChunkPair, Identity, Kind, Verdict
from deid_platform.evaluation.retention.pairs import Split, labelled_pairs
from deid_platform.llm.answered import Unusable
from deid_platform.llm.api import Failure

# Aghakasiri 2025, table 8, and what table 7 prints for it. The paper rounds some of these and cuts others off (359 + 24
# of 405 is 0.9457, printed 0.94), and 406 pairs stand beside 405.
TABLES = [
    ((24, 359, 4, 18), (0.94, 0.86, 0.57)),
    ((14, 377, 2, 12), (0.96, 0.87, 0.54)),
    ((15, 385, 0, 6), (0.98, 1.0, 0.71)),
    ((36, 479, 13, 23), (0.93, 0.73, 0.61)),
    ((32, 491, 22, 5), (0.95, 0.59, 0.86)),
    ((8, 478, 64, 2), (0.88, 0.11, 0.8)),
]


@pytest.mark.parametrize("counts, printed", TABLES)
def test_the_papers_table(counts: tuple[int, int, int, int], printed: tuple[float, float, float]) -> None:
    found = Quality(*counts)
    assert [s.value for s in (found.accuracy, found.precision, found.recall)] == pytest.approx(printed, abs=0.0101)


def test_an_example_by_hand() -> None:
    labels = [True, True, True, False, False]
    verdicts = [Verdict(True), Verdict(None), Verdict(False), Verdict(True), Verdict(False)]
    found = quality(labels, verdicts)
    # No answer is no answer: the changed pair counts as missed.
    assert found == Quality(tp=1, tn=1, fp=1, fn=2, unanswered=1, unanswered_changed=1)
    assert found.answered == Quality(tp=1, tn=1, fp=1, fn=1)
    # Observed 2/5; expected (3*2 + 2*3)/25 = 12/25: (10 - 12)/(25 - 12).
    assert found.kappa == pytest.approx(-2 / 13)
    # Where 1 chunk in 10 is changed: 0.1 * 1/3 hits and 0.9 * 1/2 false alarms.
    assert found.precision_at(0.1) == pytest.approx((0.1 / 3) / (0.1 / 3 + 0.45))


def test_a_judge_that_never_answers_is_always_wrong_and_its_failures_are_counted() -> None:
    silent = [Verdict(None, failure=Failure.UNREACHABLE), Verdict(None, failure=Unusable.FORM)]
    found = quality([True, False], silent)
    assert (found.tp, found.tn, found.fp, found.fn) == (0, 0, 1, 1)
    assert found.failures == {"unreachable": 1, "form": 1}
    assert (found.answered.pairs, found.answered.accuracy.value) == (0, None)


def test_wilsons_interval_by_hand() -> None:
    # 8 of 10: centre (0.8 + 1.9208/10)/(1 + 3.8415/10) = 0.7167; half width 0.2264.
    recall = Quality(8, 0, 0, 2).recall
    assert recall.low == pytest.approx(0.4902, abs=1e-3) and recall.high == pytest.approx(0.9433, abs=1e-3)


def test_a_share_of_nothing_is_none() -> None:
    assert Quality(0, 3, 0, 0).recall.value is None
    assert Quality(0, 0, 0, 0).kappa is None


def test_fleiss_by_hand() -> None:
    """Fourteen judges and ten pairs, a table that is worked in full in many places: 0.378 and 0.213 give 0.210."""
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    assert fleiss_kappa(table) == pytest.approx(0.210, abs=5e-4)
    assert fleiss_kappa([[3, 0], [0, 3]]) == pytest.approx(1)
    assert fleiss_kappa([[3, 0], [3, 0]]) is None  # one answer only
    with pytest.raises(ValueError):
        fleiss_kappa([[3, 0], [1, 1]])


def test_how_far_judges_agree() -> None:
    said = [[True, True, False, None], [True, False, False, True], [True, True, False, True]]
    kappa, unanimous, pairs = agreement([[Verdict(it) for it in of_judge] for of_judge in said])
    # Three pairs with 3, 2 and 0 of 3 votes: observed (1 + 1/3 + 1)/3 = 7/9, expected (25 + 16)/81.
    assert (kappa, unanimous, pairs) == (pytest.approx((63 - 41) / (81 - 41)), pytest.approx(2 / 3), 3)
    assert agreement([[Verdict(None)], [Verdict(True)]]) == (None, None, 0)


def test_correlations_by_hand() -> None:
    # Deviations -1, 0, 1 and -1, 1, 0: 1 / 2.
    assert pearson([1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)
    # Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5).
    assert spearman([1, 2, 2, 30], [0.1, 0.3, 0.2, 0.4]) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert spearman([1, 2, 3], [9, 8, 1]) == pytest.approx(-1)


def test_correlation_with_the_truth_leaves_out_notes_without_a_value() -> None:
    # Of three notes with both: (1, 1), (0, 0.5), (0.5, 0.75) lie on a line.
    found = correlation([1.0, None, 0.0, 0.5, 0.3], [1.0, 0.9, 0.5, 0.75, None])
    assert (found.pearson, found.spearman, found.notes) == (pytest.approx(1), pytest.approx(1), 3)
    assert correlation([None], [1.0]).pearson is None


def test_a_metric_that_never_varies_correlates_with_nothing() -> None:
    assert pearson([1, 1, 1], [0.5, 0.6, 0.7]) is None


class SaysYes:
    identity = Identity(Kind.CHAT, "yes", "sha256:" + "0123456789abcdef" * 4)

    def judge(self, pairs: Sequence[ChunkPair]) -> list[Verdict]:
        return [Verdict(True) for _ in pairs]


def test_any_judge_is_validated_on_the_pairs() -> None:
    held_out = labelled_pairs(Split.HELD_OUT)
    found = validate(SaysYes(), held_out, lambda pair: pair.language)
    assert set(found) == {"en", "it", "es"}
    assert all(it.recall.value == 1 and it.tn == it.fn == 0 for it in found.values())
    assert sum(it.tp for it in found.values()) == sum(pair.changed for pair in held_out)

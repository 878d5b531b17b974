"""How good a judge is: against labels, against other judges, and against the truth note by note.

Belongs here: accuracy, precision, recall, kappas and correlations. Does not belong here: labelled pairs (`pairs.py`),
or what a judge's verdicts add up to (`retention.py`).

Aghakasiri 2025 validate CIRE so: TP, TN, FP, FN of a judge against labels (table 8) and accuracy, precision and recall
from them (tables 7 and 10), and the correlation of a note's retention with the share of its chunks that people call
unchanged, Pearson and Spearman (table 4), for each metric of retention (CIRE, JSC). A changed chunk is a positive. A
pair without an answer counts as judged wrongly, whatever its label, and `answered` says how good the answers are by
themselves. Agreement of two judges is Cohen's kappa (`evaluation/scores/agreement.py`), of more Fleiss' (1971,
Psychological Bulletin 76:378), over the pairs that all of them answered.

    python -m deid_platform.evaluation.retention.judge_validation
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np
import numpy.typing as npt

from deid_platform.evaluation.retention.judges import Judge, Verdict
from deid_platform.evaluation.retention.pairs import LabelledPair, Split, labelled_pairs
from deid_platform.evaluation.scores.agreement import cohen

_Z = 1.959964  # of a 95% interval


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its 95% interval after Wilson (1927); all None where it is of nothing."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Quality:
    """A judge against labels.

    Attributes:
        tp: Changed pairs that it calls changed.
        tn: Unchanged pairs that it calls unchanged.
        fp: Unchanged pairs that it does not call so.
        fn: Changed pairs that it does not call so.
        unanswered: Pairs without an answer, which are in `fp` and `fn`.
        unanswered_changed: Those of them in `fn`.
        failures: How often each failure of a chat model was why.
    """

    tp: int
    tn: int
    fp: int
    fn: int
    unanswered: int = 0
    unanswered_changed: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def pairs(self) -> int:
        """How many were judged."""
        return self.tp + self.tn + self.fp + self.fn

    @property
    def answered(self) -> Quality:
        """The same on the pairs that have an answer."""
        silent = self.unanswered_changed
        return Quality(self.tp, self.tn, self.fp - (self.unanswered - silent), self.fn - silent)

    @property
    def accuracy(self) -> Share:
        """Share of pairs judged as labelled."""
        return _share(self.tp + self.tn, self.pairs)

    @property
    def precision(self) -> Share:
        """Share of the pairs called changed that are."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Share:
        """Share of the changed pairs that are called so."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa with the labels."""
        value = float(cohen(np.array([self.tp, self.fn, self.fp, self.tn], dtype=np.float64)))
        return None if np.isnan(value) else value

    def precision_at(self, changed: float) -> float | None:
        """What the precision would be where this share of chunks is changed, with the same rates of error."""
        if not (self.tp + self.fn and self.tn + self.fp):
            return None
        hits = changed * self.tp / (self.tp + self.fn)
        false = (1 - changed) * self.fp / (self.tn + self.fp)
        return hits / (hits + false) if hits + false else None


def quality(labels: Sequence[bool], verdicts: Sequence[Verdict]) -> Quality:
    """A judge's verdicts against labels, pair by pair."""
    both = Counter((label, verdict.changed) for label, verdict in zip(labels, verdicts, strict=True))
    silent = both[True, None]
    return Quality(
        tp=both[True, True],
        tn=both[False, False],
        fp=both[False, True] + both[False, None],
        fn=both[True, False] + silent,
        unanswered=both[False, None] + silent,
        unanswered_changed=silent,
        failures=dict(Counter(verdict.failure.value for verdict in verdicts if verdict.failure)),
    )


def validate(
    judge: Judge, pairs: Sequence[LabelledPair], by: Callable[[LabelledPair], str] = lambda _: "all"
) -> dict[str, Quality]:
    """A judge on labelled pairs, in groups: by language, by kind, all.

    Args:
        judge: Asked once for all pairs.
        pairs: Those of one split.
        by: The group of a pair.
    """
    return in_groups(judge.judge([pair.texts for pair in pairs]), pairs, by)


def in_groups(
    verdicts: Sequence[Verdict], pairs: Sequence[LabelledPair], by: Callable[[LabelledPair], str]
) -> dict[str, Quality]:
    """The verdicts on labelled pairs against their labels, in groups."""
    groups: dict[str, list[int]] = {}
    for i, pair in enumerate(pairs):
        groups.setdefault(by(pair), []).append(i)
    return {
        name: quality([pairs[i].changed for i in some], [verdicts[i] for i in some])
        for name, some in sorted(groups.items())
    }


def agreement(verdicts: Sequence[Sequence[Verdict]]) -> tuple[float | None, float | None, int]:
    """How far judges agree: Fleiss' kappa, the share of pairs on which all say the same, and over how many pairs.

    Args:
        verdicts: By judge, then by pair; a pair that not all of them answered is left out.
    """
    answered = [of_pair for of_pair in zip(*verdicts, strict=True) if all(it.changed is not None for it in of_pair)]
    counts = [[sum(bool(it.changed) is changed for it in of_pair) for changed in (False, True)] for of_pair in answered]
    if not counts:
        return None, None, 0
    return fleiss_kappa(counts), sum(0 in row for row in counts) / len(counts), len(counts)


def fleiss_kappa(counts: npt.ArrayLike) -> float | None:
    """Fleiss' kappa of several judges.

    Args:
        counts: Shape (pairs, answers): how many judges gave each answer; each row sums to the number of judges.

    Returns:
        At most 1; None where there is nothing to compare or chance alone would always agree.

    Raises:
        ValueError: The rows have other sums, or fewer than two judges.
    """
    table = np.asarray(counts, dtype=np.float64)
    if not table.size:
        return None
    judges = table.sum(axis=1)
    n = float(judges[0])
    if n < 2 or not (judges == n).all():
        raise ValueError("as many judges for every pair, at least two")
    observed = float(((table**2).sum(axis=1) - n).mean() / (n * (n - 1)))
    expected = float(((table.sum(axis=0) / table.sum()) ** 2).sum())
    return (observed - expected) / (1 - expected) if expected < 1 else None


def pearson(one: npt.ArrayLike, other: npt.ArrayLike) -> float | None:
    """Pearson's correlation; None with fewer than two notes or where one side never varies."""
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError("as many values on both sides")
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def spearman(one: npt.ArrayLike, other: npt.ArrayLike) -> float | None:
    """Spearman's correlation: Pearson's of the ranks, equal values sharing the mean of theirs."""
    return pearson(_ranks(one), _ranks(other))


@dataclass(frozen=True, slots=True)
class Correlation:
    """A metric of retention against the truth, note by note; None where one of the two never varies.

    Attributes:
        pearson: Of the values.
        spearman: Of their ranks.
        notes: Those that have both.
    """

    pearson: float | None
    spearman: float | None
    notes: int


def correlation(metric: Sequence[float | None], truth: Sequence[float | None]) -> Correlation:
    """How a metric of each note goes with the share of its chunks that are truly unchanged (table 4)."""
    both = [(a, b) for a, b in zip(metric, truth, strict=True) if a is not None and b is not None]
    one, other = [a for a, _ in both], [b for _, b in both]
    return Correlation(pearson(one, other), spearman(one, other), len(both))


def _ranks(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    _, place, counts = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: npt.NDArray[np.float64] = (last - (counts - 1) / 2)[place]
    return ranks


def _share(hits: int, total: int) -> Share:
    if not total:
        return Share(None, None, None)
    p, z = hits / total, _Z**2 / total
    middle, half = p + z / 2, _Z * sqrt(p * (1 - p) / total + z / (4 * total))
    return Share(p, max(0.0, (middle - half) / (1 + z)), min(1.0, (middle + half) / (1 + z)))


def main() -> None:
    """Prints the figures of the lexical judge on the pairs that it was not tuned on."""
    from deid_platform.evaluation.retention.lexical_judge import LexicalJudge

    pairs = labelled_pairs(Split.HELD_OUT)
    groups: tuple[Callable[[LabelledPair], str], ...] = (
        lambda _: "all",
        lambda pair: "hard" if pair.hard else "plain",
        lambda pair: pair.language,
    )
    print(f"{'held out':10}{'TP':>5}{'TN':>5}{'FP':>5}{'FN':>5}  accuracy  precision  recall  kappa")  # noqa: T201
    for by in groups:
        for name, it in validate(LexicalJudge(), pairs, by).items():
            shares = "".join(f"{share.value:10.3f}" for share in (it.accuracy, it.precision, it.recall))
            print(f"{name:10}{it.tp:5}{it.tn:5}{it.fp:5}{it.fn:5}{shares}{it.kappa:8.3f}")  # noqa: T201


if __name__ == "__main__":
    main()

"""Whether one detector is better than another on the same notes.

Belongs here: differences of shares with intervals, paired note by note. Does not belong here: the shares of one
detector (`scores.py`).

The notes are resampled once for both detectors, patient by patient, so that what makes a note hard for both does not
widen the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Resampling, Table, divided
from deid_platform.evaluation.scores.scores import NoteCounts

_MEASURES = {
    "recall": ("true_positives", "false_negatives"),
    "precision": ("true_positives", "false_positives"),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """A share of one detector less that of the other.

    Attributes:
        value: Between -1 and 1; None where one of the shares is of nothing.
        low: Lower end of the 95% interval; None with fewer than two clusters.
        high: Upper end.
        p: Two-sided share of resamples on the other side of zero, doubled; at most 1.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None

    @property
    def is_significant(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def difference(
    one: Sequence[NoteCounts],
    other: Sequence[NoteCounts],
    measure: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """The difference of `recall` or `precision` between two detectors.

    Args:
        one: Counts of the first, a note each.
        other: Counts of the second on the same notes in the same order.
        measure: A key of the measures.
        resamples: Bootstrap resamples over clusters.
        seed: Of the resampling.

    Raises:
        ValueError: If the two are not of the same notes.
    """
    if [(it.cluster, it.entities) for it in one] != [(it.cluster, it.entities) for it in other]:
        raise ValueError("counts of other notes")
    hit, lost = _MEASURES[measure]
    pairs = [[(getattr(it, hit), getattr(it, lost)) for it in both] for both in zip(one, other, strict=True)]
    return _difference(pairs, [it.cluster for it in one], resamples, seed)


def _difference(
    pairs: Sequence[Sequence[tuple[int, int]]], clusters: Sequence[str | None], resamples: int, seed: int
) -> Difference:
    """Of each note, what the first got and lost, and what the other did."""
    rows = np.array([[n for hit, lost in both for n in (hit, hit + lost)] for both in pairs], dtype=np.float64)
    found = Resampling(rows.reshape(-1, 4), clusters, resamples=resamples, seed=seed)
    value = found.of(_less, len(pairs))
    if value.value is None or found.draws is None:
        return Difference(value.value, None, None, None)
    drawn = _less(found.draws)
    drawn = drawn[~np.isnan(drawn)]
    beyond = min(float(np.mean(drawn <= 0)), float(np.mean(drawn >= 0)))
    return Difference(value.value, value.low, value.high, min(1.0, 2 * beyond))


def _less(totals: Table) -> Table:
    """The share of the first less that of the other; NaN where one of them is of nothing."""
    mine, of_mine, theirs, of_theirs = np.moveaxis(totals, -1, 0)
    return divided(mine, of_mine) - divided(theirs, of_theirs)

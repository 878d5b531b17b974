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

from deid_platform.evaluation.scores import NoteCounts

RESAMPLES = 1000
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
    rows = np.array(
        [
            [getattr(it, hit), getattr(it, hit) + getattr(it, lost)]
            for both in zip(one, other, strict=True)
            for it in both
        ],
        dtype=np.float64,
    ).reshape(len(one), 4)
    places: dict[tuple[str, object], int] = {}
    names = (("cluster", it.cluster) if it.cluster is not None else ("note", i) for i, it in enumerate(one))
    index = np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int64)
    clusters = np.zeros((len(places), 4))
    np.add.at(clusters, index, rows)
    value = _of(clusters.sum(axis=0))
    if value is None or len(clusters) < 2:
        return Difference(value, None, None, None)
    rng = np.random.default_rng(seed)
    n = len(clusters)
    drawn = (_of(np.bincount(rng.integers(0, n, n), minlength=n) @ clusters) for _ in range(resamples))
    values = np.array([it for it in drawn if it is not None])
    low, high = (float(it) for it in np.percentile(values, (2.5, 97.5)))
    beyond = min(float(np.mean(values <= 0)), float(np.mean(values >= 0)))
    return Difference(value, low, high, min(1.0, 2 * beyond))


def _of(totals: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float | None:
    mine, of_mine, theirs, of_theirs = (float(it) for it in totals)
    return mine / of_mine - theirs / of_theirs if of_mine and of_theirs else None

"""Intervals by bootstrap over patients, of whatever is a ratio of sums over notes.

Belongs here: resampling rows of counts, and the shares, means and differences that follow. Does not belong here: which
counts (each metric's own module).

Percentile bootstrap: whole clusters (the notes of a patient; a note that names none is one by itself) are drawn with
replacement, as many as there are, and the ratio is taken of the sums. Murugadoss 2024 used 100 resamples and does not
say of what; 1,000 here. Where nothing was missed every resample says so too: the interval is then a point, and says
nothing about rarer misses (`evaluation/disclosure/adversary.py` has exact bounds).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RESAMPLES = 1000

Table = npt.NDArray[np.float64]
Column = Callable[[Table], Table]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share with its 95% interval and the counts that it comes from.

    Attributes:
        value: Between 0 and 1; None where there is nothing to share.
        low: Lower end of the interval; None where it cannot be estimated (fewer than two clusters).
        high: Upper end.
        hits: Numerator.
        total: Denominator.
    """

    value: float | None
    low: float | None
    high: float | None
    hits: int
    total: int


@dataclass(frozen=True, slots=True)
class Ratio:
    """A mean, a weighted share or a difference, with its 95% interval.

    Attributes:
        value: None where there is nothing to measure.
        low: Lower end of the interval; None where it cannot be estimated (fewer than two clusters).
        high: Upper end.
        n: How many were measured, unweighted.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int


def column(index: int) -> Column:
    """Takes one column of sums."""
    return lambda table: table[..., index]


class Resampling:
    """Sums of columns over all notes, and over resamples of whole clusters.

    Attributes:
        totals: Sums over all notes; shape (columns,).
        draws: Sums of each resample; shape (resamples, columns); None with fewer than two clusters.
    """

    def __init__(
        self,
        rows: npt.ArrayLike,
        clusters: Sequence[str | None],
        *,
        strata: Sequence[Hashable] | None = None,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> None:
        """Resamples.

        Args:
            rows: Of each note, what is summed; shape (notes, columns).
            clusters: Whose each note is; None makes it a cluster of its own.
            strata: Of each note; clusters are then drawn within each stratum, as many as it has.
            resamples: How many.
            seed: Of the resampling.
        """
        table = np.asarray(rows, dtype=np.float64)
        self.totals: Table = table.sum(axis=0)
        groups = [_clustered(table[at], [clusters[i] for i in at]) for at in _places(len(clusters), strata)]
        self.draws: Table | None = None
        if sum(map(len, groups)) > 1 and any(len(group) > 1 for group in groups):
            rng = np.random.default_rng(seed)
            self.draws = np.stack([sum((_drawn(g, rng) for g in groups), np.float64(0)) for _ in range(resamples)])

    def share(self, hits: Column, total: Column) -> Estimate:
        """What is counted in `hits` as a share of what is counted in `total`."""
        numerator, denominator = float(hits(self.totals)), float(total(self.totals))
        value = numerator / denominator if denominator else None
        low, high = self._interval(value, lambda draws: divided(hits(draws), total(draws)))
        return Estimate(value, low, high, int(numerator), int(denominator))

    def ratio(self, above: Column, below: Column, n: int) -> Ratio:
        """The sum `above` divided by the sum `below`, of which neither need be a count."""
        denominator = float(below(self.totals))
        value = float(above(self.totals)) / denominator if denominator else None
        return Ratio(value, *self._interval(value, lambda draws: divided(above(draws), below(draws))), n)

    def of(self, measure: Column, n: int) -> Ratio:
        """Any function of the sums; what is NaN of a resample is left out of the interval."""
        found = float(measure(self.totals))
        value = None if np.isnan(found) else found
        return Ratio(value, *self._interval(value, measure), n)

    def _interval(self, value: float | None, measure: Column) -> tuple[float | None, float | None]:
        if self.draws is None or value is None:
            return None, None
        values = measure(self.draws)
        values = values[~np.isnan(values)]
        if not len(values):
            return None, None
        low, high = np.percentile(values, (2.5, 97.5))
        return float(low), float(high)


def divided(above: Table, below: Table) -> Table:
    """NaN where there is nothing to divide by."""
    result: Table = np.divide(above, below, out=np.full_like(below, np.nan), where=below > 0)
    return result


def _places(notes: int, strata: Sequence[Hashable] | None) -> list[list[int]]:
    """The indices of the notes of each stratum."""
    if strata is None:
        return [list(range(notes))]
    found: dict[Hashable, list[int]] = {}
    for index, stratum in enumerate(strata):
        found.setdefault(stratum, []).append(index)
    return list(found.values())


def _clustered(table: Table, clusters: Sequence[str | None]) -> Table:
    """Rows summed by cluster; shape (clusters, columns)."""
    places: dict[tuple[str, object], int] = {}
    index = [
        places.setdefault(("note", i) if c is None else ("cluster", c), len(places)) for i, c in enumerate(clusters)
    ]
    summed = np.zeros((len(places), table.shape[1]))
    np.add.at(summed, np.array(index, dtype=np.int64), table)
    return summed


def _drawn(clusters: Table, rng: np.random.Generator) -> Table:
    """Column sums of one resample with replacement."""
    n = len(clusters)
    drawn: Table = np.bincount(rng.integers(0, n, n), minlength=n) @ clusters
    return drawn

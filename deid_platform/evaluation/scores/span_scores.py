"""Spans found exactly, as shared tasks on de-identification count them, and spans found at least in part.

Belongs here: spans. Does not belong here: words, which the gate judges by (`scores.py`).

After the tasks of MEDDOCAN (Marimon 2019): strictly, a span counts if both its ends are those of the gold. Leniently it
counts if it shares a code point with one of the other side: any overlap, as SemEval 2013 task 9.1 calls a partial match
and Presidio's own evaluation counts. A label is compared or not, as asked. One span may meet several of the other side:
recall counts gold's that are met, precision the detector's that are, and F1 is the harmonic mean of the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Ratio, Resampling, Table, column, divided
from deid_platform.labels import Label
from deid_platform.notes import Span

Place = tuple[int, int, Label | None]


@dataclass(frozen=True)
class SpanScores:
    """Counts over all notes.

    Attributes:
        gold: Spans of the gold.
        found: Spans of the detector.
        exact: Spans that are in both.
        met: Gold's that share a code point with one of the detector's.
        meeting: The detector's that share a code point with one of gold's.
    """

    gold: int
    found: int
    exact: int
    met: int = 0
    meeting: int = 0

    @property
    def recall(self) -> float:
        """Share of the gold's spans that are found exactly; 0 without any."""
        return self.exact / max(1, self.gold)

    @property
    def precision(self) -> float:
        """Share of the found spans that are the gold's; 0 without any."""
        return self.exact / max(1, self.found)

    @property
    def f1(self) -> float:
        """Harmonic mean of the two: 2 exact / (gold + found)."""
        return 2 * self.exact / max(1, self.gold + self.found)

    @property
    def overlapping_recall(self) -> float:
        """Share of the gold's spans that are found at least in part; 0 without any."""
        return self.met / max(1, self.gold)

    @property
    def overlapping_precision(self) -> float:
        """Share of the found spans that hold a part of a gold span; 0 without any."""
        return self.meeting / max(1, self.found)

    @property
    def overlapping_f1(self) -> float:
        """Harmonic mean of the two."""
        both = self.overlapping_recall + self.overlapping_precision
        return 2 * self.overlapping_recall * self.overlapping_precision / both if both else 0.0


def score_spans(notes: Iterable[tuple[Sequence[Span], Sequence[Span]]], *, labels: bool) -> SpanScores:
    """Matches over notes.

    Args:
        notes: Of each, the gold and what was found.
        labels: Whether the label must be the same too.
    """
    return SpanScores(*(int(total) for total in _rows(notes, labels).sum(axis=0)))


def span_f1(
    notes: Sequence[tuple[Sequence[Span], Sequence[Span]]],
    clusters: Sequence[str | None],
    *,
    labels: bool,
    overlapping: bool,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Ratio:
    """F1 with its interval over patients; None where neither side has a span.

    Args:
        notes: Of each, the gold and what was found.
        clusters: The patient of each note.
        labels: Whether the label must be the same too.
        overlapping: Whether any overlap is enough.
        resamples: Bootstrap resamples.
        seed: Of the resampling.
    """
    rows = _rows(notes, labels)
    gold, found = column(0), column(1)
    met, meeting = (column(3), column(4)) if overlapping else (column(2), column(2))

    def f1(table: Table) -> Table:
        # From counts: 2 / (gold / met + found / meeting), without dividing by a count of none.
        crossed = gold(table) * meeting(table) + found(table) * met(table)
        value = divided(2 * met(table) * meeting(table), crossed)
        return np.where((crossed == 0) & (gold(table) + found(table) > 0), 0.0, value)

    return Resampling(rows, clusters, resamples=resamples, seed=seed).of(f1, int(rows[:, 0].sum()))


def _rows(notes: Iterable[tuple[Sequence[Span], Sequence[Span]]], labels: bool) -> Table:
    """Of each note: spans of gold, of the detector, in both, met and meeting."""
    rows: list[tuple[int, ...]] = []
    for one, other in notes:
        gold, found = ({_key(span, labels) for span in spans} for spans in (one, other))
        rows.append((len(gold), len(found), len(gold & found), _meeting(gold, found), _meeting(found, gold)))
    return np.array(rows, dtype=np.float64).reshape(-1, 5)


def _key(span: Span, labels: bool) -> Place:
    return span.start, span.end, span.label if labels else None


def _meeting(spans: Iterable[Place], others: Iterable[Place]) -> int:
    """How many of the spans share a code point with one of the others of the same label."""
    rest = list(others)
    return sum(any(a < d and c < b and label is of for c, d, of in rest) for a, b, label in spans)

"""Spans found exactly, as shared tasks on de-identification count them.

Belongs here: exact spans. Does not belong here: words, which the gate judges by (`scores.py`).

After the tasks of MEDDOCAN (Marimon 2019): a span counts if both its ends are those of the gold. A label is compared or
not, as asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deid_platform.labels import Label
from deid_platform.notes import Span


@dataclass(frozen=True)
class SpanScores:
    """Counts over all notes.

    Attributes:
        gold: Spans of the gold.
        found: Spans of the detector.
        exact: Spans that are in both.
    """

    gold: int
    found: int
    exact: int

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


def score_spans(notes: Iterable[tuple[Sequence[Span], Sequence[Span]]], *, labels: bool) -> SpanScores:
    """Exact matches over notes.

    Args:
        notes: Of each, the gold and what was found.
        labels: Whether the label must be the same too.
    """
    gold = found = exact = 0
    for one, other in notes:
        wanted, given = ({_key(span, labels) for span in spans} for spans in (one, other))
        gold, found, exact = gold + len(wanted), found + len(given), exact + len(wanted & given)
    return SpanScores(gold, found, exact)


def _key(span: Span, labels: bool) -> tuple[int, int, Label | None]:
    return span.start, span.end, span.label if labels else None

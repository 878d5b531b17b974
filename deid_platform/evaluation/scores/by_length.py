"""F1 by the length of the note: Aghakasiri 2025 (arXiv 2509.14464), figure 3.

Belongs here: which note is in which bin, and the scores of each. Does not belong here: the scores (`token_scores.py`),
or the figure (`reports/`).

The paper bins by tokens and does not print its bins; F1 falls by 5 to 25% from the shortest notes to the longest, which
have 6,040 tokens. The bins here double, so that a site's long tail has bins of its own, and are given to compare with
others. F1 within a bin pools its notes, as table 2 does over all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deid_platform.evaluation.scores.bootstrap import RESAMPLES
from deid_platform.evaluation.scores.token_scores import TokenCounts, TokenScores, token_scores

EDGES = (0, 250, 500, 1000, 2000, 4000)
"""Tokens from which a bin begins; the last has no end."""


@dataclass(frozen=True, slots=True)
class LengthBin:
    """Notes of like length.

    Attributes:
        least: Tokens that the shortest note of the bin may have.
        below: Tokens from which on a note is in the next bin; None for the last.
        notes: How many notes are in it.
        scores: Theirs.
    """

    least: int
    below: int | None
    notes: int
    scores: TokenScores


def by_length(
    counts: Iterable[TokenCounts], edges: Sequence[int] = EDGES, *, resamples: int = RESAMPLES, seed: int = 0
) -> list[LengthBin]:
    """The bins that hold a note, shortest first; a note shorter than the first edge is in none.

    Args:
        counts: One a note, all counted in the same way.
        edges: Tokens from which each bin begins, rising.
        resamples: Bootstrap resamples of each bin.
        seed: Of the resampling.

    Raises:
        ValueError: If the edges do not rise.
    """
    if any(one >= other for one, other in pairwise(edges)):
        raise ValueError("edges that do not rise")
    bins: list[list[TokenCounts]] = [[] for _ in edges]
    for note in counts:
        at = bisect_right(edges, note.tokens) - 1
        if at >= 0:
            bins[at].append(note)
    ends = [*edges[1:], None]
    return [
        LengthBin(least, below, len(notes), token_scores(notes, resamples=resamples, seed=seed))
        for least, below, notes in zip(edges, ends, bins, strict=True)
        if notes
    ]

"""One detector beside another on the same notes.

Belongs here: the difference of two recalls, and how sure it is. Does not belong here: the scores of one detector
(`scores.py`), or which detectors are compared and what follows from it (`refresh/in_force.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deid_platform.evaluation.scores import RESAMPLES, clustered, resampled


@dataclass(frozen=True, slots=True)
class FoundByBoth:
    """One note's counts.

    Attributes:
        gold: Words that gold touches.
        found: Those of them that the new detector touches.
        found_before: Those of them that the former one touches.
        cluster: Whose note it is; None makes the note a cluster of its own.
    """

    gold: int
    found: int
    found_before: int
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class RecallDifference:
    """How much more of gold's words the new detector finds than the former one did.

    Attributes:
        notes: Notes that both were measured on.
        recall: The new one's on these notes; None if gold has no word there.
        recall_before: The former one's.
        difference: The first without the second.
        low: Lower end of its 95% interval; None where it cannot be estimated (fewer than two clusters).
        high: Upper end.
    """

    notes: int
    recall: float | None = None
    recall_before: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None


def recall_difference(notes: Sequence[FoundByBoth], *, resamples: int = RESAMPLES, seed: int = 0) -> RecallDifference:
    """The difference in recall, with a percentile bootstrap over patients.

    Both are resampled together: where they agree, the interval is narrow, however few words there are.

    Args:
        notes: Counts, in any order that is the same from run to run.
        resamples: Bootstrap resamples.
        seed: Of the resampling.
    """
    table = np.array([(n.gold, n.found, n.found_before) for n in notes], dtype=np.float64).reshape(len(notes), 3)
    gold, found, before = (float(it) for it in table.sum(axis=0))
    if not gold:
        return RecallDifference(len(notes))
    low: float | None = None
    high: float | None = None
    clusters = clustered(table, [note.cluster for note in notes])
    if len(clusters) > 1:
        draws = resampled(clusters, resamples, seed)
        draws = draws[draws[:, 0] > 0]
        if len(draws):
            low, high = (float(x) for x in np.percentile((draws[:, 1] - draws[:, 2]) / draws[:, 0], (2.5, 97.5)))
    return RecallDifference(len(notes), found / gold, before / gold, (found - before) / gold, low, high)

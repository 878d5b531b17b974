"""How well planted indirect identifiers are found, category by category.

Belongs here: the counts and their intervals. Does not belong here: planting (`corpora/indirect/`) or finding
(`llm/indirect/`).

A planted one is found if some mention, of whatever category, covers half of its letters and digits at least, and named
if one of these is of its own category. Of precision nothing can be said: notes have indirect identifiers of their own,
which nobody marked. What is found elsewhere is counted for each note instead. In a failed note all are missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Estimate, Ratio, Resampling, column
from deid_platform.labels import Indirect

Place = tuple[int, int, Indirect]
_ENOUGH = 0.5
_FIXED = 5  # columns before those of categories


class TaggedNote(NamedTuple):
    """A note with what was planted and what was found.

    Attributes:
        text: The note.
        planted: Where indirect identifiers were planted.
        found: Where the tagger finds some; None where it failed.
        cluster: The patient; None makes the note a patient of its own.
    """

    text: str
    planted: Sequence[Place]
    found: Sequence[Place] | None
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class IndirectScores:
    """How well a tagger does.

    Attributes:
        found: Share of the planted that are found.
        named: Share of the planted that are found under their own category.
        by_category: `found` of each category that was planted.
        elsewhere: Mentions a note that touch nothing planted.
        failed: Notes on which the tagger failed.
    """

    found: Estimate
    named: Estimate
    by_category: dict[Indirect, Estimate]
    elsewhere: Ratio
    failed: int


def indirect_scores(notes: Sequence[TaggedNote], *, resamples: int = RESAMPLES, seed: int = 0) -> IndirectScores:
    """Scores of a tagger on planted notes, with intervals over patients."""
    order = list(Indirect)
    rows = np.array([_row(note, order) for note in notes], dtype=np.float64).reshape(-1, _FIXED + 2 * len(order))
    resampled = Resampling(rows, [note.cluster for note in notes], resamples=resamples, seed=seed)
    return IndirectScores(
        found=resampled.share(column(0), column(2)),
        named=resampled.share(column(1), column(2)),
        by_category={
            category: resampled.share(column(_FIXED + 2 * at), column(_FIXED + 1 + 2 * at))
            for at, category in enumerate(order)
            if rows[:, _FIXED + 1 + 2 * at].any()
        },
        elsewhere=resampled.ratio(column(3), column(4), len(notes)),
        failed=sum(note.found is None for note in notes),
    )


def _row(note: TaggedNote, order: Sequence[Indirect]) -> list[int]:
    mentions = note.found or ()
    by_category = dict.fromkeys(order, 0)
    total = dict.fromkeys(order, 0)
    named = 0
    for place in note.planted:
        touching = [it for it in mentions if _share(note.text, place, it) >= _ENOUGH]
        total[place[2]] += 1
        by_category[place[2]] += bool(touching)
        named += any(it[2] is place[2] for it in touching)
    elsewhere = sum(not any(it[0] < end and start < it[1] for start, end, _ in note.planted) for it in mentions)
    each = [count for category in order for count in (by_category[category], total[category])]
    return [sum(by_category.values()), named, sum(total.values()), elsewhere, 1, *each]


def _share(text: str, planted: Place, found: Place) -> float:
    """How much of a planted one's letters and digits a mention covers."""
    start, end, _ = planted
    letters = [at for at in range(start, end) if text[at].isalnum()]
    return sum(found[0] <= at < found[1] for at in letters) / len(letters) if letters else 0.0

"""Scores for all of a site's notes from a stratified sample of them.

Belongs here: weights of the sample's design, and scores with them. Does not belong here: drawing the sample
(`sampling.py`), or scores of the sample as it is (`scores.py`).

The sampler takes more of long notes and of rare groups, and within a group notes with an identifier of their own
patient first (Murugadoss 2024: 96% of its sample). Its plain scores are those of the sample. Each sampled note stands
for N / n notes of its stratum (Horvitz and Thompson 1952, J Am Stat Assoc 47:663), and shares are ratios of weighted
sums. A stratum is a note type, a period and whether the note has such an identifier: by type and period alone, notes
with identifiers would still weigh too much. What is left unweighted: within a stratum the sampler takes one note a
patient first, so patients with many notes count less than they have notes.

Intervals draw patients with replacement within strata. Someone with notes in two strata is drawn in each by itself, a
stratum of one patient has no spread, and no correction is made for a sample that is much of its population, which
makes intervals too wide, never too narrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Ratio, Resampling, column
from deid_platform.evaluation.scores.sampling import EligibleNote
from deid_platform.evaluation.scores.scores import NoteCounts

Stratum = tuple[str, str, bool]
"""Note type, period, and whether the note has an identifier of its own patient."""


@dataclass(frozen=True)
class Design:
    """How a sample was drawn.

    Attributes:
        population: Notes of each stratum.
        sampled: Those of them in the sample.
    """

    population: Mapping[Stratum, int]
    sampled: Mapping[Stratum, int]

    def weight(self, stratum: Stratum) -> float:
        """How many notes of the population a sampled note of the stratum stands for.

        Raises:
            ValueError: If the sample has none of the stratum, or more than there are.
        """
        population, sampled = self.population.get(stratum, 0), self.sampled.get(stratum, 0)
        if not 0 < sampled <= population:
            raise ValueError("a stratum of which the sample has none, or more than there are")
        return population / sampled

    @property
    def unrepresented(self) -> int:
        """Notes of strata of which the sample has none: no weight can speak for them."""
        return sum(notes for stratum, notes in self.population.items() if not self.sampled.get(stratum))


def stratum_of(note: EligibleNote) -> Stratum:
    """Where a note belongs."""
    return note.note_type, note.period, note.has_phi


@dataclass(frozen=True, slots=True)
class WeightedScores:
    """Scores as all of the population's notes would have them; `n` of each counts sampled notes.

    Attributes:
        precision: Share of detected words that gold touches.
        recall: Share of gold's words that are detected.
        f1: Harmonic mean of the two.
        entity_recall: Share of gold entities that are covered whole.
        leak_rate: Share of the notes with gold entities in which one is not covered whole.
        unrepresented: Notes of the population that the sample says nothing of.
    """

    precision: Ratio
    recall: Ratio
    f1: Ratio
    entity_recall: Ratio
    leak_rate: Ratio
    unrepresented: int


def weighted_scores(
    counts: Sequence[NoteCounts],
    strata: Sequence[Stratum],
    design: Design,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> WeightedScores:
    """Design-weighted scores.

    Args:
        counts: One a sampled note.
        strata: Of each.
        design: How they were drawn.
        resamples: Bootstrap resamples over patients within strata.
        seed: Of the resampling.

    Raises:
        ValueError: If there are not as many strata as notes, or a note is of a stratum that the sample has none of.
    """
    rows = np.array(
        [
            [c.true_positives, c.false_positives, c.false_negatives, c.covered_entities, c.entities, c.leaks,
             c.entities > 0]
            for c, _ in zip(counts, strata, strict=True)
        ],
        dtype=np.float64,
    ).reshape(-1, 7)  # fmt: skip
    weights = np.array([design.weight(stratum) for stratum in strata]).reshape(-1, 1)
    found = Resampling(rows * weights, [note.cluster for note in counts], strata=strata, resamples=resamples, seed=seed)
    tp, fp, fn = map(column, range(3))
    n = len(counts)
    return WeightedScores(
        precision=found.ratio(tp, lambda t: tp(t) + fp(t), n),
        recall=found.ratio(tp, lambda t: tp(t) + fn(t), n),
        f1=found.ratio(lambda t: 2 * tp(t), lambda t: 2 * tp(t) + fp(t) + fn(t), n),
        entity_recall=found.ratio(column(3), column(4), n),
        leak_rate=found.ratio(column(5), column(6), n),
        unrepresented=design.unrepresented,
    )

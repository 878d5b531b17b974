"""The detector in force, and whether the one that shall replace it finds as much.

Belongs here: what is kept of the former detector's measurement, and the comparison. Does not belong here: the formula
(`evaluation/scores/paired.py`), or absolute thresholds (`measure.py`).

In force is the detector of the newest promotion, unless it was found worse, with topics or on text alone, and promoted
by a waiver: a waiver answers for a delivery, and lowers no bar.

Recall is conservative, as it is against the threshold: a word of which a letter is left counts as missed. Where the one
in force was measured before that was counted, both are compared by the words that they touch.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

from deid_platform.evaluation.scores.paired import difference
from deid_platform.evaluation.scores.scores import NoteCounts
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.recipe.judged import measurements
from deid_platform.store import Manifest
from deid_platform.warehouse.gate.staging import Inputs


@dataclass(frozen=True, slots=True)
class Compared:
    """Recall beside that of the detector in force, on the notes that both were measured on.

    Attributes:
        notes: How many.
        recall: Conservative, of the new detector; None if gold has no word in these notes.
        recall_before: Of the one in force.
        difference: The first less the second.
        low: Lower end of its 95% interval, patients resampled; None with fewer than two of them.
    """

    notes: int
    recall: float | None
    recall_before: float | None
    difference: float | None
    low: float | None


def compared(site: Site, metrics: Manifest, inputs: str) -> Compared | None:
    """The detector that the bench measured beside the one in force, on the notes whose text and gold are the same.

    Args:
        site: The installation.
        metrics: The bench's measurement.
        inputs: What both detectors were given.

    Returns:
        Of no notes if the one in force was measured on another gold; None if there is no other in force.
    """
    former = site.store.manifest(tables.IN_FORCE, tables.ALL)
    if former is None or former.meta["detector_digest"] == metrics.meta["detector_digest"]:
        return None
    known = {it["note"]: it for it in site.store.stream(tables.IN_FORCE, tables.ALL) if it["inputs"] == inputs}
    rows = [
        row
        for row in site.store.stream(metrics.dataset, tables.ALL)
        if row["inputs"] == inputs and row["note"] in known
    ]
    then = [known[row["note"]] for row in rows]
    found_as = "whole" if all(it.get("whole") is not None for it in (*rows, *then)) else "found"
    now, before = ([_counts(it, found_as) for it in some] for some in (rows, then))
    settings = site.settings.bench
    found = difference(now, before, "recall", resamples=settings.resamples, seed=settings.seed)
    return Compared(len(rows), _recall(now), _recall(before), found.value, found.low)


def _counts(row: dict[str, Any], found_as: str) -> NoteCounts:
    found, gold = row[found_as], row["gold"]
    return NoteCounts(gold, found, 0, gold - found, 0, 0, cluster=row["patient"])


def _recall(counts: list[NoteCounts]) -> float | None:
    gold = sum(it.words for it in counts)
    return sum(it.true_positives for it in counts) / gold if gold else None


def holds(site: Site, found: Compared | None) -> bool:
    """Whether a detector may follow the one in force, as far as they could be compared.

    The lower end of the interval counts, as it does for recall itself: a small bench must not pass by luck.
    """
    if found is None or found.difference is None:
        return True
    return found.low is not None and found.low >= -site.settings.thresholds.max_recall_drop


def put_in_force(site: Site, delivery: Delivery) -> None:
    """Keeps the measurements of a promoted delivery's detector, so that the next one is compared with it.

    Those on every set of notes, so that the next one is compared whichever the gate judges by then.
    """
    manifest = site.store.required(tables.REDACTED_NOTES, delivery.key)
    every = measurements(site.store)
    digest = manifest.meta["detector_digest"]
    if not every or not every[0].rows or every[0].meta["detector_digest"] != digest:
        return
    if all(holds(site, compared(site, every[0], inputs.value)) for inputs in Inputs):
        meta = {"detector_digest": digest, "gold": every[0].meta["gold"]}
        kept = (it for it in every if it.meta["detector_digest"] == digest)
        parts = chain.from_iterable(site.store.read(it.dataset, tables.ALL) for it in kept)
        site.store.write(tables.IN_FORCE, tables.ALL, parts, meta=lambda: meta)

"""The detector in force, and whether the one that shall replace it finds as much.

Belongs here: what is kept of the former detector's measurement, and the comparison. Does not belong here: the formula
(`evaluation/comparison.py`), or absolute thresholds (`measure.py`).

In force is the detector of the newest promotion, unless it was found worse, with topics or on text alone, and promoted
by a waiver: a waiver answers for a delivery, and lowers no bar.
"""

from __future__ import annotations

from deid_platform.evaluation.comparison import FoundByBoth, RecallDifference, recall_difference
from deid_platform.notes import Delivery
from deid_platform.refresh import tables
from deid_platform.refresh.site import Site
from deid_platform.store import Manifest
from deid_platform.warehouse.staging import Inputs


def compared(site: Site, metrics: Manifest, inputs: str) -> RecallDifference | None:
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
    before = {
        it["note"]: it["found"] for it in site.store.stream(tables.IN_FORCE, tables.ALL) if it["inputs"] == inputs
    }
    both = [
        FoundByBoth(row["gold"], row["found"], before[row["note"]], row["patient"])
        for row in site.store.stream(tables.METRICS, tables.ALL)
        if row["inputs"] == inputs and row["note"] in before
    ]
    return recall_difference(both, resamples=site.settings.bench.resamples, seed=site.settings.bench.seed)


def holds(site: Site, found: RecallDifference | None) -> bool:
    """Whether a detector may follow the one in force, as far as they could be compared.

    The lower end of the interval counts, as it does for recall itself: a small bench must not pass by luck.
    """
    if found is None or found.difference is None:
        return True
    return found.low is not None and found.low >= -site.settings.thresholds.max_recall_drop


def put_in_force(site: Site, delivery: Delivery) -> None:
    """Keeps the measurement of a promoted delivery's detector, so that the next one is compared with it."""
    manifest = site.store.required(tables.REDACTED_NOTES, delivery.key)
    metrics = site.store.manifest(tables.METRICS, tables.ALL)
    digest = manifest.meta["detector_digest"]
    if metrics is None or not metrics.rows or metrics.meta["detector_digest"] != digest:
        return
    if all(holds(site, compared(site, metrics, inputs.value)) for inputs in Inputs):
        meta = {"detector_digest": digest, "gold": metrics.meta["gold"]}
        site.store.write(tables.IN_FORCE, tables.ALL, site.store.read(tables.METRICS, tables.ALL), meta=lambda: meta)

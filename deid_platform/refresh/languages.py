"""Which languages the detector was measured in: what a refresh lets pass, and what it tells the gate.

Belongs here: the figures of each language, and the verdict on a language. Does not belong here: telling a note's
language (`deid_platform/languages`), scoring (`bench/scoring.py`), or the decision, which is the database's own.

A note in a language of which there is no figure at all is quarantined. One in a shipped language is staged, and the
requirement `languages` says whether the profile takes what was measured: in production the site's own gold alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deid_platform.detection.registry import is_shipped
from deid_platform.languages import UNDETERMINED
from deid_platform.languages.shipped import SHIPPED
from deid_platform.refresh import tables
from deid_platform.warehouse.ledger import GateRow

if TYPE_CHECKING:
    from deid_platform.refresh.site import Site
    from deid_platform.store import Manifest

OWN, SYNTHETIC, CARD = "site", "synthetic_hospital", "shipped"
"""Where a figure comes from: the site's gold, the synthetic hospital's, the card of the shipped model."""
_DEMO = "demo"


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of the detector in one language.

    Attributes:
        source: `site`, `synthetic_hospital` or `shipped`.
        notes: Gold notes; None of the card, which has them by corpus.
        recall_low: Lower end of the 95% interval of recall: conservative but for the card's.
        precision: By words.
    """

    source: str
    notes: int | None
    recall_low: float | None
    precision: float | None


def measured(site: Site, inputs: str) -> dict[str, Measured]:
    """The best figure of each language for the detector of today: the site's gold, else the bench's, else the card's.

    Args:
        site: The installation.
        inputs: What the detector is given: `topics` or `text`.
    """
    detection = site.settings.detection
    found: dict[str, Measured] = {}
    if is_shipped(detection.detector, detection.models):
        found = {code: Measured(CARD, None, it.recall_low, it.precision) for code, it in SHIPPED.items()}
    metrics = site.store.manifest(tables.METRICS, tables.ALL)
    if metrics is None or metrics.meta["detector_digest"] != site.spec(None).detector_digest:
        return found
    by_language: Mapping[str, Mapping[str, float | None]] = metrics.meta.get("languages", {}).get(inputs, {})
    for code, it in by_language.items():
        if code != UNDETERMINED:
            notes = int(it["notes"] or 0)
            found[code] = Measured(metrics.meta["gold"], notes, it["recall_low"], it["precision"])
    return found


def accepted(site: Site, inputs: str) -> frozenset[str]:
    """The languages of which notes are not quarantined: the shipped ones, and those measured on the site's gold."""
    own = (code for code, it in measured(site, inputs).items() if it.source == OWN and _good(site, it))
    return frozenset((*SHIPPED, *own))


def gold_files(site: Site, feed: str) -> str:
    """Names the files of a feed's gold as they lie there: notes that wait for a figure are due when it changes."""
    folder = site.feed(feed).gold
    if folder is None:
        return ""
    try:
        states = sorted((it.name, it.stat()) for it in site.settings.path(folder).iterdir())
    except OSError:
        return ""
    return site.keyring.digest("gold files", *(f"{name} {at.st_size} {at.st_mtime_ns}" for name, at in states))


def vouched_for(site: Site, found: Measured | None) -> bool:
    """Whether the active profile takes a language for measured: in production on the site's own gold alone."""
    if found is None or (found.source != OWN and site.settings.profile != _DEMO):
        return False
    return _good(site, found)


def _good(site: Site, found: Measured) -> bool:
    thresholds = site.settings.thresholds
    enough = found.source != OWN or (found.notes or 0) >= site.settings.bench.minimum_gold
    demands = ((found.recall_low, thresholds.min_recall), (found.precision, thresholds.min_precision))
    return enough and all(value is not None and value >= least for value, least in demands)


def languages_row(site: Site, manifest: Manifest) -> GateRow | None:
    """The requirement `languages` of a delivery whose rows were redacted.

    Returns:
        None, which nobody can waive, if notes would be published in a language of which there is no good figure and
        that is none of the shipped ones: it was measured when they were redacted, and is not any more.
    """
    counted: Mapping[str, Mapping[str, int]] = manifest.meta["languages"]
    found = measured(site, manifest.meta["inputs"])
    published = [code for code, it in counted.items() if it.get("clean") and code != UNDETERMINED]
    unmeasured = [code for code in published if not vouched_for(site, found.get(code))]
    if any(code not in SHIPPED for code in unmeasured):
        return None
    figures = {code: _figures(it, found.get(code)) for code, it in sorted(counted.items())}
    thresholds = site.settings.thresholds
    least = {"min_recall": thresholds.min_recall, "min_precision": thresholds.min_precision}
    return GateRow(
        "languages",
        not unmeasured,
        {"languages": figures, "own_gold": site.settings.profile != _DEMO, "least": site.settings.bench.minimum_gold}
        | least,
    )


def _figures(counted: Mapping[str, int], found: Measured | None) -> dict[str, object]:
    notes: dict[str, object] = {"notes": counted.get("clean", 0), "withheld": counted.get("withheld", 0)}
    if found is None:
        return notes
    return notes | {
        found.source: {"notes": found.notes, "recall_low": found.recall_low, "precision": found.precision},
    }

"""Which languages the detector was measured in: what a refresh lets pass, and what it tells the gate.

Belongs here: the figures of each language, and the verdict on a language. Does not belong here: telling a note's
language (`deid_platform/languages`), scoring (`bench/gate/scoring.py`), or the decision, which is the database's own.

A note in a language of which there is no figure at all is quarantined. One in a shipped language is staged, and the
requirement `languages` says whether the profile takes what was measured: in production the site's own gold alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deid_platform.detection.registry import is_shipped
from deid_platform.languages import UNDETERMINED
from deid_platform.languages.shipped import SHIPPED
from deid_platform.refresh.recipe.judged import measurements
from deid_platform.warehouse.gate.ledger import GateRow

if TYPE_CHECKING:
    from deid_platform.keys import Keyring
    from deid_platform.settings import Settings
    from deid_platform.store import Manifest, NoteStore

OWN, LIBRARY, SYNTHETIC, CARD = "site", "library", "synthetic_hospital", "shipped"
"""Where a figure comes from: the gold of the site, the library or the synthetic hospital, the shipped model's card."""
_DEMO = "demo"


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of the detector in one language.

    Attributes:
        source: `site`, `library`, `synthetic_hospital` or `shipped`.
        notes: Gold notes; None of the card, which has them by corpus.
        recall_low: Lower end of the 95% interval of recall: conservative but for the card's.
        precision: By words.
    """

    source: str
    notes: int | None
    recall_low: float | None
    precision: float | None


def measured(settings: Settings, store: NoteStore, detector_digest: str, inputs: str) -> dict[str, Measured]:
    """The best figure of each language for the detector of today, by the order of gold, and the card's at last.

    The library's counts for a language of which it has as many notes as a feed's gold needs.

    Args:
        settings: Of the installation.
        store: Where the bench keeps its figures.
        detector_digest: The detector of today.
        inputs: What the detector is given: `topics` or `text`.
    """
    detection = settings.detection
    found: dict[str, Measured] = {}
    if is_shipped(detection.detector, detection.models):
        found = {code: Measured(CARD, None, it.recall_low, it.precision) for code, it in SHIPPED.items()}
    for metrics in reversed(measurements(store)):
        if metrics.meta["detector_digest"] != detector_digest:
            continue
        by_language: Mapping[str, Mapping[str, float | None]] = metrics.meta.get("languages", {}).get(inputs, {})
        least = settings.bench.minimum_gold if metrics.meta["gold"] == LIBRARY else 0
        for code, it in by_language.items():
            notes = int(it["notes"] or 0)
            if code != UNDETERMINED and notes >= least:
                found[code] = Measured(metrics.meta["gold"], notes, it["recall_low"], it["precision"])
    return found


def accepted(settings: Settings, store: NoteStore, detector_digest: str, inputs: str) -> frozenset[str]:
    """The languages of which notes are not quarantined: the shipped ones, and those measured on the site's gold."""
    figures = measured(settings, store, detector_digest, inputs)
    own = (code for code, it in figures.items() if it.source == OWN and _good(settings, it))
    return frozenset((*SHIPPED, *own))


def gold_files(folder: Path | None, keyring: Keyring) -> str:
    """Names the files of a feed's gold as they lie there: notes that wait for a figure are due when it changes."""
    if folder is None:
        return ""
    try:
        states = sorted((it.name, it.stat()) for it in folder.iterdir())
    except OSError:
        return ""
    return keyring.digest("gold files", *(f"{name} {at.st_size} {at.st_mtime_ns}" for name, at in states))


def vouched_for(settings: Settings, found: Measured | None) -> bool:
    """Whether the active profile takes a language for measured: in production on the site's own gold alone."""
    if found is None or (found.source != OWN and settings.profile != _DEMO):
        return False
    return _good(settings, found)


def _good(settings: Settings, found: Measured) -> bool:
    thresholds = settings.thresholds
    enough = found.source != OWN or (found.notes or 0) >= settings.bench.minimum_gold
    demands = ((found.recall_low, thresholds.min_recall), (found.precision, thresholds.min_precision))
    return enough and all(value is not None and value >= least for value, least in demands)


def languages_row(settings: Settings, figures_of: Mapping[str, Measured], manifest: Manifest) -> GateRow | None:
    """The requirement `languages` of a delivery whose rows were redacted.

    Args:
        settings: Of the installation.
        figures_of: What was measured with the delivery's inputs.
        manifest: Of the redacted rows.

    Returns:
        None, which nobody can waive, if notes would be published in a language of which there is no good figure and
        that is none of the shipped ones: it was measured when they were redacted, and is not any more.
    """
    counted: Mapping[str, Mapping[str, int]] = manifest.meta["languages"]
    published = [code for code, it in counted.items() if it.get("clean") and code != UNDETERMINED]
    unmeasured = [code for code in published if not vouched_for(settings, figures_of.get(code))]
    if any(code not in SHIPPED for code in unmeasured):
        return None
    figures = {code: _figures(it, figures_of.get(code)) for code, it in sorted(counted.items())}
    thresholds = settings.thresholds
    least = {"min_recall": thresholds.min_recall, "min_precision": thresholds.min_precision}
    return GateRow(
        "languages",
        not unmeasured,
        {"languages": figures, "own_gold": settings.profile != _DEMO, "least": settings.bench.minimum_gold} | least,
    )


def _figures(counted: Mapping[str, int], found: Measured | None) -> dict[str, object]:
    notes: dict[str, object] = {"notes": counted.get("clean", 0), "withheld": counted.get("withheld", 0)}
    if found is None:
        return notes
    return notes | {
        found.source: {"notes": found.notes, "recall_low": found.recall_low, "precision": found.precision},
    }

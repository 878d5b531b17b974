"""The two dictionaries of the locally augmented ensemble (Murugadoss 2024): terms to hide and terms to keep."""

from __future__ import annotations

import dagster as dg

from assets import shown
from assets.layer import DELIVERIES, ENGINEERS, PRIVACY, Counts, delivery_of, layer_asset
from assets.source import facilities, patients, providers, raw_notes
from deid_platform.bench.lab import recovered as recovery
from deid_platform.evaluation.scores.scores import suppress
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.dictionaries import proposals, record
from deid_platform.store import Manifest
from resources import Gpu, SiteResource


@layer_asset(
    "dictionaries/institution",
    owner=ENGINEERS,
    kinds={"parquet", "phi"},
    partitions=DELIVERIES,
    deps=[patients, providers, facilities],
    metadata=shown.columns(tables.TERM_SCHEMA),
)
def institution(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
    """Terms that the delivery's topics give, and counts of all until then: names, places and numbers."""
    manifest = record.write_institution(site.site, delivery_of(context))
    return _terms(manifest)


@layer_asset("dictionaries/medical", owner=ENGINEERS, kinds={"parquet"}, metadata=shown.columns(tables.TERM_SCHEMA))
def medical(site: SiteResource) -> Counts:
    """Terms to keep although they look like identifiers: eponyms, drugs, devices, tests, codes, the allow list."""
    manifest = record.write_medical(site.site)
    return _terms(manifest)


@layer_asset(
    "dictionaries/harvested",
    owner=PRIVACY,
    kinds={"parquet", "phi"},
    deps=[institution, raw_notes, dg.AssetKey(["deid", "redacted_notes"])],
    metadata=shown.columns(tables.HARVEST_SCHEMA),
)
def harvested(site: SiteResource) -> Counts:
    """Phrases of many patients' notes that detection hides and that may be clinical: proposals for review.

    Not part of a refresh: materialize it when somebody is to go through them.
    """
    manifest = proposals.harvest(site.site)
    return shown.counts(manifest.rows, **manifest.meta["counts"])


@layer_asset(
    "dictionaries/recovered",
    owner=PRIVACY,
    kinds={"parquet", "phi"},
    deps=[raw_notes, patients, providers, facilities],
    pool="gpu",
    metadata=shown.columns(tables.HARVEST_SCHEMA),
)
def recovered(site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
    """How many words that detection finds are clinical terms and stay, on a random sample of notes (Murugadoss 2024).

    Not part of a refresh. The terms of enough patients are in the note store.
    """
    found = recovery.recovered(site.using(gpu))
    rows = ((label, suppress(count), suppress(kept), share) for label, count, kept, share in recovery.shares(found))
    return shown.counts(
        found.notes,
        share_kept=shown.share(found.kept.total() / max(1, found.found.total())),
        kept_by_label=shown.table(("label", "words found", "words kept", "share"), rows),
    )


def _terms(manifest: Manifest) -> Counts:
    meta = manifest.meta
    return shown.counts(
        manifest.rows,
        terms=sum(meta["kinds"].values()),
        terms_by_kind=shown.table(("kind", "terms"), sorted(meta["kinds"].items())),
        since_the_delivery_before=shown.table(("terms", "number"), sorted(meta.get("changes", {}).items())),
        digest=meta["digest"],
        digest_before=meta.get("previous"),
    )


ON_REQUEST = [harvested, recovered]
ASSETS = [institution, medical, *ON_REQUEST]

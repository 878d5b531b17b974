"""The two dictionaries of the locally augmented ensemble (paper 001): what to hide, and what to keep."""

from __future__ import annotations

import dagster as dg

from assets import shown
from assets.layer import ENGINEERS, Counts, delivery_of, layer_asset
from assets.source import facilities, patients, providers
from deid_platform.refresh import dictionaries, tables
from resources import SiteResource


@layer_asset(
    "dictionaries/institution",
    owner=ENGINEERS,
    kinds={"parquet", "phi"},
    by_delivery=True,
    deps=[patients, providers, facilities],
    metadata=shown.columns(tables.TERM_SCHEMA),
)
def institution(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
    """Terms of the topics as of the delivery: the names, places and numbers that the gazetteer looks up."""
    manifest = dictionaries.write_institution(site.site, delivery_of(context))
    return shown.counts(manifest.rows, **manifest.meta)


@layer_asset("dictionaries/medical", owner=ENGINEERS, kinds={"parquet"}, metadata=shown.columns(tables.TERM_SCHEMA))
def medical(site: SiteResource) -> Counts:
    """Clinical terms that survive although they look like identifiers: eponyms, drugs, devices, tests, codes."""
    manifest = dictionaries.write_medical(site.site)
    return shown.counts(manifest.rows, **manifest.meta)


ASSETS = [institution, medical]

"""The source's data: topics and raw notes of one delivery, sealed in the note store of the PHI zone."""

from __future__ import annotations

import dagster as dg

from assets import shown
from assets.layer import DELIVERIES, ENGINEERS, Counts, delivery_of, layer_asset
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.intake import sealing
from resources import SiteResource

_TOPICS = {
    "patients": "Upserts of the patients topic, from which rosters are made.",
    "providers": "Upserts of the providers topic: names, numbers and user ids of staff.",
    "facilities": "Upserts of the facilities topic: clinics with their abbreviations, addresses and phones.",
}


def _topic_asset(name: str, description: str) -> dg.AssetsDefinition:
    @layer_asset(
        f"source/{name}",
        owner=ENGINEERS,
        kinds={"parquet", "phi"},
        partitions=DELIVERIES,
        metadata=shown.columns(tables.TOPIC_SCHEMAS[name]),
        description=description,
    )
    def topic(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
        it, delivery = site.site, delivery_of(context)
        taken = sealing.take_in_topic(it.taking_in(delivery.feed), delivery, name, store=it.store)
        return shown.counts(taken.rows, **_refused(taken))

    return topic


patients, providers, facilities = (_topic_asset(name, description) for name, description in _TOPICS.items())


@layer_asset(
    "source/raw_notes",
    owner=ENGINEERS,
    kinds={"parquet", "phi"},
    partitions=DELIVERIES,
    deps=[patients, providers, facilities],
    metadata=shown.columns(tables.RAW_SCHEMA),
)
def raw_notes(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
    """Notes as their source wrote them, with the delivery's withdrawals; refused rows are counted by reason."""
    it, delivery = site.site, delivery_of(context)
    taken = sealing.take_in_notes(
        it.taking_in(delivery.feed), delivery, store=it.store, keyring=it.keyring, exclusions=it.exclusions
    )
    return shown.counts(
        taken.rows,
        **_refused(taken),
        withdrawals=taken.withdrawn,
        rejoinings=taken.rejoined,
    )


def _refused(taken: sealing.Intake) -> Counts:
    """How many rows were refused, with the reasons and the columns to map."""
    reasons = sorted(taken.rejected.items())
    return {
        "rows_refused": sum(taken.rejected.values()),
        "refused_why": shown.table(("reason", "rows"), reasons) if reasons else None,
        "unknown_columns": ", ".join(taken.unknown_columns) or None,
    }


ASSETS = [patients, providers, facilities, raw_notes]

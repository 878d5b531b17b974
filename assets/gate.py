"""The gate: withdrawals at once, then a delivery's clean rows in staging and their measurements."""

from __future__ import annotations

import dagster as dg

from assets import shown
from assets.bench import metrics
from assets.deid import redacted_notes
from assets.layer import DELIVERIES, PRIVACY, Counts, delivery_of, layer_asset
from assets.source import raw_notes
from deid_platform.refresh.hiding.late_names import hide_named_since
from deid_platform.refresh.staging import measure, stage
from resources import SiteResource


@layer_asset("gate/withdrawals", owner=PRIVACY, kinds={"postgres"}, partitions=DELIVERIES, deps=[raw_notes])
def withdrawals(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
    """Withdrawn notes and patients, hidden from research before anything else is measured or can fail.

    Hidden too: notes that were redacted without this delivery's rows of patients and show what these say, until they
    are redacted again.
    """
    it, delivery = site.site, delivery_of(context)
    withdrawn = stage.stage_withdrawals(it, delivery, run_id=context.run.run_id)
    return shown.counts(withdrawn, earlier_notes_hidden=hide_named_since(it, delivery))


@layer_asset(
    "gate/delivery",
    owner=PRIVACY,
    kinds={"postgres"},
    partitions=DELIVERIES,
    deps=[withdrawals, redacted_notes, metrics],
)
def delivery(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
    """The delivery's clean rows in staging and their measurements, bound to their digest.

    The decision is the database's (`ctl.promote`). The checks mirror it: `gate_...` is what the gate demands, with its
    figures; `staged_...` is what is expected of the staged rows. `deid gate DELIVERY` says what to do next.
    """
    staged = stage.stage_delivery(site.site, delivery_of(context), run_id=context.run.run_id)
    rows = measure.record_measurements(site.site, staged)
    return shown.counts(
        staged.counts.notes,
        clean=staged.counts.clean,
        quarantined=staged.counts.quarantined,
        withdrawn=staged.counts.withdrawn,
        staged_digest=staged.staged_digest,
        profile=site.site.settings.profile,
        measured=shown.table(
            ("requirement", "measured as"), [(row.requirement, "passed" if row.passed else "failed") for row in rows]
        ),
    )


ASSETS = [withdrawals, delivery]

"""Research: promoted notes, the marts that dbt builds on them, and the release that analysts see."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from graphlib import TopologicalSorter
from io import StringIO
from typing import Any

import dagster as dg
from dagster_dbt import (
    DagsterDbtTranslator,
    DagsterDbtTranslatorSettings,
    DbtCliResource,
    DbtProject,
    dbt_assets,
)
from dagster_dbt.errors import DagsterDbtCliRuntimeError

from assets import shown
from assets.bench import laboratory, metrics
from assets.gate import delivery as gate_delivery
from assets.layer import ANALYTICS, DELIVERIES, PRIVACY, Counts, delivery_of, layer_asset, step
from assets.run_config import NoConfig
from deid_platform.errors import Code, DeidError
from deid_platform.oversight.dossier import write_dossier
from deid_platform.oversight.summary import release_summary
from deid_platform.refresh import publish
from deid_platform.reports.summary import INPUTS, MEASURES, Scored, recall_here, summary_markdown
from deid_platform.warehouse.readers.marts import BuiltMarts
from deid_platform.warehouse.server.roles import Role
from resources import SiteResource, build_folder, mart_relations


@layer_asset("research/note_version", owner=PRIVACY, kinds={"postgres"}, partitions=DELIVERIES, deps=[gate_delivery])
def note_version(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
    """Approved note versions, copied by `ctl.promote` in one transaction if every gate row allows it."""
    delivery = delivery_of(context)
    promotion = publish.promote_delivery(site.site, delivery)
    return shown.counts(
        promotion.approved,
        outcome=promotion.outcome.value,
        hidden=promotion.hidden,
        waived=", ".join(promotion.waived) or "nothing",
        release_active=publish.activate(site.site, delivery),
    )


MART = dg.AssetKey(["marts", "note_profile"])
_AS_BEFORE = {"built": "as before: nothing has changed that they are built from"}
# dbt's log and its results repeat what Postgres says of a model that fails, and Postgres quotes texts.
_UNWRITTEN = ("--log-level-file", "none", "--no-write-json")


class _Marts(DagsterDbtTranslator):
    """dbt models under `marts/`, downstream of the promotion or of the scores; its seeds under `papers/`.

    Not downstream of `bench/detector_scores`, whose figures lie in the laboratory's table too: it is made on request,
    and where it never was, the UI would ask before each launch of the main job whether one is sure.
    """

    def get_asset_key(self, dbt_resource_props: Mapping[str, Any]) -> dg.AssetKey:
        if dbt_resource_props["resource_type"] == "source":
            if dbt_resource_props["source_name"] == "research":
                return note_version.key
            return (metrics if dbt_resource_props["name"] == "scores" else laboratory).key
        folder = "papers" if dbt_resource_props["resource_type"] == "seed" else "marts"
        return dg.AssetKey([folder, dbt_resource_props["name"]])


def mart_assets(project: DbtProject) -> dg.AssetsDefinition:
    """The marts of a dbt project that has been parsed."""
    relations = mart_relations(project)
    # The views of the bench are several sources and one asset.
    translator = _Marts(DagsterDbtTranslatorSettings(enable_duplicate_source_asset_keys=True))

    @dbt_assets(manifest=project.manifest_path, project=project, dagster_dbt_translator=translator, name="marts")
    def marts(
        context: dg.AssetExecutionContext,
        dbt: DbtCliResource,
        site: SiteResource,
        config: NoConfig,  # noqa: ARG001 - dbt's decorator takes no schema; without one, anything may be set
    ) -> Iterator[Any]:
        with step("marts", site):
            it = site.site
            built = BuiltMarts(it.warehouse.engine(Role.MODELLER), it.keyring, relations)
            # Somebody who asks for some of them wants these.
            whole = context.selected_asset_keys == marts.keys
            if whole and built.stand:
                # As Dagster wants them: none before those that it is made of.
                order = [key for key in TopologicalSorter(marts.asset_deps).static_order() if key in marts.keys]
                events: list[Any] = [dg.MaterializeResult(asset_key=key, metadata=_AS_BEFORE) for key in order]
            else:
                # dbt is a program of its own: it learns of the server through its environment alone.
                os.environ.update(it.warehouse.dbt_environment())
                with built.built(whole=whole):
                    events = _build(dbt, context, project)
        yield from events

    return marts


def _build(dbt: DbtCliResource, context: dg.AssetExecutionContext, project: DbtProject) -> list[Any]:
    # What dbt says is, test by test, in Dagster; it need not be on the console too.
    with redirect_stdout(StringIO()), build_folder(project) as folder:
        build = dbt.cli(["build", *_UNWRITTEN], context=context, target_path=folder)
        try:
            return list(build.stream())
        except DagsterDbtCliRuntimeError as error:
            # What the materialization of a mart says when a reader keeps it from changing the mart's columns.
            if Code.WAREHOUSE_BUSY.slug in str(error):
                raise DeidError(Code.WAREHOUSE_BUSY, "marts") from None
            raise


@layer_asset("research/release", owner=ANALYTICS, kinds={"postgres"}, deps=[note_version, MART])
def release(site: SiteResource) -> Counts:
    """The release that analysts see, and its summary: notes in and out, leaks and scores."""
    expired = publish.expire(site.site)
    stale = publish.name_stale_extracts(site.site)
    found = release_summary(site.site)
    return shown.counts(
        found.notes_shown,
        release=found.release,
        expired=", ".join(expired) or None,
        extracts_gone_stale=", ".join(map(str, stale)) or None,
        deliveries=shown.table(
            ("delivery", "notes in", "quarantined", "promoted", "gate"),
            [(d.delivery, d.notes_in, sum(d.quarantined.values()), d.promoted, d.state) for d in found.deliveries],
        ),
        measured_on="; ".join(it.source.both for it in found.scored) or None,
        recall_on_own_notes=recall_here((it.source for it in found.scored), found.unmeasured),
        # Apart: the UI shows longer tables behind a link only.
        scores=_scores(found.scored[:1]),
        scores_beside=_scores(found.scored[1:]),
        summary=dg.MetadataValue.md(summary_markdown(found)),
    )


def _scores(scored: Sequence[Scored]) -> dg.MarkdownMetadataValue:
    return shown.table(
        ("measure", *INPUTS.values()),
        [
            (name, *(it.scores.get(inputs, {}).get(measure, {}).get("value") for inputs in INPUTS))
            for it in scored
            for measure, name in MEASURES.items()
        ],
    )


@layer_asset("research/dossier", owner=PRIVACY, kinds={"html"}, deps=[release, laboratory])
def dossier(site: SiteResource) -> Counts:
    """The evidence for the release that analysts see, as one HTML file that somebody can sign."""
    written = write_dossier(site.site)
    return shown.counts(
        1,
        release=written.release,
        verdict=written.verdict.standing.value,
        against=shown.table(("against",), [(it,) for it in written.verdict.against]),
        doubts=shown.table(("doubt",), [(it,) for it in written.verdict.doubts]),
        digest=written.digest,
    )


ASSETS = [note_version, release, dossier]

"""Language models as judges of released notes, one partition a prompt; only where deid.toml names a model."""

from __future__ import annotations

from collections.abc import Callable

import dagster as dg

from assets import shown
from assets.bench import detections, figures, gold_source
from assets.layer import PRIVACY, Counts, layer_asset
from deid_platform.bench.lab import judges
from deid_platform.evaluation.panel.judge_plan import judge_prompts
from deid_platform.llm.prompts import Task
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import Settings
from resources import Gpu, SiteResource

GROUP = "judges"
_PAIRS = """How good the configured model is as a judge of lost medicine, on labelled pairs that are held out.

Accuracy, precision, recall and kappa beside the labels; into quality.lab_score under the judge's digest.
"""
_RETENTION = """What is left of the medicine by a chat model, in `bench.on_request_notes` gold notes as released.

Of a judge that says yes or no it is CIRE.
The judge is validated on the held-out pairs first: without that its figure says nothing. Into quality.lab_score.
"""
_PANEL = """Which identifiers the panel of `[judges]` finds hidden in `bench.on_request_notes` gold notes as released.

What more than half of the panel says counts, beside how often spans say the same. Into quality.lab_score.
"""


def judge_assets(settings: Settings) -> list[dg.AssetsDefinition]:
    """The assets of an installation; none without a language model."""
    if settings.llm is None and settings.vllm is None:
        return []
    # A model behind an endpoint has a card of its own.
    pool = "gpu" if settings.llm is None else None
    return [
        _asset("pairs", Task.RETENTION, judges.measure_pairs, _PAIRS, pool, []),
        _asset("retention", Task.RETENTION, judges.measure_retention, _RETENTION, pool, [detections]),
        _asset("panel", Task.PANEL, judges.measure_panel, _PANEL, pool, [detections]),
    ]


def _asset(
    name: str,
    task: Task,
    measure: Callable[[Site, str], judges.Judged],
    about: str,
    pool: str | None,
    deps: list[dg.AssetsDefinition],
) -> dg.AssetsDefinition:
    @layer_asset(
        f"{GROUP}/{name}",
        owner=PRIVACY,
        kinds={"postgres"},
        deps=deps,
        pool=pool,
        partitions=dg.StaticPartitionsDefinition([it.name for it in judge_prompts(task)]),
        description=about,
    )
    def judged(context: dg.AssetExecutionContext, site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
        found = measure(site.using(gpu), context.partition_key)
        return shown.counts(
            judges.record(site.site, found),
            language_model=found.judge.model,
            prompt=found.judge.prompt,
            prompt_digest=found.judge.prompt_digest,
            judge_digest=found.judge.digest,
            accuracy=shown.share(found.quality.accuracy.value),
            kappa=shown.share(found.quality.kappa),
            measured_on="; ".join(dict.fromkeys(gold_source(site.site, on.gold).both for on, _ in found.measured)),
            figures=figures({on.inputs: scores for on, scores in found.measured}),
            **found.failures,
        )

    return judged

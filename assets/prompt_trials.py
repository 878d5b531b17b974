"""Trials of prompts to the language model, one partition a prompt."""

from __future__ import annotations

import dagster as dg

from assets import shown
from assets.layer import PRIVACY, Counts, layer_asset
from deid_platform.bench.leaderboard.prompt_trials import COLUMNS, trial_rows, trials, tried
from deid_platform.llm.prompts import prompt, prompt_names
from deid_platform.reports.trials_figure import TrialShown, trials_figure
from resources import Gpu, SiteResource


@layer_asset(
    "bench/prompt_trials",
    owner=PRIVACY,
    kinds={"table"},
    pool="gpu",
    partitions=dg.StaticPartitionsDefinition(list(prompt_names())),
)
def prompt_trials(context: dg.AssetExecutionContext, site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
    """What a prompt to the language model of deid.toml scores on `bench.trial_notes` notes for tuning.

    No test has these notes. The table and the picture have every version that was tried, failed notes both ways.
    """
    trial = tried(site.using(gpu), prompt(context.partition_key))
    known = [it for it in trials(site.site) if it.language == trial.language]
    several = len({it.model for it in known}) > 1
    return shown.counts(
        trial.notes,
        version=trial.version,
        notes_failed=trial.failed,
        recall=shown.share(trial.recall),
        precision=shown.share(trial.precision),
        trials=shown.table(COLUMNS, trial_rows(known)),
        picture=shown.picture(
            trials_figure(
                [
                    TrialShown(
                        f"{it.prompt} {it.version}" + f", {it.model}" * several,
                        *(it.recall, it.precision, it.recall_answered, it.precision_answered),
                    )
                    for it in known
                ],
                f"name and version; notes in {trial.language}, as many as the table says",
            ),
            "recall and precision of each version of each prompt, with failed notes and without",
        ),
    )


ASSETS = [prompt_trials]

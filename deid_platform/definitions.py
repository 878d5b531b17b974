"""The composition root: every asset, check, resource, job, sensor and schedule of the platform.

Belongs here: putting parts together. Does not belong here: any part. It alone imports `assets` and
`resources`. Read on in `assets/`, in the order of the data: source, dictionaries, deid, bench, gate,
research.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg

from deid_platform.orchestration.code_location import FOLDER

# Before the current folder, which may be a project of the user's with a package `assets` of its own.
if str(FOLDER) not in sys.path:
    sys.path.insert(0, str(FOLDER))

# isort: split
from assets import (
    annotation,
    bench,
    checks,
    corpora,
    deid,
    dictionaries,
    gate,
    judges,
    leaderboard,
    models,
    prompt_trials,
    research,
    review,
    source,
)
from assets.automation import (
    REFRESHED,
    daily_retention,
    daily_search,
    delivery_sensor,
    freshness,
    refresh,
    retention,
    search,
    surrogate_corpora,
    weekly_schedule,
)
from assets.run_config import CONSOLE, EXECUTOR, IO_MANAGER, LOGGER, closed
from deid_platform.orchestration.instance import prepare_instance
from deid_platform.settings import config_path, load_settings
from resources import SiteResource, dbt_project, dbt_resource, gpu_resource


def build_defs(*, config: Path | None = None, resource_overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """The platform for one installation.

    Args:
        config: Its deid.toml; by default the one that `settings.config_path` finds.
        resource_overrides: Resources by key that stand in for the real ones, in tests or at a site: objects, which
            runs are handed as they are.

    Raises:
        DeidError: `settings-missing` or `settings-invalid`, before Dagster sees anything.
    """
    path = config_path(config)
    settings = load_settings(path)
    home = prepare_instance(settings, path)
    project = dbt_project(home / "dbt")
    resources = {"site": SiteResource(config=str(path)), "dbt": dbt_resource(), **(resource_overrides or {})}
    layers = (source, dictionaries, deid, bench, annotation, review, corpora, models, prompt_trials, gate, research)
    defs = dg.Definitions(
        assets=[
            *(asset for layer in layers for asset in layer.ASSETS),
            *corpora.corpus_assets(settings),
            leaderboard.detector_scores(settings),
            *judges.judge_assets(settings),
            research.mart_assets(project),
        ],
        asset_checks=checks.CHECKS,
        jobs=[refresh, surrogate_corpora, search, retention],
        sensors=[delivery_sensor(settings.schedule.sensor_seconds)],
        schedules=[weekly_schedule(settings.schedule), daily_search, daily_retention],
        # Of "Materialize selected" too, whose job Dagster makes.
        executor=EXECUTOR,
        loggers={CONSOLE: LOGGER},
        resources={
            "io_manager": IO_MANAGER,
            "gpu": gpu_resource(),
            **{key: closed(resource) for key, resource in resources.items()},
        },
    )
    return defs.map_resolved_asset_specs(func=freshness(settings.schedule), selection=REFRESHED)


def __getattr__(name: str) -> dg.Definitions:
    # `defs` is made when Dagster asks for it, so that importing this module has no side effect.
    if name == "defs":
        return build_defs()
    raise AttributeError(name)

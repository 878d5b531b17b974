"""When a refresh runs: the sensor on arrivals and the weekly schedule; and when the last one is too old.

And the daily search for what was reported, and how long a run is kept.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import dagster as dg

from assets import annotation, bench, corpora, dictionaries, judges, leaderboard, models, prompt_trials, review
from assets.layer import DELIVERIES, coded, step
from assets.run_config import EXECUTOR
from deid_platform.notes import Delivery
from deid_platform.refresh.hiding.search import search_held
from deid_platform.refresh.hiding.withdraw import withdraw_arrived
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging.due import pending
from deid_platform.settings import ScheduleSettings
from resources import SiteResource

_ON_CORPORA = dg.AssetSelection.assets(*corpora.ASSETS, *corpora.BY_CORPUS, leaderboard.KEY)
# Proposals for a person to judge, annotations, gold sets to train on, models, and measurements that take minutes:
# nothing of a refresh waits for them.
_ON_REQUEST = _ON_CORPORA | dg.AssetSelection.assets(
    *dictionaries.ON_REQUEST,
    *bench.ON_REQUEST,
    *annotation.ASSETS,
    *review.ASSETS,
    *models.ASSETS,
    *prompt_trials.ASSETS,
)
# Which of them there are hangs on deid.toml.
_ON_REQUEST |= dg.AssetSelection.groups(judges.GROUP)

refresh = dg.define_asset_job(
    "refresh",
    selection=dg.AssetSelection.all() - _ON_REQUEST,
    description="One delivery from its files to the research warehouse: the main job.",
    executor_def=EXECUTOR,
)


surrogate_corpora = dg.define_asset_job(
    "surrogate_corpora",
    selection=dg.AssetSelection.assets(*corpora.BY_CORPUS),
    description="One surrogate corpus in one locale: its notes, what is in them, the detector's spans and scores.",
    executor_def=EXECUTOR,
)


def delivery_sensor(seconds: int) -> dg.SensorDefinition:
    """The sensor on deliveries: new ones, changed ones, and all of them when the exclusions change."""

    @dg.sensor(
        name="new_deliveries",
        job=refresh,
        minimum_interval_seconds=seconds,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description="Turns each new or changed delivery into a partition and a run of the refresh job.",
    )
    def new_deliveries(context: dg.SensorEvaluationContext, site: SiteResource) -> dg.SensorResult | dg.SkipReason:
        with coded("new_deliveries"):
            it = site.site
            _withdraw(it)
            # A patient who opts out changes no file.
            excluded = it.exclusions.digest(it.keyring)[:12]
            # Sizes, times and counts only: reading everything every minute would cost more than the refresh.
            now = {each.key: f"{marker}-{excluded}" for each, marker in _markers(it).items()}
        seen = json.loads(context.cursor or "{}")
        changed = [key for key, marker in now.items() if seen.get(key) != marker]
        if not changed:
            return dg.SkipReason("no new or changed delivery")
        known = set(context.instance.get_dynamic_partitions(str(DELIVERIES.name)))
        new = [key for key in changed if key not in known]
        return dg.SensorResult(
            run_requests=[dg.RunRequest(run_key=f"{key}/{now[key]}", partition_key=key) for key in changed],
            dynamic_partitions_requests=[DELIVERIES.build_add_request(new)] if new else [],
            cursor=json.dumps(now),
        )

    return new_deliveries


def _markers(site: Site) -> dict[Delivery, str]:
    """The marker of every delivery that has arrived, feed by feed."""
    readers = [site.reader(name) for name in sorted(site.settings.feeds)]
    return {each: marker for reader in readers for each, marker in reader.markers(reader.deliveries()).items()}


def weekly_schedule(settings: ScheduleSettings) -> dg.ScheduleDefinition:
    """The weekly schedule: requests every delivery that research does not hold in its current form."""

    @dg.schedule(
        name="weekly_refresh",
        job=refresh,
        cron_schedule=settings.cron,
        execution_timezone=settings.timezone,
        description="Weekly: requests every delivery that research does not hold in its current form.",
    )
    def weekly_refresh(context: dg.ScheduleEvaluationContext, site: SiteResource) -> list[dg.RunRequest]:
        with coded("weekly_refresh"):
            _withdraw(site.site)
            wanted = [delivery.key for delivery in pending(site.site, site.site.deliveries())]
        context.instance.add_dynamic_partitions(str(DELIVERIES.name), wanted)
        day = context.scheduled_execution_time.date().isoformat()
        return [dg.RunRequest(run_key=f"{key}/{day}", partition_key=key) for key in wanted]

    return weekly_refresh


def _withdraw(site: Site) -> None:
    """Hides withdrawn notes and patients before any run is requested, since the run may wait in the queue."""
    if failures := withdraw_arrived(site).failures:
        raise failures[0]


# Not the promotion: a delivery, its partition, is promoted once and is then as it should be for ever.
REFRESHED = dg.AssetSelection.assets("research/release") | dg.AssetSelection.groups("marts")


def freshness(settings: ScheduleSettings) -> Callable[[dg.AssetSpec], dg.AssetSpec]:
    """Gives an asset the deadline by which it must have been refreshed again."""
    policy = dg.FreshnessPolicy.time_window(
        fail_window=timedelta(days=settings.stale_after_days), warn_window=timedelta(days=settings.warn_after_days)
    )
    return lambda spec: spec.replace_attributes(freshness_policy=policy)


@dg.op(config_schema={}, description="Looks for what was reported in the deliveries that research holds.")
def look_for_reported(context: dg.OpExecutionContext, site: SiteResource) -> None:
    """Spares those that show none of it from being made anew; the others are due, as any that changed."""
    with step("search", site):
        clear = search_held(site.site, site.site.deliveries())
    context.add_output_metadata({"clear": len(clear)})


@dg.job(
    description="Looks for identifiers that readers reported in the deliveries that research holds.",
    executor_def=EXECUTOR,
)
def search() -> None:
    """A single op; see its docstring."""
    look_for_reported()


daily_search = dg.ScheduleDefinition(
    name="daily_search",
    job=search,
    cron_schedule="30 2 * * *",
    description="Looks for what readers reported, so that the weekly refresh makes anew only what may show it.",
)

_PARTITION = "dagster/partition"
_FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]


@dg.op(config_schema={}, description="Deletes old finished runs, except each partition's last success.")
def forget_old_runs(context: dg.OpExecutionContext, site: SiteResource) -> None:
    """Deletes runs and their events that ended longer ago than `schedule.keep_runs_days`.

    Dagster itself keeps runs for ever. The last success of each partition stays, since the UI tells from its
    events what is materialized. What was published, when and by whom is the ledger's to say, and stays there.
    """
    with coded("retention"):
        until = datetime.now(tz=UTC) - timedelta(days=site.site.settings.schedule.keep_runs_days)
        successes = set[tuple[str, str | None]]()
        deleted = 0
        for record in context.instance.get_run_records(dg.RunsFilter(statuses=_FINISHED)):  # newest first
            run = record.dagster_run
            subject = (run.job_name, run.tags.get(_PARTITION))
            if run.is_success and subject not in successes:
                successes.add(subject)
            elif (record.end_time or 0.0) < until.timestamp():
                context.instance.delete_run(run.run_id)
                deleted += 1
    context.add_output_metadata({"deleted": deleted})


@dg.job(
    description="Deletes Dagster's records of finished runs that are older than schedule.keep_runs_days.",
    executor_def=EXECUTOR,
)
def retention() -> None:
    """A single op; see its docstring."""
    forget_old_runs()


daily_retention = dg.ScheduleDefinition(
    name="daily_retention",
    job=retention,
    cron_schedule="30 3 * * *",
    description="Deletes finished runs that are older than schedule.keep_runs_days; what was published stays.",
)

"""When a refresh runs: the sensor on arrivals, and the weekly schedule behind it."""

import json

import dagster as dg

from assets.layer import DELIVERIES, coded
from deid_platform.refresh.publish import pending
from deid_platform.settings import ScheduleSettings
from resources import SiteResource

refresh = dg.define_asset_job(
    "refresh",
    selection=dg.AssetSelection.all(),
    description="One delivery from its files to the research warehouse: the main job.",
    # Small assets on one machine: the default multiprocess executor costs seconds a step in process starts.
    executor_def=dg.in_process_executor,
)


def delivery_sensor(seconds: int) -> dg.SensorDefinition:
    """The sensor on delivery folders: new ones, and those whose files changed, oldest first."""

    @dg.sensor(
        name="new_deliveries",
        job=refresh,
        minimum_interval_seconds=seconds,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description="Turns each new or changed delivery folder into a partition and a run of the refresh job.",
    )
    def new_deliveries(context: dg.SensorEvaluationContext, site: SiteResource) -> dg.SensorResult | dg.SkipReason:
        with coded("new_deliveries"):
            # Sizes and times only: reading every file every minute would cost more than the refresh.
            now = {
                delivery.key: site.site.reader(delivery.feed).marker(delivery) for delivery in site.site.deliveries()
            }
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


def weekly_schedule(settings: ScheduleSettings) -> dg.ScheduleDefinition:
    """The backstop: what research does not hold as it stands is requested again."""

    @dg.schedule(
        name="weekly_refresh",
        job=refresh,
        cron_schedule=settings.cron,
        execution_timezone=settings.timezone,
        description="Backstop behind the sensor: requests every delivery that research does not hold as it stands.",
    )
    def weekly_refresh(context: dg.ScheduleEvaluationContext, site: SiteResource) -> list[dg.RunRequest]:
        with coded("weekly_refresh"):
            wanted = [delivery.key for delivery in pending(site.site, site.site.deliveries())]
        context.instance.add_dynamic_partitions(str(DELIVERIES.name), wanted)
        day = context.scheduled_execution_time.date().isoformat()
        return [dg.RunRequest(run_key=f"{key}/{day}", partition_key=key) for key in wanted]

    return weekly_refresh

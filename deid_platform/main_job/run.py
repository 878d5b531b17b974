"""One run of a job in this process, recorded so that the UI shows it among its own.

Belongs here: a run's record, executing it, and how it failed. Does not belong here: which runs there are
(`main_job/command.py`) or what is read of them meanwhile (`main_job/progress.py`).

Dagster's own `execute_in_process` records no code location, and the UI's timeline leaves out runs that have none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.definitions.repository_definition.valid_definitions import SINGLETON_REPOSITORY_NAME
from dagster._core.execution.api import execute_run
from dagster._core.execution.execute_in_process import merge_run_tags
from dagster._core.execution.execution_result import ExecutionResult
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin
from dagster._core.storage.tags import MAX_RETRIES_TAG

LOCATION = "deid_platform"
"""What workspace.yaml calls the platform, here and in deploy/."""
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
# The next command repeats it; the daemon, if there is one, has no part in it.
_NO_RETRY = {MAX_RETRIES_TAG: "0"}


def execute(
    job: dg.JobDefinition,
    instance: dg.DagsterInstance,
    *,
    run_id: str | None = None,
    partition: str | None = None,
    assets: Collection[dg.AssetKey] | None = None,
    tags: Mapping[str, str] | None = None,
) -> ExecutionResult:
    """Executes a job in this process; a run that fails is a result, no exception.

    Args:
        job: With an executor that works in this process.
        instance: Where the run is recorded, from its first moment.
        run_id: By default, one of Dagster's own.
        partition: The partition's key.
        assets: Only these of the job's assets.
        tags: Of the run, beside the partition's.
    """
    origin = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(LOCATION), SINGLETON_REPOSITORY_NAME)
    selected = list(assets or ())
    run = instance.create_run_for_job(
        job_def=job,
        run_id=run_id,
        run_config=_QUIET,
        tags=merge_run_tags(job, partition, {**_NO_RETRY, **(tags or {})}, selected, instance, _QUIET),
        asset_selection=frozenset(selected) or None,
        remote_job_origin=origin.get_job_origin(job.name),
    )
    return execute_run(InMemoryJob(job), run, instance)


def failure_of(result: ExecutionResult) -> str | None:
    """What the step that failed says of itself, which has a code and no value; None if the run ended well."""
    if result.success:
        return None
    for event in result.all_events:
        if event.is_step_failure:
            said = event.step_failure_data.user_failure_data
            if said and said.description:
                return said.description
    checks = [e.check_name for e in result.get_asset_check_evaluations() if not e.passed]
    if checks:
        return f"checks failed: {', '.join(checks)}"
    return "the run failed outside its steps: see it in the UI"

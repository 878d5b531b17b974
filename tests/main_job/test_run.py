"""Runs that are executed in this process, as the pages of the UI ask for them: timeline, Overview and the job's own.

The API is that of Dagster's webserver, asked in this process by the queries of its pages; the job is a small one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import dagster as dg
import pytest
import yaml
from dagster._core.remote_origin import InProcessCodeLocationOrigin
from dagster._core.test_utils import InProcessTestWorkspaceLoadTarget
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster_graphql.test.utils import execute_dagster_graphql

from deid_platform.main_job.run import LOCATION, execute, failure_of

ROOT = Path(__file__).parents[2]
DELIVERY = "hospital@2026-01-05"
REFUSAL = f"gate-refused [{DELIVERY}: bench failed]"
# What the timeline asks of runs, those that are under way and those that have ended.
TIMELINE = """query($filter: RunsFilter!) { runsOrError(filter: $filter) { ... on Runs { results {
    id pipelineName status startTime endTime tags { key value }
    repositoryOrigin { repositoryName repositoryLocationName } } } } }"""
# What Overview and the page of a job ask of its runs.
OF_JOB = """query($job: PipelineSelector!) { pipelineOrError(params: $job) { ... on Pipeline {
    runs(limit: 5) { id status } } } }"""

# Dagster asks the system who it is.
pytestmark = pytest.mark.process

Ask = Any


@dg.asset(partitions_def=dg.DynamicPartitionsDefinition(name="delivery"))
def note_version(context) -> None:
    """Stands for the promotion; a tag of the run makes it refuse."""
    if "refused" in context.run.tags:
        raise dg.Failure(REFUSAL, allow_retries=False)


defs = dg.Definitions(
    assets=[note_version],
    jobs=[dg.define_asset_job("refresh", selection="*")],
    executor=dg.in_process_executor,
)
JOB = defs.resolve_job_def("refresh")


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    # As dagster.yaml has it; Dagster's own manager starts a process for each run.
    no_output = {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}
    folder = str(tmp_path_factory.mktemp("instance"))
    with dg.DagsterInstance.local_temp(folder, overrides={"compute_logs": no_output}) as made:
        made.add_dynamic_partitions("delivery", [DELIVERY])
        yield made


@pytest.fixture(scope="module")
def ask(instance: dg.DagsterInstance) -> Iterator[Ask]:
    """Asks the API, which has the job in a code location of the name that workspace.yaml gives it."""
    target = LoadableTargetOrigin(python_file=__file__, attribute="defs")
    location = InProcessCodeLocationOrigin(target, location_name=_location(ROOT / "workspace.yaml"))
    with WorkspaceProcessContext(instance, InProcessTestWorkspaceLoadTarget(location)) as context:

        def asked(query: str, **variables: object) -> dict[str, Any]:
            answer = execute_dagster_graphql(context.create_request_context(), query, variables)
            assert not answer.errors, answer.errors
            return answer.data

        yield asked


def _location(workspace: Path) -> str:
    """What a workspace.yaml calls its code location."""
    ((given,),) = [entry.values() for entry in yaml.safe_load(workspace.read_text())["load_from"]]
    return str(given["location_name"])


def on_the_timeline(ask: Ask, *statuses: str) -> dict[str, Mapping[str, Any]]:
    """The runs that the timeline shows: it leaves out those without a start or a code location."""
    runs = ask(TIMELINE, filter={"statuses": list(statuses)})["runsOrError"]["results"]
    return {run["id"]: run for run in runs if run["startTime"] and run["repositoryOrigin"]}


def of_the_job(ask: Ask) -> dict[str, str]:
    selector = {"pipelineName": "refresh", "repositoryName": "__repository__", "repositoryLocationName": LOCATION}
    return {run["id"]: run["status"] for run in ask(OF_JOB, job=selector)["pipelineOrError"]["runs"]}


def test_a_run_shows_with_its_job_and_delivery_while_it_goes_and_afterwards(
    ask: Ask, instance: dg.DagsterInstance
) -> None:
    run_id, meanwhile = str(uuid4()), []

    def heard(entry: dg.EventLogEntry) -> None:
        if entry.dagster_event_type is dg.DagsterEventType.STEP_START:
            meanwhile.extend(on_the_timeline(ask, "STARTED"))

    instance.add_event_listener(run_id, heard)
    result = execute(JOB, instance, run_id=run_id, partition=DELIVERY, tags={"deid/feed": "hospital"})
    assert failure_of(result) is None
    assert meanwhile == [run_id]
    run = on_the_timeline(ask, "SUCCESS")[run_id]
    assert run["pipelineName"] == "refresh"
    assert run["repositoryOrigin"] == {"repositoryName": "__repository__", "repositoryLocationName": LOCATION}
    assert run["endTime"] >= run["startTime"]
    tags = {tag["key"]: tag["value"] for tag in run["tags"]}
    assert (tags["dagster/partition"], tags["deid/feed"]) == (DELIVERY, "hospital")
    assert of_the_job(ask)[run_id] == "SUCCESS"


def test_a_run_that_is_refused_shows_too(ask: Ask, instance: dg.DagsterInstance) -> None:
    result = execute(JOB, instance, partition=DELIVERY, tags={"refused": "yes"})
    assert failure_of(result) == REFUSAL
    assert result.run_id in on_the_timeline(ask, "FAILURE")
    assert of_the_job(ask)[result.run_id] == "FAILURE"


@pytest.mark.parametrize("workspace", ["workspace.yaml", "deploy/workspace.yaml"])
def test_the_code_location_is_the_one_that_is_served(workspace: str) -> None:
    assert _location(ROOT / workspace) == LOCATION

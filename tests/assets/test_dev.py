"""A Dagster that really runs, as `deid ui` starts it: no way through its UI leads around the gate, the main job
leads through it, and a browser shows its runs, what was refused, the launch of the main job, and the asset graph.

Slow: a webserver, a daemon and a code server start, and a refresh runs.
"""

from __future__ import annotations

import json
import re
import socket
import stat
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import psutil
import pytest
from dagster_server import LAUNCH
from desk_browser import BROWSER, Tab

from deid_platform.main_job.run import execute
from deid_platform.notes import Delivery
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging import stage
from deid_platform.settings import load_settings
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role

pytestmark = pytest.mark.slow
in_a_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")

DEID = Path(sys.executable).with_name("deid")
Materialize = Callable[..., tuple[bool, str]]
GROUPS = ["source", "dictionaries", "deid", "bench", "gate", "research", "marts", "papers"]
IN_PROCESS, THROUGH_UI = Delivery("hospital", "2026-01-05"), Delivery("hospital", "2026-01-12")
BEFORE_THE_GATE = [
    *("source/patients", "source/providers", "source/facilities", "source/raw_notes"),
    *("dictionaries/institution", "dictionaries/medical", "deid/redacted_notes"),
]
BENCH = ["bench/test_set", "bench/gold_notes", "bench/detections", "bench/metrics"]

# How one might try to publish what was never measured: what is asked for, and what the gate still wants.
AROUND = {
    "the promoting asset alone": (["research/note_version"], "parity"),
    "the promotion and the release": (["research/note_version", "research/release"], "parity"),
    "all that measures, without the checks": (
        [*BENCH, "gate/withdrawals", "gate/delivery", "research/note_version"],
        "expectations",
    ),
}


@pytest.fixture(scope="module")
def ui(start, installation: Path):
    running = start(lambda port: [str(DEID), "ui", "--port", str(port)])
    running.enter()
    running.until_ready()
    running.partition(THROUGH_UI.key)
    return running


@pytest.fixture(scope="module")
def materialize(definitions: dg.Definitions, tmp_path_factory: pytest.TempPathFactory) -> Materialize:
    """Materializes assets in this process, without their checks; whether that went well, and what failed."""
    folder = tmp_path_factory.mktemp("in-process")

    def run(delivery: Delivery, *keys: str) -> tuple[bool, str]:
        with dg.DagsterInstance.local_temp(str(folder)) as instance:
            instance.add_dynamic_partitions("delivery", [delivery.key])
            result = dg.materialize(
                list(definitions.assets),
                selection=dg.AssetSelection.assets(*keys).without_checks(),
                resources=definitions.resources,
                partition_key=delivery.key,
                instance=instance,
                raise_on_error=False,
            )
        failed = [event.step_failure_data for event in result.all_events if event.is_step_failure]
        return result.success, "; ".join(data.user_failure_data.description for data in failed)

    return run


@pytest.fixture(scope="module")
def unmeasured(installation: Path, arrive: Callable[..., None], materialize: Materialize) -> None:
    """Two deliveries that are staged, and of which nothing was measured."""
    for delivery in (IN_PROCESS, THROUGH_UI):
        notes = [
            {"note_id": f"{delivery.watermark}-{number}", "patient_id": "p1", "text": text}
            for number, text in enumerate(texts(delivery))
        ]
        arrive(delivery.watermark, notes, "patient_id,first_name,last_name\np1,Zebulon,Quistgaard\n")
        assert materialize(delivery, *BEFORE_THE_GATE) == (True, "")
        stage.stage_delivery(Site(load_settings(installation)), delivery, run_id="staged alone")


def texts(delivery: Delivery) -> list[str]:
    return [f"BP {delivery.watermark[-2:]}{number}/80." for number in range(3)]


def shown(warehouse: Warehouse) -> list[str]:
    """The texts in research."""
    with warehouse.begin(Role.MODELLER) as connection:
        return list(connection.exec_driver_sql("SELECT text FROM research.notes ORDER BY text").scalars())


def refused(said: str, delivery: Delivery, wanting: str) -> bool:
    """Whether a step failed since the gate refused this delivery for want of that."""
    return said.startswith(f"gate-refused [{delivery.key}:") and wanting in said.partition("]")[0]


# A run that would be a shell's, and pages that would launch it


@pytest.fixture
def attack(ui, tmp_path: Path) -> tuple[dict[str, object], Path]:
    """What launches a run of which dbt is a shell, and the file that the shell would write."""
    written = tmp_path / "written"
    shell = {
        "project_dir": str(tmp_path),
        "profiles_dir": str(tmp_path),
        "dbt_executable": "/bin/sh",
        "global_config_flags": ["-c", f"touch {written}; exit 1"],
    }
    (tmp_path / "dbt_project.yml").write_text("name: deid\nprofile: deid\n")
    (tmp_path / "profiles.yml").write_text("deid: {}\n")
    params = ui.launching("__ASSET_JOB", THROUGH_UI.key, assets=["marts/note_profile"])
    return {**params, "runConfigData": {"resources": {"dbt": {"config": shell}}}}, written


def test_a_run_with_a_configuration_of_its_own_is_refused(ui, attack: tuple[dict[str, object], Path]) -> None:
    params, written = attack
    before = ui.runs()
    answer = ui.ask(LAUNCH, params=params)
    assert answer["data"]["launchRun"]["__typename"] == "RunConfigValidationInvalid", answer
    for section in ({"site": {"config": {"config": "/tmp/deid.toml"}}}, {"io_manager": {"config": {"base_dir": "/"}}}):
        answer = ui.ask(LAUNCH, params={**params, "runConfigData": {"resources": section}})
        assert answer["data"]["launchRun"]["__typename"] == "RunConfigValidationInvalid", answer
    assert ui.runs() == before
    assert not written.exists()


# The other mutations that start runs.
ALSO_LAUNCHES = {
    "several runs": (
        "launchMultipleRuns(executionParamsList: [$params])"
        " { ... on LaunchMultipleRunsResult { launchMultipleRunsResult { __typename } } }"
    ),
    "a run as it was called before": "launchPipelineExecution(executionParams: $params) { __typename }",
}


@pytest.mark.parametrize("way", ALSO_LAUNCHES)
def test_a_run_with_a_configuration_of_its_own_is_refused_whatever_launches_it(
    ui, attack: tuple[dict[str, object], Path], way: str
) -> None:
    params, written = attack
    before = ui.runs()
    answer = ui.ask(f"mutation($params: ExecutionParams!) {{ {ALSO_LAUNCHES[way]} }}", params=params)
    assert "RunConfigValidationInvalid" in str(answer["data"]), answer
    assert ui.runs() == before
    assert not written.exists()


def test_a_backfill_with_a_configuration_of_its_own_starts_nothing(ui, attack: tuple[dict[str, object], Path]) -> None:
    params, written = attack
    before = ui.runs()
    backfill = """mutation($params: LaunchBackfillParams!) {
        launchPartitionBackfill(backfillParams: $params) { __typename ... on PythonError { message } } }"""
    selector = {"repositorySelector": ui.repository, "partitionSetName": "refresh_partition_set"}
    answer = ui.ask(
        backfill,
        params={
            "selector": selector,
            "partitionNames": [THROUGH_UI.key],
            "forceSynchronousSubmission": True,
            "runConfigData": params["runConfigData"],
        },
    )
    assert answer["data"]["launchPartitionBackfill"]["__typename"] != "LaunchBackfillSuccess", answer
    assert ui.runs() == before
    assert not written.exists()


def test_another_page_launches_nothing_whatever_it_sends(ui, attack: tuple[dict[str, object], Path]) -> None:
    params, written = attack
    plain = ui.launching("retention")
    before = ui.runs()
    for asked in (params, plain):
        query = urllib.parse.urlencode({"query": LAUNCH, "variables": json.dumps({"params": asked})})
        body = json.dumps({"query": LAUNCH, "variables": {"params": asked}}).encode()
        for foreign in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {}):
            # With the cookie and without: where it is not refused for the one, then for the other.
            assert ui.refuses(f"/graphql?{query}", None, foreign, cookie=True)
            assert ui.refuses(f"/graphql?{query}", None, foreign, cookie=False)
            assert ui.refuses(f"/graphql?{query}", b"", {"Content-Type": "text/plain", **foreign}, cookie=True)
            assert ui.refuses("/graphql", body, {"Content-Type": "application/json", **foreign}, cookie=False)
        for foreign in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            assert ui.refuses("/graphql", body, {"Content-Type": "application/json", **foreign}, cookie=True)
    assert ui.runs() == before
    assert not written.exists()


def test_a_plain_run_is_launched_by_who_used_the_link_and_not_again_with_a_configuration(ui) -> None:
    run = ui.launch("retention")
    assert ui.outcome(run) == ("SUCCESS", "")
    before = ui.runs()
    again = """mutation($params: ExecutionParams!) { launchRunReexecution(executionParams: $params) { __typename } }"""
    params = ui.launching("retention")
    params["executionMetadata"] |= {"rootRunId": run, "parentRunId": run}
    configured = {**params, "runConfigData": {"ops": {"forget_old_runs": {"config": {"days": 0}}}}}
    answer = ui.ask(again, params=configured)
    assert answer["data"]["launchRunReexecution"]["__typename"] == "RunConfigValidationInvalid", answer
    assert ui.runs() == before
    assert ui.ask(again, params=params)["data"]["launchRunReexecution"]["__typename"] == "LaunchRunSuccess"


def test_a_mutation_over_a_websocket_changes_nothing(ui) -> None:
    before = ui.runs()
    said = ui.over_websocket(LAUNCH, {"params": ui.launching("retention")})
    assert said["type"] == "error"
    assert ui.runs() == before


def test_the_code_server_s_sockets_lie_in_a_folder_of_its_user_alone(ui) -> None:
    family = [ui_process := psutil.Process(ui.process.pid), *ui_process.children(recursive=True)]
    listening = [c for each in family for c in each.net_connections() if c.status == psutil.CONN_LISTEN]
    assert {c.laddr.port for c in listening if c.family != socket.AF_UNIX} == {ui.port}
    addresses = {c.laddr for each in family for c in each.net_connections("unix") if c.laddr}
    sockets = [Path(address) for address in addresses if address.startswith(tempfile.gettempdir() + "/deid-ui-")]
    assert sockets
    assert {stat.S_IMODE(path.parent.stat().st_mode) for path in sockets} == {0o700}


@pytest.mark.parametrize("way", AROUND)
def test_nothing_unmeasured_is_promoted_in_process(
    unmeasured: None, materialize: Materialize, warehouse: Warehouse, way: str
) -> None:
    keys, wanting = AROUND[way]
    success, said = materialize(IN_PROCESS, *keys)
    assert not success
    assert refused(said, IN_PROCESS, wanting), said
    assert shown(warehouse) == []


@pytest.mark.parametrize("way", AROUND)
def test_nothing_unmeasured_is_promoted_through_the_ui(ui, unmeasured: None, warehouse: Warehouse, way: str) -> None:
    keys, wanting = AROUND[way]
    status, said = ui.outcome(ui.launch("__ASSET_JOB", THROUGH_UI.key, assets=keys))
    assert status == "FAILURE"
    assert refused(said, THROUGH_UI, wanting), said
    assert shown(warehouse) == []


def test_checks_that_an_operator_reports_as_passed_do_not_count(
    ui, definitions: dg.Definitions, unmeasured: None, warehouse: Warehouse
) -> None:
    report_check = """mutation($report: ReportAssetCheckEvaluationsParams!) {
        reportAssetCheckEvaluations(eventParams: $report) { __typename } }"""
    report_asset = """mutation($report: ReportRunlessAssetEventsParams!) {
        reportRunlessAssetEvents(eventParams: $report) { __typename } }"""
    about = {"assetKey": {"path": ["gate", "delivery"]}, "partitionKeys": [THROUGH_UI.key]}
    answer = ui.ask(report_asset, report={**about, "eventType": "ASSET_MATERIALIZATION"})
    assert answer["data"]["reportRunlessAssetEvents"]["__typename"] == "ReportRunlessAssetEventsSuccess"
    keys = [key for key in definitions.resolve_asset_graph().asset_check_keys if key.asset_key.path[0] == "gate"]
    assert len(keys) > 5
    for key in keys:
        answer = ui.ask(report_check, report={**about, "checkName": key.name, "passed": True})
        assert answer["data"]["reportAssetCheckEvaluations"]["__typename"] == "ReportAssetCheckEvaluationsSuccess"

    status, said = ui.outcome(ui.launch("refresh", THROUGH_UI.key, steps=["research__note_version"]))
    assert status == "FAILURE"
    assert refused(said, THROUGH_UI, "expectations"), said
    assert shown(warehouse) == []


# What a browser shows


@pytest.fixture
def page(ui, tab: Callable[[], Tab]) -> Callable[[str], Tab]:
    """Opens a page of the UI; `says` tells what is to be read on it."""

    def opened(path: str) -> Tab:
        made = tab()
        with ui.entrance(path) as entrance:
            made.ask("Page.navigate", url=entrance)
            ui.wait(lambda: (made.js("location.href") or "").startswith(ui.address), seconds=60)
        return made

    return opened


def says(page: Tab) -> str:
    return page.js("document.body.innerText") or ""


@pytest.fixture(scope="module")
def refused_run(ui, unmeasured: None, definitions: dg.Definitions, installation: Path) -> str:
    """A run as `deid refresh` executes them, which the gate refused."""
    with dg.DagsterInstance.from_config(str(load_settings(installation).home_path / "dagster")) as instance:
        instance.add_dynamic_partitions("delivery", [IN_PROCESS.key])
        job, promotion = definitions.resolve_job_def("refresh"), dg.AssetKey(["research", "note_version"])
        result = execute(job, instance, partition=IN_PROCESS.key, assets=[promotion])
    assert not result.success
    return result.run_id


@in_a_browser
def test_a_browser_shows_a_run_of_deid_refresh_on_the_timeline(ui, page, refused_run: str) -> None:
    timeline = page("/overview/timeline")
    ui.wait(lambda: "refresh" in says(timeline), seconds=60)
    assert "No runs" not in says(timeline)


@in_a_browser
def test_a_browser_shows_a_refusal_by_its_requirements_and_no_crash(ui, page, refused_run: str) -> None:
    run = page(f"/runs/{refused_run}")
    ui.wait(lambda: "RUN_FAILURE" in says(run), seconds=60)
    assert f"gate-refused [{IN_PROCESS.key}: " in says(run)
    assert "parity" in says(run)
    assert not re.search("error id|stack trace|masked", says(run), re.IGNORECASE)


@in_a_browser
def test_a_browser_launches_the_main_job_without_being_asked_whether_one_is_sure(ui, page, refused_run: str) -> None:
    job = page("/locations/deid_platform/jobs/refresh")
    button = "[...document.querySelectorAll('button')].find(b => b.textContent.startsWith('Materialize all'))"
    ui.wait(lambda: job.js(f"!!{button} && !{button}.disabled"), seconds=60)
    job.js(f"{button}.click()")
    ui.wait(lambda: re.search("Launch runs to materialize|Are you sure", says(job)), seconds=60)
    assert "Are you sure" not in says(job)


def test_the_main_job_promotes_the_same_delivery(ui, unmeasured: None, warehouse: Warehouse) -> None:
    assert ui.outcome(ui.launch("refresh", THROUGH_UI.key)) == ("SUCCESS", "")
    assert shown(warehouse) == texts(THROUGH_UI)


@in_a_browser
def test_a_browser_draws_the_asset_graph_by_its_groups(ui, tmp_path: Path) -> None:
    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}",
        "--window-size=1600,1200",
    ]

    def drawn() -> set[str]:
        # The page's time runs ahead of the clock, up to the budget, while it waits for nothing.
        page = subprocess.run(
            [BROWSER, *options, "--virtual-time-budget=15000", "--dump-dom", entrance],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        # A node of the graph, group or asset, is a foreignObject of its drawing; the side bar has none.
        nodes = re.findall(r'<foreignObject[^>]*class="group"[^>]*>(.*?)</foreignObject>', page, re.DOTALL)
        return {group for group in GROUPS for node in nodes if f">{group}<" in node}

    with ui.entrance("/asset-groups") as entrance:
        ui.wait(lambda: drawn() == set(GROUPS), seconds=15)


def test_what_the_server_wrote_is_its_users_alone_and_its_console_quotes_no_note(
    ui, unmeasured: None, installation: Path, open_to_others: Callable[[Path], dict[str, str]]
) -> None:
    assert open_to_others(load_settings(installation).home_path) == {}
    assert "Quistgaard" not in ui.log.read_text()

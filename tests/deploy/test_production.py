"""A production installation that really runs: Dagster's storage on a PostgreSQL over TCP, scram and TLS, the code
server on its socket, the daemon, a webserver that only shows, and one for operators.

Slow: four processes of Dagster's start.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from dagster_server import Start, Ui, servers
from system_server import SUPERUSER, SystemServer

from deid_platform.settings import load_settings

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def start(system_server: SystemServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    # After the database, so that they end before it: they would look for it for a while.
    with servers(tmp_path_factory.mktemp("servers")) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the socket and the folders of the daemon and the webservers lie."""
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def begin(
    start: Start,
    folder: Path,
    deploy: Path,
    installation: Path,
    system_server: SystemServer,
    make_storage: Callable[..., None],
    dagster_password: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], Ui]:
    """Starts a part by the script that systemd and compose start it by."""
    network = {
        "PGSSLMODE": "verify-full",
        "PGSSLROOTCERT": str(system_server.root_certificate),
        "PGPORT": str(system_server.port),
    }
    administrator = {"POSTGRES_USER": SUPERUSER, "PGPASSWORD": system_server.superuser_password, "PGHOST": "127.0.0.1"}
    make_storage(system_server.program / "psql", **network, **administrator)
    # The template's host has no port, and a test's server has one of its own.
    own = tmp_path_factory.mktemp("deploy")
    template = (deploy / "dagster.yaml").read_text()
    assert "      db_name: dagster\n" in template
    at_port = f"      db_name: dagster\n      port: {system_server.port}\n"
    assert "poll_interval_seconds: 30\n" in template
    assert "user_code_failure_retry_delay: 15\n" in template
    sooner = template.replace("poll_interval_seconds: 30\n", "poll_interval_seconds: 2\n")
    sooner = sooner.replace("user_code_failure_retry_delay: 15\n", "user_code_failure_retry_delay: 2\n")
    (own / "dagster.yaml").write_text(sooner.replace("      db_name: dagster\n", at_port))
    (own / "workspace.yaml").write_text((deploy / "workspace.yaml").read_text())
    shared = {
        **network,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "DEID_DEPLOY": str(own),
        "DEID_CODE_SOCKET": str(folder / "code.sock"),
        "DEID_CODE_GROUP": str(os.getgid()),
        "DAGSTER_PG_HOST": "127.0.0.1",
        "DAGSTER_PG_PASSWORD_FILE": str(dagster_password),
        "DAGSTER_REDACT_USER_CODE_ERRORS": "1",
        "DEID_UI_HOSTS": "deid.example.org",
    }
    homes = {"code": str(load_settings(installation).home_path / "dagster")}

    def started(part: str) -> Ui:
        environment = {**shared, "DAGSTER_HOME": homes.get(part, str(folder / part))}
        return start(
            # The port of the UI that it serves, if it does.
            lambda port: ["/usr/bin/env", f"DEID_UI_PORT={port}", str(deploy / "start"), part],
            environment,
        )

    return started


@pytest.fixture(scope="module")
def parts(begin: Callable[[str], Ui]) -> dict[str, Ui]:
    """Every part, running."""
    running = {part: begin(part) for part in ("code", "daemon", "webserver", "operator")}
    running["operator"].enter()
    for part in ("webserver", "operator"):
        running[part].until_ready()
    return running


def test_the_socket_is_open_to_its_group_and_to_nobody_else(parts: dict[str, Ui], folder: Path) -> None:
    assert stat.S_IMODE((folder / "code.sock").stat().st_mode) == 0o660


def test_the_daemon_is_well(parts: dict[str, Ui]) -> None:
    query = "{ instance { daemonHealth { allDaemonStatuses { daemonType required healthy } } } }"

    def well() -> bool:
        found = parts["webserver"].ask(query)["data"]["instance"]["daemonHealth"]["allDaemonStatuses"]
        return all(status["healthy"] for status in found if status["required"])

    parts["webserver"].wait(well)


SELECTOR = '{repositoryName: "__repository__", repositoryLocationName: "deid_platform"'
REFUSED = {
    "launchRun": (f'launchRun(executionParams: {{selector: {SELECTOR}, jobName: "retention"}}, mode: "default"}})'),
    "launchMultipleRuns": (
        f'launchMultipleRuns(executionParamsList: [{{selector: {SELECTOR}, jobName: "retention"}}, mode: "default"}}])'
    ),
    "deleteRun": 'deleteRun(runId: "00000000-0000-0000-0000-000000000000")',
    "terminateRuns": 'terminateRuns(runIds: ["00000000-0000-0000-0000-000000000000"])',
    "addDynamicPartition": (
        f'addDynamicPartition(repositorySelector: {SELECTOR}}}, partitionsDefName: "delivery", partitionKey: "a@1")'
    ),
    "wipeAssets": 'wipeAssets(assetPartitionRanges: [{assetKey: {path: ["research", "note_version"]}}])',
    "reportRunlessAssetEvents": (
        "reportRunlessAssetEvents(eventParams: {eventType: ASSET_MATERIALIZATION,"
        ' assetKey: {path: ["gate", "delivery"]}, partitionKeys: ["a@1"]})'
    ),
    "reportAssetCheckEvaluations": (
        'reportAssetCheckEvaluations(eventParams: {checkName: "leaks", passed: true,'
        ' assetKey: {path: ["gate", "delivery"]}, partitionKeys: ["a@1"]})'
    ),
    "startSensor": f'startSensor(sensorSelector: {SELECTOR}, sensorName: "new_deliveries"}})',
    "setSensorCursor": f'setSensorCursor(sensorSelector: {SELECTOR}, sensorName: "new_deliveries"}}, cursor: "{{}}")',
    "startSchedule": f'startSchedule(scheduleSelector: {SELECTOR}, scheduleName: "weekly_refresh"}})',
    "reloadRepositoryLocation": 'reloadRepositoryLocation(repositoryLocationName: "deid_platform")',
    "shutdownRepositoryLocation": 'shutdownRepositoryLocation(repositoryLocationName: "deid_platform")',
    "freeConcurrencySlots": 'freeConcurrencySlots(runId: "00000000-0000-0000-0000-000000000000")',
    "setConcurrencyLimit": 'setConcurrencyLimit(concurrencyKey: "gpu", limit: 0)',
}


# What a mutation answers with, where that is no union of its own.
FIELDS = {
    "launchMultipleRuns": "{ ... on LaunchMultipleRunsResult { launchMultipleRunsResult { __typename } } }",
    "terminateRuns": "{ ... on TerminateRunsResult { terminateRunResults { __typename } } }",
    "freeConcurrencySlots": "",
    "setConcurrencyLimit": "",
}


@pytest.mark.parametrize("mutation", REFUSED)
def test_the_webserver_only_shows(parts: dict[str, Ui], mutation: str) -> None:
    answer = parts["webserver"].ask(f"mutation {{ {REFUSED[mutation]} {FIELDS.get(mutation, '{ __typename }')} }}")
    assert "UnauthorizedError" in str(answer), answer
    assert parts["operator"].ask("{ runsOrError { ... on Runs { count } } }")["data"]["runsOrError"]["count"] == 0


def test_the_read_only_webserver_answers_to_its_names_and_to_its_own_pages(parts: dict[str, Ui]) -> None:
    page = parts["webserver"]
    assert not page.refuses("/runs", None, {"Host": "deid.example.org"}, cookie=False)
    assert page.refuses("/runs", None, {"Host": "evil.example"}, cookie=False)
    assert page.refuses("/runs", None, {"Origin": "https://evil.example"}, cookie=False)
    assert page.refuses("/graphql?query=%7B__typename%7D", None, {}, cookie=False)


def test_the_operators_webserver_wants_its_link_too(parts: dict[str, Ui]) -> None:
    page = parts["operator"]
    body, kind = b'{"query": "{ __typename }"}', {"Content-Type": "application/json"}
    assert not page.refuses("/graphql", body, kind, cookie=True)
    assert page.refuses("/graphql", body, kind, cookie=False)
    assert page.refuses("/", None, {}, cookie=False)
    assert page.refuses("/graphql", body, {**kind, "Origin": "https://evil.example"}, cookie=True)


def test_an_operator_launches_and_the_webserver_shows_it(parts: dict[str, Ui]) -> None:
    run_id = parts["operator"].launch("retention")
    assert parts["webserver"].outcome(run_id) == ("SUCCESS", "")


def test_no_process_holds_a_password_in_its_arguments(parts: dict[str, Ui], dagster_password: Path) -> None:
    secrets = [dagster_password.read_text().strip().encode(), os.environ["DEID_SECRET"].encode()]
    groups = {ui.process.pid for ui in parts.values()}
    seen = 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ProcessLookupError):
            if os.getpgid(int(process.name)) in groups:
                arguments = (process / "cmdline").read_bytes()
                assert not any(secret in arguments for secret in secrets)
                seen += 1
    assert seen >= len(parts)


def test_what_the_parts_write_is_their_owners_alone(parts: dict[str, Ui], installation: Path, folder: Path) -> None:
    home = load_settings(installation).home_path
    written = [path for path in (*folder.rglob("*"), home, *home.rglob("*")) if path.name != "code.sock"]
    assert {"dagster.yaml", "manifest.json"} <= {path.name for path in written}
    assert [str(path) for path in written if stat.S_IMODE(path.lstat().st_mode) & 0o077] == []


def test_a_run_whose_code_server_was_killed_fails_soon_and_the_queue_goes_on(
    parts: dict[str, Ui], begin: Callable[[str], Ui], installation: Path
) -> None:
    folder = installation.parent / "deliveries" / "2026-01-05"
    folder.mkdir()
    (folder / "notes.jsonl").write_text('{"note_id": "1", "text": "Well."}\n')
    operator, code = parts["operator"], psutil.Process(parts["code"].process.pid)
    operator.partition("hospital@2026-01-05")
    run = operator.launch("refresh", "hospital@2026-01-05", tags={"dagster/max_retries": "0"})
    operator.wait(lambda: operator.status(run) == "STARTED")
    waiting = operator.launch("retention")

    # As systemd and compose do: what the server has started ends with it.
    for process in (code, *code.children(recursive=True)):
        process.kill()
    parts["code"].process.wait()
    assert operator.outcome(run) == ("FAILURE", "")
    assert operator.status(waiting) in ("QUEUED", "STARTING")

    parts["code"] = begin("code")
    assert operator.outcome(waiting) == ("SUCCESS", "")

"""The files that start a production installation: each is read by what will read it, where that can run here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import dagster as dg
import psycopg
import pytest
import yaml
from dagster import DagsterEventType
from system_server import SUPERUSER, SystemServer

from deid_platform.orchestration.instance import ENVIRONMENT
from deid_platform.warehouse.server.roles import SERVICES
from deid_platform.warehouse.server.server import EmbeddedServer, psql_binary

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PARTS = {"bootstrap", "code", "daemon", "webserver", "operator"}
TIMED = {"refresh", "withdraw"}
READ_NOTES = {"bootstrap", "code", *TIMED}


# dagster.yaml, on Postgres


@pytest.fixture
def on_a_socket(
    embedded_server: EmbeddedServer,
    make_storage: Callable[..., None],
    dagster_password: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    """An environment in which Dagster's database is on the embedded server."""
    # An empty host is a socket, whose folder libpq takes from PGHOST.
    where = {"PGHOST": str(embedded_server.socket), "PGPORT": str(embedded_server.status().port)}
    make_storage(Path(psql_binary()), **where, POSTGRES_USER="postgres")
    password = dagster_password.read_text().strip()
    for name, value in {**where, "DAGSTER_PG_HOST": "", "DAGSTER_PG_PASSWORD": password}.items():
        monkeypatch.setenv(name, value)
    yield
    for statement in ("DROP DATABASE dagster WITH (FORCE)", "DROP ROLE dagster"):
        subprocess.run([*embedded_server.psql("postgres", "postgres"), "-qc", statement], check=True)


def open_instance(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dg.DagsterInstance:
    folder.mkdir(exist_ok=True)
    shutil.copy(DEPLOY / "dagster.yaml", folder)
    monkeypatch.setenv("DAGSTER_HOME", str(folder))
    return dg.DagsterInstance.get()


def test_the_instance_opens_on_postgres_and_keeps_a_run(
    on_a_socket: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @dg.asset
    def one() -> None: ...

    with open_instance(tmp_path / "home", monkeypatch) as instance:
        run = dg.materialize([one], instance=instance)
        assert instance.get_run_by_id(run.run_id).is_success
        assert instance.all_logs(run.run_id, of_type=DagsterEventType.ASSET_MATERIALIZATION)
    assert not list((tmp_path / "home").rglob("*.db"))


def test_the_instance_is_as_a_production_one_should_be(
    on_a_socket: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_instance(tmp_path / "home", monkeypatch) as instance:
        assert not instance.telemetry_enabled
        assert not instance.nux_enabled
        assert type(instance.compute_log_manager).__name__ == "NoOpComputeLogManager"
        assert instance.run_monitoring_enabled
        assert instance.run_launcher.supports_check_run_worker_health
        assert instance.run_monitoring_max_runtime_seconds == 24 * 60 * 60
        assert instance.get_settings("run_monitoring")["free_slots_after_run_end_seconds"] == 60
        assert instance.run_retries_enabled
        assert instance.run_retries_max_retries == 1
        assert not instance.run_retries_retry_on_asset_or_op_failure
        limits = instance.get_concurrency_config()
        assert limits.run_queue_config.max_concurrent_runs == 1
        assert limits.pool_config.default_pool_limit == 1


def test_what_dagster_hands_to_its_children_names_the_password_and_does_not_hold_it(
    on_a_socket: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_instance(tmp_path / "home", monkeypatch) as instance:
        handed = repr(instance.get_ref().to_dict())
    assert "DAGSTER_PG_PASSWORD" in handed
    assert os.environ["DAGSTER_PG_PASSWORD"] not in handed


# The server of compose


@pytest.fixture(scope="module")
def database(system_server: SystemServer, make_storage: Callable[..., None]) -> SystemServer:
    """A server under the rules and settings of compose, with Dagster's database and another."""
    rules = (DEPLOY / "postgres" / "pg_hba.conf").read_text().splitlines()
    system_server.allow(*rules)
    lines = (DEPLOY / "postgres" / "postgresql.conf").read_text().splitlines()
    settings = dict(line.split("#")[0].split(" = ") for line in lines if " = " in line.split("#")[0])
    # Where its certificate lies, and how large it may grow, is compose's.
    for name in ("ssl_cert_file", "ssl_key_file", "listen_addresses", "shared_buffers"):
        assert settings.pop(name)
    if int(system_server.program.parent.name) < 16:  # compose's own server is newer
        assert settings.pop("reserved_connections")
    system_server.configure({name: value.strip() for name, value in settings.items()})
    system_server.restart()
    where = {
        "POSTGRES_USER": SUPERUSER,
        "PGPASSWORD": system_server.superuser_password,
        "PGHOST": "127.0.0.1",
        "PGPORT": str(system_server.port),
        "PGSSLMODE": "verify-full",
        "PGSSLROOTCERT": str(system_server.root_certificate),
    }
    make_storage(system_server.program / "psql", **where)
    return system_server


def test_compose_s_server_reads_its_rules_and_settings(database: SystemServer) -> None:
    with psycopg.connect(database.url()) as connection:
        rules = connection.execute("SELECT type, auth_method, error FROM pg_hba_file_rules ORDER BY line_number")
        assert [rule[:2] for rule in rules.fetchall() if rule[2] is None] == [
            ("local", "peer"),
            ("hostssl", "scram-sha-256"),
            ("hostssl", "reject"),
            ("hostssl", "scram-sha-256"),
            ("host", "reject"),
        ]
        wrong = "SELECT name FROM pg_file_settings WHERE error IS NOT NULL"
        assert connection.execute(wrong).fetchall() == []
        shown = {name: connection.execute(f"SHOW {name}").fetchone()[0] for name in ("ssl", "log_min_messages")}
        assert shown == {"ssl": "on", "log_min_messages": "log"}


@pytest.mark.parametrize(
    ("who", "database_name", "sslmode", "let_in"),
    [
        ("dagster", "dagster", "verify-full", True),
        ("dagster", "postgres", "verify-full", False),
        ("dagster", "dagster", "disable", False),
        (SUPERUSER, "postgres", "verify-full", True),
        (SUPERUSER, "postgres", "disable", False),
    ],
)
def test_nobody_comes_in_without_tls_and_dagster_only_to_its_own(
    database: SystemServer, dagster_password: Path, who: str, database_name: str, sslmode: str, let_in: bool
) -> None:
    password = dagster_password.read_text().strip() if who == "dagster" else database.superuser_password
    url = database.url(database_name, username=who, password=password, sslmode=sslmode)
    if let_in:
        psycopg.connect(url).close()
        return
    with pytest.raises(psycopg.OperationalError, match=r"pg_hba.conf|rejects"):
        psycopg.connect(url)


def test_another_role_does_not_come_into_dagster_s_database(database: SystemServer) -> None:
    with psycopg.connect(database.url(), autocommit=True) as connection:
        connection.execute("CREATE ROLE loader LOGIN PASSWORD 'no-business-there-8Hq'")
    with pytest.raises(psycopg.OperationalError, match="permission denied"):
        psycopg.connect(database.url("dagster", username="loader", password="no-business-there-8Hq"))


def test_an_error_leaves_no_value_in_the_server_s_log(database: SystemServer) -> None:
    with psycopg.connect(database.url()) as connection, pytest.raises(psycopg.DataError):
        connection.execute("SELECT 'Wolfgangsee'::date")
    log = database.log.read_text(errors="replace")
    assert "Wolfgangsee" not in log
    assert "connection authorized: user=dagster" in log


# compose.yaml


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def names(section: object) -> set[str]:
    """What a service's list or table of networks, secrets or dependencies names."""
    return {str(item) for item in section} if isinstance(section, list | dict) else set()


def test_compose_names_only_what_there_is(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == PARTS | {"postgres", "proxy", "serve", "serve-proxy"}
    for name, service in services.items():
        assert names(service.get("depends_on")) <= set(services), name
        assert names(service.get("secrets")) <= set(compose["secrets"]), name
        assert names(service["networks"]) <= set(compose["networks"]), name
        for volume in service.get("volumes", ()):
            source = re.sub(r"\$\{[^}]*\}", "", volume).split(":")[0]
            if source.startswith("./") and source != "./deid.toml":
                assert (DEPLOY / source).is_file(), f"{name}: {source}"
            elif source and not source.startswith("."):
                assert source in compose["volumes"], f"{name}: {source}"
    used = {secret for service in services.values() for secret in names(service.get("secrets"))}
    assert used == set(compose["secrets"])


def test_every_secret_of_compose_is_a_file_that_a_service_is_given(compose: dict[str, Any]) -> None:
    assert all(set(secret) == {"file"} for secret in compose["secrets"].values())
    for name, service in compose["services"].items():
        for variable, value in service.get("environment", {}).items():
            if str(value).startswith("/run/secrets/"):
                assert value.removeprefix("/run/secrets/") in service["secrets"], f"{name}: {variable}"
            assert not re.search("PASSWORD$|SECRET$", variable), f"{name}: {variable} holds a secret itself"
            assert not re.search(r"//[^/@]*:[^/@]*@", str(value)), f"{name}: a URL with a password"


@pytest.mark.parametrize("part", sorted(PARTS))
def test_only_what_reads_notes_can_reach_them(compose: dict[str, Any], part: str) -> None:
    service = compose["services"][part]
    mounted = {volume.split(":")[0] for volume in service["volumes"]}
    assert ("home" in mounted) is (part in READ_NOTES)
    assert ("key" in service["secrets"]) is (part in READ_NOTES)
    assert ("postgres_password" in service["secrets"]) is (part == "bootstrap")
    passwords = {f"password_{role}" for role in SERVICES}
    assert passwords & set(service["secrets"]) == (passwords if part in READ_NOTES else set())
    assert service["command"] == [part]


def test_the_service_has_the_key_and_its_tokens_and_no_store(compose: dict[str, Any]) -> None:
    service = compose["services"]["serve"]
    assert service["secrets"] == ["key", "serve_tokens"]
    assert service["volumes"] == ["./deid.toml:/etc/deid/deid.toml:ro"]
    # It listens beyond its container, so it must be given tokens; and only with `--profile serve`.
    assert service["environment"]["DEID_SERVE_TOKENS_FILE"] == "/run/secrets/serve_tokens"
    assert service["profiles"] == compose["services"]["serve-proxy"]["profiles"] == ["serve"]
    assert all(compose["networks"][name]["internal"] for name in service["networks"])
    assert "serve_tokens" in (DEPLOY / "trial-secrets").read_text()


def test_the_service_s_proxy_passes_on_to_it_and_shows_nothing_else() -> None:
    proxy = (DEPLOY / "proxy" / "serve.Caddyfile").read_text()
    assert "reverse_proxy serve:8090" in proxy
    assert "respond @inside 404" in proxy
    assert "\tlog" not in proxy
    assert proxy.count("{\n") == proxy.count("\n}") + proxy.count("\n\t}")


@pytest.mark.parametrize("part", sorted(PARTS | {"serve"}))
def test_a_part_runs_without_privileges(compose: dict[str, Any], part: str) -> None:
    service = compose["services"][part]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["ulimits"]["core"] == 0


def test_only_the_proxy_is_published_and_what_reads_notes_has_no_way_out(compose: dict[str, Any]) -> None:
    services = compose["services"]
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {
        "proxy": ["443:443"],
        "operator": ["127.0.0.1:3001:3001"],
        "serve-proxy": ["8443:8443"],
    }
    assert services["operator"]["profiles"] == ["operator"]
    for part in READ_NOTES - TIMED:
        assert all(compose["networks"][name]["internal"] for name in services[part]["networks"])


def test_deliveries_are_read_only_but_where_one_command_says_otherwise(compose: dict[str, Any]) -> None:
    volumes = [(name, volume) for name, service in compose["services"].items() for volume in service.get("volumes", ())]
    ((name, mount),) = [(name, volume) for name, volume in volumes if "/srv/deliveries" in volume]
    assert (name, mount.split(":/srv/deliveries:")[1]) == ("code", "${DEID_DELIVERIES_ACCESS:-ro}")
    assert "    DEID_DELIVERIES_ACCESS=rw docker compose run " in (ROOT / "docs" / "archive.md").read_text()


def test_the_proxy_asks_who_is_there_before_it_passes_anything_on() -> None:
    proxy = (DEPLOY / "proxy" / "Caddyfile").read_text()
    assert proxy.index("basic_auth") < proxy.index("reverse_proxy {$DEID_UI_UPSTREAM")
    assert proxy.count("{\n") == proxy.count("\n}") + proxy.count("\n\t}")


def test_the_image_is_built_from_named_things_and_never_from_what_lies_beside_them() -> None:
    copied = [
        source
        for line in (DEPLOY / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY ")
        for source in line.split()[1:-1]
    ]
    rules = [
        line for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] not in ("", "#")
    ]
    assert rules[0] == "*"
    assert {rule[1:] for rule in rules if rule.startswith("!")} == set(copied)
    assert not {"deploy", "."} & set(copied)


def test_no_settings_lie_where_a_command_in_the_image_would_find_them() -> None:
    # Of the first stage, in which the wheel is built, nothing but the wheel is in the image.
    building, image = (DEPLOY / "Dockerfile").read_text().split("FROM ")[1:]
    assert "COPY README.md LICENSE NOTICE pyproject.toml deid.toml" in building
    assert "deid.toml" not in "".join(line for line in image.splitlines() if not line.startswith("#"))
    assert "COPY --from" not in image


def test_the_image_holds_all_that_it_starts(compose: dict[str, Any]) -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]
    assert {"deid_platform", "assets", "resources", "dbt", "deploy/start", "constraints.txt"} <= set(copied)
    assert all((ROOT / name).exists() for name in copied)
    assert 'ENTRYPOINT ["/opt/deid/deploy/start"]' in lines
    assert "USER deid" in lines
    variables = "\n".join(lines)
    assert all(f"{name}={value}" in variables for name, value in ENVIRONMENT.items() if name.startswith("DAGSTER_"))


# systemd


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units as installed, but from this checkout."""
    folder = tmp_path / "units"
    shutil.copytree(DEPLOY / "systemd", folder)
    for path in folder.rglob("deid*.*"):
        if path.is_file():
            path.write_text(path.read_text().replace("/opt/deid", str(ROOT)))
    return folder


def read(path: Path) -> dict[str, dict[str, list[str]]]:
    """A unit's sections; a directive may be given more than once."""
    found: dict[str, dict[str, list[str]]] = {}
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), {})
        elif "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            section.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("part", sorted(PARTS | TIMED))
def test_a_unit_starts_its_part_with_secrets_from_files_alone(part: str) -> None:
    service = read(DEPLOY / "systemd" / f"deid-{part}.service")["Service"]
    assert service["ExecStart"] == [f"/opt/deid/deploy/start {part}"]
    given = {credential.split(":")[0] for credential in service["LoadCredential"]}
    files = {value.partition("=")[2] for value in service["Environment"] if "_FILE=" in value}
    assert files == {f"%d/{name}" for name in given}
    assert service["User"] == ["deid" if part in READ_NOTES else "deid-dagster"]
    assert ("key" in given) is (part in READ_NOTES)
    assert ("InaccessiblePaths" in service) is (part not in READ_NOTES)


def test_what_a_timer_starts_gets_no_more_than_the_code_server() -> None:
    given = {
        part: set(read(DEPLOY / "systemd" / f"deid-{part}.service")["Service"]["LoadCredential"])
        for part in ("code", *TIMED)
    }
    assert given["refresh"] == given["code"]
    assert given["withdraw"] == given["code"] - {"dagster_password:/etc/deid/secrets/dagster_password"}


@pytest.mark.parametrize("part", sorted(TIMED))
def test_a_timer_starts_its_service_only_where_it_is_enabled(part: str) -> None:
    timer = read(DEPLOY / "systemd" / f"deid-{part}.timer")
    assert timer["Install"] == {"WantedBy": ["timers.target"]}
    assert set(timer["Timer"]) <= {"OnCalendar", "Persistent", "AccuracySec"}  # no Unit: the service of its name
    assert "Install" not in read(DEPLOY / "systemd" / f"deid-{part}.service")
    assert part not in (DEPLOY / "systemd" / "deid.target").read_text()


_ENDS = r"^([a-z]+)\)\n(?:.*\n)*?    exec (.+?(?:\\\n.+?)*)\n"
STARTED = [
    (part, line)
    for part, line in re.findall(_ENDS, (DEPLOY / "start").read_text(), re.M)
    if part not in ("dagster", "command")  # what they start is the chart's, and the operator's
]


def test_every_part_ends_in_one_command() -> None:
    assert {part for part, _ in STARTED} == PARTS | TIMED | {"serve", "demo"}


@pytest.mark.process
@pytest.mark.thorough
@pytest.mark.parametrize(("part", "line"), STARTED, ids=[part for part, _ in STARTED])
def test_a_part_s_command_is_there_and_knows_its_options(part: str, line: str) -> None:
    words = re.sub(r'"?\$[{\w][^" ]*"?', "1", line.replace("\\\n", " ")).split()
    # Beside the interpreter, as the units' PATH has it; an option that there is not ends before the help.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run([*words, "--help"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout.lower()


def test_units_and_compose_give_a_part_the_same_secrets(compose: dict[str, Any]) -> None:
    for part in PARTS:
        service = read(DEPLOY / "systemd" / f"deid-{part}.service")["Service"]
        given = {credential.split(":")[0] for credential in service["LoadCredential"]}
        assert given == set(compose["services"][part]["secrets"]) - {"ca"}, part


def test_all_units_are_hardened() -> None:
    (common,) = (DEPLOY / "systemd" / "deid-.service.d").iterdir()
    service = read(common)["Service"]
    expected = {
        "UMask": "0077",
        "LimitCORE": "0",
        "MemorySwapMax": "0",
        "NoNewPrivileges": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "CapabilityBoundingSet": "",
    }
    assert {name: service[name][-1] for name in expected} == expected
    assert any("DAGSTER_REDACT_USER_CODE_ERRORS=1" in value for value in service["Environment"])


def test_the_environment_that_units_share_holds_no_secret() -> None:
    parser = ConfigParser(delimiters="=")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string("[all]\n" + (DEPLOY / "systemd" / "environment").read_text())
    shared = dict(parser["all"])
    assert set(shared) == {
        "DEID_CONFIG",
        "DEID_WAREHOUSE_URL",
        "DAGSTER_PG_HOST",
        "PGSSLMODE",
        "PGSSLROOTCERT",
        "DEID_UI_HOSTS",
    }
    assert ":" not in shared["DEID_WAREHOUSE_URL"].removeprefix("postgresql://")


@pytest.mark.process
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd on this machine")
def test_systemd_finds_nothing_amiss_in_the_units_and_little_exposed(units: Path) -> None:
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{units}:"}
    files = sorted(str(path) for path in units.glob("deid*.*") if path.is_file())
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *files], env=environment, capture_output=True, text=True, check=False
    )
    assert "deid" not in verified.stderr
    assert verified.returncode == 0
    for unit in units.glob("*.service"):
        judged = subprocess.run(
            ["systemd-analyze", "security", "--offline=yes", "--no-pager", str(unit)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        # 0 is shut, 10 is open; systemd itself calls what lies below 2 "OK".
        (exposure,) = re.findall(r"Overall exposure level for .*: ([\d.]+)", judged.stdout)
        assert float(exposure) < 2, unit.name

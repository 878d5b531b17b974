"""The image is built, runs the demonstration, and runs every part of compose.yaml.

Not a `test_*.py`: it needs docker with compose, builds for minutes and takes three base images from a registry or from
this machine, so that it is run by name, `make test-image`. All that it starts has names of its own, and is removed.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from dagster_server import Ui, servers
from free_port import free_port

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
NAME = "deid-test-image"
PARTS = ("bootstrap", "code", "daemon", "webserver", "operator")
ALONE = ["--rm", "--init", "--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
READ_ONLY = ["--read-only", "--tmpfs", "/tmp:mode=1777,noexec"]


def docker(*arguments: str, cwd: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    """What a command says, once it has ended well."""
    line = ["docker", *arguments]
    variables = {**os.environ, **(environment or {})}
    done = subprocess.run(
        line, cwd=cwd, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """The image of this checkout; DEID_BUILD_OPTIONS are more options of `docker build`."""
    options = os.environ.get("DEID_BUILD_OPTIONS", "").split()
    docker("build", *options, "--file", "deploy/Dockerfile", "--tag", NAME, ".")
    yield NAME
    docker("image", "rm", NAME)


def test_its_user_can_write_to_its_own_folders_alone(image: str) -> None:
    look = "id --user; find / -xdev -writable ! -type l 2> /dev/null; true"
    user, *writable = docker("run", *ALONE, "--entrypoint", "sh", image, "-c", look).splitlines()
    assert user == "10001"
    own = {"/var/lib/deid", "/run/deid"}
    assert own <= set(writable) <= own | {"/tmp", "/var/tmp", "/run/lock"}


def test_nothing_of_an_installation_is_in_the_image(image: str) -> None:
    found = docker("run", *ALONE, "--entrypoint", "find", image, "/opt/deid", "-type", "f").splitlines()
    files = {path.removeprefix("/opt/deid/") for path in found}
    assert files == {"constraints.txt", "deploy/start", "deploy/dagster.yaml", "deploy/workspace.yaml"}


def test_the_demonstration_runs_without_a_network_on_a_read_only_root(image: str) -> None:
    volumes = ["--volume", f"{NAME}:/var/lib/deid", "--volume", f"{ROOT}/deid.toml:/var/lib/deid/deid.toml:ro"]
    where = [*ALONE, *READ_ONLY, *volumes, "--workdir", "/var/lib/deid", "--env", "NOTES=60"]
    try:
        said = docker("run", *where, image, "demo")
    finally:
        docker("volume", "rm", "--force", NAME)
    assert said.count(": promoted\n") == 2
    assert "0 found in what was staged" in said


@dataclass(frozen=True)
class Site:
    """An installation by compose.yaml, in a folder of its own and under a name of its own."""

    folder: Path
    port: int

    def compose(self, *arguments: str) -> str:
        return docker(*self.line(*arguments)[1:], cwd=self.folder, environment=self.environment)

    def line(self, *arguments: str) -> list[str]:
        files = [part for name in ("compose.yaml", "override.yaml") for part in ("--file", str(self.folder / name))]
        return ["docker", "compose", "--project-name", NAME, *files, *arguments]

    @property
    def environment(self) -> dict[str, str]:
        deliveries = str(self.folder / "deliveries")
        return {"DEID_DELIVERIES": deliveries, "DEID_UI_HOSTS": f"localhost:{self.port}", "OPERATOR_PORT": "3001"}

    def fetch(self, path: str, body: bytes | None = None, *, password: str = "") -> bytes:
        """What the proxy answers to the user that `trial-secrets` makes."""
        request = urllib.request.Request(f"https://localhost:{self.port}{path}", body)
        request.add_header("Content-Type", "application/json")
        if password:
            request.add_header("Authorization", "Basic " + base64.b64encode(f"trial:{password}".encode()).decode())
        trusted = ssl.create_default_context(cafile=str(self.folder / "secrets" / "ca.pem"))
        with urllib.request.urlopen(request, timeout=60, context=trusted) as answer:
            return bytes(answer.read())

    def secret(self, name: str) -> str:
        return (self.folder / "secrets" / name).read_text().strip()


@pytest.fixture(scope="module")
def site(image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Every part but the operators' webserver, running, with two deliveries to take in."""
    folder = tmp_path_factory.mktemp("site") / "deploy"
    shutil.copytree(DEPLOY, folder, ignore=shutil.ignore_patterns("secrets", "deid.toml"))
    subprocess.run([folder / "trial-secrets"], check=True, stdin=subprocess.DEVNULL)
    settings = (ROOT / "deid.toml").read_text()
    for key, place in (
        ("home", "/var/lib/deid"),
        ("path", "/srv/deliveries/hospital"),
        ("gold", "/srv/deliveries/gold"),
    ):
        line = next(line for line in settings.splitlines() if line.startswith(f"{key} = "))
        settings = settings.replace(line, f'{key} = "{place}"')
    (folder / "deid.toml").write_text(settings)
    deliveries = folder / "deliveries"
    deliveries.mkdir()
    own = ["--user", f"{os.getuid()}:{os.getgid()}", "--env", "DEID_CONFIG=/etc/deid/deid.toml"]
    mounts = ["--volume", f"{folder}/deid.toml:/etc/deid/deid.toml:ro", "--volume", f"{deliveries}:/srv/deliveries"]
    docker("run", *ALONE, *own, *mounts, "--entrypoint", "deid", image, "hospital", "--notes", "60")
    for path in (deliveries, *deliveries.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    made = Site(folder, free_port())
    parts = "".join(f"  {part}: {{image: {image}}}\n" for part in PARTS[:-1])
    (folder / "override.yaml").write_text(
        f"services:\n{parts}"
        f'  proxy: {{ports: !override ["127.0.0.1:{made.port}:443"]}}\n'
        f"  operator:\n    image: {image}\n    environment: {{DEID_UI_PORT: $OPERATOR_PORT}}\n"
        '    ports: !override ["127.0.0.1:$OPERATOR_PORT:$OPERATOR_PORT"]\n'
    )
    try:
        made.compose("up", "--no-build", "--detach")
        yield made
    finally:
        made.compose("--profile", "operator", "down", "--volumes", "--timeout", "20")


def test_the_proxy_asks_who_is_there_and_shows_daemons_that_are_well(site: Site) -> None:
    query = b'{"query": "{ instance { daemonHealth { allDaemonStatuses { required healthy } } } }"}'
    for _ in range(60):
        try:
            answer = json.loads(site.fetch("/graphql", query, password=site.secret("ui_password")))
            found = answer["data"]["instance"]["daemonHealth"]["allDaemonStatuses"]
            if all(status["healthy"] for status in found if status["required"]):
                break
        except OSError:  # the webserver is not there yet
            pass
        time.sleep(2)
    else:
        pytest.fail(site.compose("ps", "--all") + site.compose("logs", "daemon", "webserver"))
    assert found
    with pytest.raises(urllib.error.HTTPError, match="401"):
        site.fetch("/")


def test_a_refresh_runs_to_its_end(site: Site) -> None:
    said = site.compose("exec", "-T", "code", "deploy/start", "refresh")
    assert said.count(": promoted\n") == 2
    assert "PostgreSQL at postgres" in said
    assert "no" not in [line.split()[0] for line in site.compose("exec", "-T", "code", "deid", "doctor").splitlines()]


def test_an_operator_launches_a_run_and_the_code_server_ends_it(site: Site, tmp_path: Path) -> None:
    def command(port: int) -> list[str]:
        up = site.line("--profile", "operator", "up", "--no-deps", "--no-build", "operator")
        return ["env", f"OPERATOR_PORT={port}", *up]

    with servers(tmp_path) as start:
        operator: Ui = start(command, site.environment)
        operator.enter()
        operator.until_ready()
        assert operator.outcome(operator.launch("retention")) == ("SUCCESS", "")


@pytest.mark.skipif(shutil.which("socat") is None, reason="NOT RUN: deploy/forward needs socat on this machine")
def test_the_quarantine_queue_opens_through_this_machine_s_loopback(site: Site, tmp_path: Path) -> None:
    def queue(port: int) -> list[str]:
        command = ["deploy/start", "command", "review", "quarantine", "--who", "A. Reader", "--port", str(port)]
        return site.line("exec", "-T", "code", *command)

    named = {"COMPOSE_PROJECT_NAME": NAME, "COMPOSE_FILE": "compose.yaml:override.yaml"}
    with servers(tmp_path) as start:
        page: Ui = start(queue, site.environment)
        start(lambda _: [str(site.folder / "forward"), str(page.port)], {**site.environment, **named})
        page.enter()


def test_what_reads_notes_has_no_way_out(site: Site) -> None:
    routes = site.compose("exec", "-T", "code", "cat", "/proc/net/route").splitlines()[1:]
    assert routes
    assert not [line for line in routes if line.split()[1] == "00000000"]


def test_no_secret_is_in_what_docker_tells_and_no_error_in_what_the_parts_said(site: Site) -> None:
    logs = site.compose("--profile", "operator", "logs", "--no-color")
    assert not [line for line in logs.splitlines() if "Traceback" in line or "FATAL" in line or "ERROR" in line]
    assert "warehouse ready" in logs
    containers = site.compose("--profile", "operator", "ps", "--all", "--quiet").split()
    assert len(containers) == len(PARTS) + 2
    told = logs + docker("inspect", *containers)
    for path in (site.folder / "secrets").iterdir():
        if path.suffix != ".pem":
            assert not [line for line in path.read_text().splitlines() if line in told], path.name

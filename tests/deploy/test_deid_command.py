"""`deploy/deid`, by which operators run a command on a host with systemd: which secrets it opens, and to whom."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

DEPLOY = Path(__file__).parents[2] / "deploy"

SECRETS = (
    "key",
    "dagster_password",
    "password_loader",
    "password_officer",
    "password_jdoe",
    "feed_ehr_url",
    "postgres_password",
    "server.key",
)


def stand_in(folder: Path, name: str, says: str) -> None:
    """A program of that name that prints what an expression of Python says."""
    program = folder / name
    program.write_text(f"#!{sys.executable}\nimport json, os, sys\nprint(json.dumps({says}))\n")
    program.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Stand-ins for `systemd-run`, which says its arguments, and for `deid`, which says its own and its environment."""
    folder = tmp_path / "programs"
    folder.mkdir()
    stand_in(folder, "systemd-run", "sys.argv[1:]")
    stand_in(folder, "deid", "{'arguments': sys.argv[1:], **os.environ}")
    return folder


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    folder = tmp_path / "secrets"
    folder.mkdir()
    for name in SECRETS:
        (folder / name).write_text(f"value-of-{name}\n")
    return folder


def run(programs: Path, *arguments: str, **environment: str) -> str:
    variables = {"PATH": f"{programs}:{os.environ['PATH']}", **environment}
    done = subprocess.run(
        [DEPLOY / "deid", *arguments],
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def asked(programs: Path, secrets: Path, *arguments: str) -> list[str]:
    """What systemd is asked for, by an operator's command."""
    said: list[str] = json.loads(run(programs, *arguments, DEID_SECRETS=str(secrets)))
    return said


def opened(line: list[str]) -> set[str]:
    return {word.split("=")[2].split(":")[0] for word in line if word.startswith("--property=LoadCredential=")}


def test_a_command_gets_what_the_code_server_has_and_not_the_administrator_s_password(
    programs: Path, secrets: Path
) -> None:
    line = asked(programs, secrets, "doctor", "--json")
    assert line[-3:] == [str(DEPLOY / "deid"), "doctor", "--json"]
    assert {"--uid=deid", "--gid=deid"} <= set(line)
    assert opened(line) == set(SECRETS) - {"postgres_password", "server.key"}
    assert "value-of-" not in " ".join(line)


@pytest.mark.parametrize("command", [("db", "login", "jdoe"), ("db", "bootstrap")])
def test_the_administrator_s_password_is_for_what_needs_it(
    programs: Path, secrets: Path, command: tuple[str, ...]
) -> None:
    assert "postgres_password" in opened(asked(programs, secrets, *command))
    assert "postgres_password" not in opened(asked(programs, secrets, "db", "psql", "--role", "officer"))


def test_a_command_asks_on_the_terminal_and_gets_no_variable_of_whoever_typed_it(programs: Path, secrets: Path) -> None:
    """The password of the officer's key is no file of root's."""
    variables = {"DEID_SECRETS": str(secrets), "DEID_OFFICER_KEY_PASSWORD": "correct horse"}
    line = json.loads(run(programs, "dossier", "sign", "--key", "/var/lib/deid/officer.pem", **variables))
    assert {"--pty", "--pipe", "--wait"} <= set(line)
    assert "correct horse" not in " ".join(line)
    assert not [word for word in line if "OFFICER_KEY" in word]


def test_an_argument_stays_whole(programs: Path, secrets: Path) -> None:
    """systemd puts one dollar for two."""
    line = asked(programs, secrets, "waive", "--why", "it's $5, $$HOME; `id`")
    assert line[-3:] == ["waive", "--why", "it's $$5, $$$$HOME; `id`"]


def test_inside_each_secret_has_the_name_by_which_the_platform_looks_for_it(
    programs: Path, secrets: Path, tmp_path: Path
) -> None:
    (secrets / "key_former").write_text("value-of-key_former\n")
    home = tmp_path / "home" / "dagster"
    told = json.loads(
        run(programs, "release", "list", DEID_OPENED="1", CREDENTIALS_DIRECTORY=str(secrets), DAGSTER_HOME=str(home))
    )
    assert told["arguments"] == ["release", "list"]
    assert {name: Path(value).name for name, value in told.items() if name.endswith(("_FILE", "_FILES"))} == {
        "DEID_SECRET_FILE": "key",
        "DEID_PREVIOUS_SECRET_FILES": "key_former",
        "DAGSTER_PG_PASSWORD_FILE": "dagster_password",
        "DEID_PASSWORD_ADMIN_FILE": "postgres_password",
        "DEID_PASSWORD_LOADER_FILE": "password_loader",
        "DEID_PASSWORD_OFFICER_FILE": "password_officer",
        "DEID_PASSWORD_JDOE_FILE": "password_jdoe",
        "DEID_FEED_EHR_URL_FILE": "feed_ehr_url",
    }
    assert told["DAGSTER_PG_PASSWORD"] == "value-of-dagster_password"
    assert (home / "dagster.yaml").is_file()


def test_it_keeps_notes_from_a_disk_as_the_units_do(programs: Path, secrets: Path) -> None:
    line = asked(programs, secrets, "doctor")
    (common,) = (DEPLOY / "systemd" / "deid-.service.d").iterdir()
    settings = dict(line.split("=", 1) for line in common.read_text().splitlines() if "=" in line and line[0] != "#")
    for name in ("EnvironmentFile", "UMask", "LimitCORE", "MemorySwapMax", "TemporaryFileSystem", "NoNewPrivileges"):
        assert f"--property={name}={settings[name]}" in line


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd on this machine")
def test_systemd_knows_what_it_is_asked_for(programs: Path, secrets: Path, tmp_path: Path) -> None:
    line = asked(programs, secrets, "doctor")
    directives = [word.removeprefix("--property=") for word in line if word.startswith("--property=")]
    unit = tmp_path / "asked.service"
    unit.write_text("\n".join(["[Service]", "ExecStart=/bin/true", *directives, ""]))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert "asked.service" not in done.stderr
    assert done.returncode == 0
    options = {word.split("=")[0] for word in line[: line.index(str(DEPLOY / "deid"))]}
    known = subprocess.run(["systemd-run", "--help"], capture_output=True, text=True, check=True).stdout
    assert all(option in known for option in options)

"""The smaller commands, each as a person types it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from command_line import deid as here
from free_port import free_port

from deid_platform import __version__
from deid_platform.notes import Delivery
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.warehouse.server.server import EmbeddedServer

DEID = Path(sys.executable).with_name("deid")


def deid(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "160", "TERM": "dumb"}
    return subprocess.run(
        [str(DEID), *arguments], input=stdin, capture_output=True, text=True, check=False, env=environment
    )


@pytest.mark.process
def test_it_says_its_version() -> None:
    shown = deid("--version")
    assert (shown.returncode, shown.stdout) == (0, f"deid {__version__}\n")


def test_hospital_writes_the_feed_and_its_gold_apart(installation: Path) -> None:
    written = here("hospital", "--notes", "60")
    assert written.returncode == 0, written.stderr
    settings = load_settings(installation)
    feed = settings.feeds["hospital"]
    assert Site(settings).deliveries() == [Delivery("hospital", "2026-01-05"), Delivery("hospital", "2026-01-12")]
    assert sorted(path.name for path in settings.path(feed.gold).iterdir()) == [
        "2026-01-05.jsonl.gz",
        "2026-01-12.jsonl.gz",
    ]
    assert not list(settings.path(feed.path).rglob("*gold*"))


def test_hospital_refuses_a_feed_without_a_place_for_gold(installation: Path) -> None:
    other = installation.with_name("other.toml")
    other.write_text(installation.read_text() + '\n[feeds.ehr]\npath = "ehr"\n')
    refused = here("hospital", "--feed", "ehr", "--config", str(other))
    assert refused.returncode == 1
    assert "settings-invalid [feeds.ehr.gold]" in refused.stderr


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("hospital --feed hopsital", "feed-unknown [did you mean hospital? known: "),
        ("refresh --feed hopsital", "feed-unknown [did you mean hospital? known: "),
        ("refresh --delivery hospital@2026-01-06", "delivery-unknown [hospital@2026-01-06: "),
        ("redact NOTES -o out.jsonl --feed hopsital", "feed-unknown [did you mean hospital?"),
        (
            "redact NOTES -o out.jsonl --detector ruls",
            "detector-unknown [did you mean rules? known: ensemble, gazetteer, ",
        ),
        ("redact NOTES -o out.jsonl --policy safeharbor", "policy-unknown [did you mean safe_harbor? known: gdpr_it, "),
    ],
)
def test_a_mistyped_name_is_answered_with_the_nearest(installation: Path, command: str, said: str) -> None:
    notes = installation.with_name("notes.jsonl")
    notes.write_text('{"note_id": "1", "text": "Well."}\n')
    refused = here(*command.replace("NOTES", str(notes)).split())
    assert refused.returncode == 1
    assert said in refused.stderr
    assert "loading" not in refused.stderr


@pytest.mark.transport
def test_bootstrap_can_be_repeated_and_status_says_where_all_is(installation: Path) -> None:
    for _ in range(2):
        done = here("db", "bootstrap")
        assert done.returncode == 0, done.stderr
    assert "gate profile demo" in here("db", "status").stdout


@pytest.mark.transport
def test_psql_prints_rows_to_the_analyst_and_no_more(installation: Path) -> None:
    shown = deid("db", "psql", "--", "-At", stdin="select current_user, count(*) from research.notes;")
    assert shown.stdout.strip() == "demo_analyst|0"
    assert "permission denied" in deid("db", "psql", stdin="select * from staging.note;").stderr
    assert here("db", "url").stdout.startswith("postgresql+psycopg://demo_analyst@")
    assert "## research.notes" in here("db", "dictionary").stdout


@pytest.mark.transport
def test_a_role_that_is_none_is_refused_by_name(installation: Path) -> None:
    assert deid("db", "psql", "--role", "superuser").returncode != 0


def test_a_waiver_is_refused_for_its_requirement_before_its_reason(installation: Path) -> None:
    refused = here(
        *("waive", "--ahead", "hospital@2026-01-05", "site_gold"),
        *("--who", "Officer", "--why", "short", "--until", "2099-01-01"),
    )
    assert refused.returncode == 1
    assert "waiver-invalid [requirement site_gold: nobody may waive it under the profile demo]" in refused.stderr


def test_the_doctor_names_what_is_not_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DEID_CONFIG", "DEID_SECRET", "DEID_SECRET_FILE", "DEID_WAREHOUSE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "deid.toml").write_text('site = "north"\n[feeds.ehr]\npath = "missing"\n')
    examined = here("doctor", "--config", str(tmp_path / "deid.toml"))
    assert examined.returncode == 1
    found = {line.split("\t")[1]: line.split("\t") for line in examined.stdout.splitlines()}
    assert found["feed ehr"][0] == found["key secret"][0] == "no"
    assert "feed-unreadable" in found["feed ehr"][2]
    assert "secret-missing" in found["key secret"][2]
    assert "problems: feed ehr, key secret" in examined.stderr
    lines = here("doctor", "--json", "--config", str(tmp_path / "deid.toml")).stdout.splitlines()
    assert {"well": True, "what": "settings", "detail": "profile production"} in map(json.loads, lines)


def test_a_policy_that_is_none_is_refused_by_a_code_before_the_platform_is_loaded(installation: Path) -> None:
    text = installation.read_text()
    installation.write_text(text + "\n[redaction]\npolicy = '/dev/null'\n")
    try:
        failed = here("refresh")
    finally:
        installation.write_text(text)
    assert failed.returncode == 1
    assert "policy-" in failed.stderr
    assert "loading" not in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.fixture
def own_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installation with nothing but a deid.toml, as a newcomer has it; its embedded server is stopped at the end."""
    for name in ("DEID_SECRET", "DEID_SECRET_FILE", "DEID_WAREHOUSE_URL", "DAGSTER_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = Path(tempfile.mkdtemp(prefix="deid-cli-"))
    config = folder / "deid.toml"
    config.write_text('site = "north"\nprofile = "demo"\n[feeds.hospital]\npath = "deliveries"\ndemonstration = true\n')
    (folder / "deliveries").mkdir()
    monkeypatch.setenv("DEID_CONFIG", str(config))
    yield folder
    EmbeddedServer(folder / ".deid").stop(force=True)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.process
def test_without_a_url_the_warehouse_is_embedded_and_stops_when_asked(own_home: Path) -> None:
    done = here("db", "bootstrap")
    assert done.returncode == 0, done.stderr
    assert "embedded PostgreSQL" in done.stderr
    assert stat.S_IMODE((own_home / ".deid" / "secret").stat().st_mode) == 0o600
    assert deid("db", "psql", "--", "-At", stdin="select current_user;").stdout.strip() == "demo_analyst"
    assert "stopped" in here("db", "stop").stderr
    assert "release none active" in here("db", "status").stdout
    state = json.loads(here("db", "status", "--json").stdout)
    assert (state["profile"], state["release"]) == ("demo", None)
    summary = json.loads(here("summary", "--json").stdout)
    assert (summary["release"], summary["deliveries"], summary["notes_shown"]) == (None, [], 0)


def test_the_ui_refuses_a_port_in_use(installation: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        refused = here("ui", "--port", port)
    assert refused.returncode == 1
    assert f"port-unusable [{port}]" in refused.stderr
    assert "token" not in refused.stdout + refused.stderr


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_ui_prints_a_link_that_lets_in_and_ends_whole(own_home: Path, how: signal.Signals) -> None:
    assert deid("db", "bootstrap").returncode == 0
    port = free_port()
    command = [str(DEID), "ui", "--port", str(port)]
    with (own_home / "ui.log").open("w") as log:
        ui = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            assert ui.poll() is None, (own_home / "ui.log").read_text()
            try:
                with urllib.request.urlopen(f"{address}/server_info", timeout=2) as answer:
                    assert "dagster_webserver_version" in answer.read().decode()
                break
            except OSError:
                time.sleep(0.5)
        else:
            pytest.fail((own_home / "ui.log").read_text())
        (link,) = re.findall(rf"{address}/\?token=\S+", (own_home / "ui.log").read_text())
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert "<!DOCTYPE html>" in browser.open(link).read().decode()
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(address)
        family = psutil.Process(ui.pid).children(recursive=True)
        assert len(family) >= 3
        ui.send_signal(how)
        assert ui.wait(timeout=90) == 0
        assert psutil.wait_procs(family, timeout=30)[1] == []
    finally:
        if ui.poll() is None:
            os.killpg(ui.pid, signal.SIGKILL)
            ui.wait()

"""No process that the platform starts carries a secret in its arguments, which any user of the machine may read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest
from free_port import free_port
from system_server import SystemServer

from deid_platform.corpora.hospital import HospitalSpec, write
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import LOGIN_ROLES

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.process]

DEID = Path(sys.executable).with_name("deid")
# Every Python process that starts a program writes down with which arguments; Python imports this by its name.
RECORDER = """
import json, os, sys
def record(event, args):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
        arguments = [item.decode(errors="replace") if isinstance(item, bytes) else str(item) for item in args[1]]
        with open(os.environ["RECORD"], "a") as file:
            file.write(json.dumps(arguments) + "\\n")
sys.addaudithook(record)
"""


@pytest.fixture(scope="module")
def fresh_database(
    system_databases: Callable[[], AbstractContextManager[Warehouse]],
) -> Callable[[], AbstractContextManager[Warehouse]]:
    """On a server where every role has a password."""
    return system_databases


@pytest.fixture(scope="module")
def secrets(system_server: SystemServer, installation: Path) -> list[str]:
    passwords = [os.environ[f"DEID_PASSWORD_{role.upper()}"] for role in LOGIN_ROLES]
    return [os.environ["DEID_SECRET"], system_server.superuser_password, *passwords]


@contextmanager
def watched() -> Iterator[set[str]]:
    """The command lines of all processes that come up while the block runs."""
    seen: set[str] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.25):
            for process in Path("/proc").glob("[0-9]*"):
                with suppress(OSError):
                    seen.add((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def answers(port: int) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/server_info", timeout=5):
        return True
    return False


def test_no_process_has_a_secret_in_its_arguments(
    installation: Path, secrets: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(HospitalSpec(notes=20), feed_root=installation.parent / "deliveries", gold_root=installation.parent / "gold")
    (tmp_path / "sitecustomize.py").write_text(RECORDER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("RECORD", str(tmp_path / "record"))

    def deid(*arguments: str, stdin: str = "") -> str:
        done = subprocess.run([str(DEID), *arguments], input=stdin, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not [secret for secret in secrets if secret in done.stdout + done.stderr]
        return done.stdout

    with watched() as seen:
        deid("db", "bootstrap")
        deid("refresh")
        shown = deid("db", "psql", "--", "-At", stdin="select count(*) > 0, session_user from research.notes;")
        port = free_port()
        ui = subprocess.Popen(
            [str(DEID), "ui", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            deadline = time.monotonic() + 120
            while not answers(port) and time.monotonic() < deadline:
                time.sleep(0.2)
            assert answers(port)
        finally:
            ui.send_signal(signal.SIGINT)
            ui.wait(timeout=60)

    assert shown.strip() == "t|demo_analyst", "the refresh itself ran over TCP, scram and TLS"
    recorded = [" ".join(json.loads(line)) for line in (tmp_path / "record").read_text().splitlines()]
    everything = "\n".join([*recorded, *seen])
    for program in ("psql", "dbt"):
        assert any(program in Path(line.partition(" ")[0]).name or f"/{program} " in line for line in recorded), program
    assert any(" -m dagster" in line for line in recorded), "its code server and its daemon"
    assert not [number for number, secret in enumerate(secrets) if secret in everything], "a secret, by its place"

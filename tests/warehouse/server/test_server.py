"""The embedded server: started once by however many processes, found again, and closed to others."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from deid_platform.doctor import installation
from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.server import EmbeddedServer

pytestmark = [pytest.mark.warehouse, pytest.mark.process]

MARKER = "9f31c07ad25e4b8896e0"
START = "import sys, pathlib; from deid_platform.warehouse.server.server import EmbeddedServer as S; " + (
    "s = S(pathlib.Path(sys.argv[1])); s.start(); print(s.status().pid)"
)


@pytest.fixture
def home():
    made = Path(tempfile.mkdtemp(prefix="deid-test-"))
    yield made
    EmbeddedServer(made).stop(force=True)
    shutil.rmtree(made, ignore_errors=True)


def test_processes_that_start_it_at_once_share_one_server(home):
    starters = [
        subprocess.Popen([sys.executable, "-c", START, str(home)], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    pids = {process.communicate(timeout=60)[0].strip() for process in starters}
    assert all(process.returncode == 0 for process in starters)
    assert pids == {str(EmbeddedServer(home).status().pid)}  # one, and it outlived those who started it


def test_who_is_its_superuser_reads_no_secret_of_those_who_started_it(home):
    secrets = {
        "DEID_SECRET": MARKER,
        "DEID_PASSWORD_LOADER": MARKER,
        "EHR_URL": f"postgresql://ehr:{MARKER}@server/ehr",
    }
    subprocess.run([sys.executable, "-c", START, str(home)], env={**os.environ, **secrets}, check=True)
    with Warehouse(EmbeddedServer(home)).administer(maintenance=True) as connection:
        connection.exec_driver_sql("CREATE TEMP TABLE inherited (line text)")
        for pid in ("self", EmbeddedServer(home).status().pid):
            connection.exec_driver_sql(f'COPY inherited FROM PROGRAM \'tr "\\0" "\\n" < /proc/{pid}/environ\'')
        lines = list(connection.exec_driver_sql("SELECT line FROM inherited").scalars())
    assert any(line.startswith("PATH=") for line in lines)
    assert not [line for line in lines if MARKER in line or line.startswith("DEID_")]


OLD = """
import os, pathlib, sys
import deid_platform.warehouse.server.server as module
module.ordinary_environment = lambda: dict(os.environ)
module._SETTINGS = {"shared_buffers": "'256MB'", "max_locks_per_transaction": "64"}
module.EmbeddedServer(pathlib.Path(sys.argv[1])).start()
"""


def test_one_that_an_earlier_version_started_says_what_it_keeps_until_it_is_stopped(home):
    server = EmbeddedServer(home)
    assert server.outdated() == ()  # not running
    subprocess.run([sys.executable, "-c", OLD, str(home)], env={**os.environ, "EHR_PASSWORD": MARKER}, check=True)
    kept = {"max_locks_per_transaction", "reserved_connections", "environment"}
    assert kept <= set(server.outdated()) and "shared_buffers" not in server.outdated()
    (told,) = installation._server(Warehouse(server))
    assert not told.good and "environment" in told.detail and "deid db stop" in told.detail
    with Warehouse(server).administer(maintenance=True) as connection:
        connection.exec_driver_sql("ALTER SYSTEM SET max_locks_per_transaction = 512")
    assert server.stop()
    server.start()
    assert [*installation._server(Warehouse(server))] == []
    assert server.outdated() == ()  # what somebody set by ALTER SYSTEM is theirs


def test_a_server_that_others_use_is_not_stopped(home):
    server = EmbeddedServer(home)
    server.start()
    with Warehouse(server).administer(maintenance=True):
        assert not server.stop()
        assert server.status().running
    assert server.stop()
    assert not server.status().running
    assert server.stop()  # a second time is no failure
    server.start()  # and it can be started again by the same process
    assert server.status().running


@pytest.mark.parametrize(
    "left_behind", ["1\n", "99999999\n/data\n1\n5432\n\n\n"], ids=["another program", "half a file"]
)
def test_what_a_crash_left_behind_does_not_keep_it_from_starting(home, left_behind):
    server = EmbeddedServer(home)
    server.start()
    server.stop()
    (server.data / "postmaster.pid").write_text(left_behind)
    assert not server.status().running
    server.start()
    assert server.status().running


def test_a_server_that_was_killed_is_started_again(home):
    server = EmbeddedServer(home)
    server.start()
    with Warehouse(server).administer(maintenance=True) as connection:
        connection.exec_driver_sql("CREATE TABLE kept AS SELECT 1 AS x")
    os.kill(server.status().pid, signal.SIGKILL)
    assert not server.status().running
    server.start()
    with Warehouse(server).administer(maintenance=True) as connection:
        assert connection.exec_driver_sql("SELECT x FROM kept").scalar() == 1


def test_without_a_start_there_is_nothing_to_connect_to(tmp_path):
    server = EmbeddedServer(tmp_path)
    assert not server.status().running
    for call in (lambda: server.socket, lambda: server.url("demo_analyst", "deid"), server.psql):
        with pytest.raises(DeidError) as caught:
            call()
        assert caught.value.code is Code.WAREHOUSE_UNREACHABLE


def test_its_folder_and_its_socket_are_closed_to_other_users(embedded_server):
    status = embedded_server.status()
    assert stat.S_IMODE(embedded_server.data.stat().st_mode) == 0o700
    assert stat.S_IMODE((status.socket / f".s.PGSQL.{status.port}").stat().st_mode) & 0o077 == 0


def test_it_listens_on_no_network_address(embedded_server):
    with Warehouse(embedded_server).administer(maintenance=True) as connection:
        assert connection.exec_driver_sql("SHOW listen_addresses").scalar() == ""


def test_psql_answers_as_the_analyst(shared_scene):
    command, secret = shared_scene.warehouse.psql()
    assert set(secret) <= {"PGPASSWORD"}
    query = "select session_user, count(*) from research.notes"
    environment = {**os.environ, **secret}
    printed = subprocess.run(
        [*command, "-At"], input=query, env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "demo_analyst|1"


@pytest.mark.skipif(os.geteuid() != 0, reason="only as root does the server run as another user")
def test_as_root_the_home_can_be_passed_through_and_not_listed(embedded_server):
    assert stat.S_IMODE(embedded_server.home.stat().st_mode) == 0o711

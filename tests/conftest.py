"""Which test runs in which loop (`loops.py`), and fixtures that every room may use.

The tests that need a database run on the embedded server. With DEID_TEST_SERVER=tcp the same tests run on a
PostgreSQL made of the machine's own binaries, reached as a real one is: TCP, scram and TLS, a password for
each role. `make test-all` runs all of them on both. `make test` runs over TCP what is marked `transport`, since
what a statement does is the same on either:

    test_connection, some of test_cli and test_dbt   how clients, psql and dbt too, come by address and password
    test_roles, test_two_roles, test_bypasses        each role with a login of its own; the embedded server asks nobody
    test_migrate, test_upgrade                       another administrator than the one of the embedded server

What breaks (test_failures, test_administrator, deploy/test_templates) has such a server of its own in every run.
"""

from __future__ import annotations

import gc
import hashlib
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from deid_platform.warehouse.migrate import prepare
from deid_platform.warehouse.server.bootstrap import bootstrap
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import LOGIN_ROLES
from deid_platform.warehouse.server.server import EmbeddedServer

sys.path.append(str(Path(__file__).parent))

from loops import GUARD, SEED, Guard, Loop, Sampling, loop_of, names_no_transport, runs, runs_over_tcp, set_seed
from system_server import SystemServer, binaries

# No test fails for the time that it takes: other work may share the machine.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

# Rewriting the assertions of every file takes each worker ten seconds; kept, even where the environment forbids it.
sys.dont_write_bytecode = False

TEMPLATE = "deid_template"
TCP = os.environ.get("DEID_TEST_SERVER") == "tcp"
NEED_A_SERVER = {"database_server", "embedded_server", "system_server", "own_home"}
# What a test needs that asks for one of these fixtures, itself or through another.
MARKED_BY = {
    "warehouse": NEED_A_SERVER,
    "process": {"zygote", "holder", "own_home", "start"},
    "thorough": {"start"},  # the servers of Dagster, each of which loads the platform anew
}


def pytest_addoption(parser: pytest.Parser) -> None:
    loops = [loop.value for loop in Loop]
    parser.addoption("--loop", choices=loops, default=Loop.ALL.value, help="how much is run (tests/loops.py)")


def pytest_configure(config: pytest.Config) -> None:
    set_seed(loop_of(config))
    config.stash[GUARD] = Guard()


def marks_of(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves files out of which a run over TCP keeps no test: to collect them all takes longer than to run the rest."""
    if not TCP or loop_of(config) is Loop.ALL or not collection_path.name.startswith("test_"):
        return None
    return True if names_no_transport(collection_path) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[object]:
    """Collects without a search for garbage, which takes a fifth of the time: there is none among 17,000 tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks what needs a server or a process by its fixtures, and keeps what the loop runs."""
    loop = loop_of(config)
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        for mark, asked in MARKED_BY.items():
            if fixtures & asked:
                item.add_marker(mark)
    # Files with long tests first, so that no worker is left alone with one at the end.
    long = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in long)
    chosen, others = [], []
    for item in items:
        (chosen if _runs(item, loop) else others).append(item)
    if TCP and binaries() is None:
        for item in chosen:
            item.add_marker(pytest.mark.skip(reason="NOT RUN over TCP and TLS: no PostgreSQL server on this machine"))
    config.hook.pytest_deselected(items=others)
    items[:] = chosen


def _runs(item: pytest.Item, loop: Loop) -> bool:
    if not TCP:
        return runs(loop, marks_of(item))
    # On another server, what is not about the embedded one.
    either = set(getattr(item, "fixturenames", ())) & NEED_A_SERVER == {"database_server"}
    return either and runs_over_tcp(loop, marks_of(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with item.config.stash[GUARD].watching(marks_of(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with item.config.stash[GUARD].watching(marks_of(item)):
        return (yield)


def pytest_report_header(config: pytest.Config) -> str:
    return f"loop: {loop_of(config)}, samples by {SEED}={os.environ[SEED]}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says how samples can be drawn again, and on which server the tests ran that need one."""
    terminalreporter.write_line(f"samples can be drawn again with {SEED}={os.environ[SEED]}")
    if TCP:
        found = binaries()
        told = (
            f"PostgreSQL in {found} over TCP, scram and TLS" if found else "none: NOT RUN, no PostgreSQL server found"
        )
        terminalreporter.write_line(f"database server: {told}")


@pytest.fixture(scope="session")
def sampling(pytestconfig: pytest.Config) -> Sampling:
    """How much of what could go on for long a test takes."""
    return Sampling.of(pytestconfig)


@dataclass(frozen=True)
class DatabaseServer:
    """The server that this session's databases are on."""

    warehouse: Callable[[str], Warehouse]
    """The warehouse of a database by its name."""
    log: Path


@pytest.fixture(scope="session")
def embedded_server() -> Iterator[EmbeddedServer]:
    """One embedded server for the whole session (one a worker under xdist)."""
    # Not under tmp_path: a socket's path may have no more than about 100 characters.
    home = Path(tempfile.mkdtemp(prefix="deid-test-"))
    server = EmbeddedServer(home)
    server.start()
    with Warehouse(server).administer(maintenance=True) as connection:
        # Hundreds of databases that nobody needs after a crash.
        connection.exec_driver_sql("ALTER SYSTEM SET fsync = off")
        connection.exec_driver_sql("SELECT pg_reload_conf()")
    yield server
    server.stop(force=True)
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def system_server() -> Iterator[SystemServer]:
    """A server of the module's own, over TCP and TLS, which tests may stop, kill and configure as they like."""
    if binaries() is None:
        pytest.skip("NOT RUN: no PostgreSQL server on this machine")
    server = SystemServer.made()
    yield server
    server.remove()


@contextmanager
def _with_passwords(server: SystemServer) -> Iterator[DatabaseServer]:
    """The server with a password for each role in the environment, and a migrated database to copy."""
    with pytest.MonkeyPatch.context() as patch:
        for role in LOGIN_ROLES:
            patch.setenv(f"DEID_PASSWORD_{role.upper()}", secrets.token_hex(16))
        found = DatabaseServer(lambda name: Warehouse(server.url(name)), server.log)
        with found.warehouse("postgres").administer() as connection:  # as deploy/postgres does
            connection.exec_driver_sql("REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC")
        prepare(found.warehouse(TEMPLATE), profile="demo")
        yield found


@pytest.fixture(scope="session")
def database_server(request: pytest.FixtureRequest) -> Iterator[DatabaseServer]:
    """The server of the session, with a migrated database to copy."""
    if TCP:
        system = SystemServer.made()
        with _with_passwords(system) as found:
            yield found
        system.remove()
        return
    embedded: EmbeddedServer = request.getfixturevalue("embedded_server")
    found = DatabaseServer(lambda name: Warehouse(embedded, database=name), embedded.data / "log")
    prepare(found.warehouse(TEMPLATE), profile="demo")
    yield found


@pytest.fixture(scope="session")
def log_of_server(database_server: DatabaseServer) -> Callable[[], str]:
    """Reads the server's own log."""
    return lambda: database_server.log.read_text(errors="replace")


def _opener(server: DatabaseServer) -> Callable[[], AbstractContextManager[Warehouse]]:
    @contextmanager
    def opened() -> Iterator[Warehouse]:
        name = f"deid_{os.urandom(4).hex()}"
        fresh = server.warehouse(name)
        with fresh.administer(maintenance=True) as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} OWNER deid_owner")
            # A copied sequence that is used before a checkpoint goes back in a crash.
            connection.exec_driver_sql("CHECKPOINT")
        bootstrap(fresh)  # what is granted on a database is not part of its template
        yield fresh
        with fresh.administer(maintenance=True) as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")

    return opened


@pytest.fixture(scope="session")
def fresh_database(database_server: DatabaseServer) -> Callable[[], AbstractContextManager[Warehouse]]:
    """Opens a migrated database with the `demo` profile active, and drops it when its block ends."""
    return _opener(database_server)


@pytest.fixture(scope="module")
def system_databases(system_server: SystemServer) -> Iterator[Callable[[], AbstractContextManager[Warehouse]]]:
    """As `fresh_database`, on the server of the module's own."""
    with _with_passwords(system_server) as found:
        yield _opener(found)


@pytest.fixture(scope="module")
def warehouse(fresh_database: Callable[[], AbstractContextManager[Warehouse]]) -> Iterator[Warehouse]:
    """A database of the module's own."""
    with fresh_database() as fresh:
        yield fresh


@contextmanager
def _installed(folder: Path, warehouse_url: str) -> Iterator[Path]:
    (folder / "deliveries").mkdir()
    config = folder / "deid.toml"
    config.write_text(
        'site = "north"\nprofile = "demo"\nhome = "home"\n[detection]\ndetector = "rules"\n'
        '[feeds.hospital]\npath = "deliveries"\ngold = "gold"\ndemonstration = true\n'
        'note_types = ["progress note", "discharge summary", "telephone encounter", "referral letter"]\n'
        "[bench]\nsynthetic_notes = 60\nlibrary_notes = 3\nminimum_gold = 1\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DEID_SECRET_FILE", "DAGSTER_HOME"):
            patch.delenv(name, raising=False)
        patch.setenv("DEID_SECRET", hashlib.sha256(b"an installation").hexdigest())
        patch.setenv("DEID_CONFIG", str(config))
        patch.setenv("DEID_WAREHOUSE_URL", warehouse_url)
        yield config


@pytest.fixture(scope="module")
def installation(warehouse: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The deid.toml of an empty installation: a `hospital` feed, gold beside it, the module's own database."""
    url = warehouse.admin_engine().url.render_as_string(hide_password=False)
    with _installed(tmp_path_factory.mktemp("installation"), url) as config:
        yield config


@pytest.fixture(scope="session")
def parsed_marts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dbt project as the first start of an installation parses it, which takes eight seconds of a processor."""
    from resources import dbt_project

    umask = os.umask(0o077)
    try:
        return dbt_project(tmp_path_factory.mktemp("parsed")).manifest_path.parent
    finally:
        os.umask(umask)


@pytest.fixture(scope="module")
def started_before(installation: Path, parsed_marts: Path) -> Path:
    """As `installation`, where the dbt project has been parsed already."""
    umask = os.umask(0o077)
    try:
        shutil.copytree(parsed_marts, installation.parent / "home" / "dagster" / "dbt" / parsed_marts.name)
    finally:
        os.umask(umask)
    return installation


@pytest.fixture(scope="module")
def installation_without_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """As `installation`, for tests that ask nothing of a database: there is none."""
    with _installed(tmp_path_factory.mktemp("installation"), "postgresql+psycopg://nobody@127.0.0.1:1/none") as config:
        yield config

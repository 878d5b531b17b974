"""Fixtures that every room may use."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from deid_platform.warehouse.bootstrap import bootstrap
from deid_platform.warehouse.connection import Warehouse
from deid_platform.warehouse.migrate import prepare
from deid_platform.warehouse.server import EmbeddedServer

TEMPLATE = "deid_template"


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
    prepare(Warehouse(server, database=TEMPLATE), profile="demo")
    yield server
    server.stop(force=True)
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def fresh_database(embedded_server: EmbeddedServer) -> Callable[[], AbstractContextManager[Warehouse]]:
    """Opens a migrated database with the `demo` profile active, and drops it when its block ends."""

    @contextmanager
    def opened() -> Iterator[Warehouse]:
        name = f"deid_{os.urandom(4).hex()}"
        fresh = Warehouse(embedded_server, database=name)
        with fresh.administer(maintenance=True) as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} OWNER deid_owner")
        bootstrap(fresh)  # what is granted on a database is not part of its template
        yield fresh
        with fresh.administer(maintenance=True) as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")

    return opened


@pytest.fixture(scope="module")
def warehouse(fresh_database: Callable[[], AbstractContextManager[Warehouse]]) -> Iterator[Warehouse]:
    """A database of the module's own."""
    with fresh_database() as fresh:
        yield fresh


@pytest.fixture(scope="module")
def installation(warehouse: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The deid.toml of an empty installation: a `hospital` feed, gold beside it, the module's own database."""
    folder = tmp_path_factory.mktemp("installation")
    (folder / "deliveries").mkdir()
    config = folder / "deid.toml"
    config.write_text(
        'site = "north"\nprofile = "demo"\nhome = "home"\n'
        '[feeds.hospital]\npath = "deliveries"\ngold = "gold"\ndemonstration = true\n'
        'note_types = ["progress note", "discharge summary", "telephone encounter", "referral letter"]\n'
        "[bench]\nsynthetic_notes = 60\nminimum_gold = 1\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DEID_SECRET_FILE", "DAGSTER_HOME"):
            patch.delenv(name, raising=False)
        patch.setenv("DEID_SECRET", "0123456789abcdef" * 4)
        patch.setenv("DEID_CONFIG", str(config))
        patch.setenv("DEID_WAREHOUSE_URL", warehouse.admin_engine().url.render_as_string(hide_password=False))
        yield config

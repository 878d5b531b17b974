"""`kill -9` of the whole PostgreSQL server while a refresh stages, measures, hides, promotes: then both again."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

import crash_scene
import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.refresh import publish
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.warehouse.migrate import prepare
from deid_platform.warehouse.server.bootstrap import bootstrap
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.server import EmbeddedServer

pytestmark = [pytest.mark.slow, pytest.mark.warehouse]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    """A server that these tests alone use, and kill."""
    home = Path(tempfile.mkdtemp(prefix="deid-crash-"))  # a socket's path must be short
    made = EmbeddedServer(home)
    made.start()
    with Warehouse(made).administer(maintenance=True) as connection:
        # The machine does not die here, and a recovery that writes every file through takes long.
        connection.exec_driver_sql("ALTER SYSTEM SET fsync = off")
        connection.exec_driver_sql("ALTER SYSTEM SET recovery_init_sync_method = 'syncfs'")
        connection.exec_driver_sql("SELECT pg_reload_conf()")
    yield made
    made.start()
    made.stop(force=True)
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def on_server(server, installed) -> Callable[[], AbstractContextManager]:
    """Makes an installation with a new database on that server."""
    prepare(Warehouse(server, database="template"), profile="demo")
    numbers = count()

    @contextmanager
    def make() -> Iterator:
        warehouse = Warehouse(server, database=f"crash{next(numbers)}")
        with warehouse.administer(maintenance=True) as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {warehouse.database} TEMPLATE template OWNER deid_owner")
            # A copied sequence that is used before a checkpoint goes back in a crash.
            connection.exec_driver_sql("CHECKPOINT")
        bootstrap(warehouse)
        with installed(warehouse) as installation:
            yield installation

    return make


def test_killed_again_and_again_a_refresh_ends_as_if_it_had_never_been(
    reference, server, on_server, dice, sampling
) -> None:
    kills = 0
    while kills < sampling.number(everything=12, sample=2):
        with on_server() as installation:
            for _ in range(4):
                place = dice.randrange(reference["places"] // 2)
                ended = installation.refresh(at=place, server=str(server.data), delay=dice.uniform(0, 0.03))
                kills += ended["server_killed"]
                server.start()
                if ended["outcome"] == "done":
                    break
                # The run that lost its server says so, and nothing else.
                assert (ended["outcome"], ended["code"]) == ("failed", Code.WAREHOUSE_UNREACHABLE.slug)
                assert crash_scene.shown(Site(load_settings(installation.config)).warehouse) <= reference["ever_shown"]
            assert installation.refresh()["outcome"] == "done"
            assert installation.picture() == reference["picture"], installation.struck


def test_what_was_staged_before_the_server_died_is_not_promoted_after(reference, server, on_server) -> None:
    with on_server() as installation:
        site = Site(load_settings(installation.config))
        first, *_ = site.deliveries()
        for name, step in crash_scene.STEPS.items():
            if name == "promoted":
                crash_scene.kill_server(server.data)
                server.start()
                with pytest.raises(DeidError) as refused:
                    publish.promote_delivery(site, first)
                break
            step(site, first)
        # Staging does not survive a crash, so the gate finds other content than was measured.
        assert refused.value.code is Code.GATE_REFUSED
        assert crash_scene.shown(site.warehouse) == set()
        assert installation.refresh()["outcome"] == "done"
        assert crash_scene.shown(site.warehouse) == set(reference["picture"]["shown"])

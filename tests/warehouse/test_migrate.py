"""Migration: any number of times, by any number of processes, with one result."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.migrate import configure, migrate, prepare
from deid_platform.warehouse.server.connection import Warehouse

pytestmark = pytest.mark.transport

PREPARE = (
    "import sys, pathlib; from deid_platform.warehouse.server.server import EmbeddedServer as S;"
    "from deid_platform.warehouse.server.connection import Warehouse as W;"
    "from deid_platform.warehouse.migrate import prepare;"
    "prepare(W(S(pathlib.Path(sys.argv[1])), database=sys.argv[2]), profile='demo')"
)


def state(warehouse):
    """Revision, tables, active profile, and how often the profile was switched."""
    with warehouse.administer() as connection:
        return connection.execute(
            text(
                "SELECT (SELECT array_agg(version_num::text) FROM ctl.alembic_version),"
                " (SELECT count(*) FROM pg_class WHERE relnamespace = 'ctl'::regnamespace),"
                " (SELECT name FROM ctl.profile WHERE active),"
                " (SELECT count(*) FROM ctl.ledger WHERE event = 'profile')"
            )
        ).one()


def test_a_second_migration_changes_nothing(warehouse):
    before = state(warehouse)
    migrate(warehouse.admin_engine())
    prepare(warehouse, profile="demo")
    assert state(warehouse) == before
    assert before[0] == ["0022"]


def test_two_processes_at_once_make_one_database(embedded_server):
    name = f"deid_{os.urandom(4).hex()}"
    command = [sys.executable, "-c", PREPARE, str(embedded_server.home), name]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(timeout=60) for process in both] == [0, 0]
    made = Warehouse(embedded_server, database=name)
    assert state(made)[2:] == ("demo", 1)
    with made.administer(maintenance=True) as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


def test_everything_belongs_to_the_owner(warehouse):
    with warehouse.administer() as connection:
        owners = connection.execute(
            text(
                "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
                " WHERE nspname IN ('ctl', 'staging', 'research', 'quality')"
            )
        ).scalars()
        assert set(owners) == {"deid_owner"}


def test_the_profile_is_switched_once_and_the_ledger_tells(scene):
    admin = scene.warehouse.admin_engine()
    for _ in range(2):
        configure(admin, "production")
    assert state(scene.warehouse)[2:] == ("production", 1)  # the second time nothing changed
    with pytest.raises(DeidError) as caught:
        configure(admin, "lenient")
    assert (caught.value.code, caught.value.ref) == (Code.SETTINGS_INVALID, "gate.profile")
    assert state(scene.warehouse)[2] == "production"

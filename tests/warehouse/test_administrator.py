"""A real server whose administrator is no superuser, as hosted ones have: it may create roles and databases."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.migrate import prepare
from deid_platform.warehouse.server.bootstrap import bootstrap
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.logins import NOT_FOR_EVERYONE, unbounded
from deid_platform.warehouse.server.roles import LOGIN_ROLES, Role

# What makes the server's log quiet needs a grant where the administrator is no superuser (docs/configuration.md).
GRANTED = ("log_min_messages", "log_min_error_statement", "log_error_verbosity", "log_statement")


@pytest.fixture(scope="module")
def hosted(system_server) -> Iterator[Warehouse]:
    """The warehouse of an administrator who may create roles and databases, and a password for each role."""
    password = secrets.token_hex(16)
    with Warehouse(system_server.url()).administer() as connection:
        connection.exec_driver_sql(f"CREATE ROLE chief LOGIN CREATEROLE CREATEDB PASSWORD '{password}'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEID_PASSWORD_ADMIN", password)
        for role in LOGIN_ROLES:
            patch.setenv(f"DEID_PASSWORD_{role.upper()}", secrets.token_hex(16))
        url = system_server.url("deid", username="chief", password="")
        yield Warehouse(url)


@pytest.fixture(scope="module")
def fresh_database(hosted):
    """The one database of this module."""

    @contextmanager
    def opened() -> Iterator[Warehouse]:
        yield hosted

    return opened


@pytest.mark.parametrize(
    ("role", "password"),
    [
        ("loader", "loader"),
        ("demo_analyst", "Demo_Analyst-20260715"),
        ("officer", "short-9f2a"),
        ("promoter", "changeme-please"),
    ],
)
def test_a_weak_password_is_refused_before_anything_is_made(hosted, system_server, monkeypatch, role, password):
    monkeypatch.setenv(f"DEID_PASSWORD_{role.upper()}", password)
    with pytest.raises(DeidError) as caught:
        bootstrap(hosted, demonstration=True)
    assert (caught.value.code, caught.value.ref) == (Code.PASSWORD_WEAK, role)
    assert password not in str(caught.value).replace(role, "")
    with Warehouse(system_server.url()).administer() as connection:
        made = text("SELECT count(*) FROM pg_roles WHERE rolname = 'deid_owner'")
        assert connection.execute(made).scalar() == 0


def test_it_bootstraps_migrates_and_carries_a_delivery_to_the_analyst(hosted, own_scene):
    for _ in range(2):
        prepare(hosted, profile="demo")
    with hosted.administer() as connection:
        assert connection.execute(text("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")).scalar() is False
    own_scene.publish("1", [own_scene.note(1), own_scene.note(2, status="quarantined")])
    assert own_scene.visible() == ["note 1"]


def test_each_role_is_as_small_as_on_any_server(hosted, own_scene):
    prepare(hosted, profile="demo")
    for role in LOGIN_ROLES:
        with hosted.begin(role) as connection:
            found = connection.execute(
                text(
                    "SELECT session_user::text, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication"
                    " OR rolbypassrls, (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())"
                    " FROM pg_roles WHERE rolname = session_user"
                )
            ).one()
        assert tuple(found) == (role, False, True)
    for role in (Role.DEMO_ANALYST, Role.LOADER, Role.GATEKEEPER):
        with pytest.raises(DeidError) as caught, hosted.begin(role) as connection:
            connection.execute(text("DELETE FROM research.note_version"))
        assert (caught.value.code, caught.value.ref) == (Code.WAREHOUSE_STATEMENT, "42501")


def test_the_servers_log_quotes_nothing_once_the_administrator_may_quiet_it(hosted, system_server, own_scene):
    with Warehouse(system_server.url()).administer() as connection:
        for name in GRANTED:
            connection.exec_driver_sql(f"GRANT SET ON PARAMETER {name} TO chief")
    prepare(hosted, profile="demo")
    for wrong in (f"SELECT '{own_scene.marker}'::date", f'SELECT 1 FROM "{own_scene.marker}"'):
        with pytest.raises(DeidError), hosted.begin(Role.DEMO_ANALYST) as connection:
            connection.execute(text(wrong))
    assert own_scene.marker not in system_server.log.read_text(errors="replace")


def test_doctor_says_what_only_a_superuser_takes_from_readers_and_the_platform_goes_on_after_it(
    hosted, system_server, own_scene
):
    prepare(hosted, profile="demo")
    told = unbounded(hosted.engine(Role.OFFICER))
    (functions,) = (line for line in told if line.startswith("readers may call"))
    (files,) = (line for line in told if line.startswith("demo_analyst may fill the disk"))
    assert re.search(r"may call lo_.*\), .* and \d+ more functions .*`deid db bootstrap`", functions)
    assert max(map(len, told)) < 250
    with Warehouse(system_server.url("deid")).administer() as connection:
        harmful = text(
            "SELECT string_agg(oid::regprocedure::text, ', ') FROM pg_proc"
            " WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ :names"
        )
        names = {"names": f"^({'|'.join(NOT_FOR_EVERYONE)})$"}
        connection.exec_driver_sql(
            f"REVOKE EXECUTE ON FUNCTION {connection.execute(harmful, names).scalar_one()} FROM PUBLIC"
        )
        connection.exec_driver_sql(f"{files.partition(': ')[2]} = '1GB'")
    told = unbounded(hosted.engine(Role.OFFICER))
    (grant,) = (line for line in told if line.startswith("GRANT EXECUTE"))
    with Warehouse(system_server.url("deid")).administer() as connection:
        connection.exec_driver_sql(grant.partition(":")[0])
    prepare(hosted, profile="demo")
    assert not [
        line for line in unbounded(hosted.engine(Role.OFFICER)) if "call" in line or "EXECUTE" in line or "disk" in line
    ]

"""Connections: what an error may say, which server takes which data, and passwords on a real server."""

from __future__ import annotations

import dataclasses
import secrets
import traceback
from pathlib import Path

import pytest
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.migrate import prepare
from deid_platform.warehouse.server.connection import Warehouse, translated
from deid_platform.warehouse.server.roles import LOGIN_ROLES, Role, password
from deid_platform.warehouse.server.server import EmbeddedServer

pytestmark = pytest.mark.transport

MARKER = "Zyxwarren Quillfeather"

FAILURES = {
    "a key twice": (
        "23505",
        "INSERT INTO staging.withdrawal (delivery, feed, delivery_seq, kind, key, former_keys)"
        f" SELECT 'd', 'f', 1, 'note', '{MARKER}', '{{}}' FROM generate_series(1, 2)",
    ),
    "syntax of a date": ("22007", f"SELECT '{MARKER}'::date"),
    "syntax of a number": ("22P02", f"SELECT '{MARKER}'::integer"),
    "no such column": ("42703", f'SELECT "{MARKER}" FROM staging.note'),
    "a check": (
        "23514",
        "INSERT INTO staging.note (delivery, feed, delivery_seq, note_key, text, status, detector_digest,"
        " dictionary_digest, policy_digest, key_id, run_id, release, content_digest, former_keys)"
        f" VALUES ('d', 'f', 1, 'k', '{MARKER}', 'quarantined', 'd', 'd', 'd', 'k', 'r', 'r', 'c', '{{}}')",
    ),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_a_refused_statement_tells_its_state_and_no_value(shared_scene, log_of_server, kind):
    state, statement = FAILURES[kind]
    with pytest.raises(DeidError) as caught, shared_scene.warehouse.begin(Role.LOADER) as connection:
        connection.execute(text(statement))
    assert (caught.value.code, caught.value.ref) == (Code.WAREHOUSE_STATEMENT, state)
    assert caught.value.__cause__ is None
    assert MARKER not in "".join(traceback.format_exception(caught.value))
    assert MARKER not in log_of_server()


@pytest.mark.parametrize("text_of_note", [f"{MARKER}\x00", f"{MARKER}\ud800"], ids=["NUL", "lone surrogate"])
def test_text_that_postgres_cannot_hold_is_refused_without_being_quoted(scene, log_of_server, text_of_note):
    with pytest.raises(DeidError) as caught:
        scene.stage("1", [scene.note(1), dataclasses.replace(scene.note(2), text=text_of_note)])
    assert caught.value.code is Code.WAREHOUSE_STATEMENT
    assert MARKER not in "".join(traceback.format_exception(caught.value))
    assert MARKER not in log_of_server()


def test_a_row_that_is_refused_in_the_middle_of_a_copy_is_not_quoted(scene, log_of_server):
    duplicate = scene.note(1, MARKER)
    with pytest.raises(DeidError, match="23505") as caught:
        scene.stage("1", [duplicate, duplicate])
    assert duplicate.note_key not in str(caught.value)
    assert MARKER not in repr(duplicate)
    assert MARKER not in log_of_server()


def test_a_missing_schema_a_missing_database_and_a_missing_server_are_told_apart(database_server, tmp_path):
    cases = [
        (Code.WAREHOUSE_NOT_READY, database_server.warehouse("without_schema")),
        (Code.WAREHOUSE_NOT_READY, database_server.warehouse("nowhere")),
        (Code.WAREHOUSE_UNREACHABLE, Warehouse(f"postgresql://nobody@/deid?host={tmp_path}")),
    ]
    with database_server.warehouse("postgres").administer(maintenance=True) as connection:
        connection.exec_driver_sql("DROP DATABASE IF EXISTS without_schema")
        connection.exec_driver_sql("CREATE DATABASE without_schema")
    try:
        for code, warehouse in cases:
            with pytest.raises(DeidError) as caught, warehouse.begin(Role.DEMO_ANALYST) as connection:
                connection.execute(text("SELECT * FROM research.notes"))
            assert caught.value.code is code
    finally:  # other tests ask which databases of this server anybody may enter
        with database_server.warehouse("postgres").administer(maintenance=True) as connection:
            connection.exec_driver_sql("DROP DATABASE without_schema WITH (FORCE)")


def test_an_error_of_ours_passes_through_unchanged():
    ours = DeidError(Code.GOLD_MISSING)
    with pytest.raises(DeidError) as caught, translated():
        raise ours
    assert caught.value is ours


def test_a_url_that_cannot_be_read_is_refused_by_the_name_of_its_setting():
    with pytest.raises(DeidError) as caught:
        Warehouse("not a url but s3cret")
    assert (caught.value.code, caught.value.ref) == (Code.SETTINGS_INVALID, "DEID_WAREHOUSE_URL")


def test_no_repr_shows_a_password():
    warehouse = Warehouse("postgresql://admin:s3cret@example.org/deid")
    assert "s3cret" not in repr(warehouse)
    assert "s3cret" not in str(warehouse.admin_engine().url)


def test_the_embedded_server_takes_demonstration_data_alone(tmp_path):
    embedded, real = Warehouse(EmbeddedServer(tmp_path)), Warehouse("postgresql://admin@example.org/deid")
    embedded.accept("hospital", demonstration=True)
    real.accept("hospital", demonstration=False)
    embedded.accept("hospital", demonstration=False, allow_real=True)
    with pytest.raises(DeidError) as caught:
        embedded.accept("hospital", demonstration=False)
    assert (caught.value.code, caught.value.ref) == (Code.FEED_NOT_DEMONSTRATION, "hospital")


def test_a_password_comes_from_a_file_or_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("DEID_PASSWORD_LOADER", raising=False)
    assert password("loader") is None
    monkeypatch.setenv("DEID_PASSWORD_LOADER", "from-environment")
    assert password("loader") == "from-environment"
    (tmp_path / "secret").write_text("from-file\n")
    monkeypatch.setenv("DEID_PASSWORD_LOADER_FILE", str(tmp_path / "secret"))
    assert password("loader") == "from-file"
    monkeypatch.setenv("DEID_PASSWORD_LOADER_FILE", str(tmp_path / "none"))
    with pytest.raises(DeidError, match="DEID_PASSWORD_LOADER_FILE"):
        password("loader")


def test_a_role_without_a_password_is_not_lent_the_administrators(monkeypatch):
    monkeypatch.delenv("DEID_PASSWORD_LOADER", raising=False)
    warehouse = Warehouse("postgresql://admin:s3cret@example.org/deid")
    assert warehouse.url(Role.LOADER).password is None
    assert warehouse.admin_engine().url.password == "s3cret"


def test_the_administrators_password_need_not_stand_in_the_url(tmp_path, monkeypatch):
    (tmp_path / "admin").write_text("from-file\n")
    monkeypatch.setenv("DEID_PASSWORD_ADMIN_FILE", str(tmp_path / "admin"))
    assert Warehouse("postgresql://chief@example.org/deid").admin_engine().url.password == "from-file"
    assert Warehouse("postgresql://chief:own@example.org/deid").admin_engine().url.password == "own"


@pytest.mark.parametrize(
    ("url", "environment", "mode"),
    [
        ("postgresql://admin@example.org/deid", None, "verify-full"),
        ("postgresql://admin@/deid?host=example.org", None, "verify-full"),
        ("postgresql://admin@example.org/deid?sslmode=require", None, "require"),
        ("postgresql://admin@example.org/deid", "verify-ca", None),
        ("postgresql://admin@/deid?host=/run/postgresql", None, None),
        ("postgresql:///deid", None, None),
    ],
    ids=["host", "host in the query", "the URL says", "the environment says", "socket", "no host"],
)
def test_over_a_network_the_server_has_to_prove_who_it_is(url, environment, mode, monkeypatch):
    for name in ("PGHOST", "PGSSLMODE"):
        monkeypatch.delenv(name, raising=False)
    if environment:
        monkeypatch.setenv("PGSSLMODE", environment)
    warehouse = Warehouse(url)
    assert warehouse.url(Role.LOADER).query.get("sslmode") == mode
    assert warehouse.dbt_environment().get("PGSSLMODE") == mode


def test_psql_on_a_real_server_gets_its_password_by_the_environment_alone(monkeypatch):
    monkeypatch.setenv("DEID_PASSWORD_DEMO_ANALYST", "s3cret")
    command, environment = Warehouse("postgresql://admin:other@example.org/deid?sslmode=require").psql()
    program, url = command
    assert Path(program).name == "psql"
    assert url == "postgresql://demo_analyst@example.org/deid?sslmode=require"
    assert environment == {"PGPASSWORD": "s3cret"}


@pytest.fixture
def server_with_passwords(embedded_server):
    """The URL of a database on the test server that demands passwords, as a real server does."""
    rules = embedded_server.data / "pg_hba.conf"
    before = rules.read_text()
    admin = Warehouse(embedded_server)
    with admin.administer(maintenance=True) as connection:
        connection.exec_driver_sql("CREATE ROLE admin LOGIN CREATEROLE CREATEDB PASSWORD 'admin-password'")
        # An administrator without superuser rights, as hosted servers have; the roles are there already.
        connection.exec_driver_sql("GRANT CONNECT ON DATABASE postgres TO admin")
        connection.exec_driver_sql("GRANT deid_owner, deid_modeller TO admin")
        for role in LOGIN_ROLES:
            connection.exec_driver_sql(f"GRANT {role} TO admin WITH ADMIN OPTION")
        rules.write_text("local deid_with_passwords all scram-sha-256\n" + before)
        connection.exec_driver_sql("SELECT pg_reload_conf()")
    status = embedded_server.status()
    yield f"postgresql://admin:admin-password@/deid_with_passwords?host={status.socket}&port={status.port}"
    rules.write_text(before)
    with admin.administer(maintenance=True) as connection:
        connection.exec_driver_sql("SELECT pg_reload_conf()")
        connection.exec_driver_sql("DROP DATABASE IF EXISTS deid_with_passwords WITH (FORCE)")
        connection.exec_driver_sql("DROP OWNED BY admin CASCADE")
        connection.exec_driver_sql("DROP ROLE admin")


def test_on_a_real_server_each_role_logs_in_with_its_own_password(server_with_passwords, monkeypatch):
    for role in LOGIN_ROLES:
        monkeypatch.setenv(f"DEID_PASSWORD_{role.upper()}", secrets.token_hex(8))
    warehouse = Warehouse(server_with_passwords)
    prepare(warehouse, profile="demo")
    for role in LOGIN_ROLES:
        with warehouse.begin(role) as connection:
            assert connection.execute(text("SELECT session_user")).scalar() == role
    assert warehouse.dbt_environment()["DBT_ENV_SECRET_MODELLER"] == password("deid_modeller")

    monkeypatch.setenv("DEID_PASSWORD_LOADER", "wrong")
    with pytest.raises(DeidError) as caught, Warehouse(server_with_passwords).begin(Role.LOADER):
        pass
    assert (caught.value.code, caught.value.ref) == (Code.WAREHOUSE_LOGIN, "loader")


def test_a_lock_that_another_session_holds_is_told_as_busy_and_worth_another_attempt(shared_scene):
    warehouse = shared_scene.warehouse
    with warehouse.administer() as holding:
        holding.exec_driver_sql("BEGIN; LOCK TABLE ctl.profile")
        with pytest.raises(DeidError) as caught, warehouse.begin(Role.OFFICER) as waiting:
            waiting.exec_driver_sql("SET LOCAL lock_timeout = '100ms'")
            waiting.exec_driver_sql("SELECT 1 FROM ctl.profile")
        holding.exec_driver_sql("ROLLBACK")
    assert caught.value.code is Code.WAREHOUSE_BUSY
    assert caught.value.code.transient

"""The warehouse fails in every way a real server does: a code that says which, and the next call goes on.

On a PostgreSQL of the machine's own, over TCP with scram and TLS, since the embedded server has neither.
"""

from __future__ import annotations

import secrets
import shutil
import subprocess
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from system_server import Authority, SystemServer

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.gate.promotion import Outcome
from deid_platform.warehouse.gate.staging import stage
from deid_platform.warehouse.migrate import prepare
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role

TLS_ALONE = "hostssl all all 127.0.0.1/32 scram-sha-256"


@pytest.fixture(scope="module")
def fresh_database(system_databases):
    """Databases of this module are on the server that its tests break."""
    return system_databases


def ask(warehouse: Warehouse, role: Role = Role.DEMO_ANALYST) -> object:
    with warehouse.begin(role) as connection:
        return connection.execute(text("SELECT session_user")).scalar()


def code_of(call: Callable[[], object]) -> Code:
    """The code that a call fails with, none of whose words come from the server."""
    with pytest.raises(DeidError) as caught:
        call()
    shown = "".join(traceback.format_exception(caught.value))
    assert caught.value.__cause__ is None
    assert "127.0.0.1" not in shown
    assert "FATAL" not in shown
    return caught.value.code


# How the server, or what the client knows of it, goes wrong. Each is put right when its block ends; inside it, the
# analyst connects with what is yielded: changes to the URL.


@contextmanager
def on_server(server: SystemServer, break_it: Callable[[], None], mend: Callable[[], None]) -> Iterator[dict[str, str]]:
    break_it()
    server.reload()
    yield {}
    mend()
    server.reload()


@contextmanager
def with_password(password: str | None) -> Iterator[dict[str, str]]:
    with pytest.MonkeyPatch.context() as patch:
        if password is None:
            patch.delenv("DEID_PASSWORD_DEMO_ANALYST")
        else:
            patch.setenv("DEID_PASSWORD_DEMO_ANALYST", password)
        yield {}


@contextmanager
def after_statements(server: SystemServer, *pairs: tuple[str, str]) -> Iterator[dict[str, str]]:
    with Warehouse(server.url()).administer() as connection:
        for statement, _ in pairs:
            connection.exec_driver_sql(statement)
        yield {}
        for _, undo in pairs:
            connection.exec_driver_sql(undo)


@contextmanager
def reached_by(**changes: str) -> Iterator[dict[str, str]]:
    yield changes


@contextmanager
def another_authority(server: SystemServer) -> Iterator[dict[str, str]]:
    other = server.folder / "other.crt"
    other.write_bytes(Authority.made().pem)
    yield {"sslrootcert": str(other)}
    other.unlink()


REFUSALS: dict[str, tuple[Code, Callable[[SystemServer], AbstractContextManager[dict[str, str]]]]] = {
    "a wrong password": (Code.WAREHOUSE_LOGIN, lambda _: with_password("not-the-analysts")),
    "no password": (Code.WAREHOUSE_LOGIN, lambda _: with_password(None)),
    "no such role": (
        Code.WAREHOUSE_LOGIN,
        lambda s: after_statements(
            s, ("ALTER ROLE demo_analyst RENAME TO gone", "ALTER ROLE gone RENAME TO demo_analyst")
        ),
    ),
    "a role that may not log in": (
        Code.WAREHOUSE_LOGIN,
        lambda s: after_statements(s, ("ALTER ROLE demo_analyst NOLOGIN", "ALTER ROLE demo_analyst LOGIN")),
    ),
    "a role that pg_hba.conf does not know": (
        Code.WAREHOUSE_LOGIN,
        lambda s: on_server(
            s, lambda: s.allow(TLS_ALONE.replace("all all", "all administrator")), lambda: s.allow(TLS_ALONE)
        ),
    ),
    "a role that pg_hba.conf rejects": (
        Code.WAREHOUSE_LOGIN,
        lambda s: on_server(
            s, lambda: s.allow("hostssl all demo_analyst 127.0.0.1/32 reject", TLS_ALONE), lambda: s.allow(TLS_ALONE)
        ),
    ),
    "an expired certificate": (
        Code.WAREHOUSE_TLS,
        lambda s: on_server(s, lambda: s.certify(expired=True), s.certify),
    ),
    "another host's certificate": (
        Code.WAREHOUSE_TLS,
        lambda s: on_server(s, lambda: s.certify(host="db.example.org"), s.certify),
    ),
    "an unknown authority": (Code.WAREHOUSE_TLS, another_authority),
    "no authority's certificate here": (Code.WAREHOUSE_TLS, lambda _: reached_by(sslrootcert="/nonexistent/root.crt")),
    "a server without TLS": (
        Code.WAREHOUSE_TLS,
        lambda s: on_server(s, lambda: s.configure({"ssl": "off"}), lambda: s.configure({"ssl": "on"})),
    ),
    "a client without TLS": (Code.WAREHOUSE_TLS, lambda _: reached_by(sslmode="disable")),
    "no connection left": (
        Code.WAREHOUSE_FULL,
        lambda s: after_statements(
            s, ("ALTER ROLE demo_analyst CONNECTION LIMIT 0", "ALTER ROLE demo_analyst CONNECTION LIMIT -1")
        ),
    ),
    "no such database": (Code.WAREHOUSE_NOT_READY, lambda _: reached_by(database="nowhere")),
    "nobody at that port": (Code.WAREHOUSE_UNREACHABLE, lambda _: reached_by(port="1")),
}


@pytest.mark.parametrize("how", REFUSALS)
def test_each_way_of_being_refused_has_its_code_and_passes_when_it_is_mended(system_server, shared_scene, how):
    expected, trouble = REFUSALS[how]
    name = shared_scene.warehouse.database
    with trouble(system_server) as changes:
        database = changes.pop("database", name)
        refused = Warehouse(system_server.url(database, **changes))
        assert code_of(lambda: ask(refused)) is expected
    assert ask(Warehouse(system_server.url(name))) == "demo_analyst"


def test_a_server_that_is_gone_is_told_and_used_again_when_it_is_back(system_server, shared_scene):
    system_server.stop()
    try:
        assert code_of(lambda: ask(shared_scene.warehouse)) is Code.WAREHOUSE_UNREACHABLE
        assert code_of(lambda: prepare(shared_scene.warehouse, profile="demo")) is Code.WAREHOUSE_UNREACHABLE
    finally:
        system_server.start()
    assert ask(shared_scene.warehouse) == "demo_analyst"


def test_after_a_failover_a_standby_takes_no_writes_and_is_told_so(system_server, own_scene):
    staged = [own_scene.note(1)]
    with own_scene.warehouse.administer(maintenance=True) as connection:
        name = own_scene.warehouse.database
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        assert code_of(lambda: own_scene.stage("1", staged)) is Code.WAREHOUSE_UNREACHABLE
        connection.exec_driver_sql(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    own_scene.publish("1", staged)
    assert own_scene.visible() == ["note 1"]


# In the middle of a call


def cut_off(server: SystemServer, role: Role) -> None:
    with Warehouse(server.url()).administer() as connection:
        found = connection.execute(
            text("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = :role"), {"role": role}
        ).scalar()
    assert found


def crash(server: SystemServer, _role: Role) -> None:
    server.crash()


def fail_over(server: SystemServer, _role: Role) -> None:
    server.restart()


CUTS = pytest.mark.parametrize("cut", [cut_off, crash, fail_over])


@CUTS
def test_a_connection_lost_in_the_middle_of_staging_stages_nothing(system_server, own_scene, cut):
    own_scene.publish("1", [own_scene.note(1)])
    rows = [own_scene.note(number, f"note {number} " + "x" * 20_000) for number in range(2, 202)]

    def interrupted():
        for done, row in enumerate(rows):
            if done == 100:
                cut(system_server, Role.LOADER)
            yield row

    loader, delivery = own_scene.warehouse.engine(Role.LOADER), own_scene.delivery("2")
    failed = code_of(lambda: stage(loader, delivery, interrupted(), own_scene.header(rows)))
    assert failed is Code.WAREHOUSE_UNREACHABLE
    with own_scene.warehouse.administer() as connection:
        left = text("SELECT count(*) FROM staging.note WHERE delivery = :delivery")
        assert connection.execute(left, {"delivery": delivery.key}).scalar() == 0
    with pytest.raises(DeidError) as refused:
        own_scene.promote("2")
    assert refused.value.code in (Code.GATE_UNKNOWN_DELIVERY, Code.GATE_REFUSED)
    assert own_scene.visible() == ["note 1"]
    assert own_scene.publish("2", rows).approved == 200
    assert len(own_scene.visible()) == 201


@CUTS
def test_a_connection_lost_in_the_middle_of_a_promotion_promotes_all_or_nothing(system_server, own_scene, cut):
    own_scene.publish("1", [own_scene.note(1)])
    rows = [own_scene.note(number) for number in range(2, 12)]
    own_scene.measure(own_scene.stage("2", rows))
    codes: list[Code] = []
    with system_session(own_scene.warehouse) as blocker:
        blocker.execute("LOCK TABLE research.note_version IN SHARE MODE")  # the promotion waits for it, half done
        caller = threading.Thread(target=lambda: codes.append(code_of(lambda: own_scene.promote("2"))))
        caller.start()
        wait_until_blocked(own_scene.warehouse, "promoter")
        cut(system_server, Role.PROMOTER)
        caller.join(timeout=30)
    assert codes == [Code.WAREHOUSE_UNREACHABLE]
    assert own_scene.visible() == ["note 1"]
    if cut is crash:
        # Staging is not logged: what the crash emptied is refused, never promoted as if nothing had been announced.
        assert code_of(lambda: own_scene.promote("2")) in (Code.GATE_UNKNOWN_DELIVERY, Code.GATE_REFUSED)
        assert own_scene.visible() == ["note 1"]
        own_scene.measure(own_scene.stage("2", rows))
    done = own_scene.promote("2")
    assert (done.outcome, done.approved) == (Outcome.PROMOTED, 10)
    assert len(own_scene.visible()) == 11


@pytest.mark.parametrize("cut", [cut_off, crash])
def test_a_migration_that_is_interrupted_leaves_nothing_and_is_done_by_the_next(
    system_server, shared_scene, fresh_database, cut
):
    name = f"deid_{secrets.token_hex(4)}"
    warehouse = Warehouse(system_server.url(name))
    with warehouse.administer(maintenance=True) as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    with warehouse.administer() as connection:
        connection.exec_driver_sql(
            "CREATE FUNCTION public.linger() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN"
            " IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'research.note_version')"
            " THEN PERFORM pg_sleep(60); END IF; END $$;"
            "CREATE EVENT TRIGGER linger ON ddl_command_end WHEN TAG IN ('CREATE TABLE')"
            " EXECUTE FUNCTION public.linger()"
        )
        connection.exec_driver_sql(f"ALTER DATABASE {name} OWNER TO deid_owner")
    codes: list[Code] = []
    caller = threading.Thread(target=lambda: codes.append(code_of(lambda: prepare(warehouse, profile="demo"))))
    caller.start()
    wait_until(
        warehouse, "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    )
    if cut is crash:
        crash(system_server, Role.OWNER)
    else:
        with warehouse.administer(maintenance=True) as connection:
            connection.exec_driver_sql(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            )
    caller.join(timeout=30)
    assert codes == [Code.WAREHOUSE_UNREACHABLE]
    assert schemas(warehouse) == set()
    assert code_of(lambda: read_notes(warehouse)) is Code.WAREHOUSE_NOT_READY

    with warehouse.administer() as connection:
        connection.exec_driver_sql("DROP EVENT TRIGGER linger")
        connection.exec_driver_sql("DROP FUNCTION public.linger()")
    prepare(warehouse, profile="demo")
    assert schemas(warehouse) == schemas(shared_scene.warehouse)
    read_notes(warehouse)
    with warehouse.administer(maintenance=True) as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


# No space left


@pytest.fixture
def tiny_disk(system_server) -> Iterator[Path]:
    """A disk of 4 MB for the server's tables."""
    folder = Path(tempfile.mkdtemp(prefix="deid-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip("NOT RUN: mounting a small disk needs root")
    try:
        if system_server.user:
            shutil.chown(folder, system_server.user)
        folder.chmod(0o700)
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


@pytest.mark.parametrize("table", ["staging.note", "research.note_version"])
def test_a_full_disk_changes_nothing_and_the_next_call_goes_on(system_server, own_scene, tiny_disk, table):
    own_scene.publish("1", [own_scene.note(1)])
    rows = [own_scene.note(number, secrets.token_hex(50_000)) for number in range(2, 102)]  # 10 MB
    with own_scene.warehouse.administer() as connection:
        connection.exec_driver_sql(f"CREATE TABLESPACE tiny LOCATION '{tiny_disk}'")
        connection.exec_driver_sql(f"ALTER TABLE {table} SET TABLESPACE tiny")
    if table == "staging.note":
        failing = lambda: own_scene.stage("2", rows)  # noqa: E731
    else:
        own_scene.measure(own_scene.stage("2", rows))
        failing = lambda: own_scene.promote("2")  # noqa: E731
    try:
        assert code_of(failing) is Code.WAREHOUSE_FULL
        assert own_scene.visible() == ["note 1"]
        subprocess.run(["mount", "-o", "remount,size=64m", str(tiny_disk)], check=True)
        if table == "staging.note":
            own_scene.measure(own_scene.stage("2", rows))
        assert own_scene.promote("2").approved == 100
        assert len(own_scene.visible()) == 101
    finally:
        with own_scene.warehouse.administer() as connection:
            connection.exec_driver_sql(f"ALTER TABLE {table} SET TABLESPACE pg_default")
            connection.exec_driver_sql("CHECKPOINT")
            connection.exec_driver_sql("DROP TABLESPACE tiny")


def test_where_no_small_disk_can_be_had_a_raised_disk_full_is_told_the_same(own_scene):
    own_scene.publish("1", [own_scene.note(1)])
    own_scene.measure(own_scene.stage("2", [own_scene.note(2)]))
    with own_scene.warehouse.administer() as connection:
        connection.exec_driver_sql(
            "CREATE FUNCTION public.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$;"
            "CREATE TRIGGER full_disk BEFORE INSERT ON research.note_version"
            " FOR EACH ROW EXECUTE FUNCTION public.full_disk()"
        )
        assert code_of(lambda: own_scene.promote("2")) is Code.WAREHOUSE_FULL
        assert own_scene.visible() == ["note 1"]
        connection.exec_driver_sql("DROP TRIGGER full_disk ON research.note_version")
    assert own_scene.promote("2").approved == 1


# What the tests look at from outside


@contextmanager
def system_session(warehouse: Warehouse) -> Iterator:
    """A session of the administrator that its server may end."""
    import psycopg

    url = warehouse.admin_engine().url.set(drivername="postgresql").render_as_string(hide_password=False)
    session = psycopg.connect(url)
    try:
        yield session
    finally:
        session.close()


def wait_until(warehouse: Warehouse, query: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    with warehouse.administer() as connection:
        while connection.exec_driver_sql(query).scalar() is None:
            assert time.monotonic() < deadline, "it never came to that"
            time.sleep(0.05)


def wait_until_blocked(warehouse: Warehouse, role: str) -> None:
    wait_until(warehouse, f"SELECT 1 FROM pg_stat_activity WHERE usename = '{role}' AND wait_event_type = 'Lock'")


def schemas(warehouse: Warehouse) -> set[tuple[str, ...]]:
    """What there is of ours: every table, view and function."""
    with warehouse.administer() as connection:
        found = connection.exec_driver_sql(
            "SELECT nspname, relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE nspname !~ '^(pg_|information_schema|public)' UNION ALL"
            " SELECT nspname, proname FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace"
            " WHERE nspname !~ '^(pg_|information_schema|public)'"
        )
        return {tuple(row) for row in found}


def read_notes(warehouse: Warehouse) -> None:
    with warehouse.begin(Role.DEMO_ANALYST) as connection:
        connection.execute(text("SELECT * FROM research.notes"))

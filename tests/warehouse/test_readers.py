"""What readers could learn or take by other ways than reading: plans, order, sessions, the clock, group roles.

Belongs here: attacks of whoever has a reader's login. What a reader is granted is in `readers/test_projects.py`;
attacks on the gate are in `test_bypasses.py`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.gate.promotion import end_idle_readers
from deid_platform.warehouse.migrate import configure
from deid_platform.warehouse.readers.projects import delete_project, grant_project, set_member, set_project
from deid_platform.warehouse.server.bootstrap import bootstrap
from deid_platform.warehouse.server.logins import add_login, unbounded
from deid_platform.warehouse.server.roles import LOGIN_ROLES, READERS, SERVICES, Role

TODAY = datetime.now(tz=UTC).date()
OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "^@", "~<~", "~<=~", "~>~", "~>=~")


def reading(scene, sql: str, role: Role = Role.DEMO_ANALYST) -> list:
    with scene.warehouse.begin(role) as connection:
        return connection.exec_driver_sql(sql, execution_options={"no_parameters": True}).scalars().all()


def as_administrator(scene, *statements: str) -> list:
    with scene.warehouse.administer() as connection:
        for statement in statements:
            found = connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
        return found.scalars().all() if found.returns_rows else []


def grant(scene, login: str = "demo_analyst", *, until: date | None = None, **what) -> None:
    officer = scene.warehouse.engine(Role.OFFICER)
    set_project(officer, "sepsis", purpose="outcomes of sepsis", until=until)
    grant_project(officer, "sepsis", **what)
    set_member(officer, "sepsis", login)


# Plans


def plan(connection: Connection, view: str, condition: str, options: str = "COSTS") -> str:
    explain = f"EXPLAIN ({options}) SELECT 1 FROM {view} WHERE {condition}"
    found = connection.exec_driver_sql(explain, execution_options={"no_parameters": True})
    return "\n".join(found.scalars())


@pytest.fixture(scope="module")
def hidden(shared_scene):
    """Sixty notes of the north, ten withdrawn since; the analyst's project reads the south, which has two."""
    scene = shared_scene
    rows = [
        scene.note(
            100 + n, f"{site} secret {n}", site=site, note_type=f"type {n % 3}", patient=n, note_year=2000 + n % 9
        )
        for n, site in enumerate(["north"] * 60 + ["south"] * 2)
    ]
    scene.publish("2", rows)
    scene.publish("3", withdrawn=range(100, 110))
    configure(scene.warehouse.admin_engine(), "production")
    grant(scene, site="south")
    as_administrator(scene, "VACUUM ANALYZE")  # as autovacuum does
    return scene


def columns(scene, view: str) -> list[tuple[str, str]]:
    schema, name = view.split(".")
    with scene.warehouse.administer() as connection:
        found = connection.execute(
            text(
                "SELECT column_name, data_type FROM information_schema.columns"
                " WHERE table_schema = :s AND table_name = :n"
            ),
            {"s": schema, "n": name},
        )
        return [(row.column_name, row.data_type) for row in found]


def conditions(scene, view: str) -> Iterator[tuple[str, str, str]]:
    """Each leakproof comparison with each column, with a value that hidden rows hold and with one of nobody."""
    present = {
        "note_key": scene.note(120).note_key,
        "patient_key": scene.note(120).patient_key,
        "site": "north",
        "note_type": "type 1",
        "language": "en",
        "text": "north secret 20",
        "note_text": "north secret 20",
        "release": "r1",
        "note_title": "type 1",
        "note_source_value": scene.note(120).note_key,
    }
    for column, kind in columns(scene, view):
        if kind in ("text", "character varying"):
            absent = "zzz" if column != "release" else "r2"
            for operator in OPERATORS:
                known = present.get(column, "n")
                yield column, f"{column} {operator} '{known}'", f"{column} {operator} '{absent}'"
        elif kind == "integer":
            for operator in OPERATORS[:6]:
                yield column, f"{column} {operator} 2003", f"{column} {operator} 1903"
        else:
            for operator in OPERATORS[:6]:
                yield column, f"{column} {operator} '2003-01-01'", f"{column} {operator} '1903-01-01'"
        yield column, f"{column} IS NULL", f"{column} IS NULL"


@pytest.mark.parametrize("view", ["research.notes", "omop.note"])
def test_the_planner_estimates_the_same_for_what_hidden_rows_hold_and_for_what_nobody_has(hidden, view):
    with hidden.warehouse.begin(Role.DEMO_ANALYST) as connection:
        for _, *pair in conditions(hidden, view):
            known, unknown = (
                re.findall(r"cost=\S+ rows=\d+ width=\d+", plan(connection, view, condition)) for condition in pair
            )
            assert known == unknown, pair


def test_nor_do_statistics_of_any_table_behind_a_view_exist(hidden):
    behind = """
        WITH RECURSIVE bases (relation) AS (
            SELECT c.oid FROM pg_class c WHERE c.relkind = 'v'
              AND (has_table_privilege('analyst', c.oid, 'SELECT')
                   OR has_table_privilege('limited_analyst', c.oid, 'SELECT'))
              AND c.relnamespace::regnamespace::text IN ('research', 'omop', 'limited', 'quality')
            UNION
            SELECT e.base FROM bases b JOIN (
                SELECT r.ev_class AS relation, d.refobjid AS base FROM pg_rewrite r
                JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
                UNION ALL
                SELECT p.polrelid, d.refobjid FROM pg_policy p
                JOIN pg_depend d ON d.classid = 'pg_policy'::regclass AND d.objid = p.oid
                WHERE d.refclassid = 'pg_class'::regclass) e ON e.relation = b.relation)
        SELECT {} FROM bases b JOIN pg_class c ON c.oid = b.relation AND c.relkind = 'r'
    """
    tables = as_administrator(hidden, behind.format("c.relname"))
    assert {"note_version", "withdrawal", "held", "retraction", "shift", "number", "project_grant"} <= set(tables)
    kept = "count(*) FILTER (WHERE EXISTS (SELECT 1 FROM pg_statistic s WHERE s.starelid = c.oid))"
    assert as_administrator(hidden, behind.format(kept)) == [0]


@pytest.mark.parametrize("view", ["research.notes", "omop.note"])
def test_nor_does_a_plan_that_was_run_tell_which_hidden_rows_a_condition_found(hidden, view):
    options = "ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF, BUFFERS OFF"
    with hidden.warehouse.begin(Role.DEMO_ANALYST) as connection:
        for column, *pair in conditions(hidden, view):
            # Keys are drawn by HMAC and say nothing; notes are looked up by them, so they are compared first.
            if column in ("note_key", "note_id", "person_id", "provider_id", "visit_occurrence_id", "release"):
                continue
            own = [connection.execute(text(f"SELECT count(*) FROM {view} WHERE {condition}")) for condition in pair]
            if len({found.scalar() for found in own}) > 1:
                continue
            # The conditions themselves aside: what ran, and how many rows each part passed on or over.
            known, unknown = (
                [line for line in plan(connection, view, condition, options).splitlines() if "Filter: " not in line]
                for condition in pair
            )
            assert any("rows=" in line for line in known)
            assert known == unknown, pair


@pytest.mark.parametrize("column", ["ctid", "xmin", "tableoid"])
def test_where_and_when_a_row_was_written_is_no_column_of_a_view(hidden, column):
    with pytest.raises(DeidError, match="warehouse-statement"):
        reading(hidden, f"SELECT {column} FROM research.notes")


# Order


def rank_correlation(values: list) -> float:
    """Spearman's, of a list of distinct values with their positions."""
    n = len(values)
    rank = {value: position for position, value in enumerate(sorted(values))}
    return 1 - 6 * sum((rank[value] - position) ** 2 for position, value in enumerate(values)) / (n * (n * n - 1))


@pytest.fixture
def by_date(scene):
    """Four hundred notes in four deliveries, as the source writes them day by day."""
    for week in range(4):
        numbers = range(100 * week, 100 * week + 100)
        rows = [scene.note(n, patient=n, shifted_date=date(2020, 1, 1) + timedelta(days=n)) for n in numbers]
        scene.publish(str(week + 1), rows)
    return scene


@pytest.mark.parametrize(
    "order",
    [
        "SELECT note_key FROM research.notes",
        "SELECT note_source_value FROM omop.note",
        "SELECT note_source_value FROM omop.note ORDER BY note_id",
        "SELECT unnest(array_agg(note_key)) FROM research.notes",
    ],
    ids=["as they stand", "as OMOP has them", "by OMOP's number", "gathered"],
)
def test_notes_that_come_in_by_date_stand_in_no_order_of_dates(by_date, order):
    for settings in ((), ("index", "indexonly", "bitmap"), ("index", "indexonly", "bitmap", "merge", "nest")):
        with by_date.warehouse.begin(Role.DEMO_ANALYST) as connection:
            for name in settings:  # joins and scans of other kinds return rows in other orders
                kind = {"merge": "mergejoin", "nest": "nestloop"}.get(name, f"{name}scan")
                connection.exec_driver_sql(f"SET enable_{kind} = off")
            keys = connection.exec_driver_sql(order).scalars().all()
        days = {by_date.note(n).note_key: n for n in range(400)}
        assert abs(rank_correlation([days[key] for key in keys])) < 0.2, settings  # 4 sigma


def test_nor_does_what_is_written_within_a_delivery_tell_them_apart(scene):
    scene.publish("1", [scene.note(n, patient=n) for n in range(400)])
    written = as_administrator(scene, "SELECT note_key FROM research.note_version ORDER BY ctid")
    assert written == sorted(written)
    assert as_administrator(scene, "SELECT count(DISTINCT xmin::text) FROM research.note_version") == [1]
    for kind in ("note", "patient"):
        numbered = as_administrator(scene, f"SELECT key FROM research.number WHERE kind = '{kind}' ORDER BY ctid")
        assert numbered == sorted(numbered)


# The clock


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "X+160", "X-160"])
def test_a_project_ends_by_the_servers_clock_whatever_the_reader_sets(scene, zone):
    scene.publish("1", [scene.note(1)])
    configure(scene.warehouse.admin_engine(), "production")

    def seen() -> list:
        with scene.warehouse.begin(Role.DEMO_ANALYST) as connection:
            connection.execute(text(f"SET timezone = '{zone}'"))
            return connection.execute(text("SELECT text FROM research.notes")).scalars().all()

    grant(scene, until=TODAY - timedelta(days=1))
    assert seen() == []
    grant(scene, until=datetime.now(tz=UTC).date())
    assert seen() == ["note 1"]


@pytest.mark.parametrize("zone", ["Etc/GMT+12", "X+160"])
def test_so_does_a_waiver(scene, zone):
    configure(scene.warehouse.admin_engine(), "production")
    staged = scene.stage("1", [scene.note(1)])
    scene.measure(staged, failing=["site_gold"], profile="production")
    as_administrator(
        scene,
        "INSERT INTO ctl.waiver (delivery, requirement, who, reason, until)"
        f" VALUES ('clinic@1', 'site_gold', 'A. Officer', 'gold is being annotated', '{TODAY - timedelta(days=1)}')",
    )
    with scene.warehouse.begin(Role.PROMOTER) as connection:
        connection.execute(text(f"SET timezone = '{zone}'"))
        promoted = connection.execute(text("SELECT * FROM ctl.promote('clinic@1')")).one()
    assert (promoted.outcome, promoted.missing) == ("refused", ["site_gold"])
    with pytest.raises(DeidError) as caught, scene.warehouse.begin(Role.OFFICER) as connection:
        connection.execute(text(f"SET timezone = '{zone}'"))
        connection.execute(
            text("SELECT ctl.waive(NULL, 'clinic', 'site_gold', 'A. Officer', 'gold is being annotated', :today)"),
            {"today": TODAY},
        )
    assert (caught.value.code, caught.value.ref) == (Code.WAIVER_INVALID, "until")


def test_nothing_asks_a_clock_that_a_reader_sets_or_that_stands_still_in_a_statement(scene):
    definitions = as_administrator(
        scene,
        "SELECT prosrc FROM pg_proc WHERE pronamespace = 'ctl'::regnamespace"
        " UNION ALL SELECT definition FROM pg_views"
        " WHERE schemaname IN ('ctl', 'research', 'limited', 'omop', 'quality')",
    )
    assert any("clock_timestamp" in definition for definition in definitions)
    other = re.compile(r"current_date|current_timestamp|localtimestamp|(statement|transaction)_timestamp|\bnow\(", re.I)
    assert [definition for definition in definitions if other.search(definition)] == []


# Groups and people


@contextmanager
def person(scene, login: str, **changes) -> Iterator[Callable[[], Connection]]:
    """A reader's own login; yields what opens a connection as it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(f"DEID_PASSWORD_{login.upper()}", "".join(random.choices("abcdefgh0123456789", k=40)))
        add_login(scene.warehouse, login, **changes)
        engine = create_engine(scene.warehouse.url(login), poolclass=NullPool, hide_parameters=True)
        try:
            yield engine.connect
        finally:
            with scene.warehouse.administer() as connection:
                gone = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = :login"
                connection.execute(text(gone), {"login": login})
                connection.execute(text(f"DROP ROLE {login}"))


@pytest.mark.parametrize("group", READERS, ids=str)
def test_nobody_logs_in_as_a_group_nor_makes_it_a_login(scene, group):
    with pytest.raises(DeidError), scene.warehouse.begin(group):
        pass
    with person(scene, "jdoe", limited=group is Role.LIMITED_ANALYST) as connect:
        for statement in (
            f"ALTER ROLE {group} LOGIN",
            f"ALTER ROLE {group} PASSWORD 'taken-over-by-a-member'",
            f"ALTER ROLE {group} SET row_security = off",
            "ALTER ROLE demo_analyst PASSWORD 'taken-over-by-a-member'",
            "ALTER ROLE jdoe CONNECTION LIMIT 100",
        ):
            with connect() as connection, pytest.raises(DBAPIError) as caught:
                connection.execute(text(statement))
            assert caught.value.orig.sqlstate == "42501", statement
        with connect() as connection:  # as the group, a member still logs in as nobody else
            with_role = connection.exec_driver_sql
            try:
                with_role(f"SET ROLE {group}")
                with_role(f"ALTER ROLE {group} PASSWORD 'taken-over-by-a-member'")
                connection.commit()
            except DBAPIError:
                connection.rollback()
    assert as_administrator(scene, f"SELECT rolcanlogin FROM pg_roles WHERE rolname = '{group}'") == [False]
    with pytest.raises(DeidError), scene.warehouse.begin(group):
        pass


def test_no_service_has_members_who_could_take_it_over(scene):
    assert unbounded(scene.warehouse.engine(Role.OFFICER)) == tuple(
        told for told in unbounded(scene.warehouse.engine(Role.OFFICER)) if "fill the server" in told
    )
    with person(scene, "jdoe"):
        as_administrator(scene, "GRANT officer TO jdoe", "ALTER ROLE jdoe CONNECTION LIMIT -1")
        told = unbounded(scene.warehouse.engine(Role.OFFICER))
        assert "jdoe belongs to officer, whose password it can change" in told
        assert "jdoe has no limit of connections" in told


@pytest.mark.parametrize("login", [*SERVICES, *READERS, "deid_owner", "J Doe", 'x"; DROP ROLE loader', ""])
def test_a_login_that_is_no_readers_is_refused(scene, login):
    with pytest.raises(DeidError) as caught:
        add_login(scene.warehouse, login)
    assert caught.value.code is Code.LOGIN_INVALID


def test_nor_is_a_login_of_an_administrator_made_a_readers(scene):
    administrator = scene.warehouse.admin_engine().url.username
    with pytest.raises(DeidError) as caught:
        add_login(scene.warehouse, administrator)
    assert caught.value.code is Code.LOGIN_INVALID


# Sessions


@pytest.mark.parametrize("how", ["removed", "grant taken back", "project ended", "project deleted"])
def test_who_may_no_longer_read_loses_the_snapshot_that_still_could(scene, how):
    scene.publish("1", [scene.note(1)])
    configure(scene.warehouse.admin_engine(), "production")
    officer = scene.warehouse.engine(Role.OFFICER)
    with person(scene, "jdoe") as connect:
        grant(scene, "jdoe")
        with connect() as connection:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            connection.exec_driver_sql("DECLARE kept CURSOR FOR SELECT text FROM research.notes")
            read = "SELECT text FROM research.notes"
            assert connection.exec_driver_sql(read).scalars().all() == ["note 1"]
            if how == "removed":
                assert set_member(officer, "sepsis", "jdoe", member=False) == 1
            elif how == "grant taken back":
                assert grant_project(officer, "sepsis", granted=False) == 1
            elif how == "project deleted":
                assert delete_project(officer, "sepsis", who="A. Officer", reason="the study is over") == 1
            else:
                set_project(officer, "sepsis", purpose="outcomes of sepsis", until=TODAY - timedelta(days=1))
            with pytest.raises(DBAPIError):
                connection.exec_driver_sql("FETCH 1 FROM kept")
            connection.invalidate()
        with connect() as connection:
            assert connection.exec_driver_sql(read).scalars().all() == []


def test_the_officer_ends_no_session_of_the_platforms(scene):
    with scene.warehouse.begin(Role.LOADER) as loading, scene.warehouse.begin(Role.OFFICER) as connection:
        loading.execute(text("SELECT 1"))
        ended = connection.execute(text("SELECT ctl.end_sessions(ARRAY['loader', 'promoter', 'postgres'])"))
        assert ended.scalar() == 0
        assert loading.execute(text("SELECT 1")).scalar() == 1


def test_a_reader_who_idles_in_a_transaction_is_sent_away_whatever_it_sets(scene):
    scene.publish("1", [scene.note(1)])
    with person(scene, "jdoe") as connect, connect() as idle, connect() as other:
        for name in ("idle_in_transaction_session_timeout", "idle_session_timeout", "statement_timeout"):
            idle.exec_driver_sql(f"SET {name} = 0")
        idle.exec_driver_sql("SELECT count(*) FROM research.notes")
        other.exec_driver_sql("SELECT 1")
        other.commit()
        promoter = scene.warehouse.engine(Role.PROMOTER)
        assert end_idle_readers(promoter) == 0  # not for minutes yet
        with scene.warehouse.begin(Role.PROMOTER) as connection:
            assert connection.execute(text("SELECT ctl.end_idle_readers('0 s', '1 day')")).scalar() == 1
        with pytest.raises(DBAPIError):
            idle.exec_driver_sql("SELECT 1")
        idle.invalidate()
        assert other.exec_driver_sql("SELECT 1").scalar() == 1


def test_readers_who_fill_the_server_shut_no_service_out(scene):
    (reserved,) = as_administrator(scene, "SELECT coalesce(current_setting('reserved_connections', true), 'none')")
    if reserved in ("0", "none"):
        (told,) = (it for it in unbounded(scene.warehouse.engine(Role.OFFICER)) if "fill the server" in it)
        assert ("PostgreSQL 16 or later" in told, "reserved_connections is 0" in told) == (
            reserved == "none",
            reserved == "0",
        )
        return
    with ExitStack() as stack:
        opened = 0
        for number in range(12):
            connect = stack.enter_context(person(scene, f"reader_{number}"))
            with pytest.raises(DBAPIError) as caught:
                for _ in range(11):
                    stack.enter_context(connect())
                    opened += 1
            if "too many connections for role" not in str(caught.value):
                break
        assert opened > 50
        for role in SERVICES:
            with scene.warehouse.begin(role) as connection:
                assert connection.execute(text("SELECT 1")).scalar() == 1


def test_a_transaction_that_goes_on_for_too_long_is_ended_though_it_is_never_idle(scene):
    with person(scene, "jdoe") as connect, connect() as kept:
        kept.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        kept.exec_driver_sql("SELECT count(*) FROM research.notes")
        with scene.warehouse.begin(Role.PROMOTER) as connection:
            assert connection.execute(text("SELECT ctl.end_idle_readers('1 day', '0 s')")).scalar() == 1
        with pytest.raises(DBAPIError):
            kept.exec_driver_sql("SELECT count(*) FROM research.notes")
        kept.invalidate()


REFUSED = (
    "pg_export_snapshot()",
    "lo_create(0)",
    "lo_creat(-1)",
    "lo_from_bytea(0, 'x')",
    "pg_notify('channel', 'text')",
    "pg_logical_emit_message(false, 'prefix', repeat('x', 1000))",
    "count(pg_advisory_lock(g)) FROM generate_series(1, 200000) g",
    "count(pg_try_advisory_xact_lock_shared(g, g)) FROM generate_series(1, 200000) g",
)


@pytest.mark.parametrize("call", REFUSED)
def test_what_would_outlive_a_reader_s_session_or_stand_outside_every_grant_is_refused(scene, call):
    with pytest.raises(DeidError, match="42501"):
        reading(scene, f"SELECT {call}")


@pytest.mark.parametrize("login", LOGIN_ROLES, ids=str)
def test_no_login_takes_an_advisory_lock_of_any_kind(scene, login):
    taken = reading(
        scene,
        "SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.proname LIKE 'pg%advisory%'"
        " AND has_function_privilege(p.oid, 'EXECUTE')",
        login,
    )
    assert taken == []


def test_savepoints_in_which_a_reader_reads_cannot_fill_the_table_of_locks(scene):
    scene.publish("1", [scene.note(1)])
    read = "SELECT text FROM research.notes"
    with person(scene, "jdoe") as connect, connect() as connection:
        with pytest.raises(DBAPIError) as caught:
            for number in range(200):
                connection.exec_driver_sql(f"SAVEPOINT s{number}")
                connection.exec_driver_sql(read)
        assert caught.value.orig.sqlstate == "53400"
        connection.rollback()
        for number in range(200):  # as clients do that set one before each statement
            connection.exec_driver_sql(f"SAVEPOINT s{number}")
            connection.exec_driver_sql(read)
            connection.exec_driver_sql(f"RELEASE SAVEPOINT s{number}")
        for _ in range(200):
            connection.exec_driver_sql(read)


def test_nor_can_savepoints_in_which_a_reader_begins_and_closes_extracts(scene):
    scene.publish("1", [scene.note(1)])
    made = "SELECT number FROM extracts.begin_extract('sepsis')"
    closed = "SELECT extracts.close_extract('sepsis', {}, lpad('{}', 64, '0'))"
    locks = "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()"
    with person(scene, "jdoe") as connect, connect() as connection:
        grant(scene, "jdoe")
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        for number in range(300):
            connection.exec_driver_sql(f"SAVEPOINT s{number}")
            with suppress(DBAPIError):
                connection.exec_driver_sql(made)
                connection.exec_driver_sql(closed.format(number % 2, number))
            if connection.connection.driver_connection.info.transaction_status.name == "INERROR":
                connection.exec_driver_sql(f"ROLLBACK TO SAVEPOINT s{number}")
        assert connection.exec_driver_sql(locks).scalar_one() < 200


def test_whatever_function_a_reader_may_call_writes_nothing_or_bounds_the_locks_that_it_takes(scene):
    with scene.warehouse.administer() as connection:
        found = connection.exec_driver_sql(
            "SELECT p.oid::regproc::text AS name, p.prosrc FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace"
            " WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND p.provolatile = 'v'"
            " AND (has_function_privilege('analyst', p.oid, 'EXECUTE')"
            "      OR has_function_privilege('limited_analyst', p.oid, 'EXECUTE'))"
        ).all()
    # Functions of another kind than VOLATILE cannot write: PostgreSQL refuses it.
    assert {"extracts.begin_extract", "extracts.close_extract", "ctl.log_access"} <= {row.name for row in found}
    assert [row.name for row in found if "PERFORM ctl.bound_locks();" not in row.prosrc] == []


@pytest.mark.parametrize("group", READERS, ids=str)
def test_no_reader_writes_a_table_itself(scene, group):
    written = as_administrator(
        scene,
        "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')"
        " AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)"
        f" AND has_table_privilege('{group}', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')",
    )
    assert written == []


@pytest.mark.parametrize(
    "where",
    [
        "SELECT setconfig::text FROM pg_db_role_setting",
        "SELECT rolconfig::text FROM pg_roles",
        "SELECT useconfig::text FROM pg_user",
        "SELECT r::text FROM pg_roles r",
        "SELECT passwd FROM pg_shadow",
    ],
)
def test_what_a_reader_writes_into_its_own_settings_no_other_login_of_the_platform_reads(scene, where):
    with person(scene, "jdoe") as connect, connect() as connection:
        connection.exec_driver_sql(f"ALTER ROLE jdoe SET search_path = '{scene.marker}'")
        connection.commit()
        for role in (Role.DEMO_ANALYST, Role.LOADER, Role.PROMOTER, Role.MODELLER):
            with pytest.raises(DeidError, match="42501"):
                reading(scene, where, role)
        for harmless in ("SELECT rolname, rolcanlogin FROM pg_roles", "SELECT usename FROM pg_user", r"SELECT 1"):
            assert reading(scene, harmless)
        assert connection.exec_driver_sql("SHOW timezone").scalar() == "UTC"
    as_administrator(scene, "GRANT SELECT ON pg_roles TO PUBLIC")
    assert_told_until_bootstrap(scene)


def assert_told_until_bootstrap(scene) -> None:
    told = (
        "readers read each other's settings or default privileges, which may be any text: let a superuser run"
        " `deid db bootstrap`"
    )
    assert told in unbounded(scene.warehouse.engine(Role.OFFICER))
    bootstrap(scene.warehouse)
    assert told not in unbounded(scene.warehouse.engine(Role.OFFICER))


@pytest.mark.parametrize(
    "where",
    [
        "SELECT defaclacl::text FROM pg_default_acl",
        "SELECT count(*) FROM pg_default_acl",
        "SELECT refobjid::regrole FROM pg_shdepend WHERE classid = 'pg_default_acl'::regclass",
        "SELECT count(*) FROM pg_shdepend GROUP BY objid",
    ],
)
def test_nor_the_default_privileges_that_a_reader_grants(scene, where):
    with person(scene, "jdoe") as connect, connect() as connection:
        connection.exec_driver_sql("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO loader, promoter")
        connection.commit()
        for role in (Role.DEMO_ANALYST, Role.LOADER, Role.PROMOTER, Role.MODELLER, Role.OFFICER):
            with pytest.raises(DeidError, match="42501"):
                reading(scene, where, role)
        connection.exec_driver_sql("DROP OWNED BY jdoe")  # which needs to read neither
        connection.commit()
    as_administrator(scene, f"GRANT SELECT ON {re.search(r'FROM (pg_[a-z_]+)', where)[1]} TO PUBLIC")
    assert_told_until_bootstrap(scene)


@contextmanager
def for_everyone(scene, function: str) -> Iterator[None]:
    """As on a server whose administrator may not take a function from everyone."""
    as_administrator(scene, f"GRANT EXECUTE ON FUNCTION pg_catalog.{function} TO PUBLIC")
    try:
        yield
    finally:
        as_administrator(scene, f"REVOKE EXECUTE ON FUNCTION pg_catalog.{function} FROM PUBLIC")


def test_a_reader_who_keeps_an_advisory_lock_between_statements_is_sent_away(scene):
    with for_everyone(scene, "pg_advisory_lock(bigint)"), person(scene, "jdoe") as connect, connect() as idle:
        idle.exec_driver_sql("SELECT pg_advisory_lock(1)")
        idle.commit()
        assert end_idle_readers(scene.warehouse.engine(Role.PROMOTER)) == 1
        with pytest.raises(DBAPIError):
            idle.exec_driver_sql("SELECT 1")
        idle.invalidate()


def test_a_reader_who_holds_more_locks_than_reading_takes_is_sent_away(scene):
    with person(scene, "jdoe") as connect, connect() as connection:
        for number in range(1100):  # what no grant can refuse
            connection.exec_driver_sql(f"SAVEPOINT s{number}")
            connection.exec_driver_sql("ALTER ROLE jdoe SET search_path = 'x'")
        assert end_idle_readers(scene.warehouse.engine(Role.PROMOTER)) == 1
        with pytest.raises(DBAPIError):
            connection.exec_driver_sql("SELECT 1")
        connection.invalidate()


def test_a_reader_s_temporary_files_are_bounded_and_the_reader_does_not_unbound_them(scene):
    with person(scene, "jdoe") as connect:
        for statement in (
            "SET temp_file_limit = -1",
            "ALTER ROLE jdoe SET temp_file_limit = -1",
            "ALTER ROLE jdoe RESET temp_file_limit",
        ):
            with connect() as connection, pytest.raises(DBAPIError) as caught:
                connection.exec_driver_sql(statement)
            assert caught.value.orig.sqlstate == "42501", statement
        with connect() as connection:
            connection.exec_driver_sql("ALTER ROLE jdoe RESET ALL")
            connection.commit()
        with connect() as connection:
            assert connection.exec_driver_sql("SHOW temp_file_limit").scalar() == "10GB"
        as_administrator(scene, "ALTER ROLE jdoe SET temp_file_limit = '1MB'")
        bootstrap(scene.warehouse)  # keeps what the administrator chose
        with connect() as connection:
            with pytest.raises(DBAPIError) as caught:
                connection.exec_driver_sql("SELECT n FROM generate_series(1, 1000000) n ORDER BY -n OFFSET 999999")
            assert caught.value.orig.sqlstate == "53400"
            connection.rollback()
        as_administrator(scene, "ALTER ROLE jdoe RESET temp_file_limit")
        told = "jdoe may fill the disk: ALTER ROLE jdoe SET temp_file_limit"
        assert told in unbounded(scene.warehouse.engine(Role.OFFICER))


def test_doctor_names_what_an_administrator_has_to_take_from_everyone(scene):
    with for_everyone(scene, "pg_export_snapshot()"), for_everyone(scene, "pg_advisory_lock(bigint)"):
        told = unbounded(scene.warehouse.engine(Role.OFFICER))
        both = "pg_advisory_lock(bigint), pg_export_snapshot()"
        assert f"readers may call {both}: let a superuser run `deid db bootstrap`" in told
    assert not [line for line in unbounded(scene.warehouse.engine(Role.OFFICER)) if "may call" in line]


def test_doctor_names_other_databases_that_readers_may_connect_to(scene):
    as_administrator(scene, "GRANT CONNECT ON DATABASE postgres TO PUBLIC")
    told = "REVOKE ALL ON DATABASE postgres FROM PUBLIC: there readers may do what they may not here"
    try:
        assert told in unbounded(scene.warehouse.engine(Role.OFFICER))
    finally:
        as_administrator(scene, "REVOKE ALL ON DATABASE postgres FROM PUBLIC")
    assert told not in unbounded(scene.warehouse.engine(Role.OFFICER))

"""Ways around the gate and around what is hidden, each tried for real by whoever could try it.

Belongs here: attacks that take more than one statement. Which statement each role may run at all is in
`server/test_roles.py`; what a measurement must be bound to, in `test_gate.py`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.notes import Delivery
from deid_platform.oversight.signing import Statement, public_key, sign
from deid_platform.warehouse.gate.ledger import GateRow, record_gate
from deid_platform.warehouse.gate.promotion import hide
from deid_platform.warehouse.gate.staging import Inputs, Staged
from deid_platform.warehouse.migrate import configure
from deid_platform.warehouse.officer.findings import retract
from deid_platform.warehouse.readers.projects import grant_project, set_member, set_project
from deid_platform.warehouse.server.roles import LOGIN_ROLES, Role

pytestmark = pytest.mark.transport

COPIED = "SELECT count(*) FROM research.note_version"


def state_of(warehouse, role, *statements: str) -> str | None:
    """The SQLSTATE of the first statement that is refused, None if none is; nothing is kept."""
    try:
        with warehouse.engine(role).connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
            connection.rollback()
    except Exception as error:
        return error.orig.sqlstate
    return None


def as_owner(scene, statement: str):
    with scene.warehouse.administer() as connection:
        found = connection.execute(text(statement))
        return found.scalar() if found.returns_rows else None


# Measurements of something else


def test_a_check_of_another_delivery_counts_for_no_other_even_under_its_digest(scene):
    first = scene.stage("1", [scene.note(1)])
    second = scene.stage("2", [scene.note(1)])
    assert first.staged_digest != second.staged_digest  # the same rows in another delivery are other content
    scene.measure(first)
    # A gatekeeper's mistake: measured here, written down there, and the other way round.
    for delivery, digest in ((first.delivery, second.staged_digest), (second.delivery, first.staged_digest)):
        record_gate(
            scene.warehouse.engine(Role.GATEKEEPER),
            Staged(delivery, digest, second.counts),
            [GateRow(name, True) for name in ("parity", "expectations", "leaks", "bench", "languages")],
            detector_digest=plain_digest("detector"),
            inputs=Inputs.TOPICS,
            profile="demo",
        )
    with pytest.raises(DeidError) as caught:
        scene.promote("2")
    assert caught.value.code is Code.GATE_REFUSED
    assert scene.promote("1").approved == 1


@pytest.mark.parametrize("role", [role for role in LOGIN_ROLES if role is not Role.GATEKEEPER], ids=str)
def test_a_gate_row_of_anyones_but_the_gatekeepers_hand_is_refused(scene, role):
    staged = scene.stage("1", [scene.note(1)])
    row = (
        "INSERT INTO ctl.gate (delivery, requirement, staged_digest, detector_digest, inputs, profile, passed)"
        f" VALUES ('clinic@1', '{{}}', '{staged.staged_digest}', '{plain_digest('detector')}', 'topics', 'demo', true)"
    )
    for requirement in ("parity", "expectations", "leaks", "bench", "languages"):
        assert state_of(scene.warehouse, role, row.format(requirement)) == "42501"
    with pytest.raises(DeidError, match="parity"):
        scene.promote("1")


# The ledger


@pytest.mark.parametrize(
    "broken",
    [
        "ALTER TABLE ctl.ledger RENAME TO former_ledger",
        "DROP TABLE ctl.ledger CASCADE",
        "ALTER TABLE ctl.ledger ADD CHECK (event <> 'promoted')",
        "CREATE RULE deaf AS ON INSERT TO ctl.ledger DO INSTEAD SELECT missing.ledger()",
    ],
    ids=["renamed", "dropped", "refuses the entry", "in another's hand"],
)
def test_what_cannot_be_entered_into_the_ledger_is_not_published(own_scene, broken):
    scene = own_scene
    scene.measure(scene.stage("1", [scene.note(1)]))
    if "missing" in broken:
        as_owner(scene, "CREATE SCHEMA missing")
        as_owner(
            scene,
            "CREATE FUNCTION missing.ledger() RETURNS integer LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'no ledger'; END $$",
        )
    as_owner(scene, broken)
    with pytest.raises(DeidError) as caught:
        scene.promote("1")
    assert caught.value.code is not Code.GATE_REFUSED
    assert as_owner(scene, COPIED) == 0


def test_nor_is_anything_measured_that_the_ledger_does_not_know_of(own_scene):
    staged = own_scene.stage("1", [own_scene.note(1)])
    as_owner(own_scene, "ALTER TABLE ctl.ledger RENAME TO former_ledger")
    with pytest.raises(DeidError):
        own_scene.measure(staged)
    assert as_owner(own_scene, "SELECT count(*) FROM ctl.gate") == 0


# Two at once


def test_of_two_promotions_at_once_one_copies_and_the_other_finds_it_done(scene):
    scene.measure(scene.stage("1", [scene.note(n) for n in range(50)]))
    with ThreadPoolExecutor() as pool:
        outcomes = sorted(done.outcome for done in pool.map(lambda _: scene.promote("1"), range(4)))
    assert outcomes == ["promoted", "unchanged", "unchanged", "unchanged"]
    assert as_owner(scene, COPIED) == 50
    assert scene.events().count("promoted") == 1


def test_two_deliveries_of_one_note_at_once_leave_the_newer(scene):
    for watermark in ("1", "2"):
        scene.measure(scene.stage(watermark, [scene.note(1, f"version {watermark}")]))
    with ThreadPoolExecutor() as pool:
        list(pool.map(scene.promote, ("2", "1")))
    scene.publish("3", [scene.note(2)])
    assert scene.visible() == ["note 2", "version 2"]


# Another's role, another's function


@pytest.mark.parametrize("role", LOGIN_ROLES, ids=str)
def test_nobody_takes_anothers_role(shared_scene, role):
    own = {role, Role.ANALYST} if role is Role.DEMO_ANALYST else {role}
    others = [other for other in (*Role, "pg_read_all_data", "pg_write_all_data") if other not in own]
    for other in others:
        for sql in ("SET ROLE {}", "SET LOCAL ROLE {}", "SET SESSION AUTHORIZATION {}", "GRANT {} TO CURRENT_USER"):
            assert state_of(shared_scene.warehouse, role, sql.format(other)) == "42501", (sql, other)
    # Going back to what one logged in as gives nothing.
    for sql in ("RESET ROLE", "RESET SESSION AUTHORIZATION", "SET ROLE NONE"):
        assert state_of(shared_scene.warehouse, role, sql, "SELECT 1 FROM research.note_version") == "42501", sql


@pytest.mark.parametrize("role", LOGIN_ROLES, ids=str)
def test_nobody_replaces_what_the_gate_is_made_of(shared_scene, role):
    always = "LANGUAGE sql AS 'SELECT true'"
    for sql in (
        f"CREATE OR REPLACE FUNCTION ctl.staged_as_announced(text) RETURNS boolean {always}",
        f"CREATE OR REPLACE FUNCTION ctl.log_access(text) RETURNS boolean {always}",
        "ALTER FUNCTION ctl.promote OWNER TO CURRENT_USER",
        "ALTER FUNCTION ctl.promote SECURITY INVOKER",
        "DROP FUNCTION ctl.promote",
        "CREATE OR REPLACE VIEW research.notes AS SELECT 1 AS note_key",
        "ALTER VIEW research.notes RESET (security_barrier)",
        "ALTER TABLE research.note_version DISABLE ROW LEVEL SECURITY",
        "CREATE POLICY all_of_it ON research.note_version USING (true)",
        "ALTER TABLE ctl.ledger DISABLE TRIGGER append_only",
        "SET session_replication_role = replica",  # triggers off
        "GRANT SELECT ON research.note_version TO PUBLIC",
        "CREATE EXTENSION dblink WITH SCHEMA marts",
    ):
        state = state_of(shared_scene.warehouse, role, sql)
        # 0A000: this server does not have that extension at all.
        assert state == "42501" or (state == "0A000" and "EXTENSION" in sql), (sql, state)


@pytest.mark.parametrize("role", LOGIN_ROLES, ids=str)
def test_nobody_reaches_the_servers_files_or_programs(shared_scene, role):
    for sql in (
        "COPY (SELECT 1) TO PROGRAM 'cat'",
        "COPY (SELECT 1) TO '/tmp/deid-bypass'",
        "SELECT pg_read_file('PG_VERSION')",
        "SELECT pg_ls_dir('base')",
        "SELECT lo_import('/etc/hostname')",
        "SELECT lo_export(lo_create(0), '/tmp/deid-bypass')",
        "SET log_statement = 'all'",  # every statement, texts included, into the server's log
    ):
        assert state_of(shared_scene.warehouse, role, sql) == "42501", sql


# Things that look like the gate's own


def test_an_operator_of_the_callers_own_does_not_stand_in_for_the_gates(own_scene):
    scene = own_scene
    scene.stage("1", [scene.note(1)])
    as_owner(scene, "CREATE SCHEMA trap")
    as_owner(scene, "CREATE FUNCTION trap.never(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT false'")
    as_owner(scene, "CREATE OPERATOR trap.> (LEFTARG = integer, RIGHTARG = integer, FUNCTION = trap.never)")
    as_owner(scene, "GRANT USAGE ON SCHEMA trap TO PUBLIC")

    def promoted():
        with scene.warehouse.begin(Role.PROMOTER) as connection:
            connection.execute(text("SET search_path = trap, pg_catalog"))
            return connection.execute(text("SELECT * FROM ctl.promote('clinic@1')")).one().outcome

    assert promoted() == "refused"
    as_owner(scene, "ALTER FUNCTION ctl.promote RESET search_path")
    assert promoted() == "promoted"  # the trap is a real one


def test_a_temporary_table_does_not_stand_in_for_one_of_the_gates(scene):
    scene.publish("1", [scene.note(1)])
    read = "SELECT count(*) FROM ctl.access_log WHERE login = 'deid_modeller'"
    with scene.warehouse.begin(Role.MODELLER) as connection:
        for table in ("note_version", "current_version", "release", "access_log", "granted", "withdrawal"):
            connection.execute(text(f"CREATE TEMPORARY TABLE {table} (x integer)"))
        connection.execute(text("SET search_path = pg_temp, research, marts, pg_catalog"))
        assert connection.execute(text("SELECT text FROM notes")).scalars().all() == ["note 1"]
        assert connection.execute(text("SELECT count(*) FROM pg_temp.access_log")).scalar() == 0
    assert as_owner(scene, read) == 1


@pytest.mark.parametrize("role", [Role.DEMO_ANALYST, Role.MODELLER], ids=str)
def test_the_access_log_cannot_be_filled_or_muted_by_a_view_of_ones_own(shared_scene, role):
    for sql in (
        "CREATE VIEW marts.forged AS SELECT ctl.log_access('nothing')",
        "SELECT ctl.log_access('nothing')",
        "SELECT 'ctl.log_access'::regproc",
        "INSERT INTO ctl.access_log (login, relation, projects) VALUES ('someone', 'x', '{}')",
    ):
        assert state_of(shared_scene.warehouse, role, sql) == "42501", sql


# What is hidden


@pytest.fixture
def unread(scene):
    """Notes of two sites under the production profile; the analyst's project reads those of the south."""
    rows = [scene.note(n, f"{site} {n}", site=site) for n, site in enumerate(["north"] * 40 + ["south"] * 2)]
    scene.publish("1", rows)
    configure(scene.warehouse.admin_engine(), "production")
    officer = scene.warehouse.engine(Role.OFFICER)
    set_project(officer, "sepsis", purpose="outcomes of sepsis")
    grant_project(officer, "sepsis", site="south")
    set_member(officer, "sepsis", "demo_analyst")
    as_owner(scene, "ANALYZE research.note_version")
    return scene


def test_switching_row_security_off_reads_nothing(unread):
    assert state_of(
        unread.warehouse, Role.DEMO_ANALYST, "SET row_security = off", "SELECT text FROM research.notes"
    ) in ("42501",)
    assert unread.visible() == ["south 40", "south 41"]


@pytest.mark.parametrize(
    "condition",
    [
        "1 / (CASE WHEN text LIKE 'north%' THEN 0 ELSE 1 END) = 1",
        "CAST(CASE WHEN text LIKE 'north%' THEN text ELSE '1' END AS integer) = 1",
        "(CASE WHEN text LIKE 'north%' THEN xmlparse(DOCUMENT text)::text ELSE '' END) = ''",
        "regexp_like(text, CASE WHEN text LIKE 'north%' THEN '(' ELSE 'south' END)",
        "set_config('deid.seen', text, false) = text",
    ],
    ids=["division by zero", "cast", "parser", "broken pattern", "kept in a setting"],
)
def test_no_condition_ever_sees_a_row_that_may_not_be_read(unread, condition):
    with unread.warehouse.begin(Role.DEMO_ANALYST) as connection:
        found = connection.execute(text(f"SELECT text FROM research.notes WHERE {condition} ORDER BY text")).scalars()
        assert found.all() == ["south 40", "south 41"]
        kept = connection.execute(text("SELECT current_setting('deid.seen', true)")).scalar()
        assert not (kept or "").startswith("north")


def test_a_plan_tells_how_many_rows_were_passed_over_but_nothing_of_what_is_in_them(unread):
    with unread.warehouse.begin(Role.DEMO_ANALYST) as connection:
        explain = "EXPLAIN (ANALYZE, VERBOSE, BUFFERS) SELECT text FROM research.notes"
        plan = "\n".join(connection.execute(text(explain)).scalars())
    assert "Removed by" in plan  # the number is known to leak: docs/security.md
    for number in range(42):
        assert unread.note(number).note_key not in plan
        assert unread.note(number).patient_key not in plan
    assert "north" not in plan


@pytest.mark.parametrize("role", LOGIN_ROLES, ids=str)
def test_nor_do_the_planners_statistics_or_others_statements(unread, role):
    with unread.warehouse.begin(role) as connection:
        statistics = "SELECT count(*) FROM pg_stats WHERE schemaname = 'research'"
        assert connection.execute(text(statistics)).scalar() == 0
    assert state_of(unread.warehouse, role, "SELECT stavalues1 FROM pg_statistic") == "42501"


# Holding things up


def test_an_analyst_cannot_keep_a_withdrawal_from_taking_effect(scene):
    scene.publish("1", [scene.note(1)])
    scene.stage("2", withdrawn=[1])
    with ThreadPoolExecutor() as pool, scene.warehouse.begin(Role.DEMO_ANALYST) as reading:
        reading.execute(text("SELECT count(*) FROM research.notes"))
        hidden = pool.submit(hide, scene.warehouse.engine(Role.PROMOTER), Delivery("clinic", "2"))
        assert hidden.result(timeout=60).notes == 1


def test_nor_can_one_keep_dossier_signature_decision_and_ruling_from_being_recorded_with_advisory_locks(own_scene):
    scene = own_scene
    scene.publish("1", [scene.note(1)])
    note, key, today = scene.note(1).note_key, Ed25519PrivateKey.generate(), datetime.now(tz=UTC).date()
    why = "read it all"
    statement = Statement("r1", "a" * 64, "fit", "A. O", why, today, date(2099, 1, 1))
    signed, public = sign(statement, key), public_key(key)
    named = ("dossier r1", "removal_decision 1 A", "missed_identifier 1 A", f"ruling clinic {note}")
    lock = "pg_catalog.pg_advisory_lock(bigint)"
    with scene.warehouse.administer() as connection:  # as where the administrator may not take it from everyone
        connection.execute(text(f"GRANT EXECUTE ON FUNCTION {lock} TO PUBLIC"))
    with scene.warehouse.begin(Role.DEMO_ANALYST) as reading:
        for name in named:
            reading.execute(text("SELECT pg_advisory_lock(hashtextextended(:name, 0))"), {"name": name})
        with scene.warehouse.begin(Role.OFFICER) as officer:
            officer.execute(text("SET LOCAL lock_timeout = '5s'"))
            for call in (
                f"record_dossier('r1', '{'a' * 64}')",
                f"sign_dossier('{'a' * 64}', 'A. O', 'fit', '{why}', '{today}', '2099-01-01', '{public}', '{signed}')",
                f"enter_decision(1, 'A', 1, '{'b' * 32}', 'clinically_irrelevant', NULL, 'A. Reader', now())",
                f"enter_missed(1, 'A', 1, '{'b' * 32}', '{'c' * 32}', 'PATIENT', 'low', 'A. Reader', now())",
                f"rule('clinic', '{note}', '{'b' * 32}', 'keep-out', 'leak', 'A. O', 'ao', 'nobody can mend it')",
            ):
                officer.execute(text(f"SELECT ctl.{call}"))


@pytest.mark.parametrize("role", [Role.DEMO_ANALYST, Role.MODELLER, Role.OFFICER, Role.GATEKEEPER], ids=str)
def test_nor_can_anyone_lock_the_tables_that_promotion_needs(shared_scene, role):
    for table in ("ctl.publication", "ctl.delivery", "staging.note", "research.note_version"):
        for sql in (f"LOCK TABLE {table} IN ROW SHARE MODE", f"SELECT 1 FROM {table} FOR KEY SHARE"):
            assert state_of(shared_scene.warehouse, role, sql) == "42501", sql


# An old view of things


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_promotion_cannot_look_at_the_gate_as_it_was_before_a_finding(scene, level):
    scene.publish("1", [scene.note(1, "Mr. Quillfeather is well.")])
    scene.measure(scene.stage("2", [scene.note(2, "Quillfeather again")]))
    promoter = scene.warehouse.engine(Role.PROMOTER).execution_options(isolation_level=level)
    with promoter.connect() as connection:
        connection.execute(text("SELECT 1"))  # from here on it sees nothing new
        keys = [scene.keys.key("note", "1")]
        retract(scene.warehouse.engine(Role.OFFICER), keys, 4, 16, label=Label.PATIENT, who="A. Reader")
        with pytest.raises(DBAPIError) as caught:
            connection.execute(text("SELECT * FROM ctl.promote('clinic@2')"))
        assert caught.value.orig.sqlstate == "25000"
    assert scene.visible() == []
    with pytest.raises(DeidError, match="leaks"):
        scene.promote("2")

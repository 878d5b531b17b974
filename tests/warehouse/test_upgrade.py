"""An installation of the first revision comes to the newest with what its analysts saw, and what it hid."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

from deid_platform.errors import DeidError
from deid_platform.warehouse.gate.waivers import end_waiver, waivers
from deid_platform.warehouse.migrate import configure, migrate
from deid_platform.warehouse.server.bootstrap import bootstrap
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import READERS, Role

pytestmark = pytest.mark.transport

VERSION = (
    "INSERT INTO research.note_version (release, feed, note_key, delivery_seq, delivery, patient_key, text, status,"
    " detector_digest, dictionary_digest, policy_digest, key_id, run_id, content_digest)"
    " VALUES ('r1', 'clinic', '{key}', {seq}, 'clinic@{seq}', '{patient}', {text}, '{status}',"
    " 'd', 'd', 'p', 'k', 'run', 'c')"
)
DELIVERY = (
    "INSERT INTO ctl.delivery (delivery, feed, delivery_seq, release, detector_digest, inputs, demonstration, clean,"
    " quarantined, withdrawn, withdrawn_patients, staged_digest, state)"
    " VALUES ('clinic@{seq}', 'clinic', {seq}, 'r1', 'd', 'topics', true, 1, 1, {withdrawn}, 1, 'x', 'promoted')"
)
BEFORE = (
    "INSERT INTO ctl.release (release, detector_digest, policy_digest, key_id, active) VALUES ('r1','d','p','k',true)",
    DELIVERY.format(seq=1, withdrawn=0),
    DELIVERY.format(seq=2, withdrawn=2),
    "INSERT INTO ctl.publication (release, delivery, state)"
    " VALUES ('r1', 'clinic@1', 'promoted'), ('r1', 'clinic@2', 'hidden')",
    *(
        VERSION.format(key=f"n_{n}", seq=1, patient=f"p_{n}", text=f"'note {n}'", status="approved")
        for n in (1, 2, 3, 4)
    ),
    VERSION.format(key="n_1", seq=2, patient="p_1", text="NULL", status="withdrawn"),
    VERSION.format(key="n_2", seq=2, patient="p_2", text="NULL", status="quarantined"),
    "INSERT INTO research.withdrawn_patient (patient_key, delivery) VALUES ('p_3', 'clinic@2')",
    "INSERT INTO ctl.waiver (feed, requirement, who, reason, until)"
    " VALUES ('clinic', 'topics', 'A. Officer', 'topics come next week', '2999-12-31')",
)


def upgrade(connection: Connection, revision: str) -> None:
    connection.execute(text(f"SET LOCAL ROLE {Role.OWNER}"))
    connection.execute(text("SET LOCAL search_path = pg_catalog, pg_temp"))
    config = Config()
    config.set_main_option("script_location", "deid_platform.warehouse:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


@pytest.fixture
def first_revision(database_server) -> Iterator[Warehouse]:
    """A database as the first revision left it: in two deliveries a note withdrawn, one quarantined, a patient gone."""
    name = f"deid_{os.urandom(4).hex()}"
    first = database_server.warehouse(name)
    bootstrap(first)
    with first.admin_engine().begin() as connection:
        upgrade(connection, "0001")
        for statement in BEFORE:
            connection.exec_driver_sql(statement)
    yield first
    with first.administer(maintenance=True) as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


def test_what_was_shown_is_shown_and_what_was_hidden_stays_hidden(first_revision):
    migrate(first_revision.admin_engine())
    configure(first_revision.admin_engine(), "demo")
    with first_revision.begin(Role.DEMO_ANALYST) as connection:
        assert connection.execute(text("SELECT text FROM research.notes")).scalars().all() == ["note 4"]
    with first_revision.begin(Role.OFFICER) as connection:
        counts = connection.execute(text("SELECT withdrawn, rejoined FROM ctl.delivery ORDER BY delivery_seq")).all()
        assert [tuple(row) for row in counts] == [(1, 0), (3, 0)]
        assert connection.execute(text("SELECT delivery FROM ctl.publication")).scalars().all() == ["clinic@1"]


def test_after_it_nothing_staged_before_passes(first_revision):
    migrate(first_revision.admin_engine())
    with first_revision.begin(Role.GATEKEEPER) as connection:
        assert connection.execute(text("SELECT count(*) FROM staging.note")).scalar() == 0


def test_after_it_the_planner_has_forgotten_what_it_knew_of_the_notes(first_revision):
    known = text(
        "SELECT count(*) FROM pg_statistic s JOIN pg_class c ON c.oid = s.starelid"
        " WHERE c.relnamespace = CAST('research' AS regnamespace)"
    )
    with first_revision.administer() as connection:
        connection.execute(text("ANALYZE"))
        assert connection.execute(known).scalar() > 0
    migrate(first_revision.admin_engine())
    with first_revision.administer() as connection:
        assert connection.execute(known).scalar() == 0
        connection.execute(text("ANALYZE"))
        assert connection.execute(known).scalar() == 0


def test_and_it_knows_which_version_corrects_which(first_revision):
    migrate(first_revision.admin_engine())
    with first_revision.administer() as connection:
        held = connection.execute(text("SELECT note_key, feed, delivery_seq, release FROM research.version_key"))
        versions = connection.execute(text("SELECT note_key, feed, delivery_seq, release FROM research.note_version"))
        assert set(held) == set(versions) != set()


def test_a_waiver_of_before_is_in_force_and_can_be_ended(first_revision):
    migrate(first_revision.admin_engine())
    officer = first_revision.engine(Role.OFFICER)
    (before,) = waivers(officer)
    assert (before.feed, before.requirement, before.in_force) == ("clinic", "topics", True)
    assert not end_waiver(officer, before.number, who="B. Officer", reason="topics never came").in_force


MEASURED_BEFORE = (
    "INSERT INTO quality.score (detector_digest, gold, inputs, measure, value, n)"
    " VALUES ('d', 'site', 'text', 'recall', 0.5, 99)",
    "INSERT INTO quality.lab_score (detector, detector_digest, gold, inputs, family, measure, value, n)"
    " VALUES ('rules', 'd', 'site', 'text', 'tokens', 'recall', 0.5, 99)",
    "INSERT INTO ctl.gate (delivery, requirement, staged_digest, detector_digest, inputs, profile, passed)"
    " VALUES ('clinic@1', 'bench', 'x', 'd', 'topics', 'demo', true)",
)


def test_figures_of_before_looks_were_counted_stay_and_new_ones_need_a_look(first_revision):
    with first_revision.admin_engine().begin() as connection:
        upgrade(connection, "0010")
        for statement in MEASURED_BEFORE:
            connection.exec_driver_sql(statement)
    migrate(first_revision.admin_engine())
    configure(first_revision.admin_engine(), "demo")
    with first_revision.begin(Role.GATEKEEPER) as connection:
        assert connection.execute(text("SELECT value, look FROM quality.score")).all() == [(0.5, None)]
        state = text("SELECT state FROM ctl.gate_state('clinic@1', 'x') WHERE requirement = 'bench'")
        assert connection.execute(state).scalar_one() == "passed"
    with first_revision.begin(Role.DEMO_ANALYST) as connection:
        assert connection.execute(text("SELECT value FROM quality.scores")).scalars().all() == [0.5]
    with first_revision.administer() as connection:
        assert connection.execute(text("SELECT value, look FROM quality.lab_score")).all() == [(0.5, None)]
    for statement in MEASURED_BEFORE:
        with (
            pytest.raises(DeidError, match=r"held-out-refused \[look\]"),
            first_revision.begin(Role.GATEKEEPER) as again,
        ):
            again.exec_driver_sql(statement)


@pytest.mark.parametrize("group", READERS, ids=str)
def test_a_group_that_people_could_log_in_as_becomes_one_that_nobody_can(first_revision, group):
    with first_revision.administer() as connection:
        connection.execute(text(f"ALTER ROLE {group} LOGIN PASSWORD '{os.urandom(16).hex()}'"))
    bootstrap(first_revision)
    with first_revision.administer() as connection:
        found = connection.execute(
            text("SELECT rolcanlogin, rolpassword IS NULL FROM pg_authid WHERE rolname = :g"), {"g": group}
        )
        assert tuple(found.one()) == (False, True)

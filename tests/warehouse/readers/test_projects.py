"""Who reads what: by project, by default nothing, and every read in the log."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.migrate import configure
from deid_platform.warehouse.readers.projects import accesses, grant_project, projects, set_member, set_project
from deid_platform.warehouse.server.roles import Role

TODAY = datetime.now(tz=UTC).date()
NOTES = [("north", "progress"), ("north", "radiology"), ("south", "progress"), (None, "progress"), ("north", None)]


def officer(scene):
    return scene.warehouse.engine(Role.OFFICER)


@pytest.fixture
def production(scene) -> Iterator:
    """One note of each site and type, and nobody's project."""
    rows = [scene.note(n, f"{site} {kind}", site=site, note_type=kind) for n, (site, kind) in enumerate(NOTES)]
    scene.publish("1", rows)
    configure(scene.warehouse.admin_engine(), "production")
    return scene


def grant(scene, *grants, login="demo_analyst", **changes):
    set_project(officer(scene), "sepsis", purpose="outcomes of sepsis", **changes)
    for site, kind in grants:
        grant_project(officer(scene), "sepsis", site=site, note_type=kind)
    set_member(officer(scene), "sepsis", login)


def test_without_a_project_nobody_reads_anything(production):
    assert production.visible() == []
    with production.warehouse.begin(Role.DEMO_ANALYST) as connection:
        assert connection.execute(text("SELECT count(*) FROM omop.note")).scalar() == 0


@pytest.mark.parametrize(
    ("granted", "seen"),
    [
        ([("north", "progress")], ["north progress"]),
        ([("north", None)], ["north None", "north progress", "north radiology"]),
        ([(None, "progress")], ["None progress", "north progress", "south progress"]),
        ([("south", None), ("north", "radiology")], ["north radiology", "south progress"]),
        ([("east", None), (None, "letters")], []),
        ([], []),
        ([(None, None)], sorted(f"{site} {kind}" for site, kind in NOTES)),
    ],
    ids=["a site and a type", "a site", "a type", "two grants", "what is not there", "no grant", "everything"],
)
def test_a_project_reads_what_it_was_granted(production, granted, seen):
    grant(production, *granted)
    assert production.visible() == seen


def test_a_grant_of_another_login_does_not_help_nor_does_the_name_of_the_role(production):
    grant(production, (None, None))
    with production.warehouse.administer() as connection:
        connection.execute(text("UPDATE ctl.project_member SET login = 'somebody_else'"))
    assert production.visible() == []


def test_a_project_ends_on_its_last_day(production):
    grant(production, (None, None), until=TODAY)
    assert len(production.visible()) == len(NOTES)
    grant(production, until=TODAY - timedelta(days=1))
    assert production.visible() == []


def test_who_leaves_reads_no_more(production):
    grant(production, (None, None))
    set_member(officer(production), "sepsis", "demo_analyst", member=False)
    assert production.visible() == []


def test_a_login_of_its_own_reads_for_its_own_projects(own_scene):
    scene = own_scene
    scene.publish("1", [scene.note(1, "one", site="north")])
    with scene.warehouse.administer() as connection:
        connection.execute(text("CREATE ROLE research_fellow LOGIN IN ROLE analyst"))
    try:
        with scene.warehouse.administer() as connection:
            connection.execute(text("SET SESSION AUTHORIZATION research_fellow"))
            read = "SELECT count(*) FROM research.notes"
            assert connection.execute(text(read)).scalar() == 0
            # Nor as the role that the demonstration lets read everything.
            connection.execute(text("SET ROLE analyst"))
            assert connection.execute(text(read)).scalar() == 0
            connection.execute(text("RESET SESSION AUTHORIZATION"))
        grant(scene, ("north", None), login="research_fellow")
        with scene.warehouse.administer() as connection:
            connection.execute(text("SET SESSION AUTHORIZATION research_fellow"))
            assert connection.execute(text(read)).scalar() == 1
            connection.execute(text("RESET SESSION AUTHORIZATION"))
    finally:
        with scene.warehouse.administer() as connection:
            connection.execute(text("DROP ROLE research_fellow"))


def test_a_function_of_the_readers_own_sees_no_row_that_is_not_granted(production):
    grant(production, ("south", None))
    # Without a barrier a cheap condition would run on every row before it is known whether it may be read.
    probe = "SELECT count(*) FROM research.notes WHERE 1 / (CASE WHEN text LIKE 'north%' THEN 0 ELSE 1 END) = 1"
    with production.warehouse.begin(Role.DEMO_ANALYST) as connection:
        assert connection.execute(text(probe)).scalar() == 1


def test_the_modeller_counts_over_everything_since_marts_show_no_small_counts(production):
    with production.warehouse.begin(Role.MODELLER) as connection:
        assert connection.execute(text("SELECT count(*) FROM research.notes")).scalar() == len(NOTES)


def test_a_grant_can_be_taken_back(production):
    grant(production, ("north", None), ("south", None), (None, None))
    grant_project(officer(production), "sepsis", granted=False)
    grant_project(officer(production), "sepsis", site="north", granted=False)
    assert production.visible() == ["south progress"]


def test_the_list_of_projects_tells_purpose_grants_and_members(production):
    grant(production, ("north", "progress"), ("south", None), until=TODAY)
    (found,) = projects(officer(production))
    assert (found.project, found.purpose, found.until) == ("sepsis", "outcomes of sepsis", TODAY)
    assert (found.grants, found.members) == ((("north", "progress"), ("south", None)), ("demo_analyst",))


def test_a_project_that_is_none_is_refused_by_its_code(production):
    for call in (
        lambda: grant_project(officer(production), "none"),
        lambda: set_member(officer(production), "none", "x"),
    ):
        with pytest.raises(DeidError) as caught:
            call()
        assert caught.value.code is Code.PROJECT_UNKNOWN


def test_the_demonstrations_open_door_is_shut_under_the_production_profile(scene):
    scene.publish("1", [scene.note(1)])
    assert scene.visible() == ["note 1"]
    configure(scene.warehouse.admin_engine(), "production")
    assert scene.visible() == []


# The access log


def test_every_read_is_logged_once_with_its_login_release_and_projects(production):
    grant(production, (None, None))
    before = len(accesses(officer(production)))
    production.visible()
    newest, *others = accesses(officer(production), login="demo_analyst")
    assert newest.reads == 1
    assert len(others) == before
    assert (newest.login, newest.relation, newest.release, newest.projects) == (
        "demo_analyst",
        "research.notes",
        "r1",
        ("sepsis",),
    )


def test_a_read_that_is_rolled_back_leaves_a_gap_in_the_numbers(production):
    """Each read takes a number: those beyond the sum of what the rows count were rolled back."""

    def uncounted():
        with production.warehouse.administer() as connection:
            numbers = "SELECT (SELECT last_value FROM ctl.access_log_id_seq) - sum(reads) FROM ctl.access_log"
            return connection.execute(text(numbers)).scalar()

    production.visible()
    before = uncounted()
    with production.warehouse.engine(Role.DEMO_ANALYST).connect() as connection:
        for _ in range(3):
            connection.execute(text("SELECT count(*) FROM research.notes"))
        connection.rollback()
    production.visible()
    assert uncounted() == before + 3


def test_a_loop_of_reads_makes_one_row_that_counts_them(production):
    grant(production, (None, None))
    before = len(accesses(officer(production)))
    with production.warehouse.begin(Role.DEMO_ANALYST) as connection:
        read = "FOR i IN 1 .. 500 LOOP PERFORM text FROM research.notes; END LOOP"
        connection.execute(text(f"DO $$ BEGIN {read}; END $$"))
        connection.execute(text("SAVEPOINT s"))
        connection.execute(text("SELECT text FROM research.notes"))
        connection.execute(text("ROLLBACK TO SAVEPOINT s"))
        connection.execute(text("SELECT note_text FROM omop.note"))  # which reads research.notes
    newest, *others = accesses(officer(production))
    assert (newest.relation, newest.reads, newest.projects, len(others)) == (
        "research.notes",
        501,
        ("sepsis",),
        before,
    )


def logged(scene):
    with scene.warehouse.begin(Role.OFFICER) as connection:
        rows = "SELECT application, host(client), sum(reads) FROM ctl.access_log GROUP BY 1, 2 ORDER BY 1"
        return [tuple(row) for row in connection.execute(text(rows))]


def test_what_a_session_reads_under_another_name_has_a_row_of_its_own(production):
    grant(production, (None, None))
    with production.warehouse.begin(Role.DEMO_ANALYST) as connection:
        for name in ("a notebook", "psql", "a notebook", "a notebook"):
            connection.execute(text(f"SET application_name = '{name}'"))
            connection.execute(text("SELECT text FROM research.notes"))
    assert [(name, reads) for name, _, reads in logged(production)] == [("a notebook", 3), ("psql", 1)]


def test_nor_does_a_read_count_in_a_row_of_another_client(production):
    grant(production, (None, None))
    with production.warehouse.engine(Role.DEMO_ANALYST).connect() as connection:
        connection.execute(text("SELECT text FROM research.notes"))
        connection.commit()
        with production.warehouse.administer() as administrator:  # the server gives its process numbers out again
            administrator.exec_driver_sql("SET session_replication_role = replica")
            administrator.exec_driver_sql("UPDATE ctl.access_log SET client = '192.0.2.7'")
        connection.execute(text("SELECT text FROM research.notes"))
        connection.commit()
    assert sorted((client == "192.0.2.7", reads) for _, client, reads in logged(production)) == [(False, 1), (True, 1)]


def test_a_session_that_renames_itself_for_each_read_writes_ten_rows_a_minute(production):
    grant(production, (None, None))
    with production.warehouse.begin(Role.DEMO_ANALYST) as connection:
        for number in range(30):
            connection.execute(text(f"SET application_name = 'n{number}'"))
            connection.execute(text("SELECT text FROM research.notes"))
    assert sorted(reads for _, _, reads in logged(production)) == [*[1] * 9, 21]


def test_what_cannot_be_logged_cannot_be_read(production):
    grant(production, (None, None))
    with pytest.raises(DeidError, match="25006"), production.warehouse.begin(Role.DEMO_ANALYST) as connection:
        connection.execute(text("SET TRANSACTION READ ONLY"))
        connection.execute(text("SELECT count(*) FROM research.notes"))


def test_not_even_the_officer_rewrites_the_log(production):
    production.visible()
    with pytest.raises(DeidError, match="42501"), production.warehouse.administer() as connection:
        connection.execute(text("DELETE FROM ctl.access_log"))
    for change in ("reads = 7", "reads = reads + 1", "login = 'jdoe', reads = reads + 1, last_at = clock_timestamp()"):
        with pytest.raises(DeidError, match="42501"), production.warehouse.administer() as connection:
            connection.execute(text(f"UPDATE ctl.access_log SET {change}"))


def test_a_correction_that_a_project_may_not_read_hides_the_version_that_it_might_have(scene):
    scene.publish("1", [scene.note(1, "first", note_type="progress"), scene.note(2, "other", note_type="progress")])
    scene.publish("2", [scene.note(1, "corrected", note_type="radiology")])
    configure(scene.warehouse.admin_engine(), "production")
    grant(scene, (None, "progress"))
    assert scene.visible() == ["other"]

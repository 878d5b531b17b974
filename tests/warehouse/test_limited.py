"""Limited data sets: who signed for one reads it in its own schema, and nobody reads it anywhere else."""

from __future__ import annotations

from datetime import date

import pytest
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.warehouse.officer.releases import activate_release
from deid_platform.warehouse.readers.projects import grant_project, set_member, set_project
from deid_platform.warehouse.server.roles import READERS, Role

DAY = date(2020, 5, 17)
LIMITED = {"release": "r2", "policy_digest": plain_digest("limited"), "limited": True}


@pytest.fixture(scope="module")
def published(shared_scene):
    """A delivery in an ordinary release, which was shown before, and in a limited data set, which is shown now."""
    scene = shared_scene
    assert scene.visible() == ["note 1"]
    limited = scene.note(1, "limited", source="None", note_year=None, shifted_date=DAY)  # of the same source text
    scene.publish("1", [limited, scene.note(2, status="quarantined")], patients=[9], **LIMITED)
    assert scene.visible() == ["note 1"]
    activate_release(scene.warehouse.engine(Role.PROMOTER), "r2")
    with scene.warehouse.administer() as connection:
        connection.execute(text("CREATE ROLE signed_fellow LOGIN IN ROLE limited_analyst"))
    yield scene
    with scene.warehouse.administer() as connection:
        connection.execute(text("DROP ROLE signed_fellow"))


def read(scene, login: str, sql: str) -> list[tuple[object, ...]]:
    """What a person's own login reads."""
    with scene.warehouse.administer() as connection:
        connection.execute(text(f"SET SESSION AUTHORIZATION {login}"))
        try:
            return [tuple(row) for row in connection.execute(text(sql))]
        finally:
            connection.execute(text("RESET SESSION AUTHORIZATION"))


def test_nobody_reads_it_without_a_project_of_their_own(published):
    assert read(published, "signed_fellow", "SELECT text FROM limited.notes") == []


def test_who_signed_and_was_granted_it_reads_it_with_its_dates_and_leaves_a_trace(published):
    officer = published.warehouse.engine(Role.OFFICER)
    set_project(officer, "asthma", purpose="under a data use agreement")
    grant_project(officer, "asthma")
    set_member(officer, "asthma", "signed_fellow")
    assert read(published, "signed_fellow", "SELECT text, note_date FROM limited.notes") == [("limited", DAY)]
    with published.warehouse.begin(Role.OFFICER) as connection:
        logged = "SELECT login, relation, release FROM ctl.access_log ORDER BY id DESC LIMIT 1"
        assert tuple(connection.execute(text(logged)).one()) == ("signed_fellow", "limited.notes", "r2")


@pytest.mark.parametrize("role", [Role.DEMO_ANALYST, Role.MODELLER], ids=str)
def test_research_and_what_is_built_from_it_show_nothing_of_it(published, role):
    with published.warehouse.begin(role) as connection:
        assert connection.execute(text("SELECT count(*) FROM research.notes")).scalar() == 0
    if role is Role.DEMO_ANALYST:
        with published.warehouse.begin(role) as connection:
            assert connection.execute(text("SELECT count(*) FROM omop.note")).scalar() == 0


@pytest.mark.parametrize("role", [role for role in Role if role not in (*READERS, Role.OWNER)], ids=str)
def test_no_other_role_may_read_the_schema(published, role):
    with pytest.raises(DeidError, match="42501"), published.warehouse.begin(role) as connection:
        connection.execute(text("SELECT 1 FROM limited.notes"))


@pytest.mark.parametrize("relation", ["research.notes", "research.note_version", "omop.note", "ctl.release"])
def test_who_signed_reads_that_schema_alone(published, relation):
    with pytest.raises(DeidError, match="42501"):
        read(published, "signed_fellow", f"SELECT 1 FROM {relation}")


def test_a_release_cannot_become_or_cease_to_be_one(published):
    for limited, release in ((False, "r2"), (True, "r1")):
        changes = {**(LIMITED if release == "r2" else {}), "limited": limited}
        with pytest.raises(DeidError) as caught:
            published.stage("2", [published.note(2)], **{"release": release, **changes})
        assert caught.value.code is Code.RELEASE_CONFLICT

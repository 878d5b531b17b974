"""Withdrawals ahead of their delivery's run: they wait for nobody, and the run's own outcome is what it always was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, text

from deid_platform.keys import Keyring, plain_digest
from deid_platform.notes import Delivery
from deid_platform.warehouse.gate.queries import summary
from deid_platform.warehouse.gate.staging import Kind
from deid_platform.warehouse.gate.withdrawals import marked_read, withdraw
from deid_platform.warehouse.officer.releases import activate_release
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role

LATER = Keyring(b"91c2f7be04ad53e86b1f20dd79c8a345", site="clinic")


def gone(scene, *, notes=(), patients=(), rings=()):
    """Notes and patients by number, as the arguments of `withdraw`."""
    kinds = ((Kind.NOTE, "note", notes), (Kind.PATIENT, "patient", patients))
    return [
        (kind, ring.key(name, str(n)), ring.key_id)
        for kind, name, numbers in kinds
        for n in numbers
        for ring in (rings or (scene.keys,))
    ]


def withdrawn(scene, watermark, *, feed="clinic", marker="m", **who) -> int:
    """As soon as the files of a delivery say so."""
    promoter = scene.warehouse.engine(Role.PROMOTER)
    return withdraw(promoter, Delivery(feed, watermark), gone(scene, **who), marker=marker)


def published(scene) -> dict[str, str | None]:
    """Each delivery, and what research holds of it; None where that is not what its files say."""
    return {d.delivery: d.published for d in summary(scene.warehouse.engine(Role.OFFICER)).deliveries}


@pytest.fixture
def others(scene) -> Iterator[dict[Role, Connection]]:
    """A transaction of each role that the test leaves open."""
    opened = {role: scene.warehouse.engine(role).connect() for role in (Role.PROMOTER, Role.LOADER, Role.DEMO_ANALYST)}
    yield opened
    for connection in opened.values():
        connection.close()


def test_nothing_that_others_do_for_long_holds_up_a_withdrawal(scene, others, monkeypatch):
    scene.publish("1", [scene.note(1), scene.note(2)])
    scene.stage("2", [scene.note(4)], withdrawn=[2])
    scene.measure(scene.stage("1", [scene.note(3)], feed="ward"))
    # An analyst reads; this feed's next delivery is being staged, another feed's is being promoted.
    others[Role.DEMO_ANALYST].execute(text("SELECT count(*) FROM research.notes"))
    others[Role.LOADER].execute(text("SELECT ctl.finish_staging('clinic@2')"))
    promoted = others[Role.PROMOTER].execute(text("SELECT outcome FROM ctl.promote('ward@1')"))
    assert promoted.scalar_one() == "promoted"
    # Whatever did wait would fail.
    monkeypatch.setenv("PGOPTIONS", "-c lock_timeout=1s -c statement_timeout=10s")
    assert withdrawn(own_connections(scene), "3", notes=[1]) == 1
    assert scene.visible() == ["note 2"]


def own_connections(scene):
    """The same scene by connections that begin now."""
    return type(scene)(Warehouse(scene.warehouse.admin_engine().url.render_as_string(hide_password=False)))


def test_nor_does_the_promotion_of_the_very_delivery(scene, others, monkeypatch):
    scene.publish("1", [scene.note(1), scene.note(2)])
    scene.measure(scene.stage("2", [scene.note(3)], withdrawn=[2]))
    scene.hide("2")
    others[Role.PROMOTER].execute(text("SELECT * FROM ctl.promote('clinic@2')"))
    monkeypatch.setenv("PGOPTIONS", "-c lock_timeout=1s -c statement_timeout=10s")
    assert withdrawn(own_connections(scene), "2", notes=[1, 2]) == 2
    assert scene.visible() == []
    # Its rows are of older files: what those of today say stays hidden, and another run is due.
    others[Role.PROMOTER].commit()
    assert scene.visible() == ["note 3"]
    assert published(scene)["clinic@2"] is None


def test_a_withdrawal_holds_for_notes_and_patients_in_every_release_and_for_older_versions_alone(scene):
    scene.publish("1", [scene.note(1), scene.note(2, patient=2), scene.note(3, patient=3)])
    other = {"detector_digest": plain_digest("other"), "release": "r2"}
    scene.publish("1", [scene.note(1), scene.note(2, patient=2)], detector="other", **other)
    withdrawn(scene, "2", notes=[1], patients=[2])
    assert scene.visible() == ["note 3"]
    scene.publish("3", [scene.note(1, "a later version")])
    assert scene.visible() == ["a later version", "note 3"]


def test_said_again_it_changes_nothing_and_the_ledger_has_it_once(scene):
    scene.publish("1", [scene.note(1)])
    assert [withdrawn(scene, "2", notes=[1]) for _ in range(3)] == [1, 0, 0]
    assert scene.events().count("withdrawn") == 1
    with scene.warehouse.begin(Role.OFFICER) as connection:
        said = connection.execute(text("SELECT l::text FROM ctl.ledger l WHERE event = 'withdrawn'")).scalar_one()
    assert scene.keys.key("note", "1") not in said
    assert '{"keys": 1}' in said.replace('""', '"')
    assert marked_read(scene.warehouse.engine(Role.PROMOTER)) == {"clinic@2": "m"}


def test_the_delivery_s_own_promotion_ends_in_what_it_says(scene):
    scene.publish("1", [scene.note(1), scene.note(2)])
    withdrawn(scene, "2", notes=[1])
    scene.publish("2", [scene.note(3)], withdrawn=[1])
    assert scene.visible() == ["note 2", "note 3"]
    assert published(scene)["clinic@2"] is not None
    # Nothing is left over: what a later promotion of the same delivery does not say is shown again, as ever.
    scene.publish("2", [scene.note(3)])
    assert scene.visible() == ["note 1", "note 2", "note 3"]
    assert withdrawn(scene, "2") == 0


def test_what_a_file_takes_back_before_its_run_is_shown_again_by_the_run(scene):
    scene.publish("1", [scene.note(1)])
    scene.publish("2", [scene.note(2)])
    assert published(scene)["clinic@2"] is not None
    withdrawn(scene, "2", notes=[1])
    assert scene.visible() == ["note 2"]
    assert published(scene)["clinic@2"] is None
    # The very content that was promoted before.
    assert scene.publish("2", [scene.note(2)]).outcome == "unchanged"
    assert scene.visible() == ["note 1", "note 2"]
    assert published(scene)["clinic@2"] is not None


def test_what_was_measured_before_a_file_withdrew_anything_ends_no_withdrawal(scene):
    """Loader and promoter alone would undo it, by the content that passed once."""
    scene.publish("1", [scene.note(1)])
    scene.publish("2", [scene.note(2)])
    withdrawn(scene, "2", notes=[1])
    staged = scene.stage("2", [scene.note(2)])
    assert scene.promote("2").outcome == "unchanged"
    assert scene.visible() == ["note 2"]
    assert published(scene)["clinic@2"] is None
    scene.measure(staged)
    assert scene.promote("2").outcome == "unchanged"
    assert scene.visible() == ["note 1", "note 2"]


def test_a_refused_delivery_ends_nothing(scene):
    scene.publish("1", [scene.note(1)])
    withdrawn(scene, "2", notes=[1])
    scene.measure(scene.stage("2", [scene.note(2)]), failing=["leaks"])
    with pytest.raises(Exception, match="gate-refused"):
        scene.promote("2")
    assert scene.visible() == []


def test_a_patient_comes_back_by_a_later_statement_and_by_no_older_one(scene):
    scene.publish("1", [scene.note(1)])
    scene.publish("3", rejoined=[1])
    withdrawn(scene, "2", patients=[1])
    assert scene.visible() == ["note 1"]
    withdrawn(scene, "4", patients=[1])
    assert scene.visible() == []


def test_under_two_secrets_it_reaches_both_releases_and_stays_under_the_one_that_nobody_keeps(scene):
    rings = (LATER, scene.keys)
    scene.publish("1", [scene.note(1), scene.note(2)])
    rotated = {"release": "r2", "key_id": LATER.key_id}
    scene.publish("1", [scene.note(1, note_key=LATER.key("note", "1"))], **rotated)
    withdrawn(scene, "2", notes=[1], rings=rings)
    assert scene.visible() == ["note 2"]
    # Staged by whoever has lost the former secret.
    scene.publish("2", [scene.note(3, note_key=LATER.key("note", "3"))], **rotated)
    assert scene.visible() == ["note 2"]


def test_no_release_counts_as_having_heard_what_was_only_said_ahead(scene):
    """What a delivery withdrew under one secret must be staged under the next before that one is shown."""
    scene.publish("1", [scene.note(1), scene.note(2)])
    scene.measure(scene.stage("2", withdrawn=[1]), failing=["leaks"])
    scene.hide("2")
    rotated = {"release": "r2", "key_id": LATER.key_id}
    scene.publish("1", [scene.note(n, note_key=LATER.key("note", str(n))) for n in (1, 2)], **rotated)
    withdrawn(scene, "2", notes=[1], rings=(LATER, scene.keys))
    with pytest.raises(Exception, match="not staged under its secret: clinic@2"):
        activate_release(scene.warehouse.engine(Role.PROMOTER), "r2")

"""Of one patient no release shows two shifts, in whatever order deliveries come to know with whom the patient moves."""

from __future__ import annotations

from itertools import permutations

import pytest
from sqlalchemy import text

from deid_platform.warehouse.officer.releases import activate_release, expire_releases
from deid_platform.warehouse.server.roles import Role

OWN, MOTHERS = "moves alone", "moves with the mother"
DATES = {"dates": "shift"}


def moved(scene, number: int, shift: str | None, *, patient: int = 1):
    return scene.note(number, f"{number} {shift}", patient=patient, shift_key=shift, source=f"{number}")


def publish(scene, watermark: str, *notes, **changes) -> None:
    scene.publish(watermark, list(notes), **{**DATES, **changes})


def shown(scene) -> list[str]:
    return scene.visible()


def test_notes_of_the_former_shift_wait_until_they_are_made_anew(scene):
    publish(scene, "1", moved(scene, 1, OWN), moved(scene, 2, MOTHERS, patient=2))
    publish(scene, "2", moved(scene, 3, OWN))
    publish(scene, "3", moved(scene, 4, MOTHERS))
    assert shown(scene) == [f"2 {MOTHERS}", f"4 {MOTHERS}"]
    publish(scene, "1", moved(scene, 1, MOTHERS), moved(scene, 2, MOTHERS, patient=2))
    assert shown(scene) == [f"1 {MOTHERS}", f"2 {MOTHERS}", f"4 {MOTHERS}"]
    publish(scene, "2", moved(scene, 3, MOTHERS))
    assert shown(scene) == [f"{n} {MOTHERS}" for n in (1, 2, 3, 4)]


@pytest.mark.parametrize("order", list(permutations("123")), ids="".join)
def test_never_are_two_shifts_of_one_patient_shown(scene, order):
    """Deliveries of two feeds, each first without the link and then with it, in every order."""
    feeds = {"1": "clinic", "2": "ward", "3": "clinic"}
    for shift in (OWN, MOTHERS):
        for watermark in order:
            publish(scene, watermark, moved(scene, int(watermark), shift), feed=feeds[watermark])
            seen = {line.partition(" ")[2] for line in shown(scene)}
            assert seen == {shift}
    assert len(shown(scene)) == 3


def test_a_delivery_that_is_late_with_the_former_shift_hides_what_has_the_other(scene):
    publish(scene, "1", moved(scene, 1, OWN))
    publish(scene, "2", moved(scene, 2, MOTHERS))
    publish(scene, "0", moved(scene, 3, OWN))
    assert shown(scene) == [f"1 {OWN}", f"3 {OWN}"]


def test_what_the_gate_refuses_moves_nobody(scene):
    publish(scene, "1", moved(scene, 1, OWN))
    scene.measure(scene.stage("2", [moved(scene, 2, MOTHERS)], **DATES), failing=["leaks"])
    with pytest.raises(Exception, match="gate-refused"):
        scene.promote("2")
    assert shown(scene) == [f"1 {OWN}"]


def test_what_is_quarantined_moves_nobody(scene):
    publish(scene, "1", moved(scene, 1, OWN))
    publish(scene, "2", scene.note(2, status="quarantined", shift_key=MOTHERS), moved(scene, 3, OWN, patient=2))
    assert shown(scene) == [f"1 {OWN}", f"3 {OWN}"]


def test_each_release_has_shifts_of_its_own_and_forgets_them_when_it_expires(scene):
    promoter = scene.warehouse.engine(Role.PROMOTER)
    better = {"release": "r2", "detector": "better"}
    publish(scene, "1", moved(scene, 1, OWN))
    publish(scene, "1", moved(scene, 1, MOTHERS), **better)
    assert shown(scene) == [f"1 {OWN}"]
    assert activate_release(promoter, "r2")
    assert shown(scene) == [f"1 {MOTHERS}"]
    assert expire_releases(promoter, keep=0, days=0) == ("r1",)
    with scene.warehouse.administer() as connection:
        assert connection.execute(text("SELECT DISTINCT release FROM research.shift")).scalars().all() == ["r2"]


def test_where_nothing_is_shifted_nothing_waits(scene):
    scene.publish("1", [moved(scene, 1, None), moved(scene, 2, None, patient=None)])
    scene.publish("2", [moved(scene, 3, None)])
    assert len(shown(scene)) == 3


def test_two_shifts_of_one_patient_in_one_delivery_do_not_pass(scene):
    scene.measure(scene.stage("1", [moved(scene, 1, OWN), moved(scene, 2, MOTHERS)], **DATES))
    with pytest.raises(Exception, match="warehouse-statement"):
        scene.promote("1")

"""Releases beside one another: switched, taken back, compared and expired."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring, plain_digest
from deid_platform.labels import Label
from deid_platform.warehouse.gate.promotion import set_opt_outs
from deid_platform.warehouse.gate.staging import Kind, StagedWithdrawal, stage
from deid_platform.warehouse.officer.findings import retract
from deid_platform.warehouse.officer.releases import (
    DeliveryDifference,
    FeedExtent,
    activate_release,
    diff_releases,
    expire_releases,
    extents,
    former_release,
    note_counts,
    previous_release,
    release,
    releases,
    switch_release,
)
from deid_platform.warehouse.server.roles import Role

BETTER = {"release": "r2", "detector": "better"}
FORMER = Keyring(b"0c5e1f7fd2b84a6f93e9cf2b7d10a8e4", site="clinic")


def officer(scene):
    return scene.warehouse.engine(Role.OFFICER)


def loader(scene):
    return scene.warehouse.engine(Role.LOADER)


def promoter(scene):
    return scene.warehouse.engine(Role.PROMOTER)


def back(scene, name="r1", *, who="A. Officer", reason="the new detector hides doses"):
    switch_release(officer(scene), name, who=who, reason=reason)


@pytest.fixture
def two(scene):
    """Release r1 with two notes, and r2, made by another detector, in its place."""
    scene.publish("1", [scene.note(1, "one"), scene.note(2, "two")])
    scene.publish("1", [scene.note(1, "ONE", source="one"), scene.note(2, "two")], **BETTER)
    assert activate_release(promoter(scene), "r2")
    return scene


def states(scene) -> dict[str, str]:
    return {found.release: found.state for found in releases(officer(scene))}


# Which there are


def test_the_list_tells_what_each_is_and_what_it_holds(two):
    first, second = releases(officer(two))
    assert (first.release, first.state, first.deliveries, first.notes) == ("r1", "left", 1, 2)
    assert (second.release, second.state, second.detector_digest) == ("r2", "active", plain_digest("better"))
    assert release(officer(two), "r2") == second
    with pytest.raises(DeidError) as caught:
        release(officer(two), "r9")
    assert caught.value.code is Code.RELEASE_UNKNOWN


def test_one_that_was_never_shown_is_being_built(scene):
    scene.publish("1", [scene.note(1)])
    scene.publish("2", [scene.note(2)])
    scene.publish("1", [scene.note(1)], **BETTER)
    assert states(scene) == {"r1": "active", "r2": "building"}


# Back


def test_back_is_one_switch_and_the_release_that_failed_is_not_shown_by_a_refresh_again(two):
    assert two.visible() == ["ONE", "two"]
    assert previous_release(officer(two)) == "r1"
    back(two)
    assert two.visible() == ["one", "two"]
    assert states(two) == {"r1": "active", "r2": "withheld"}
    with pytest.raises(DeidError) as caught:
        activate_release(promoter(two), "r2")
    assert (caught.value.code, caught.value.ref) == (Code.RELEASE_CONFLICT, "withheld")


def test_a_person_may_show_again_what_a_person_withheld(two):
    back(two)
    back(two, "r2", reason="the doses were mended")
    assert two.visible() == ["ONE", "two"]
    assert states(two) == {"r1": "left", "r2": "active"}


def test_the_way_back_is_open_again_after_a_person_went_forward(two):
    back(two)
    back(two, "r2", reason="the doses were mended")
    assert previous_release(officer(two)) == "r1"
    back(two)
    assert two.visible() == ["one", "two"]


def test_the_ledger_tells_who_switched_and_why(two):
    back(two)
    with two.warehouse.begin(Role.OFFICER) as connection:
        entry = connection.execute(
            text("SELECT event, actor, who, reason, release FROM ctl.ledger ORDER BY id DESC")
        ).first()
    assert tuple(entry) == ("switched", "officer", "A. Officer", "the new detector hides doses", "r1")


@pytest.mark.parametrize(
    ("wrong", "code", "ref"),
    [
        ({"who": " "}, Code.WAIVER_INVALID, "who"),
        ({"reason": "because"}, Code.WAIVER_INVALID, "reason"),
        ({"name": "r2"}, Code.RELEASE_CONFLICT, "active already"),
        ({"name": "r9"}, Code.RELEASE_CONFLICT, "nothing promoted"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_a_switch_without_a_person_a_reason_or_a_release_is_refused(two, wrong, code, ref):
    with pytest.raises(DeidError) as caught:
        back(two, **wrong)
    assert (caught.value.code, caught.value.ref) == (code, ref)
    assert two.visible() == ["ONE", "two"]


def test_what_was_withdrawn_corrected_or_quarantined_since_stays_hidden_after_going_back(two):
    two.publish("1", [two.note(n, f"r1 {n}", source="same") for n in range(1, 6)])
    two.publish("1", [two.note(n, f"r2 {n}", source="same") for n in range(1, 6)], **BETTER)
    two.publish("2", [two.note(2, "corrected"), two.note(3, status="quarantined")], withdrawn=[1], **BETTER)
    assert two.visible() == ["corrected", "r2 4", "r2 5"]
    back(two)
    assert two.visible() == ["r1 4", "r1 5"]


def test_a_release_that_waits_for_a_feed_that_is_gone_can_be_shown_by_a_person(scene):
    scene.publish("1", [scene.note(1, "kept")])
    scene.publish("1", [scene.note(9, "of a feed that is gone")], feed="former")
    scene.publish("1", [scene.note(1, "better")], **BETTER)
    with pytest.raises(DeidError, match="former@1"):
        activate_release(promoter(scene), "r2")
    back(scene, "r2", reason="the feed was retired")
    assert scene.visible() == ["better"]


# How they differ


def test_the_difference_is_counted_delivery_by_delivery(two):
    two.publish("2", [two.note(3)], **BETTER)
    assert diff_releases(officer(two), "r1", "r2") == (
        DeliveryDifference("clinic@1", 2, 2, only_old=0, only_new=0, changed=1),
        DeliveryDifference("clinic@2", 0, 1, only_old=0, only_new=1, changed=0),
    )


def test_under_another_secret_no_note_can_be_told_from_another(two):
    two.publish("1", [two.note(1, "three")], release="r3", key_id="another")
    (difference,) = diff_releases(officer(two), "r1", "r3")
    assert (difference.notes_old, difference.notes_new, difference.changed) == (2, 1, None)


# Expiry


def test_only_what_was_left_long_enough_ago_expires(own_scene):
    scene = own_scene
    scene.publish("1", [scene.note(1)])
    for n in (2, 3):
        scene.publish("1", [scene.note(1)], release=f"r{n}", detector=f"better {n}")
        activate_release(promoter(scene), f"r{n}")
    scene.publish("1", [scene.note(1)], release="r4", detector="being built")
    assert expire_releases(promoter(scene), keep=0, days=30) == ()
    assert expire_releases(promoter(scene), keep=2, days=0) == ()
    assert expire_releases(promoter(scene), keep=1, days=0) == ("r1",)
    assert states(scene) == {"r1": "expired", "r2": "left", "r3": "active", "r4": "building"}
    with scene.warehouse.administer() as connection:
        held = connection.execute(text("SELECT DISTINCT release FROM research.note_version ORDER BY 1")).scalars().all()
    assert held == ["r2", "r3", "r4"]
    with pytest.raises(DeidError) as caught:
        back(scene, "r1")
    assert caught.value.ref == "nothing promoted"
    assert scene.visible() == ["note 1"]


def versions(scene) -> list[tuple[str, str]]:
    """Release and text of what is kept, and that the keys by which corrections are known are those of the same rows."""
    with scene.warehouse.administer() as connection:
        keys = "SELECT note_key, feed, delivery_seq, release FROM research."
        known, kept = (connection.execute(text(keys + table)).all() for table in ("version_key", "note_version"))
        assert sorted(known) == sorted(kept)
        rows = connection.execute(text("SELECT release, text FROM research.note_version ORDER BY release, text"))
        return [(row.release, row.text) for row in rows]


def forget(scene, step: int = 1) -> bool:
    with scene.warehouse.begin(Role.PROMOTER) as connection:
        return connection.execute(text("SELECT ctl.forget_expired(:s)"), {"s": step}).scalar_one()


@pytest.fixture
def leaving(two):
    """Release r1 is expired, and nothing of it removed yet."""
    with two.warehouse.begin(Role.PROMOTER) as connection:
        assert connection.execute(text("SELECT ctl.expire_releases(0, 0)")).scalar_one() == ["r1"]
    return two


def test_what_an_expired_release_holds_goes_step_by_step_and_nobody_can_show_it_meanwhile(leaving):
    assert len(versions(leaving)) == 4
    for left in (3, 2):
        assert forget(leaving)
        assert len(versions(leaving)) == left
        assert states(leaving) == {"r1": "expired", "r2": "active"}
        assert leaving.visible() == ["ONE", "two"]
        with pytest.raises(DeidError) as caught:
            back(leaving, "r1")
        assert caught.value.ref == "nothing promoted"
    assert versions(leaving) == [("r2", "ONE"), ("r2", "two")]
    assert not forget(leaving)
    assert not forget(leaving)


def test_where_the_steps_were_stopped_the_next_expiry_continues(leaving):
    assert forget(leaving)
    assert expire_releases(promoter(leaving), keep=0, days=0) == ()
    assert versions(leaving) == [("r2", "ONE"), ("r2", "two")]


def test_of_a_release_that_is_made_anew_between_two_steps_nothing_of_before_stays(leaving):
    assert forget(leaving)
    leaving.publish("2", [leaving.note(3, "three")])
    assert states(leaving) == {"r1": "building", "r2": "active"}
    assert versions(leaving) == [("r1", "three"), ("r2", "ONE"), ("r2", "two")]
    # Nor does what was begun go on.
    assert not forget(leaving)
    assert expire_releases(promoter(leaving), keep=0, days=0) == ()
    assert versions(leaving) == [("r1", "three"), ("r2", "ONE"), ("r2", "two")]


def test_a_retraction_between_two_steps_holds(leaving):
    assert forget(leaving)
    retract(officer(leaving), [leaving.keys.key("note", "1")], 0, 3, label=Label.PATIENT, who="A. Reader")
    assert leaving.visible() == ["two"]
    assert expire_releases(promoter(leaving), keep=0, days=0) == ()
    assert leaving.visible() == ["two"]


def test_an_expired_release_can_be_made_anew(two):
    assert expire_releases(promoter(two), keep=0, days=0) == ("r1",)
    two.publish("1", [two.note(1, "again"), two.note(2)])
    assert states(two) == {"r1": "building", "r2": "active"}
    # Being built, it is not left a second time, however long ago it was left once.
    assert expire_releases(promoter(two), keep=0, days=0) == ()
    back(two)
    assert two.visible() == ["again", "note 2"]


def test_what_a_release_knew_of_newer_versions_hides_older_ones_after_it_expired(two):
    two.publish("1", [two.note(n, f"r1 {n}", source="first") for n in range(1, 4)])
    two.publish("1", [two.note(n, f"r2 {n}", source="first") for n in range(1, 4)], **BETTER)
    back(two)
    two.publish("2", [two.note(1, "corrected"), two.note(2, status="quarantined")])
    back(two, "r2", reason="the doses were mended")
    assert two.visible() == ["r2 3"]
    assert expire_releases(promoter(two), keep=0, days=0, step=1) == ("r1",)
    assert two.visible() == ["r2 3"]
    # Nor does an older version show that comes late.
    two.publish("0", [two.note(1, "older still")], **BETTER)
    assert two.visible() == ["r2 3"]
    two.publish("2", [two.note(1, "corrected"), two.note(2, "mended")], **BETTER)
    assert two.visible() == ["corrected", "mended", "r2 3"]


def test_a_text_that_was_retracted_does_not_pass_after_its_release_expired(two):
    retract(officer(two), [two.keys.key("note", "1")], 0, 3, label=Label.PATIENT, who="A. Reader")
    two.publish("1", [two.note(1, "[PATIENT]", source="one"), two.note(2, "two")], release="r3", detector="best")
    assert activate_release(promoter(two), "r3")
    assert expire_releases(promoter(two), keep=0, days=0, step=1) == ("r1", "r2")
    two.publish("1", [two.note(1, "ONE", source="one"), two.note(2, "two")], release="r3", detector="best")
    assert two.visible() == ["two"]


def test_what_passes_into_a_release_that_expired_meanwhile_makes_it_anew(two):
    measured = two.stage("1", [two.note(1, "again"), two.note(2)])
    two.measure(measured)
    assert expire_releases(promoter(two), keep=0, days=0) == ("r1",)
    assert states(two) == {"r1": "expired", "r2": "active"}
    assert two.promote("1").approved == 2
    assert states(two) == {"r1": "building", "r2": "active"}


# Another secret


def test_withdrawals_and_corrections_under_a_new_secret_reach_the_release_made_with_the_former(scene):
    former = FORMER

    def old(n, word):
        changes = {"note_key": former.key("note", str(n)), "patient_key": former.key("patient", str(n))}
        return scene.note(n, f"{word} {n}", **changes)

    scene.publish("1", [old(n, "old") for n in range(1, 6)], key_id=former.key_id)
    assert len(scene.visible()) == 5
    rotated = {"release": "r2", "key_id": scene.keys.key_id, "detector": "detector"}
    corrections = [scene.note(2, "new", former=[former]), scene.note(3, status="quarantined", former=[former])]
    scene.publish("2", corrections, withdrawn=[1], patients=[4], former=[former], **rotated)
    # r1 is still what analysts see; what it says of 1 to 4 is out of date or withdrawn.
    assert scene.visible() == ["old 5"]
    scene.publish("1", [scene.note(n, f"new {n}", patient=n, former=[former]) for n in range(1, 6)], **rotated)
    assert activate_release(promoter(scene), "r2")
    assert scene.visible() == ["new", "new 5"]


def test_taking_a_delivery_in_again_without_the_former_secret_brings_nothing_back(scene):
    old = scene.note(1, "old", note_key=FORMER.key("note", "1"))
    scene.publish("1", [old], key_id=FORMER.key_id)
    rotated = {"release": "r2", "detector": "detector"}
    scene.publish("2", withdrawn=[1], former=[FORMER], **rotated)
    assert scene.visible() == []
    scene.publish("2", withdrawn=[1], **rotated)
    assert scene.visible() == []


@pytest.mark.parametrize(
    "said",
    [
        {"withdrawn": [1]},
        {"patients": [1]},
        {"rows": {1: "quarantined"}},
        {"rows": {1: "clean"}},
    ],
    ids=["a note withdrawn", "a patient withdrawn", "a quarantine", "a correction"],
)
def test_what_a_refused_delivery_took_away_under_the_former_secret_must_be_said_under_the_new_one(scene, said):
    def delivery(watermark, ring, release, **changes):
        rows = [
            scene.note(
                n,
                f"{release} {n} of {watermark}",
                status=status,
                patient=n,
                note_key=ring.key("note", str(n)),
                patient_key=ring.key("patient", str(n)),
                former_keys=() if ring is FORMER else (FORMER.key("note", str(n)),),
            )
            for n, status in changes.get("rows", {}).items()
        ]
        withdrawals = [
            StagedWithdrawal(kind, ring.key(name, str(n)), () if ring is FORMER else (FORMER.key(name, str(n)),))
            for kind, name, numbers in (
                (Kind.NOTE, "note", changes.get("withdrawn", ())),
                (Kind.PATIENT, "patient", changes.get("patients", ())),
            )
            for n in numbers
        ]
        header = scene.header(rows, withdrawals, key_id=ring.key_id, release=release)
        loader = scene.warehouse.engine(Role.LOADER)
        return stage(loader, scene.delivery(watermark), rows, header, withdrawals=withdrawals)

    all_clean = {"rows": {1: "clean", 2: "clean"}}
    scene.measure(delivery("1", FORMER, "r1", **all_clean))
    scene.promote("1")
    assert activate_release(promoter(scene), "r1")
    delivery("2", FORMER, "r1", **said)
    scene.hide("2")  # and the gate lets it no further
    assert scene.visible() == ["r1 2 of 1"]
    scene.measure(delivery("1", scene.keys, "r2", **all_clean))
    scene.promote("1")
    for show in (lambda: activate_release(promoter(scene), "r2"), lambda: back(scene, "r2")):
        with pytest.raises(DeidError) as caught:
            show()
        assert (caught.value.code, caught.value.ref) == (
            Code.RELEASE_CONFLICT,
            "not staged under its secret: clinic@2",
        )
    assert scene.visible() == ["r1 2 of 1"]
    delivery("2", scene.keys, "r2", **said)
    scene.hide("2")
    assert activate_release(promoter(scene), "r2")
    assert scene.visible() == ["r2 2 of 1"]
    back(scene)
    assert scene.visible() == ["r1 2 of 1"]


def test_no_way_back_to_a_release_whose_secret_is_gone_if_something_was_withdrawn_since(scene):
    old = scene.note(1, "old", note_key=FORMER.key("note", "1"))
    scene.publish("1", [old], key_id=FORMER.key_id)
    scene.publish("1", [scene.note(1, "new", former=[FORMER])], release="r2", detector="detector")
    assert activate_release(promoter(scene), "r2")
    scene.publish("2", withdrawn=[1], release="r2", detector="detector")  # without its key under the former secret
    with pytest.raises(DeidError, match="not staged under its secret: clinic@2"):
        back(scene)
    assert scene.visible() == []


def test_a_rejoining_that_is_said_no_more_holds_under_no_secret(scene):
    old = {"note_key": FORMER.key("note", "1"), "patient_key": FORMER.key("patient", "1")}
    scene.publish("1", [scene.note(1, "old", **old)], key_id=FORMER.key_id)
    rotated = {"release": "r2", "detector": "detector", "former": [FORMER]}
    scene.publish("2", patients=[1], **rotated)
    scene.publish("3", rejoined=[1], **rotated)
    assert scene.visible() == ["old"]
    scene.publish("3", [scene.note(9)], **rotated)
    assert scene.visible() == []


def test_opt_outs_under_a_secret_that_is_not_named_stay(scene):
    scene.publish("1", [scene.note(1, patient=1), scene.note(2, patient=2)])
    mine = {scene.keys.key_id: [scene.keys.key("patient", "1")]}
    assert set_opt_outs(loader(scene), promoter(scene), mine) == 1
    assert set_opt_outs(loader(scene), promoter(scene), {"another": ["p_other"]}) == 1
    assert scene.visible() == ["note 2"]
    assert set_opt_outs(loader(scene), promoter(scene), {scene.keys.key_id: []}) == 1
    assert scene.visible() == ["note 1", "note 2"]


# One secret, one class of dates

SHIFTED = {"release": "r2", "policy_digest": plain_digest("surrogate"), "dates": "shift"}


def refused_for_its_dates(action) -> bool:
    with pytest.raises(DeidError) as caught:
        action()
    return caught.value.code is Code.RELEASE_DATES


@pytest.mark.parametrize("dates", ["shift", "season", "true", "none"])
def test_another_class_of_dates_begins_no_release_under_a_secret_that_showed_one(scene, dates):
    scene.publish("1", [scene.note(1)])
    changes = {**SHIFTED, "dates": dates}
    assert refused_for_its_dates(lambda: scene.stage("1", [scene.note(1)], **changes))
    assert states(scene) == {"r1": "active"}
    # Another detector or policy of the same class, and another secret, are what a release may change to.
    scene.stage("1", [scene.note(1)], **{**changes, "dates": "year"})
    scene.stage("2", [scene.note(2)], **{**changes, "release": "r3", "key_id": FORMER.key_id})


@pytest.mark.parametrize(("former", "dates"), [("shift", "season"), ("season", "shift")])
def test_one_secret_shows_a_patient_by_one_set_of_shifts(scene, former, dates):
    """By weeks and with the season kept, a patient has two shifts: the difference would leave few of either."""
    scene.publish("1", [scene.note(1)], dates=former)
    assert refused_for_its_dates(lambda: scene.stage("1", [scene.note(1)], **{**SHIFTED, "dates": dates}))
    assert states(scene) == {"r1": "active"}
    scene.stage("2", [scene.note(2)], **{**SHIFTED, "dates": dates, "key_id": FORMER.key_id})


def test_a_class_of_dates_that_does_not_exist_is_refused(scene):
    with pytest.raises(DeidError) as caught:
        scene.stage("1", [scene.note(1)], dates="months")
    assert caught.value.code is Code.WAREHOUSE_STATEMENT


def test_a_class_that_was_shown_once_counts_though_its_release_is_gone(two):
    expire_releases(promoter(two), keep=0, days=0)
    assert states(two)["r1"] == "expired"
    with two.warehouse.administer() as connection:
        connection.execute(text("UPDATE ctl.release SET dates = 'shift' WHERE release = 'r2'"))
    changes = {"release": "r3", "policy_digest": plain_digest("other"), "dates": "shift"}
    assert refused_for_its_dates(lambda: two.stage("1", [two.note(1)], **changes)), "r1 showed years"


def test_what_was_begun_and_never_promoted_binds_nobody(scene):
    scene.stage("1", [scene.note(1)], **SHIFTED)
    scene.publish("1", [scene.note(1)])
    assert states(scene) == {"r1": "active", "r2": "building"}


def test_two_classes_that_were_built_at_once_are_not_both_shown(scene):
    scene.publish("1", [scene.note(1)])
    scene.publish("1", [scene.note(1)], **BETTER)
    with scene.warehouse.administer() as connection:
        connection.execute(text("UPDATE ctl.release SET dates = 'shift' WHERE release = 'r2'"))
    assert refused_for_its_dates(lambda: activate_release(promoter(scene), "r2"))
    assert states(scene) == {"r1": "active", "r2": "building"}


@pytest.mark.parametrize("forward", [True, False], ids=["to the newer one", "back to the older one"])
def test_nor_does_a_person_show_one_class_after_another(scene, forward):
    """No reason that anybody could give makes it harmless: analysts keep what they read under the other class."""
    scene.publish("1", [scene.note(1)])
    scene.publish("1", [scene.note(1, "shifted")], **BETTER)
    if not forward:
        assert activate_release(promoter(scene), "r2")
    before = states(scene), scene.visible()
    with scene.warehouse.administer() as connection:
        connection.execute(text("UPDATE ctl.release SET dates = 'shift' WHERE release = 'r2'"))
    assert refused_for_its_dates(lambda: back(scene, "r2" if forward else "r1"))
    assert (states(scene), scene.visible()) == before
    assert "switched" not in scene.events()


def test_a_person_may_show_another_class_under_another_secret(scene):
    old = scene.note(1, "of years", note_key=FORMER.key("note", "1"))
    scene.publish("1", [old], key_id=FORMER.key_id)
    scene.publish("1", [scene.note(1, "shifted", former=[FORMER])], **SHIFTED)
    back(scene, "r2", reason="the secret was rotated")
    assert scene.visible() == ["shifted"]
    back(scene)
    assert scene.visible() == ["of years"]


@pytest.mark.parametrize("policy", ["policy", "another"])
def test_where_no_class_is_known_the_way_back_is_open_within_one_policy(two, policy):
    with two.warehouse.administer() as connection:
        connection.execute(
            text("UPDATE ctl.release SET dates = NULL, policy_digest = :d WHERE release = 'r1'"),
            {"d": plain_digest(policy)},
        )
    if policy == "policy":
        back(two)
        assert two.visible() == ["one", "two"]
    else:
        assert refused_for_its_dates(lambda: back(two))


def test_a_release_of_unknown_dates_is_like_no_other(scene):
    scene.publish("1", [scene.note(1)])
    with scene.warehouse.administer() as connection:
        connection.execute(text("UPDATE ctl.release SET dates = NULL"))
    assert refused_for_its_dates(lambda: scene.stage("1", [scene.note(1)], **{**SHIFTED, "dates": "year"}))


def test_withdrawals_are_staged_though_the_notes_would_be_refused(scene):
    scene.publish("1", [scene.note(1), scene.note(2)])
    scene.stage("2", withdrawn=[1], **SHIFTED)
    scene.hide("2")
    assert scene.visible() == ["note 2"]


# What a release brings to those who read the one before it


def many(scene, numbers, said="as before", **changes):
    """Notes of as many patients, with a text that says so."""
    return [scene.note(n, f"{said} {n}", source=str(n), patient=n, **changes) for n in numbers]


def counted(scene, former="r1", name="r2") -> dict[str, tuple]:
    return {line.note_type: astuple(line)[1:] for line in note_counts(officer(scene), former, name)}


def test_notes_of_a_release_are_counted_by_type_and_by_what_became_of_them(scene):
    letters = {"note_type": "letter"}
    scene.publish("1", [*many(scene, range(80)), *many(scene, range(200, 225), **letters)])
    scene.publish(
        "1",
        [*many(scene, range(30)), *many(scene, range(30, 80), "anew"), *many(scene, range(200, 225), **letters)],
        **BETTER,
    )
    scene.publish("2", many(scene, range(300, 315)), **BETTER)
    scene.stage(
        "3", withdrawn=range(12), patients=range(12, 24), **{**BETTER, "detector_digest": plain_digest("better")}
    )
    scene.hide("3")
    assert activate_release(promoter(scene), "r2")
    assert former_release(officer(scene), "r2") == "r1"
    assert former_release(officer(scene), "r1") is None
    assert counted(scene) == {
        # notes, new, other text, withdrawn, retracted, gone otherwise
        "letter": (20, None, None, None, None, None),
        "progress": (70, 10, 50, 20, None, None),
    }
    assert extents(officer(scene), "r2") == (FeedExtent("clinic", 2, "clinic@2"),)


def test_less_ones_own_site_they_tell_nothing_of_small_cells_of_another(scene):
    """An analyst of one site knows each of its notes in both releases, and takes them away."""
    own, others = range(100, 114), range(300, 310)
    north, south = {"site": "north"}, {"site": "south"}
    rare = many(scene, range(400, 410), note_type="rare", **south)
    scene.publish("1", [*many(scene, own, **north), *many(scene, others, **south), *rare])
    alone = {"release": "r3", "detector": "alone"}
    scene.publish("1", [*many(scene, own, "anew", **north), *many(scene, others, "anew", **south), *rare], **BETTER)
    scene.publish("1", many(scene, own, "anew", **north), **alone)
    assert counted(scene) == {"progress": (10, None, 10, None, None, None)}
    assert counted(scene, name="r3") == {"progress": (10, None, 10, None, None, None)}


def test_notes_of_two_secrets_or_of_no_former_release_are_not_compared(scene):
    scene.publish("1", many(scene, range(20)))
    rotated = [scene.note(n, note_key=FORMER.key("note", str(n))) for n in range(20)]
    scene.publish("1", rotated, key_id=FORMER.key_id, **BETTER)
    for former in ("r1", None):
        assert counted(scene, former) == {"progress": (20, None, None, None, None, None)}

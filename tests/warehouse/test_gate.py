"""The gate: what a promotion demands, what it does, and every way around it that must not work."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.notes import Delivery
from deid_platform.warehouse.gate.promotion import Hidden, Outcome, hide, promote
from deid_platform.warehouse.gate.staging import Counts
from deid_platform.warehouse.gate.waivers import end_waiver, waive, waivers
from deid_platform.warehouse.migrate import configure
from deid_platform.warehouse.officer.releases import activate_release
from deid_platform.warehouse.server.roles import Role

DEMO = ("parity", "expectations", "leaks", "bench", "languages")


def refused(scene, watermark: str) -> set[str]:
    """The requirements that a refused promotion names."""
    with pytest.raises(DeidError) as caught:
        scene.promote(watermark)
    assert caught.value.code is Code.GATE_REFUSED
    delivery, _, names = caught.value.ref.partition(": ")
    assert delivery == f"clinic@{watermark}"
    return set(names.split(", "))


# What lets a delivery through


def test_with_every_requirement_passed_the_clean_notes_are_published(scene):
    staged = scene.stage("1", [scene.note(1), scene.note(2), scene.note(3, status="quarantined")])
    scene.measure(staged)
    done = scene.promote("1")
    assert (done.outcome, done.approved, done.hidden) == (Outcome.PROMOTED, 2, 1)
    assert scene.visible() == []  # promoted is not yet visible: no release is active
    activate_release(scene.warehouse.engine(Role.PROMOTER), "r1")
    assert scene.visible() == ["note 1", "note 2"]


def test_the_same_content_twice_changes_nothing(scene):
    scene.publish("1", [scene.note(1)])
    again = scene.promote("1")
    assert (again.outcome, again.approved) == (Outcome.UNCHANGED, 0)
    # nor does staging it again: same rows, same digest, same gate rows
    scene.stage("1", [scene.note(1)])
    assert scene.promote("1").outcome is Outcome.UNCHANGED
    assert scene.visible() == ["note 1"]


def test_a_delivery_that_brings_only_withdrawals_passes(scene):
    scene.publish("1", [scene.note(1, patient=1), scene.note(2, patient=2)])
    scene.publish("2", [], patients=[2])
    assert scene.visible() == ["note 1"]


# What refuses it


def test_without_gate_rows_all_requirements_are_named_and_nothing_is_copied(scene):
    scene.stage("1", [scene.note(1)])
    assert refused(scene, "1") == set(DEMO)
    with scene.warehouse.administer() as connection:
        assert connection.execute(text("SELECT count(*) FROM research.note_version")).scalar() == 0
    assert scene.events() == ["staged", "refused"]


@pytest.mark.parametrize("requirement", DEMO)
def test_each_requirement_alone_holds_a_delivery_back(scene, requirement):
    staged = scene.stage("1", [scene.note(1)])
    scene.measure(staged, only=[name for name in DEMO if name != requirement])
    assert refused(scene, "1") == {requirement}
    scene.measure(staged, only=[requirement], failing=[requirement])
    assert refused(scene, "1") == {requirement}
    scene.measure(staged, only=[requirement])
    assert scene.promote("1").approved == 1


def test_a_later_failure_overrides_an_earlier_pass(scene):
    staged = scene.stage("1", [scene.note(1)])
    scene.measure(staged)
    scene.measure(staged, only=["leaks"], failing=["leaks"])
    assert refused(scene, "1") == {"leaks"}


@pytest.mark.parametrize(
    "other",
    [{"detector": "another"}, {"inputs": "text"}, {"profile": "production"}],
    ids=["detector", "inputs", "profile"],
)
def test_rows_measured_for_something_else_do_not_count(scene, other):
    scene.measure(scene.stage("1", [scene.note(1)]), only=DEMO, **other)
    assert refused(scene, "1") == set(DEMO)


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE staging.note SET text = text || ' '",
        "UPDATE staging.note SET site = ''",
        "UPDATE staging.note SET shifted_date = '2020-01-01'",
        "UPDATE staging.note SET patient_key = NULL",
        "UPDATE staging.note SET note_key = note_key || 'x'",
        "UPDATE ctl.delivery SET inputs = 'text'",
        "UPDATE ctl.delivery SET demonstration = false",
        "DELETE FROM staging.withdrawal",
    ],
)
def test_whatever_changes_after_the_measurement_is_noticed(scene, tampering):
    scene.measure(scene.stage("1", [scene.note(1)], patients=[5]))
    with scene.warehouse.administer() as connection:
        connection.execute(text(tampering))
    assert set(DEMO) <= refused(scene, "1")


def test_rows_moved_from_one_column_to_the_next_change_the_digest(scene):
    first = scene.stage("1", [scene.note(1)])
    with scene.warehouse.administer() as connection:
        connection.execute(text("UPDATE staging.note SET provider_key = patient_key, patient_key = NULL"))
        moved = connection.execute(text("SELECT ctl.staged_digest('clinic@1')")).scalar()
    assert moved != first.staged_digest


def test_the_digest_does_not_depend_on_row_order_or_session_settings(scene):
    rows = [scene.note(number) for number in range(20)]
    first = scene.stage("1", rows)
    assert scene.stage("1", reversed(rows)).staged_digest == first.staged_digest
    with scene.warehouse.administer() as connection:
        connection.execute(text("UPDATE staging.note SET shifted_date = '2020-02-01'"))
        digests = set()
        for style in ("ISO, DMY", "German", "SQL, MDY"):
            connection.execute(text(f"SET datestyle = '{style}'"))
            digests.add(connection.execute(text("SELECT ctl.staged_digest('clinic@1')")).scalar())
    assert len(digests) == 1


@pytest.mark.parametrize(
    "announced",
    [
        Counts(clean=2),
        Counts(clean=1, quarantined=1),
        Counts(clean=1, withdrawn=1),
        Counts(clean=1, rejoined=1),
        Counts(),
    ],
)
def test_rows_that_are_not_what_was_announced_are_refused_whatever_the_gatekeeper_says(scene, announced):
    scene.measure(scene.stage("1", [scene.note(1)], announced=announced))
    assert refused(scene, "1") == {"staged_as_announced"}


@pytest.mark.parametrize("column", ["feed", "release", "detector_digest", "policy_digest", "key_id"])
def test_a_row_of_another_make_is_refused_even_if_measured(scene, column):
    staged = scene.stage("1", [scene.note(1), scene.note(2)])
    with scene.warehouse.administer() as connection:
        connection.execute(
            text(f"UPDATE staging.note SET {column} = 'other' WHERE note_key = :key"),
            {"key": scene.note(2).note_key},
        )
        digest = connection.execute(text("SELECT ctl.staged_digest('clinic@1')")).scalar()
    scene.measure(type(staged)(staged.delivery, digest, staged.counts))
    assert refused(scene, "1") == {"staged_as_announced"}


def test_no_active_profile_or_an_empty_one_is_no_gate_and_refuses(scene):
    staged = scene.stage("1", [scene.note(1)])
    scene.measure(staged)
    with scene.warehouse.administer() as connection:
        connection.execute(text("UPDATE ctl.profile SET active = false"))
    assert refused(scene, "1") == {"profile"}
    with scene.warehouse.administer() as connection:
        connection.execute(text("INSERT INTO ctl.profile (name, active) VALUES ('lax', true)"))
    assert refused(scene, "1") == {"profile"}


def test_an_unknown_delivery_says_so(scene):
    for call in (promote, hide):
        with pytest.raises(DeidError) as caught:
            call(scene.warehouse.engine(Role.PROMOTER), Delivery("clinic", "7"))
        assert (caught.value.code, caught.value.ref) == (Code.GATE_UNKNOWN_DELIVERY, "clinic@7")


def test_what_a_caller_puts_on_its_search_path_does_not_stand_in_for_the_gate(own_scene):
    scene = own_scene
    scene.stage("1", [scene.note(1)])
    with scene.warehouse.administer() as connection:
        # A look-alike of what the gate counts its missing requirements with, and more exact than the true one.
        connection.execute(text("CREATE SCHEMA trap"))
        connection.execute(text("CREATE FUNCTION trap.cardinality(text[]) RETURNS integer LANGUAGE sql AS 'SELECT 0'"))
        connection.execute(text("GRANT USAGE ON SCHEMA trap TO PUBLIC"))

    def promoted_from_the_trap():
        with scene.warehouse.begin(Role.PROMOTER) as connection:
            connection.execute(text("SET search_path = trap, pg_catalog"))
            return connection.execute(text("SELECT * FROM ctl.promote('clinic@1')")).one().outcome

    assert promoted_from_the_trap() == "refused"
    # The trap is a real one: without the function's own path it works.
    with scene.warehouse.administer() as connection:
        connection.execute(text("ALTER FUNCTION ctl.promote RESET search_path"))
    assert promoted_from_the_trap() == "promoted"


def test_a_promotion_waits_for_a_staging_that_is_under_way_and_sees_what_it_did(scene):
    scene.measure(scene.stage("1", [scene.note(1)]))
    with ThreadPoolExecutor() as pool:
        with scene.warehouse.begin(Role.LOADER) as loading:
            # Straight into the table, asking for none of the locks that `stage` takes.
            loading.execute(
                text(
                    "INSERT INTO staging.note SELECT delivery, feed, delivery_seq, note_key || 'x', patient_key,"
                    " provider_key, encounter_key, site, note_type, note_year, shifted_date, language, 'smuggled',"
                    " status, detector_digest, dictionary_digest, policy_digest, key_id, run_id, release,"
                    " content_digest, former_keys FROM staging.note"
                )
            )
            promotion = pool.submit(scene.promote, "1")
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'ShareLock'"
            with scene.warehouse.administer() as watching:
                while not watching.execute(text(waiting)).scalar():
                    assert not promotion.done()
        assert isinstance(promotion.exception(timeout=60), DeidError)
    copied = "SELECT count(*) FROM research.note_version"
    with scene.warehouse.administer() as connection:
        assert connection.execute(text(copied)).scalar() == 0


# Waivers


def production(scene):
    """A delivery under the production profile that came without topics and without gold of its own."""
    configure(scene.warehouse.admin_engine(), "production")
    scene.measure(scene.stage("1", [scene.note(1)]), failing=("topics", "site_gold"), profile="production")


def waiver(scene, requirement="topics", **changes):
    arguments = {
        "who": "A. Officer",
        "reason": "no topics at this site yet",
        "until": datetime.now(tz=UTC).date() + timedelta(days=30),
        "feed": "clinic",
        **changes,
    }
    return waive(scene.warehouse.engine(Role.OFFICER), [requirement], **arguments)[0]


def test_production_demands_topics_and_site_gold_and_takes_waivers_for_them(scene):
    production(scene)
    assert refused(scene, "1") == {"topics", "site_gold"}
    waiver(scene, "topics")
    assert refused(scene, "1") == {"site_gold"}
    waiver(scene, "site_gold", feed=None, delivery=Delivery("clinic", "1"))
    assert scene.promote("1").waived == ("site_gold", "topics")
    assert scene.events()[-3:] == ["refused", "waived", "promoted"]


def test_what_was_never_measured_cannot_be_waived(scene):
    configure(scene.warehouse.admin_engine(), "production")
    measured = [*DEMO, "topics"]
    scene.measure(scene.stage("1", [scene.note(1)]), only=measured, profile="production")
    waiver(scene, "site_gold")
    assert refused(scene, "1") == {"site_gold"}


def test_scores_below_the_thresholds_can_be_waived_in_production_alone(scene):
    configure(scene.warehouse.admin_engine(), "production")
    scene.measure(scene.stage("1", [scene.note(1)]), failing=("bench",), profile="production")
    assert refused(scene, "1") == {"bench"}
    waiver(scene, "bench")
    assert scene.promote("1").waived == ("bench",)


def test_a_waiver_for_another_delivery_or_feed_does_not_help(scene):
    production(scene)
    waiver(scene, "topics", feed="elsewhere")
    waiver(scene, "site_gold", feed=None, delivery=Delivery("clinic", "2"))
    assert refused(scene, "1") == {"topics", "site_gold"}


def test_a_waiver_ends_on_its_date(own_scene):
    scene = own_scene
    production(scene)
    for requirement in ("topics", "site_gold"):
        waiver(scene, requirement)
    with scene.warehouse.administer() as connection:
        connection.execute(text("ALTER TABLE ctl.waiver DISABLE TRIGGER append_only"))
        connection.execute(text("UPDATE ctl.waiver SET until = current_date - 1 WHERE requirement = 'topics'"))
    assert refused(scene, "1") == {"topics"}


def test_a_waiver_that_was_ended_does_not_help_and_another_one_does(scene):
    production(scene)
    number, _ = waiver(scene, "topics"), waiver(scene, "site_gold")
    end_waiver(scene.warehouse.engine(Role.OFFICER), number, who="A. Officer", reason="topics never came")
    assert refused(scene, "1") == {"topics"}
    waiver(scene, "topics")
    assert scene.promote("1").waived == ("site_gold", "topics")


def test_the_end_of_a_waiver_waits_for_a_promotion_that_goes_by_it(scene):
    production(scene)
    number, _ = waiver(scene, "topics"), waiver(scene, "site_gold")
    with scene.warehouse.begin(Role.PROMOTER) as promoting:
        promoting.execute(text("SELECT ctl.promote('clinic@1')"))
        with pytest.raises(DeidError, match="warehouse-busy"), scene.warehouse.begin(Role.OFFICER) as ending:
            ending.execute(text("SET LOCAL lock_timeout = '100ms'"))
            ending.execute(text("SELECT ctl.end_waiver(:n, 'A. Officer', 'topics never came')"), {"n": number})
    assert all(each.in_force for each in waivers(scene.warehouse.engine(Role.OFFICER)))


def test_a_waiver_for_what_the_profile_no_longer_lets_be_waived_does_not_help(scene):
    scene.measure(scene.stage("1", [scene.note(1)]), only=["parity", "expectations", "bench", "languages"])
    with scene.warehouse.administer() as connection:
        connection.execute(
            text(
                "INSERT INTO ctl.waiver (feed, requirement, who, reason, until)"
                " VALUES ('clinic', 'leaks', 'A. Officer', 'from laxer times', current_date + 1)"
            )
        )
    assert refused(scene, "1") == {"leaks"}


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"requirement": "leaks"}, "requirement"),
        ({"requirement": "expectations"}, "requirement"),
        ({"requirement": "parity"}, "requirement"),
        ({"requirement": "sunshine"}, "known"),
        ({"who": "  "}, "who"),
        ({"reason": "because"}, "reason"),
        ({"reason": " because      "}, "reason"),
        ({"until": date(2020, 1, 1)}, "until"),
        ({"feed": None}, "scope"),
        ({"delivery": Delivery("clinic", "1")}, "scope"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "-".join(value),
)
def test_a_waiver_without_a_person_a_reason_or_a_waivable_requirement_is_not_recorded(shared_scene, wrong, named):
    configure(shared_scene.warehouse.admin_engine(), "production")
    with pytest.raises(DeidError) as caught:
        waiver(shared_scene, **wrong)
    assert caught.value.code is (Code.REQUIREMENT_UNKNOWN if named == "known" else Code.WAIVER_INVALID)
    assert caught.value.ref.startswith(named) or "known: bench, expectations, leaks" in caught.value.ref


def test_a_requirement_that_is_met_by_topics_cannot_be_passed_on_text_alone(scene):
    configure(scene.warehouse.admin_engine(), "production")
    staged = scene.stage("1", [scene.note(1)])
    with pytest.raises(DeidError) as caught:
        scene.measure(staged, only=["topics"], inputs="text", profile="production")
    assert caught.value.code is Code.WAREHOUSE_STATEMENT


# Versions, tombstones, withdrawals


def test_a_newer_version_replaces_an_older_one_in_whatever_order_they_are_promoted(scene):
    scene.publish("2", [scene.note(1, "corrected")])
    scene.publish("1", [scene.note(1, "first"), scene.note(2, "late")])
    assert scene.visible() == ["corrected", "late"]


def test_an_older_version_that_comes_late_is_not_shown_while_its_correction_waits(scene):
    scene.publish("1", [scene.note(2)])
    scene.stage("3", [scene.note(1, "corrected")])
    assert scene.hide("3") == Hidden(notes=0, patients=0)  # so far there is nothing to hide
    scene.publish("2", [scene.note(1, "late and out of date")])
    assert scene.visible() == ["note 2"]
    scene.publish("3", [scene.note(1, "corrected")])
    assert scene.visible() == ["corrected", "note 2"]


def test_a_quarantined_correction_hides_the_version_it_corrects(scene):
    scene.publish("1", [scene.note(1), scene.note(2)])
    scene.publish("2", [scene.note(1, status="quarantined")])
    assert scene.visible() == ["note 2"]
    scene.publish("3", [scene.note(1, "mended")])
    assert scene.visible() == ["mended", "note 2"]


def test_withdrawals_and_quarantines_take_effect_though_the_delivery_is_refused(scene):
    rows = [scene.note(number, patient=number) for number in (1, 2, 3, 4)]
    scene.publish("1", rows)
    scene.stage(
        "2",
        [scene.note(2, status="quarantined", patient=2), scene.note(5, patient=5)],
        withdrawn=[1],
        patients=[3],
    )
    assert refused(scene, "2") == set(DEMO)
    assert scene.visible() == ["note 4"]


def test_hiding_needs_no_gate_and_tells_what_it_changed(scene):
    scene.publish("1", [scene.note(number, patient=number) for number in (1, 2)])
    scene.stage("2", withdrawn=[1], patients=[2])
    assert scene.hide("2") == Hidden(notes=1, patients=1)
    assert scene.hide("2") == Hidden(notes=0, patients=0)
    assert scene.visible() == []


def test_a_withdrawn_patient_stays_withdrawn_whatever_comes_later(scene):
    scene.publish("1", [scene.note(1, patient=1)])
    scene.publish("2", [], patients=[1])
    scene.publish("3", [scene.note(2, patient=1), scene.note(3, patient=2)])
    assert scene.visible() == ["note 3"]


def test_an_old_quarantine_does_not_hide_a_newer_version(scene):
    scene.publish("2", [scene.note(1, "newer")])
    scene.publish("1", [scene.note(1, status="quarantined")])
    assert scene.visible() == ["newer"]


def test_a_delivery_staged_anew_replaces_what_it_published(scene):
    scene.publish("1", [scene.note(1), scene.note(2), scene.note(3, status="quarantined")])
    scene.publish("1", [scene.note(1, "again"), scene.note(3, "now clean")])
    assert scene.visible() == ["again", "now clean"]


def test_hiding_a_published_note_and_promoting_the_first_content_again_brings_it_back(scene):
    scene.publish("1", [scene.note(1)])
    scene.stage("1", [scene.note(1, status="quarantined")])
    assert refused(scene, "1") == set(DEMO)
    assert scene.visible() == []
    scene.publish("1", [scene.note(1)])
    assert scene.visible() == ["note 1"]


def test_hiding_a_patient_and_promoting_the_first_content_again_lets_the_patient_back(scene):
    scene.publish("1", [scene.note(1)])
    scene.stage("1", [scene.note(1)], patients=[1])
    assert scene.hide("1") == Hidden(notes=0, patients=1)
    assert scene.visible() == []
    assert scene.publish("1", [scene.note(1)]).outcome is Outcome.PROMOTED
    assert scene.visible() == ["note 1"]


def test_two_feeds_do_not_hide_each_other(scene):
    scene.publish("1", [scene.note(1)])
    scene.stage("2", [scene.note(1, status="quarantined")], feed="elsewhere")
    hide(scene.warehouse.engine(Role.PROMOTER), Delivery("elsewhere", "2"))
    assert scene.visible() == ["note 1"]


# Releases


def test_a_release_never_mixes_detectors(scene):
    scene.publish("1", [scene.note(1)])
    for change in ({"detector_digest": plain_digest("x")}, {"policy_digest": "x"}, {"key_id": "x"}):
        with pytest.raises(DeidError) as caught:
            scene.stage("2", [scene.note(2)], **change)
        assert caught.value.code is Code.RELEASE_CONFLICT


def test_a_new_release_is_shown_only_when_it_holds_all_that_the_old_one_does(scene):
    promoter = scene.warehouse.engine(Role.PROMOTER)
    scene.publish("1", [scene.note(1, "old one")])
    scene.publish("2", [scene.note(2, "old two")])
    scene.publish("1", [scene.note(1, "new one", source="old one")], release="r2", detector="better")
    assert scene.visible() == ["old one", "old two"]
    with pytest.raises(DeidError) as caught:
        activate_release(promoter, "r2")
    assert (caught.value.code, caught.value.ref) == (Code.RELEASE_CONFLICT, "not promoted there: clinic@2")
    # nor is it enough that the gate refused the delivery there and its tombstones took effect
    scene.stage("2", [scene.note(2, "new two", source="old two")], release="r2", detector_digest=plain_digest("better"))
    hide(promoter, Delivery("clinic", "2"))
    with pytest.raises(DeidError, match="clinic@2"):
        activate_release(promoter, "r2")
    scene.publish("2", [scene.note(2, "new two", source="old two")], release="r2", detector="better")
    assert activate_release(promoter, "r2")
    assert not activate_release(promoter, "r2")
    assert scene.visible() == ["new one", "new two"]


def test_tombstones_of_a_refused_delivery_hold_in_the_next_release_too(scene):
    scene.publish("1", [scene.note(1), scene.note(2), scene.note(3)])
    scene.stage("2", [scene.note(3, status="quarantined")], withdrawn=[1])
    scene.hide("2")
    scene.publish("1", [scene.note(1), scene.note(2), scene.note(3)], release="r2", detector="better")
    assert activate_release(scene.warehouse.engine(Role.PROMOTER), "r2")
    assert scene.visible() == ["note 2"]


def test_a_withdrawal_staged_for_the_next_release_takes_effect_in_the_active_one(scene):
    scene.publish("1", [scene.note(1), scene.note(2)])
    scene.stage("2", withdrawn=[1], release="r2", detector_digest=plain_digest("better"))
    scene.hide("2")
    assert scene.visible() == ["note 2"]


def test_a_delivery_staged_anew_for_the_next_release_withdraws_from_the_active_one_too(scene):
    scene.publish("1", [scene.note(1), scene.note(2)])
    scene.stage("1", [scene.note(2)], withdrawn=[1], release="r2", detector_digest=plain_digest("better"))
    scene.hide("1")
    assert scene.visible() == ["note 2"]


def test_a_correction_in_the_next_release_hides_the_version_that_analysts_see(scene):
    scene.publish("1", [scene.note(1, "as it was"), scene.note(2)])
    scene.publish("2", [scene.note(1, "as it will be")], release="r2", detector="better")
    assert scene.visible() == ["note 2"]


def test_a_note_that_its_source_changed_in_place_is_hidden_in_every_release(scene):
    scene.publish("1", [scene.note(1, "as it was"), scene.note(2)])
    other = {"release": "r2", "detector_digest": plain_digest("better")}
    scene.stage("1", [scene.note(1, "changed"), scene.note(2)], **other)
    scene.hide("1")
    assert scene.visible() == ["note 2"]


def test_a_rejoining_outlasts_what_another_release_makes_of_the_delivery(scene):
    scene.publish("1", [scene.note(1)])
    scene.publish("2", patients=[1])
    scene.publish("3", rejoined=[1])
    assert scene.visible() == ["note 1"]
    scene.publish("3", release="r2", detector="better")  # no longer says so
    assert scene.visible() == []
    assert scene.publish("3", rejoined=[1]).outcome is Outcome.PROMOTED
    assert scene.visible() == ["note 1"]


def test_an_empty_release_is_not_shown(scene):
    scene.stage("1", [scene.note(1)])
    for name in ("r1", "nowhere"):
        with pytest.raises(DeidError) as caught:
            activate_release(scene.warehouse.engine(Role.PROMOTER), name)
        assert caught.value.code is Code.RELEASE_CONFLICT


# The ledger


def test_the_ledger_tells_who_did_what(scene):
    scene.publish("1", [scene.note(1)])
    with scene.warehouse.begin(Role.OFFICER) as connection:
        rows = connection.execute(
            text("SELECT actor, event FROM ctl.ledger WHERE event <> 'profile' ORDER BY id")
        ).all()
    assert [tuple(row) for row in rows] == [
        ("loader", "staged"),
        ("gatekeeper", "held-out-sealed"),
        ("gatekeeper", "looked"),
        *[("gatekeeper", "gate-passed")] * 5,
        ("promoter", "promoted"),
        ("promoter", "activated"),
    ]


@pytest.mark.parametrize("table", ["ledger", "gate", "waiver", "waiver_end"])
@pytest.mark.parametrize("change", ["UPDATE ctl.{} SET actor = 'x'", "DELETE FROM ctl.{}", "TRUNCATE ctl.{} CASCADE"])
def test_not_even_an_administrator_rewrites_it_by_mistake(shared_scene, table, change):
    with pytest.raises(DeidError, match="42501"), shared_scene.warehouse.administer() as connection:
        connection.execute(text(change.format(table)))

"""A delivery through the gate: staged, measured, promoted or refused, and what analysts then see."""

from __future__ import annotations

import datetime

import pytest
from small_feed import measure_bench, taken_in

from deid_platform.corpora.exclusions import Exclusions
from deid_platform.errors import Code, DeidError
from deid_platform.oversight.summary import release_summary
from deid_platform.refresh import publish
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.withdraw import withdraw_arrived
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.decision import Action, Ruling
from deid_platform.refresh.redact.decisions import keep
from deid_platform.refresh.staging import due, measure, stage
from deid_platform.reports.summary import summary_markdown
from deid_platform.settings import load_settings
from deid_platform.warehouse.gate.staging import staged_now
from deid_platform.warehouse.gate.waivers import waive
from deid_platform.warehouse.migrate import configure
from deid_platform.warehouse.officer.reviews import rule
from deid_platform.warehouse.server.roles import Role

PATIENTS = [{"patient_id": "p1", "first_name": "Thandiwe", "last_name": "Quillfeather"}]


@pytest.fixture(scope="module")
def run(site, take_in, redacted):
    """All steps of the job short of promotion, for one delivery; the bench is measured once."""
    measured = False

    def steps(delivery, *, expectations: bool = True):
        nonlocal measured
        take_in(delivery)
        redacted(delivery)
        if not measured:
            measured = True
            measure_bench(site)
        staged = stage.stage_delivery(site, delivery, run_id="run-1")
        measure.record_measurements(site, staged)
        if expectations:
            assert all(outcome.passed for outcome in measure.record_expectations(site, delivery))
        return staged

    return steps


def seen(site) -> dict[str, str]:
    """What the analyst sees: note_key to text."""
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        return dict(connection.exec_driver_sql("SELECT note_key, text FROM research.notes").all())


def key(site, note_id: str) -> str:
    return site.note_key("hospital", note_id)


def test_what_passes_is_seen_by_the_analyst_redacted_and_keyed(site, deliver, run) -> None:
    delivery = deliver(
        "2026-01-05",
        notes=[
            {"note_id": "1", "patient_id": "p1", "text": "Ms. Quillfeather is well."},
            {"note_id": "2", "patient_id": "p1", "text": "BP 120/80."},
            {"note_id": "3", "patient_id": "p1", "text": "Stable."},
        ],
        patients=PATIENTS,
    )
    run(delivery)
    assert due.pending(site, [delivery]) == [delivery]
    assert publish.promote_delivery(site, delivery).approved == 3
    assert publish.activate(site, delivery)
    assert seen(site)[key(site, "1")] == "Ms. [PATIENT] is well."
    assert due.pending(site, [delivery]) == []
    # What people decide about its notes makes it due.
    for action, who in ((Action.KEEP_OUT, "A. Reader"), (Action.AS_FOUND, "A. Reader"), (Action.AS_FOUND, "B. Reader")):
        ruling = Ruling("hospital", delivery.key, "3", action, "leak-city", "content", "detector")
        rule(
            site.warehouse.engine(Role.OFFICER), site.warehouse.engine(Role.PROMOTER), feed="hospital",
            note_key=key(site, "3"), ruling=keep(site.store, site.keyring, ruling), action=action.value,
            held_for="leak-city", who=who, reason="a reason of weight",
        )  # fmt: skip
        assert due.pending(site, [delivery]) == ([] if who == "B. Reader" else [delivery])


def test_the_same_content_again_changes_nothing(site, deliver, run) -> None:
    delivery = deliver("2026-01-05", notes=[{"note_id": "1", "text": "Same."}])
    digest = run(delivery).staged_digest
    assert publish.promote_delivery(site, delivery).approved == 1
    assert run(delivery).staged_digest == digest
    assert publish.promote_delivery(site, delivery).outcome == "unchanged"


def test_a_correction_a_late_note_and_withdrawals_take_their_effect(site, deliver, run) -> None:
    notes = [{"note_id": str(n), "patient_id": f"p{n}", "text": f"Version one of {n}."} for n in range(1, 5)]
    first = deliver("2026-01-05", notes=notes, patients=[{"patient_id": f"p{n}"} for n in range(1, 5)])
    run(first)
    publish.promote_delivery(site, first)
    second = deliver(
        "2026-01-12",
        notes=[
            {"note_id": "1", "patient_id": "p1", "text": "Version two of 1."},
            {"note_id": "9", "patient_id": "p1", "text": "Late.", "note_date": "2019-03-01"},
        ],
        withdrawn=[{"note_id": "2"}, {"patient_id": "p3"}],
    )
    run(second)
    publish.promote_delivery(site, second)
    found = seen(site)
    assert found[key(site, "1")] == "Version two of 1."
    assert found[key(site, "9")] == "Late."
    assert found[key(site, "4")] == "Version one of 4."
    assert key(site, "2") not in found
    assert key(site, "3") not in found


def test_a_selection_without_the_checks_is_refused_by_the_database(site, deliver, run) -> None:
    delivery = deliver("2026-01-19", notes=[{"note_id": "19", "text": "Unchecked."}])
    run(delivery, expectations=False)
    with pytest.raises(DeidError) as error:
        publish.promote_delivery(site, delivery)
    assert error.value.code is Code.GATE_REFUSED
    assert error.value.ref == "hospital@2026-01-19: expectations not measured"
    assert key(site, "19") not in seen(site)


def test_a_check_of_other_content_does_not_count(site, deliver, run) -> None:
    delivery = deliver("2026-01-26", notes=[{"note_id": "26", "text": "Checked."}])
    run(delivery)
    deliver("2026-01-26", notes=[{"note_id": "26", "text": "Changed since."}])
    run(delivery, expectations=False)
    with pytest.raises(DeidError) as error:
        publish.promote_delivery(site, delivery)
    assert "expectations" in error.value.ref


def test_rows_that_are_not_those_of_the_note_store_fail_parity(site, deliver, run) -> None:
    delivery = deliver("2026-01-27", notes=[{"note_id": "27", "text": "As made."}])
    run(delivery)
    with site.warehouse.begin(Role.LOADER) as connection:
        found = (
            connection.exec_driver_sql("SELECT * FROM staging.note WHERE delivery = 'hospital@2026-01-27'")
            .mappings()
            .one()
        )
        connection.exec_driver_sql("DELETE FROM staging.note WHERE delivery = 'hospital@2026-01-27'")
        names = list(found)
        values = {**found, "text": "Johnny Marker, 123-45-6789"}
        statement = f"INSERT INTO staging.note ({', '.join(names)}) VALUES ({', '.join(f'%({n})s' for n in names)})"
        connection.exec_driver_sql(statement, values)
        connection.exec_driver_sql("SELECT ctl.finish_staging('hospital@2026-01-27')")
    staged = staged_now(site.warehouse.engine(Role.GATEKEEPER), delivery)
    rows = {row.requirement: row for row in measure.record_measurements(site, staged)}
    assert not rows["parity"].passed
    assert rows["parity"].measured["different"] == 1
    measure.record_expectations(site, delivery)
    with pytest.raises(DeidError) as error:
        publish.promote_delivery(site, delivery)
    assert error.value.ref.startswith("hospital@2026-01-27: parity failed (rows ")
    assert key(site, "27") not in seen(site)


def test_redacted_rows_of_other_notes_fail_parity(site, deliver, run, take_in) -> None:
    delivery = deliver("2026-01-28", notes=[{"note_id": "28", "text": "Then."}])
    staged = run(delivery)
    deliver("2026-01-28", notes=[{"note_id": "28", "text": "Then.", "note_date": "2020-01-01"}])
    take_in(delivery)
    rows = {row.requirement: row for row in measure.record_measurements(site, staged)}
    assert (rows["parity"].passed, rows["parity"].measured["mismatched"]) == (False, 1)


def test_withdrawals_wait_for_nothing(site, deliver, run, take_in) -> None:
    first = deliver("2026-03-01", notes=[{"note_id": "w", "patient_id": "pw", "text": "Here."}])
    run(first)
    publish.promote_delivery(site, first)
    assert key(site, "w") in seen(site)
    second = deliver("2026-03-02", withdrawn=[{"note_id": "w"}, {"note_id": "not yet"}])
    take_in(second)
    assert stage.stage_withdrawals(site, second, run_id="run-9") == 2
    assert key(site, "w") not in seen(site)
    run(second)
    assert publish.promote_delivery(site, second).approved == 0


def test_a_refused_correction_hides_the_older_version_at_once_and_until_a_good_one_comes(site, deliver, run) -> None:
    notes = [{"note_id": n, "text": f"Version one of {n}."} for n in ("r1", "r2")]
    first = deliver("2026-03-10", notes=notes)
    run(first)
    publish.promote_delivery(site, first)
    refused = {"note_id": "r1", "text": "Version two.", "note_date": "2026-02-30"}
    second = deliver("2026-03-11", notes=[refused, {"note_id": "r3", "text": "Good."}])
    run(second)
    # Hidden while the gate has not been asked, and whatever it answers.
    assert seen(site).keys() & {key(site, n) for n in ("r1", "r2")} == {key(site, "r2")}
    publish.promote_delivery(site, second)
    assert due.pending(site, [second]) == []
    assert seen(site).keys() & {key(site, n) for n in ("r1", "r3")} == {key(site, "r3")}
    third = deliver("2026-03-12", notes=[{"note_id": "r1", "text": "Version three."}])
    run(third)
    publish.promote_delivery(site, third)
    assert seen(site)[key(site, "r1")] == "Version three."


def test_a_withdrawal_that_nobody_can_read_stops_the_delivery_and_the_others_hold(site, deliver, run) -> None:
    first = deliver("2026-03-20", notes=[{"note_id": n, "patient_id": f"p{n}", "text": "Here."} for n in ("l1", "l2")])
    run(first)
    publish.promote_delivery(site, first)
    notes = [{"note_id": "l3", "text": "New."}]
    said = [{"patient_id": "pl1", "note_id": ""}, {"patient_id": "pl2", "note_id": "l2"}]
    second = deliver("2026-03-21", notes=notes, withdrawn=said)
    staged = run(second)
    (parity,) = (row for row in measure.record_measurements(site, staged) if row.requirement == "parity")
    assert (parity.passed, parity.measured["withdrawals_lost"]) == (False, 1)
    with pytest.raises(DeidError) as error:
        publish.promote_delivery(site, second)
    assert error.value.ref == "hospital@2026-03-21: parity failed (lost withdrawals 1, at most 0)"
    assert seen(site).keys() & {key(site, n) for n in ("l1", "l2", "l3")} == {key(site, "l2")}
    run(deliver("2026-03-21", notes=notes, withdrawn=[{"patient_id": "pl1"}, {"patient_id": "pl2"}]))
    publish.promote_delivery(site, second)
    assert seen(site).keys() & {key(site, n) for n in ("l1", "l2", "l3")} == {key(site, "l3")}


def test_a_withdrawal_that_comes_late_takes_nothing_from_who_rejoined_after_it(site, deliver, run) -> None:
    first = deliver("2026-04-10", notes=[{"note_id": "b1", "patient_id": "pb", "text": "Here."}])
    back = deliver("2026-04-14", rejoined=[{"patient_id": "pb"}])
    for delivery in (first, back):
        run(delivery)
        publish.promote_delivery(site, delivery)
    late = deliver("2026-04-12", withdrawn=[{"patient_id": "pb"}])
    run(late)
    assert key(site, "b1") in seen(site)
    publish.promote_delivery(site, late)
    assert key(site, "b1") in seen(site)
    later = deliver("2026-04-15", withdrawn=[{"patient_id": "pb"}])
    run(later)
    assert key(site, "b1") not in seen(site)


def test_a_withdrawal_stands_before_the_note_that_it_withdraws(site, deliver, run) -> None:
    later = deliver("2026-04-02", withdrawn=[{"note_id": "early"}])
    run(later)
    publish.promote_delivery(site, later)
    earlier = deliver("2026-04-01", notes=[{"note_id": "early", "text": "Too late."}])
    run(earlier)
    publish.promote_delivery(site, earlier)
    assert key(site, "early") not in seen(site)


def test_a_delivery_of_a_patients_withdrawal_alone_is_promoted(site, deliver, run) -> None:
    delivery = deliver("2026-04-03", withdrawn=[{"patient_id": "p4"}])
    run(delivery)
    publish.promote_delivery(site, delivery)
    assert key(site, "4") not in seen(site)


def test_another_profile_or_recipe_makes_a_promoted_delivery_due_again(site, deliver, run, warehouse) -> None:
    delivery = deliver("2026-04-04", notes=[{"note_id": "44", "text": "Held."}])
    run(delivery)
    publish.promote_delivery(site, delivery)
    assert due.pending(site, [delivery]) == []
    configure(warehouse.admin_engine(), "production")
    assert due.pending(site, [delivery]) == [delivery]
    configure(warehouse.admin_engine(), "demo")
    narrower = site.settings.root / "narrower.toml"
    narrower.write_text(site.settings.root.joinpath("deid.toml").read_text().replace('"progress note", ', ""))
    assert due.pending(Site(load_settings(narrower)), [delivery]) == [delivery]


CHANGES = {
    "a corrected note": {"notes": [{"note_id": "k", "text": "Version two."}]},
    "a withdrawal more": {"notes": [{"note_id": "k", "text": "Version one."}], "withdrawn": [{"note_id": "k0"}]},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_that_is_killed_at_any_step_leaves_a_changed_delivery_due(
    site, deliver, take_in, redacted, run, change
) -> None:
    watermark = f"2026-06-{10 + list(CHANGES).index(change)}"
    delivery = deliver(watermark, notes=[{"note_id": "k", "text": "Version one."}])
    run(delivery)
    publish.promote_delivery(site, delivery)
    assert due.pending(site, [delivery]) == []
    deliver(watermark, **CHANGES[change])
    steps = (
        lambda: None,
        lambda: take_in(delivery),
        lambda: redacted(delivery),
        lambda: stage.stage_withdrawals(site, delivery, run_id="run-6"),
        lambda: run(delivery),
    )
    for step in steps:
        step()
        assert due.pending(site, [delivery]) == [delivery]
    publish.promote_delivery(site, delivery)
    assert due.pending(site, [delivery]) == []
    assert seen(site)[key(site, "k")] == CHANGES[change]["notes"][0]["text"]


def test_what_is_made_again_of_the_same_files_is_still_held(site, deliver, take_in, redacted, run) -> None:
    delivery = deliver("2026-06-20", notes=[{"note_id": "h", "text": "Held."}])
    run(delivery)
    publish.promote_delivery(site, delivery)
    take_in(delivery)
    redacted(delivery)
    assert due.pending(site, [delivery]) == []


def test_the_list_of_opt_outs_is_read_once_for_all_deliveries(site, deliver, monkeypatch) -> None:
    read = []
    load = Exclusions.load
    monkeypatch.setattr(Exclusions, "load", lambda settings: read.append(1) or load(settings))
    deliveries = site.deliveries()
    assert len(deliveries) > 2
    due.pending(site, deliveries)
    assert len(read) == 1


def test_a_feed_that_is_no_demonstration_is_refused_by_the_embedded_server(site, deliver, run, embedded_server) -> None:
    delivery = deliver("2026-02-02", notes=[{"note_id": "1", "text": "Real."}])
    run(delivery)
    from deid_platform.warehouse.server.connection import Warehouse

    text = site.settings.root.joinpath("deid.toml").read_text().replace("demonstration = true\n", "")
    other = site.settings.root / "real.toml"
    other.write_text(text)
    real = Site(load_settings(other))
    real.__dict__["warehouse"] = Warehouse(embedded_server, database=site.warehouse.database)
    with pytest.raises(DeidError) as error:
        stage.stage_delivery(real, delivery, run_id="run-2")
    assert error.value.code is Code.FEED_NOT_DEMONSTRATION
    # Who withdraws from it is not read either, and the platform is not loaded for it.
    (failure,) = withdraw_arrived(real).failures
    assert failure.code is Code.FEED_NOT_DEMONSTRATION
    with pytest.raises(DeidError) as error:
        real.accept_any(["hospital"])
    assert error.value.code is Code.FEED_NOT_DEMONSTRATION
    site.accept_any(["hospital"])


def test_the_summary_tells_the_way_of_every_delivery(site) -> None:
    found = release_summary(site)
    lines = {line.delivery: line for line in found.deliveries}
    assert lines["hospital@2026-01-12"].promoted == 2
    assert lines["hospital@2026-01-19"].missing == ("expectations",)
    # A withdrawal that names nobody is told like any other row that was refused.
    assert lines["hospital@2026-03-02"].rejected == 1
    assert found.leaks == 0
    # An earlier version is hidden since its correction was refused: the source withdrew nothing.
    assert (lines["hospital@2026-03-11"].withdrawn, lines["hospital@2026-03-11"].rejected) == (0, 1)
    assert lines["hospital@2026-01-12"].withdrawn == 2
    page = summary_markdown(found)
    assert "not measured: expectations; `deid gate hospital@2026-01-19` shows" in page
    assert "- **recall, own notes**: not measured" in page
    assert "of characters reused, about" in page


def test_a_delivery_of_refused_corrections_alone_hides_and_is_then_an_error(site, deliver, take_in, redacted) -> None:
    assert key(site, "r2") in seen(site)
    delivery = deliver("2026-03-13", notes=[{"note_id": "r2", "text": ""}])
    take_in(delivery)
    redacted(delivery)
    stage.stage_withdrawals(site, delivery, run_id="run-4")
    assert key(site, "r2") not in seen(site)
    with pytest.raises(DeidError) as error:
        stage.stage_delivery(site, delivery, run_id="run-4")
    assert (error.value.code, error.value.ref) == (Code.FEED_EMPTY, "hospital@2026-03-13: 1 empty_text")


def test_withdrawals_that_were_sealed_before_anyone_could_rejoin_are_withdrawals(site, deliver, take_in) -> None:
    delivery = deliver("2026-03-30", withdrawn=[{"note_id": "o1"}, {"patient_id": "po1"}])
    take_in(delivery)
    (table,) = site.store.read(tables.WITHDRAWALS, delivery.key)
    site.store.write(tables.WITHDRAWALS, delivery.key, [table.drop_columns("rejoined")], meta=lambda: {"rejected": {}})
    assert stage.stage_withdrawals(site, delivery, run_id="run-5") == 2


def test_production_names_what_is_missing_and_a_waiver_lets_it_pass(site, deliver, take_in, warehouse) -> None:
    configure(warehouse.admin_engine(), "production")
    text = site.settings.root.joinpath("deid.toml").read_text().replace('"demo"', '"production"')
    thresholds = "\n[profiles.production]\nmin_recall = 0.5\nmin_precision = 0.5\nmin_clinical_retention = 0.5\n"
    config = site.settings.root / "production.toml"
    config.write_text(text.replace("[feeds.hospital]", "[feeds.other]").replace('"home"', '"home2"') + thresholds)
    production = Site(load_settings(config))
    delivery = deliver("2026-02-09", notes=[{"note_id": "90", "text": "No topics at all."}])
    delivery = type(delivery)("other", delivery.watermark)
    _through(production, delivery)
    with pytest.raises(DeidError) as error:
        publish.promote_delivery(production, delivery)
    assert error.value.ref == (
        "other@2026-02-09: languages failed (en: gold notes of the site 0, at least 1),"
        " site_gold failed (notes with gold 0, at least 1),"
        " topics failed (share of notes whose patient has a last name 0.000, at least 0.950)"
    )

    until = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=30)
    waive(
        warehouse.engine(Role.OFFICER),
        ("languages", "site_gold", "topics"),
        who="Privacy Officer",
        reason="gold is being annotated",
        until=until,
        delivery=delivery,
    )
    promotion = publish.promote_delivery(production, delivery)
    assert promotion.approved == 1
    assert promotion.waived == ("languages", "site_gold", "topics")


@pytest.mark.parametrize("name", [{}, {"last_name": "UNKNOWN"}, {"first_name": "John", "last_name": "Doe"}])
def test_production_refuses_a_roster_that_names_nobody(site, deliver, warehouse, name) -> None:
    production = Site(load_settings(site.settings.root / "production.toml"))
    row = {"patient_id": "p1", "birth_date": "1950-03-04", "mrn": "00441903", **name}
    note = {"note_id": "91", "patient_id": "p1", "text": "Is well."}
    written = deliver(f"2026-02-1{len(name)}", notes=[note], patients=[row])
    delivery = type(written)("other", written.watermark)
    _through(production, delivery)
    assert production.store.required(tables.REDACTED_NOTES, delivery.key).meta["inputs"] == "text"
    with pytest.raises(DeidError) as error:
        publish.promote_delivery(production, delivery)
    assert "topics failed (share of notes whose patient has a last name 0.000, at least 0.950)" in error.value.ref
    shown = {str(each) for it in publish.gate_requirements(production, delivery) for each in it.figures}
    assert {
        f"share of notes whose patient has a {what} 1.000, nothing" for what in ("birth date", "record number")
    } <= shown


def _through(site, delivery) -> None:
    from deid_platform.refresh.redact.delivery import deidentify

    taken_in(site, delivery)
    deidentify(delivery, store=site.store, recipe=site.recipe(delivery), engine=site.engine)
    measure_bench(site)
    measure.record_measurements(site, stage.stage_delivery(site, delivery, run_id="run-3"))
    measure.record_expectations(site, delivery)

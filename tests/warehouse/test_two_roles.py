"""No login alone shows anything: the steps of docs/gate.md, each with all its roles and with each of them left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from looks import looked
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from deid_platform.bench.gate.measured_notes import SYNTHETIC
from deid_platform.errors import DeidError
from deid_platform.evaluation.scores.scores import summarise
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.warehouse.gate.ledger import Score, count_again, record_scores
from deid_platform.warehouse.gate.promotion import hide_notes, set_opt_outs
from deid_platform.warehouse.gate.staging import Counts, Inputs, Kind, Staged
from deid_platform.warehouse.gate.waivers import waive
from deid_platform.warehouse.gate.withdrawals import withdraw
from deid_platform.warehouse.migrate import configure
from deid_platform.warehouse.officer.findings import retract
from deid_platform.warehouse.officer.releases import activate_release
from deid_platform.warehouse.server.roles import Role

pytestmark = pytest.mark.transport

GATE = Path(__file__).parents[2] / "docs" / "gate.md"
DIGEST = plain_digest("detector")
NOTHING = "0" * 64


@dataclass(frozen=True)
class Step:
    """What shows something: how things stand before, what each role does in this order, and whether it is shown."""

    before: Callable[[Any], object]
    actions: Mapping[Role, Callable[[Any], object]]
    shown: Callable[[Any], bool]


def engine(scene, role):
    return scene.warehouse.engine(role)


def stage(watermark, rows=(), **changes):
    return lambda scene: scene.stage(watermark, [scene.note(*row) for row in rows], **changes)


def measure(watermark, **changes):
    """The gatekeeper measures what is staged, or, where nothing is, says so of nothing."""

    def done(scene):
        with scene.warehouse.begin(Role.GATEKEEPER) as connection:
            digest = connection.execute(
                text("SELECT staged_digest FROM ctl.delivery WHERE delivery = :d"), {"d": f"clinic@{watermark}"}
            ).scalar()
        scene.measure(Staged(scene.delivery(watermark), digest or NOTHING, Counts()), **changes)

    return done


def promote(watermark):
    return lambda scene: scene.promote(watermark)


def through_the_gate(watermark, rows=(), **changes):
    return {
        Role.LOADER: stage(watermark, rows, **changes),
        Role.GATEKEEPER: measure(watermark),
        Role.PROMOTER: promote(watermark),
    }


def published(*texts):
    return lambda scene: scene.publish("1", [scene.note(n, t, patient=n) for n, t in enumerate(texts, 1)])


def sees(*texts):
    return lambda scene: scene.visible() == list(texts)


def withdrawn(scene):
    published("one")(scene)
    scene.publish("2", patients=[1])


def waived(scene):
    published("one")(scene)
    configure(scene.warehouse.admin_engine(), "production")


def in_research(count):
    def shown(scene):
        with scene.warehouse.administer() as connection:
            return connection.execute(text("SELECT count(*) FROM research.note_version")).scalar() == count

    return shown


def quarantined_since(scene):
    published("one")(scene)
    scene.stage("1", [scene.note(1, status="quarantined")])
    scene.hide("1")


def named_later(scene):
    published("one")(scene)
    hide_notes(engine(scene, Role.PROMOTER), scene.delivery("1"), [scene.keys.key("note", "1")])


def withdrawn_since(scene):
    published("one")(scene)
    scene.stage("1", withdrawn=[1])
    scene.hide("1")


def corrected_since(scene):
    published("one")(scene)
    scene.publish("1", [scene.note(1, "one is corrected")])


def opted_out(scene):
    published("one")(scene)
    keys = {scene.keys.key_id: [scene.keys.key("patient", "1")]}
    set_opt_outs(engine(scene, Role.LOADER), engine(scene, Role.PROMOTER), keys)
    assert scene.visible() == []


def no_opt_outs(function):
    def said(scene):
        role = Role.LOADER if "announce" in function else Role.PROMOTER
        with scene.warehouse.begin(role) as connection:
            connection.execute(text(f"SELECT {function}(:ids, '{{}}', '{{}}')"), {"ids": [scene.keys.key_id]})

    return said


def retracted(scene):
    published("Mr. Quillfeather is well.")(scene)
    keys = [scene.keys.key("note", "1")]
    retract(engine(scene, Role.OFFICER), keys, 4, 16, label=Label.PATIENT, who="A. Reader")


def says_it_is_none(role):
    def said(scene):
        with scene.warehouse.administer() as connection:
            number = connection.execute(text("SELECT max(id) FROM ctl.finding")).scalar()
        said_by = {"number": number, "who": f"{role} by name", "person": str(role)}
        with scene.warehouse.begin(role) as connection:
            connection.execute(
                text("SELECT ctl.withdraw_finding(:number, :who, :person, 'it is a common word')"), said_by
            )

    return said


def another_release(scene):
    scene.promote("1")
    activate_release(engine(scene, Role.PROMOTER), "r2")


def record(scene, found, *, gold=SYNTHETIC, inputs=Inputs.TEXT):
    look = scene.look(gold=gold)
    record_scores(engine(scene, Role.GATEKEEPER), found, detector_digest=DIGEST, gold=gold, inputs=inputs, look=look)


def score(scene):
    record(scene, [Score("ALL", "recall", 0.97, 0.95, 0.98, n=4_000)])


def figures(scene):
    with scene.warehouse.begin(Role.DEMO_ANALYST) as connection:
        return connection.execute(text("SELECT * FROM quality.scores")).all()


STEPS = {
    "a note is published": Step(published("one"), through_the_gate("2", [(2, "two")]), sees("one", "two")),
    "a note is published although a requirement is not met": Step(
        waived,
        {
            Role.LOADER: stage("2", [(2, "two")]),
            Role.GATEKEEPER: measure("2", failing=["topics"], profile="production"),
            Role.OFFICER: lambda scene: waive(
                engine(scene, Role.OFFICER),
                ["topics"],
                who="A. Officer",
                reason="topics come next week",
                until=datetime.now(tz=UTC).date() + timedelta(days=2),
                feed="clinic",
            ),
            Role.PROMOTER: promote("2"),
        },
        in_research(2),
    ),
    "a note that its delivery quarantined since is shown again": Step(
        quarantined_since, through_the_gate("1", [(1, "one")]), sees("one")
    ),
    "a note that shows a name which came later is shown again": Step(
        named_later, through_the_gate("1", [(1, "one")]), sees("one")
    ),
    "a note that its delivery withdrew since is shown again": Step(
        withdrawn_since, through_the_gate("1", [(1, "one")]), sees("one")
    ),
    "what a delivery corrected since is shown again": Step(
        corrected_since, through_the_gate("1", [(1, "one")]), sees("one")
    ),
    "a withdrawn patient is shown again": Step(withdrawn, through_the_gate("3", rejoined=[1]), sees("one")),
    "a patient who opted out is shown again": Step(
        opted_out,
        {Role.LOADER: no_opt_outs("ctl.announce_opt_outs"), Role.PROMOTER: no_opt_outs("ctl.set_opt_outs")},
        sees("one"),
    ),
    "a note in which somebody found an identifier is shown again": Step(
        retracted, through_the_gate("1", [(1, "Mr. [PATIENT] is well.")]), sees("Mr. [PATIENT] is well.")
    ),
    "the same, because the finding was a mistake": Step(
        retracted,
        {role: says_it_is_none(role) for role in (Role.OFFICER, Role.PROMOTER)},
        sees("Mr. Quillfeather is well."),
    ),
    "another release is shown": Step(
        published("one"),
        {
            Role.LOADER: stage("1", [(1, "other")], release="r2", policy_digest=plain_digest("other")),
            Role.GATEKEEPER: measure("1"),
            Role.PROMOTER: another_release,
        },
        sees("other"),
    ),
    "a figure of the bench is shown": Step(
        lambda scene: None,
        {Role.LOADER: stage("1"), Role.GATEKEEPER: score},
        lambda scene: bool(figures(scene)),
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_each_role_of_a_step_is_needed_and_all_of_them_suffice(scene, name):
    step = STEPS[name]
    for left_out in (*step.actions, None):
        scene.empty()
        step.before(scene)
        for role, action in step.actions.items():
            if role is not left_out:
                with suppress(*(() if left_out is None else (DeidError,))):
                    action(scene)
        assert step.shown(scene) == (left_out is None), f"without {left_out}"


@pytest.mark.parametrize("before", [quarantined_since, named_later, withdrawn_since, corrected_since])
def test_nor_does_a_search_for_what_a_reader_reported_let_measurements_count_that_are_older_than_the_hiding(
    scene, before
):
    before(scene)
    seen = scene.visible()
    scene.publish("2", [scene.note(2, "Mr. Quillfeather is well.", patient=2)])
    found = retract(
        engine(scene, Role.OFFICER), [scene.keys.key("note", "2")], 4, 16, label=Label.PATIENT, who="A. Reader"
    )
    staged = scene.stage("1", [scene.note(1, "one")])
    count_again(engine(scene, Role.GATEKEEPER), staged, profile="demo", known=found.number)
    with pytest.raises(DeidError, match="gate-refused"):
        scene.promote("1")
    assert scene.visible() in (seen, [])  # hidden at most


def test_nor_does_it_end_a_withdrawal_that_came_after_them(scene):
    scene.publish("1", [scene.note(1, "one")])
    scene.publish("2", [scene.note(2, "Mr. Quillfeather is well.", patient=2)])
    withdraw(
        engine(scene, Role.PROMOTER),
        scene.delivery("1"),
        [(Kind.NOTE, scene.keys.key("note", "1"), scene.keys.key_id)],
        marker="m",
    )
    found = retract(
        engine(scene, Role.OFFICER), [scene.keys.key("note", "2")], 4, 16, label=Label.PATIENT, who="A. Reader"
    )
    staged = scene.stage("1", [scene.note(1, "one")])
    count_again(engine(scene, Role.GATEKEEPER), staged, profile="demo", known=found.number)
    scene.promote("1")
    assert scene.visible() == []


def test_the_table_of_the_documents_is_this_one():
    rows = re.findall(r"^\| (\w[^|]*?) \| ((?:`\w+`(?:, )?)+) \|$", GATE.read_text(), re.MULTILINE)
    told = {step: set(re.findall(r"`(\w+)`", roles)) for step, roles in rows if step in STEPS}
    assert told == {name: {str(role) for role in step.actions} for name, step in STEPS.items()}


def test_what_the_loader_announces_keeps_nobody_from_being_hidden(scene):
    published("one", "two")(scene)
    loader, promoter = engine(scene, Role.LOADER), engine(scene, Role.PROMOTER)
    for number, nonsense in ((1, "ARRAY[NULL]::text[]"), (2, "ARRAY[repeat('x', 10000)]")):
        with scene.warehouse.begin(Role.LOADER) as connection:
            connection.execute(text(f"SELECT ctl.announce_opt_outs('{{x}}', '{{x}}', {nonsense})"))
        set_opt_outs(loader, promoter, {scene.keys.key_id: [scene.keys.key("patient", str(number))]})
        assert scene.visible() == ["two" if number == 1 else "one"]
    keys = {scene.keys.key_id: [scene.keys.key("patient", "1"), scene.keys.key("patient", "2")]}
    with scene.warehouse.begin(Role.LOADER) as holding:
        holding.execute(text("SELECT ctl.announce_opt_outs(:ids, '{}', '{}')"), {"ids": list(keys)})
        with pytest.raises(DeidError, match="warehouse-busy"):
            set_opt_outs(loader, promoter, keys)
        assert scene.visible() == []


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_nobody_is_shown_again_by_lists_of_before(scene, level):
    opted_out(scene)
    no_opt_outs("ctl.announce_opt_outs")(scene)
    old = engine(scene, Role.PROMOTER).execution_options(isolation_level=level)
    with old.connect() as connection:
        connection.execute(text("SELECT 1 FROM ctl.marked_read()"))
        keys = {scene.keys.key_id: [scene.keys.key("patient", "1")]}
        set_opt_outs(engine(scene, Role.LOADER), engine(scene, Role.PROMOTER), keys)
        with pytest.raises(DBAPIError) as caught:
            connection.execute(text("SELECT ctl.set_opt_outs(:ids, '{}', '{}')"), {"ids": [scene.keys.key_id]})
        assert caught.value.orig.sqlstate == "25000"
    assert scene.visible() == []


@pytest.mark.parametrize("column", ["detector_digest", "gold", "label", "measure"])
def test_no_text_of_the_gatekeepers_own_reaches_an_analyst_through_the_scores(scene, column):
    published("one")(scene)
    score(scene)
    assert len(figures(scene)) == 1
    for value in (scene.marker, scene.marker.encode().hex().ljust(64, "0")):
        said = {"detector_digest": DIGEST, "gold": SYNTHETIC, "label": "ALL", "measure": "recall"} | {column: value}
        with suppress(DeidError):  # of another detector or gold the server takes no look, and no figure without one
            look = looked(engine(scene, Role.GATEKEEPER), said["detector_digest"], gold=said["gold"])
            with scene.warehouse.begin(Role.GATEKEEPER) as connection:
                connection.execute(
                    text(
                        "INSERT INTO quality.score (detector_digest, gold, inputs, label, measure, value, n, look)"
                        " VALUES (:detector_digest, :gold, 'text', :label, :measure, 0.5, 99, :look)"
                    ),
                    {**said, "look": look},
                )
        assert len(figures(scene)) == 1


def test_nor_do_more_digits_than_a_figure_needs_or_figures_of_before(scene):
    published("one")(scene)
    for value in (0.123456789, 0.987654321):
        found = [Score("ALL", "recall", value, value, value, n=4_000)]
        record(scene, found)
    (figure,) = figures(scene)
    assert (figure.value, figure.low, figure.high) == (0.9877, 0.9877, 0.9877)


def test_every_figure_that_the_bench_makes_can_be_shown(scene):
    published("one")(scene)
    rows = summarise([]).to_rows()
    words = {(row["label"], row["measure"]) for row in rows}
    every = {("ALL", measure) for label, measure in words if label == "ALL"}
    every |= {(label.value, measure) for label in Label for measure in ("recall", "precision", "entity_recall")}
    found = [Score(label, measure, 0.5, n=99) for label, measure in sorted(every)]
    record(scene, found, gold="site", inputs=Inputs.TOPICS)
    assert {(figure.label, figure.measure) for figure in figures(scene)} == every

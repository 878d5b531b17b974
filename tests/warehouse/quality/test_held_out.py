"""Held-out sets in the ledger: sealed before, looks counted, figures refused without one, nothing taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from looks import held_out, looked
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.warehouse.gate.ledger import GateRow, Score, record_gate, record_scores
from deid_platform.warehouse.gate.queries import ledger
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.quality.held_out import Looks, Purpose, looked_at, looks_at, record_look, seal
from deid_platform.warehouse.quality.lab import LabScore, MeasuredOn, record_lab_scores
from deid_platform.warehouse.server.roles import Role

DETECTOR, OTHER = plain_digest("detector"), plain_digest("other")
RECALL = Score("ALL", "recall", 0.97, 0.95, 0.98, n=4_000)


@pytest.fixture
def gatekeeper(scene):
    return scene.warehouse.engine(Role.GATEKEEPER)


@pytest.fixture
def officer(scene):
    return scene.warehouse.engine(Role.OFFICER)


def rows(scene, statement: str, role: Role = Role.OFFICER) -> list[tuple]:
    with scene.warehouse.begin(role) as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def refused(act, *args, **kwargs) -> str | None:
    with pytest.raises(DeidError) as raised:
        act(*args, **kwargs)
    assert raised.value.code is Code.HELD_OUT_REFUSED
    return raised.value.ref


def test_a_set_is_sealed_once_and_the_ledger_tells(scene, gatekeeper, officer):
    seal(gatekeeper, held_out())
    seal(gatekeeper, replace(held_out(), strata=5))  # by other years
    ((gold, notes, patients, strata, smallest, spans),) = rows(
        scene, "SELECT gold, notes, patients, strata, smallest_stratum, spans FROM ctl.held_out_set"
    )
    assert (gold, notes, patients, strata, smallest) == ("synthetic_hospital", 40, 20, 2, 10)
    assert spans == {"PATIENT": 40, "DATE": 3}
    (entry,) = (it for it in ledger(officer) if it.event == "held-out-sealed")
    assert entry.counts == {"notes": 40, "patients": 20, "strata": 2, "smallest_stratum": 10, "seen": 0}


@pytest.mark.parametrize(
    "change", [{"gold": "site"}, {"locale": "fr_FR"}, {"patients": 19}, {"spans": {"PATIENT": 39}}]
)
def test_what_is_sealed_is_sealed_under_no_other_name_and_with_no_other_figures(gatekeeper, change):
    seal(gatekeeper, held_out())
    assert refused(seal, gatekeeper, replace(held_out(), **change)) == "set"


@pytest.mark.parametrize(
    ("change", "ref"),
    [
        ({"gold": "Zyxwarren Quillfeather"}, "gold"),
        ({"locale": "Zyxwarren"}, "gold"),
        ({"spans": {"Zyxwarren": 1}}, "spans"),
        ({"spans": {"PATIENT": "Zyxwarren"}}, "spans"),
        ({"notes": ()}, "notes"),
    ],
)
def test_nothing_but_words_of_the_lists_and_numbers_is_sealed(scene, gatekeeper, change, ref):
    assert refused(seal, gatekeeper, replace(held_out(), **change)) == ref
    assert rows(scene, "SELECT 1 FROM ctl.held_out_set") == rows(scene, "SELECT 1 FROM ctl.held_out_note") == []


@pytest.mark.parametrize("change", [{"digest": "Zyxwarren"}, {"digest": "abcd"}, {"notes": ("Zyxwarren",)}])
def test_nor_is_what_is_no_digest(scene, gatekeeper, change):
    with pytest.raises(DeidError, match=r"23514|22023"):
        seal(gatekeeper, replace(held_out(), **change))
    assert rows(scene, "SELECT 1 FROM ctl.held_out_set") == []


def test_nothing_is_looked_at_before_it_is_sealed(gatekeeper):
    assert refused(record_look, gatekeeper, held_out().digest, DETECTOR, Purpose.GATE) == "set"


def test_every_look_is_counted_and_so_is_every_detector(scene, gatekeeper):
    made = held_out()
    for detector, purpose in ((DETECTOR, Purpose.GATE), (DETECTOR, Purpose.LABORATORY), (OTHER, Purpose.COMPARE)):
        looked(gatekeeper, detector, purpose=purpose)
    name = looks_at(gatekeeper, made.digest).name
    assert looks_at(gatekeeper, made.digest) == Looks(name, looks=3, detectors=2)
    shown = rows(
        scene, "SELECT held_out_set, gold, notes, looks, detectors FROM quality.held_out_sets", Role.DEMO_ANALYST
    )
    assert shown == [(name, "synthetic_hospital", 40, 3, 2)]
    assert name not in made.digest  # the gatekeeper cannot choose what analysts read
    assert [it[0] for it in rows(scene, "SELECT purpose FROM ctl.look ORDER BY id")] == [
        "gate",
        "laboratory",
        "compare",
    ]


@pytest.mark.parametrize(("notes", "shown"), [(10, None), (11, 10), (39, 30)])
def test_analysts_see_how_many_notes_in_tens_from_eleven_on(scene, gatekeeper, notes, shown):
    seal(gatekeeper, held_out(notes=range(notes)))
    assert rows(scene, "SELECT notes FROM quality.held_out_sets", Role.DEMO_ANALYST) == [(shown,)]


def scored(gatekeeper, look, *, detector=DETECTOR, gold="synthetic_hospital"):
    record_scores(gatekeeper, [RECALL], detector_digest=detector, gold=gold, inputs=Inputs.TEXT, look=look)


def in_lab(gatekeeper, look, *, detector=DETECTOR, gold="synthetic_hospital", locale=""):
    on = MeasuredOn("rules", detector, gold, "text", locale=locale, look=look)
    record_lab_scores(gatekeeper, on, [LabScore("tokens", "recall", 0.5, n=400)])


@pytest.mark.parametrize("record", [scored, in_lab], ids=["bench", "laboratory"])
def test_no_figure_is_taken_without_the_look_that_it_is_of(scene, gatekeeper, record):
    look = looked(gatekeeper, DETECTOR)
    assert refused(record, gatekeeper, None) == "look"
    assert refused(record, gatekeeper, look + 1) == "look"
    assert refused(record, gatekeeper, look, detector=OTHER) == "look"
    assert refused(record, gatekeeper, look, gold="site") == "look"
    assert rows(scene, "SELECT 1 FROM quality.score", Role.GATEKEEPER) == []
    record(gatekeeper, look)
    with pytest.raises(DeidError, match="23505"):
        record(gatekeeper, look)  # measured again, but not looked at again
    record(gatekeeper, looked(gatekeeper, DETECTOR))


@pytest.mark.parametrize("family", ["cost", "judges"])
def test_what_needs_no_held_out_set_names_no_look(scene, gatekeeper, family):
    on = MeasuredOn("rules", DETECTOR, "judged_pairs", "text")
    record_lab_scores(gatekeeper, on, [LabScore(family, "precision", 0.5, n=400)])
    assert refused(record_lab_scores, gatekeeper, replace(on, look=1), [LabScore(family, "recall", 0.5)]) == "look"
    assert refused(record_lab_scores, gatekeeper, on, [LabScore("words", "recall", 0.5, n=400)]) == "look"


def test_a_figure_of_one_locale_is_none_of_another(gatekeeper):
    look = looked(gatekeeper, DETECTOR, gold="mtsamples", locale="fr_FR")
    assert refused(in_lab, gatekeeper, look, gold="mtsamples", locale="it_IT") == "look"
    in_lab(gatekeeper, look, gold="mtsamples", locale="fr_FR")


def test_the_gate_takes_scores_of_looks_for_the_gate_alone(scene, gatekeeper):
    staged = scene.stage("1", [scene.note(1)])
    look = looked(gatekeeper, DETECTOR, purpose=Purpose.LABORATORY)
    looked(gatekeeper, OTHER)
    assert refused(scored, gatekeeper, look) == "look"
    same = {"detector_digest": DETECTOR, "inputs": Inputs.TOPICS, "profile": "demo"}
    assert refused(record_gate, gatekeeper, staged, [GateRow("bench", True)], **same) == "look"
    record_gate(gatekeeper, staged, [GateRow("leaks", True)], **same)
    looked(gatekeeper, DETECTOR)
    record_gate(gatekeeper, staged, [GateRow("bench", True)], **same)


@pytest.mark.parametrize("table", ["ctl.held_out_set", "ctl.held_out_note", "ctl.look", "quality.score"])
def test_nobody_takes_back_what_was_sealed_looked_at_or_scored(scene, gatekeeper, table):
    scored(gatekeeper, looked(gatekeeper, DETECTOR))
    for statement in (f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE", f"UPDATE {table} SET {_column(table)}"):
        with pytest.raises(DeidError, match="42501"), scene.warehouse.administer() as connection:
            connection.execute(text("SET ROLE deid_owner"))
            connection.execute(text(statement))


def _column(table: str) -> str:
    return "note = note" if table == "ctl.held_out_note" else "at = at - interval '90 days'"


def test_gold_that_was_rewritten_is_another_set_and_its_notes_are_known(scene, gatekeeper, officer):
    for detector in (OTHER, plain_digest("third"), OTHER):
        looked(gatekeeper, detector)
    assert looked_at(officer, DETECTOR, "synthetic_hospital") is None
    rewritten = held_out("rewritten", notes=range(5, 45))
    seal(gatekeeper, rewritten)
    record_look(gatekeeper, rewritten.digest, DETECTOR, Purpose.GATE)
    assert looks_at(officer, rewritten.digest).looks == 1
    found = looked_at(officer, DETECTOR, "synthetic_hospital")
    assert (found.notes, found.seen, found.looks, found.detectors) == (40, 35, 1, 1)
    assert (found.other_sets, found.other_looks, found.every_detector, found.own_sets) == (1, 3, 3, 1)
    shown = rows(scene, "SELECT seen_before FROM quality.held_out_sets ORDER BY sealed_at", Role.DEMO_ANALYST)
    assert shown == [(None,), (30,)]


def test_notes_that_nobody_saw_make_a_new_set(gatekeeper, officer):
    looked(gatekeeper, OTHER)
    fresh = held_out("fresh", notes=range(100, 140))
    seal(gatekeeper, fresh)
    record_look(gatekeeper, fresh.digest, DETECTOR, Purpose.GATE)
    found = looked_at(officer, DETECTOR, "synthetic_hospital")
    assert (found.seen, found.looks, found.other_sets, found.other_looks, found.every_detector) == (0, 1, 0, 0, 1)


def test_a_detector_answers_for_the_looks_up_to_its_own_last_one(gatekeeper, officer):
    looked(gatekeeper, OTHER)
    looked(gatekeeper, DETECTOR)
    before = looked_at(officer, DETECTOR, "synthetic_hospital")
    looked(gatekeeper, OTHER)
    assert looked_at(officer, DETECTOR, "synthetic_hospital") == before
    assert (before.looks, before.detectors) == (2, 2)
    looked(gatekeeper, DETECTOR)
    again = looked_at(officer, DETECTOR, "synthetic_hospital")
    assert (again.looks, again.detectors, again.until > before.until) == (4, 2, True)


def test_a_detector_that_chose_among_sets_is_known(gatekeeper, officer):
    looked(gatekeeper, DETECTOR)
    easier = held_out("easier", notes=range(100, 140))
    seal(gatekeeper, easier)
    record_look(gatekeeper, easier.digest, DETECTOR, Purpose.GATE)
    found = looked_at(officer, DETECTOR, "synthetic_hospital")
    assert (found.name, found.own_sets) == (looks_at(officer, easier.digest).name, 2)


def sources(scene) -> set[tuple]:
    """The words beside the scores of the detector, as analysts see them."""
    statement = f"SELECT notes_of, topics_of, marked_by FROM quality.scores WHERE detector_digest = '{DETECTOR}'"
    return set(rows(scene, statement))


def test_a_figure_says_whose_notes_whose_topics_and_by_which_hand(scene, gatekeeper, officer):
    scene.stage("7", [scene.note(7)])
    own = replace(held_out(gold="site"), notes_of="site", marked_by="slots")
    for made, inputs in ((held_out(), "topics"), (own, "topics"), (own, "text")):
        seal(gatekeeper, made)
        look = record_look(gatekeeper, made.digest, DETECTOR, Purpose.GATE)
        record_scores(
            gatekeeper, [RECALL], detector_digest=DETECTOR, gold=made.gold, inputs=Inputs(inputs), look=look.number
        )
    assert sources(scene) == {
        ("synthetic_hospital", "synthetic_hospital", "writer"),
        ("site", "site", "slots"),
        ("site", "none", "slots"),
    }
    # Said otherwise later, of the same notes and gold: the newest word counts, and the ledger keeps both.
    seal(gatekeeper, replace(own, marked_by="adjudicated"))
    seal(gatekeeper, replace(own, marked_by="adjudicated"))
    assert {hand for _, _, hand in sources(scene)} == {"writer", "adjudicated"}
    said = [it.requirements[1:] for it in ledger(officer) if it.event == "held-out-source"]
    assert said == [("site", "slots"), ("site", "adjudicated")]


@pytest.mark.parametrize(
    ("gold", "notes_of", "marked_by"),
    [
        ("site", "Ann Quill", "slots"),
        ("site", "site", "Ann Quill"),
        ("site", "synthetic_hospital", "writer"),
        ("synthetic_hospital", "site", "adjudicated"),
        ("mtsamples", "site", "adjudicated"),
    ],
)
def test_a_source_is_no_place_for_text_and_notes_of_others_are_not_the_sites(
    scene, gatekeeper, gold, notes_of, marked_by
):
    before = rows(scene, "SELECT count(*) FROM ctl.held_out_source")
    with pytest.raises(DeidError) as refusal:
        seal(gatekeeper, replace(held_out("text", gold=gold), notes_of=notes_of, marked_by=marked_by))
    assert refusal.value.code in (Code.HELD_OUT_REFUSED, Code.WAREHOUSE_STATEMENT)
    assert "Quill" not in str(refusal.value)
    assert rows(scene, "SELECT count(*) FROM ctl.held_out_source") == before


@pytest.mark.parametrize("role", [Role.GATEKEEPER, Role.OFFICER, Role.LOADER])
def test_no_login_writes_a_source_by_hand_or_takes_one_back(scene, role):
    for statement in (
        "INSERT INTO ctl.held_out_source (held_out_set, notes_of, marked_by) SELECT digest, 'site', 'adjudicated' FROM "
        "ctl.held_out_set",
        "DELETE FROM ctl.held_out_source",
        "UPDATE quality.gold_source SET notes_of = 'site'",
    ):
        with pytest.raises(DeidError), scene.warehouse.begin(role) as connection:
            connection.execute(text(statement))

"""The marts of scores: what they answer, and that all of them together do not tell what one of them hides."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from dbt_program import dbt
from looks import looked
from marts_world import Reader, World, of_marts, record, worlds
from sqlalchemy import text

from deid_platform.keys import plain_digest
from deid_platform.warehouse.gate.ledger import Score, record_scores
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.migrate import migrate
from deid_platform.warehouse.quality.held_out import Purpose
from deid_platform.warehouse.quality.lab import LabScore, MeasuredOn, record_lab_scores
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role

pytestmark = pytest.mark.slow
Marts = Mapping[str, Sequence[Mapping[str, object]]]

# Of 468 words, 7 are of a label that the marts hide, and 10 of a sex.
FORMER = World(
    "detector",
    {
        "label": {"PATIENT": (231, 220), "DATE": (148, 147), "PHONE": (53, 50), "AGE": (29, 20), "SSN": (7, 6)},
        "sex": {"F": (458, 434), "M": (10, 9)},
    },
)
# A week later, on gold of two words more, by a release with a better detector.
NEWER = World(
    "better",
    {
        "label": {"PATIENT": (231, 231), "DATE": (148, 147), "PHONE": (53, 52), "AGE": (29, 27), "SSN": (9, 9)},
        "sex": {"F": (458, 454), "M": (12, 12)},
    },
)
RANDOM = worlds(40, seed=20260101)
ALL = (FORMER, NEWER, *RANDOM)
CLAIMED = [
    LabScore("words", measure, value, n=n, subject="claimed by presidio")
    for measure, value, n in (("recall", 0.8123, 1234), ("precision", 0.9, 1111), ("labels_claimed", 15.0, 1234))
] + [LabScore("words", "recall", 0.5, n=12, subject="claimed by pydeid")]

AS_PAPERS = [
    LabScore("tokens", "precision_patient_only", 0.5, n=900),
    LabScore("tokens", "accuracy_patient_only_two_sided", 0.9, n=5000),
    LabScore("length", "f1_patient_only", 0.75, n=800, subject="under 250 tokens"),
    *(
        LabScore("names", "recall", value, n=n, subject=subject)
        for subject, value, n in (
            *(("names", 0.85, 2000), ("names sex F", 0.9, 500), ("names sex M", 0.8, 500)),
            *(
                ("names rare", 0.7, 100),
                ("names last frequent before 1970", 0.5, 11),
                ("names that are words", 0.6, 200),
            ),
        )
    ),
]
FAILED = [
    LabScore("words", measure, value, n=n)
    for measure, value, n in (
        *(("recall", 0.3129, 506), ("notes_failed", 0.2, 40)),
        *(("recall_answered", 0.3911, 404), ("precision_answered", 0.7, 33)),
    )
]
PAPERS = ("scores", "retention", "judges", "costs", "missed", "recovered", "corpora")
"""Of the papers' figures."""


def figures(scene: Any) -> None:
    """Two releases a week apart, a peer, prices, a judge."""
    gatekeeper = scene.warehouse.engine(Role.GATEKEEPER)
    record(scene, FORMER)
    with scene.warehouse.administer() as connection:
        connection.exec_driver_sql("SET session_replication_role = replica")  # past append-only
        for table in ("quality.score", "quality.lab_score"):
            connection.exec_driver_sql(f"UPDATE {table} SET at = at - interval '7 days'")
    scene.publish("2", [scene.note(1)], detector="better", release="r2")
    record(scene, NEWER)
    for world in RANDOM:
        record(scene, world, in_lab=True)
    synthetic = [
        Score("ALL", measure, value, None, None, 51234) for measure, value in (("recall", 0.98765), ("f1", 0.9))
    ]
    gold = "synthetic_hospital"
    look = looked(gatekeeper, NEWER.digest, gold=gold)
    record_scores(gatekeeper, synthetic, detector_digest=NEWER.digest, gold=gold, inputs=Inputs.TOPICS, look=look)

    def on(detector: str, digest: str, gold: str, inputs: str, locale: str = "") -> MeasuredOn:
        look = looked(gatekeeper, digest, gold=gold, locale=locale, purpose=Purpose.COMPARE)
        return MeasuredOn(detector, digest, gold, inputs, locale=locale, look=look)

    release = on("ensemble", NEWER.digest, "site", "topics")
    prices = [LabScore("cost", "words_per_second", 18234.5), LabScore("cost", "cost_per_10000_notes", 0.42)]
    risks = [
        LabScore("missed", "share_missed", 0.0123, n=5120, subject="dates"),
        LabScore("linkage", "first", 0.5, n=9),
    ]
    record_lab_scores(
        gatekeeper, release, [*prices, *risks, LabScore("retention", "lexical_retention", 0.9871, n=2345)]
    )
    judge = on("lexical-judge", plain_digest("judge"), "judged_pairs", "text")
    record_lab_scores(gatekeeper, judge, [LabScore("judges", "precision", 0.8123, n=212)])
    peer = on("presidio", plain_digest("presidio"), "mtsamples", "text", locale="fr_FR")
    record_lab_scores(gatekeeper, peer, [LabScore("tokens", "recall", 0.8765, 0.85, 0.89, 4321), *CLAIMED, *AS_PAPERS])
    trained = on("trained-en_US@minilm", plain_digest("trained"), "mtsamples", "text", locale="fr_FR")
    record_lab_scores(gatekeeper, trained, [LabScore("tokens", "recall", 0.9129, n=3210)])
    chat = on("chat-extract-zero", plain_digest("chat"), "e3c_en", "text", locale="en_US")
    record_lab_scores(gatekeeper, chat, FAILED)
    # The same model on a site's own Italian gold, and a peer on its MIMIC-III beside the same on other notes.
    own = on("chat-rewrite-zero-it@gemma-3-4b", plain_digest("gemma"), "own-cases-as-written", "text")
    record_lab_scores(gatekeeper, own, [LabScore("occurrences", "f1", 0.7654, n=300, subject="category AGE")])
    for gold, value in (("mimic", 0.6543), ("mtsamples", 0.7654)):
        american = on("modified-presidio", plain_digest("modified"), gold, "text", locale="en_US")
        record_lab_scores(gatekeeper, american, [LabScore("tokens", "recall_patient_only", value, n=4321)])
    # What is recorded of a site's gold in this way is shown nowhere.
    record_lab_scores(gatekeeper, release, CLAIMED)


def read(warehouse: Warehouse) -> Marts:
    with warehouse.begin(Role.DEMO_ANALYST) as connection:
        names = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'marts'")).scalars().all()
        return {name: connection.execute(text(f"SELECT * FROM marts.{name}")).mappings().all() for name in names}


@dataclasses.dataclass
class Built:
    """A warehouse with marts, and where dbt keeps what it parsed."""

    scene: Any
    target: Path
    marts: Marts


@pytest.fixture(scope="module")
def built(shared_scene: Any, tmp_path_factory: pytest.TempPathFactory) -> Built:
    scene = shared_scene
    migrate(scene.warehouse.admin_engine(), golds=["own-cases-as-written"])
    figures(scene)
    target = tmp_path_factory.mktemp("target")
    made = dbt(scene.warehouse, target, "build")
    assert made.returncode == 0, made.stdout
    return Built(scene, target, read(scene.warehouse))


def one(rows: Sequence[Mapping[str, object]], **wanted: object) -> Mapping[str, object]:
    (found,) = (row for row in rows if wanted.items() <= dict(row).items())
    return found


def test_the_board_says_which_detector_is_best_for_whom_and_at_what_price(built: Built) -> None:
    board = [row for row in built.marts["leaderboard"] if row["gold"] == "site"]
    best = one(board, detector_digest=NEWER.digest)
    assert (best["recall"], best["words"]) == (0.99, 470)
    assert best["place"] == 1 + sum(row["recall"] is not None and row["recall"] > 0.99 for row in board)
    assert (best["words_per_second"], best["cost_per_10000_notes"]) == (18234.5, 0.42)
    assert best["lexical_retention"] == 0.987
    assert not best["in_use"]
    former = one(board, detector_digest=FORMER.digest)
    assert (former["recall"], former["in_use"], former["words"]) == (0.95, True, 460)
    # The interval is of what is shown, and wider.
    assert (former["recall_low"], former["recall_high"]) == (0.92, 0.97)
    on_many = one(built.marts["leaderboard"], gold="synthetic_hospital")
    assert (on_many["recall"], on_many["words"], on_many["place"]) == (0.9877, 51230, 1)


def test_notes_on_which_a_chat_model_failed_are_counted_both_ways(built: Built) -> None:
    columns = ("recall", "words", "notes_failed", "recall_answered", "precision_answered", "words_answered")
    row = one(built.marts["leaderboard"], detector="chat-extract-zero")
    assert [row[column] for column in columns] == [0.31, 500, 0.2, 0.39, 0.7, 400]


def test_what_a_peer_claims_is_shown_of_surrogate_corpora_alone(built: Built) -> None:
    board, groups, history = (built.marts[name] for name in ("leaderboard", "scores_by_group", "score_history"))
    columns = ("recall_claimed", "precision_claimed", "words_claimed", "labels_claimed")
    peer = one(board, detector="presidio")
    assert [peer[column] for column in columns] == [0.812, 0.9, 1230, 15]
    assert [row[column] for row in board if not row["locale"] for column in columns if row[column] is not None] == []
    claims = [row for row in groups if row["grouped_by"] == "claimed by"]
    assert {(row["locale"], row["group_name"], row["measure"], row["n"]) for row in claims} == {
        ("fr_FR", "presidio", "recall", 1230),
        ("fr_FR", "presidio", "precision", 1110),
        ("fr_FR", "pydeid", "recall", None),  # twelve words
    }
    assert [row for row in history if str(row["subject"]).startswith("claimed")] == []


def test_figures_by_label_and_group_have_as_many_digits_as_their_number_bears(built: Built) -> None:
    labels = built.marts["scores_by_label"]
    shown = {
        label: (row["value"], row["n"], row["suppressed"])
        for label in ("ALL", "PATIENT", "AGE", "SSN")
        for row in [one(labels, detector_digest=FORMER.digest, label=label)]
    }
    assert shown == {
        "ALL": (0.95, 460, False),
        "PATIENT": (0.95, 230, False),
        "AGE": (0.7, 20, False),
        "SSN": (None, None, True),
    }
    women, men = (one(built.marts["scores_by_group"], detector_digest=NEWER.digest, group_name=sex) for sex in "FM")
    assert (women["value"], women["n"], women["less_all"]) == (0.99, 450, 0.0)
    # Twelve words: more than 10, and too few beside their rounding.
    assert (men["value"], men["low"], men["n"], men["less_all"], men["suppressed"]) == (None, None, None, None, True)


def test_history_says_what_changed_since_last_week(built: Built) -> None:
    before, after = (
        one(built.marts["score_history"], release=release, subject="PATIENT", measure="recall", inputs="topics")
        for release in ("r1", "r2")
    )
    assert (before["value"], before["change"], before["former_release"]) == (0.95, None, None)
    assert (after["value"], after["change"], after["former_release"]) == (1.0, 0.05, "r1")
    assert (after["measured_on"] - after["former_measured_on"]).days == 7  # type: ignore[operator]  # dates
    assert (before["active"], before["standing"], after["standing"]) == (True, "not determined", None)
    hidden = one(built.marts["score_history"], release="r2", subject="SSN")
    assert (hidden["value"], hidden["n"], hidden["change"], hidden["suppressed"]) == (None, None, None, True)


def test_risk_retention_and_judges_are_there(built: Built) -> None:
    risk = built.marts["risk"]
    assert one(risk, family="missed", subject="dates")["value"] == 0.012
    assert one(risk, family="linkage")["suppressed"]
    assert one(built.marts["retention"], measure="lexical_retention")["n"] == 2340
    judges = built.marts["judge_quality"]
    assert one(judges, measured_by="here")["value"] == 0.81
    assert sum(row["measured_by"] == "Aghakasiri 2025" for row in judges) == 18 + 54
    assert [row["words_per_second"] for row in built.marts["efficiency"]] == [18234.5]


def test_every_figure_says_whose_notes_whose_topics_and_by_which_hand(built: Built) -> None:
    names = ("notes_of", "topics_of", "marked_by")
    of = {
        "mtsamples": ("published", "written_in"),
        "judged_pairs": ("pairs", "labellers"),
        "site": ("not_recorded",) * 2,
    }
    for mart in (
        "leaderboard",
        "efficiency",
        "scores_by_label",
        "scores_by_group",
        "retention",
        "risk",
        "score_history",
    ):
        assert built.marts[mart]
        for row in built.marts[mart]:
            notes, topics, hand = (row[name] for name in names)
            assert topics == ("none" if row["inputs"] == "text" else notes) and notes and hand
            assert (notes, hand) == of.get(str(row["gold"]), (notes, hand))
    judges = [row for row in built.marts["judge_quality"] if row["measured_by"] == "here"]
    assert {tuple(row[name] for name in names) for row in judges} == {("pairs", "none", "labellers")}
    ours = [row for row in built.marts["published_beside_ours"] if row["ours"] is not None]
    assert ours and all(row["our_notes_of"] and row["our_marked_by"] for row in ours)


def test_a_published_figure_stands_beside_ours_or_beside_nothing(built: Built) -> None:
    beside = built.marts["published_beside_ours"]
    french = {"corpus": "MIMIC-III, French identifiers", "system": "Presidio", "measure": "recall"}
    measured = one(beside, **french, table_name="table 7")
    assert (measured["published"], measured["ours"], measured["ours_n"]) == (0.92, 0.877, 4320)
    assert (measured["our_detector"], measured["our_gold"], measured["our_locale"]) == (
        "presidio",
        "mtsamples",
        "fr_FR",
    )
    assert measured["corpus_differs"] and measured["system_differs"] and measured["measure_differs"]
    # The site's own notes come first; of the synthetic hospital the same detector has 0.9877.
    ours = one(beside, corpus="Duke", system="Locally augmented ensemble", measure="recall")
    assert (ours["published"], ours["our_gold"], ours["reason"]) == (0.996, "site", None)
    assert ours["ours"] not in (None, 0.9877)
    f1 = one(beside, corpus="Duke", system="Locally augmented ensemble", measure="f1")
    assert (f1["ours"], f1["our_gold"]) == (0.9, "synthetic_hospital")
    missed = one(beside, table_name="supplementary table 1", subject="dates", measure="share_missed")
    assert (missed["ours"], missed["our_gold"], missed["our_notes_of"]) == (0.012, "site", "not_recorded")
    without = one(beside, corpus="Duke", system="Baseline with Structured PII dictionaries", measure="recall")
    assert (without["ours"], without["our_detector"]) == (None, "ensemble-unrecovered")
    assert without["reason"] == "not measured"
    slow = one(beside, system="GPT-3.5 Zero Shot", measure="seconds_per_note")
    assert (slow["published"], slow["published_corrected"]) == (4.75, 6.100369)
    assert len(built.marts["published_survey"]) == 38


def test_a_sites_own_notes_come_before_those_that_stand_for_them(built: Built) -> None:
    beside = built.marts["published_beside_ours"]
    american = one(beside, table_name="table 2", corpus="MIMIC-III", system="Modified Presidio", measure="recall")
    assert (american["ours"], american["our_gold"], american["our_notes_of"]) == (0.654, "mimic", "published")
    counted = {"paper": "Miranda 2025", "system": "gemma3:4b", "setting": "counts of entities and tags"}
    own = one(beside, **counted, subject="AGE")
    assert (own["ours"], own["our_gold"], own["our_notes_of"]) == (0.77, "own-cases-as-written", "own_corpus")
    other = one(beside, **counted, subject="DATE")
    assert (other["reason"], other["our_gold"]) == ("cannot be had: weights", "own-%-as-written")


def test_a_figure_stands_beside_no_other_model_and_no_other_training(built: Built) -> None:
    beside = [row for row in built.marts["published_beside_ours"] if row["paper"] == "Zambare 2026"]
    french = [row for row in beside if row["corpus"] == "MIMIC-III, French identifiers" and row["measure"] == "recall"]
    trained = [row for row in french if row["our_detector"] == "trained-en_US@minilm" and row["subject"] == "ALL"]
    assert [(row["system"], row["table_name"], row["ours"]) for row in trained] == [("BERT", "table 7", 0.913)]
    others = [row for row in french if "fine-tuned on 1,000 notes" in str(row["setting"]) and row not in trained]
    assert len(others) == 8 + 2 * 9
    assert {row["ours"] for row in others} == {None}
    assert {row["reason"] for row in others if row["system"] != "BERT"} == {"cannot be had: weights"}
    women = one(trained_on_names(french), subject="sex F")
    assert (women["our_family"], women["our_subject"], women["reason"]) == ("names", "names sex F", "not measured")
    # What a site's chat model says stands nowhere unless it is one that a paper measured, and beside that alone.
    chats = [row for row in built.marts["published_beside_ours"] if str(row["our_detector"]).startswith("chat-")]
    assert {row["our_detector"] for row in chats if row["ours"] is not None} == {"chat-rewrite-zero-it@gemma-3-4b"}


def trained_on_names(rows: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    return [row for row in rows if row["table_name"] == "table 9" and row["our_detector"] == "trained-en_US@minilm"]


def test_coverage_counts_every_figure_and_says_why_it_is_alone(built: Built) -> None:
    beside, coverage = built.marts["published_beside_ours"], built.marts["published_coverage"]
    for table in coverage:
        rows = [row for row in beside if all(row[name] == table[name] for name in ("paper", "table_name"))]
        assert len(rows) == table["figures"]
        assert sum(row["ours"] is not None for row in rows) == table["filled"]
        reasons = ("filled", "too_few_cases", "not_measured", "need_weights", "need_notes")
        reasons += ("need_labels", "no_counterpart")
        assert sum(table[name] for name in reasons) == table["figures"]  # type: ignore[misc]  # counts
    assert sum(row["ours"] is not None for row in beside) > 0
    assert len(beside) == sum(len(built.marts[f"published_{name}"]) for name in PAPERS)
    physicians = one(coverage, paper="Aghakasiri 2025", table_name="table 4")
    assert physicians["need_labels"] == physicians["figures"] == 32
    described = one(coverage, paper="Zambare 2026", table_name="table 4")
    assert described["no_counterpart"] == described["figures"] == 14
    assert all(row["measure_differs"] for row in beside)
    judged = [row for row in beside if row["measure"] == "cire"]
    assert judged and {row["reason"] for row in judged} == {"cannot be had: weights"}
    assert {row["reason"] for row in beside if row["corpus"] in ("i2b2 2014", "CoNLL 2003")} == {
        *("cannot be had: weights", "cannot be had: notes", "no counterpart"),
    }
    assert all((row["ours"] is None) == (row["reason"] is not None) for row in beside)


def test_tokens_are_shown_as_the_paper_counts_them(built: Built) -> None:
    rows = [row for row in built.marts["token_scores"] if row["detector"] == "presidio"]
    columns = ("providers", "hidden_in_part", "measure", "value", "n")
    assert {tuple(row[name] for name in columns) for row in rows} == {
        ("identifiers", "generous", "recall", 0.877, 4320),
        ("text", "generous", "precision", 0.5, 900),
        ("text", "two-sided", "accuracy", 0.9, 5000),
    }


def test_names_are_shown_by_sex_popularity_decade_and_meaning(built: Built) -> None:
    rows = [row for row in built.marts["scores_by_group"] if str(row["grouped_by"]).startswith("names by")]
    assert {(row["grouped_by"], row["group_name"], row["value"], row["less_all"]) for row in rows} == {
        ("names by sex", "F", 0.9, 0.05),
        ("names by sex", "M", 0.8, -0.05),
        ("names by popularity", "rare", 0.7, -0.15),
        ("names by decade", "last frequent before 1970", None, None),  # eleven words
        ("names by meaning", "that are words", 0.6, -0.25),
    }
    (gap,) = built.marts["sex_gap"]
    assert (gap["locale"], gap["recall_women"], gap["recall_men"], gap["women_less_men"]) == ("fr_FR", 0.9, 0.8, 0.1)
    lengths = [row for row in built.marts["scores_by_group"] if row["grouped_by"] == "length in tokens"]
    assert [(row["group_name"], row["measure"], row["value"]) for row in lengths] == [
        ("under 250 tokens", "f1_patient_only", 0.75)
    ]


CELLS = [cell for world in ALL for cell, _ in world.cells()]
TRUE = {cell: n for world in ALL for cell, n in world.cells()}
SMALL = [cell for cell, n in TRUE.items() if n < 11]


def test_whoever_subtracts_every_mart_from_every_other_learns_no_small_number(built: Built) -> None:
    may = of_marts(built.marts).candidates(CELLS)
    assert len(SMALL) > 60
    # The reader reasons soundly: the truth is never ruled out. And they are left with nine numbers at least.
    assert [cell for cell in CELLS if TRUE[cell] not in may[cell]] == []
    assert {cell: sorted(may[cell]) for cell in SMALL if len(may[cell]) < 9} == {}
    # Nor how many words of identifiers came between two releases, if fewer than 11 did.
    former, newer = (may[world.digest, "ALL", "ALL"] for world in (FORMER, NEWER))
    assert len({b - a for a in former for b in newer if 0 <= b - a < 20}) >= 9


def test_the_same_reader_learns_them_from_numbers_that_are_not_rounded() -> None:
    reader = Reader(rounded=False)
    for cell, n in TRUE.items():
        if n >= 11:
            reader.reads(cell, n, [])
    may = reader.candidates(CELLS)
    found = [cell for cell in SMALL if may[cell] == {TRUE[cell]}]
    assert (FORMER.digest, "label", "SSN") in found
    assert len(found) > len(SMALL) / 2  # all but those of which two are hidden together


def test_dbt_refuses_marts_that_would_tell(built: Built) -> None:
    def shown(n: int) -> subprocess.CompletedProcess[str]:
        with built.scene.warehouse.administer() as connection:
            connection.execute(
                text("UPDATE marts.scores_by_label SET n = :n WHERE label = 'PATIENT' AND detector_digest = :d"),
                {"n": n, "d": FORMER.digest},
            )
        return dbt(built.scene.warehouse, built.target, "test", "--select", "scores_by_label")

    refused = shown(238)
    assert refused.returncode == 1
    assert "hides_small_counts_scores_by_label" in refused.stdout
    assert shown(230).returncode == 0


def test_a_seed_is_loaded_again_only_if_its_file_or_what_is_said_of_it_changed(built: Built) -> None:
    def rows_after(*statements: str) -> int:
        with built.scene.warehouse.administer() as connection:
            for statement in ("DELETE FROM marts.nearest_corpus WHERE corpus <> 'AHS'", *statements):
                connection.exec_driver_sql(statement)
        assert dbt(built.scene.warehouse, built.target, "seed", "--select", "nearest_corpus").returncode == 0
        return len(read(built.scene.warehouse)["nearest_corpus"])

    assert rows_after() == 1
    assert rows_after("COMMENT ON TYPE marts.nearest_corpus IS 'as if loaded from another file'") == 34

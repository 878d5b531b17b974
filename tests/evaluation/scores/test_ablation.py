"""Which stages each row of the ablation has, and the command."""

from __future__ import annotations

import json
from pathlib import Path

from deid_platform.detection import DetectorSpec, stage_names
from deid_platform.detection.combination import Combination
from deid_platform.evaluation.scores.ablation import ablations
from tests.command_line import deid

TEXT = "Seen by Dr. Alan Reed, ward B, on 3/14/2019. Foley catheter. Ann Oyelaran-Brisk called."


def kept(detector: str, *, topics: bool) -> dict[str, set[str]]:
    stages = DetectorSpec(detector).stages
    return {name: set(stages).difference(left) for name, left in ablations(stages, topics=topics)}


def test_rows_grow_from_the_model_to_all() -> None:
    rows = kept("ensemble", topics=True)
    united = ["model", "rules", "model and rules"]
    assert list(rows) == [*united, "and gazetteer and roster", "and recovery", "and doubt", "and local words", "all"]
    assert rows["model"] == {"models"}
    assert rows["model and rules"] == rows["model"] | rows["rules"]
    assert rows["and gazetteer and roster"] - rows["model and rules"] == {"gazetteer", "roster"}
    assert rows["and recovery"] - rows["and gazetteer and roster"] == {"recovery"}
    assert rows["and doubt"] - rows["and recovery"] == {"doubt"}
    assert rows["and local words"] - rows["and doubt"] == {"local_words"}
    assert rows["all"] == set(stage_names("ensemble")) - {"judge", "chat"}


def test_a_judge_has_a_row() -> None:
    stages = DetectorSpec("ensemble", combination=Combination(judge="vocabulary")).stages
    assert [name for name, _ in ablations(stages, topics=False)][-3:] == ["and local words", "and judge", "all"]


def test_rows_that_would_repeat_another_are_left_out() -> None:
    assert list(kept("ensemble", topics=False)) == [
        *("model", "rules", "model and rules", "and recovery", "and doubt", "and local words", "all")
    ]
    assert list(kept("rules", topics=True)) == ["rules", "and gazetteer and roster", "and recovery", "all"]
    assert list(kept("patterns", topics=True)) == ["rules", "all"]


def test_the_command_scores_each_row(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    spans = [[12, 21, "DOCTOR"], [34, 43, "DATE"], [61, 79, "PATIENT"]]
    gold.write_text(json.dumps({"note_id": "1", "text": TEXT, "spans": spans}))
    lines = deid("evaluate", str(gold), "--ablation", "--detector", "rules", "--json").stdout.splitlines()
    rows = {row["stages"]: row for row in map(json.loads, lines)}
    assert list(rows) == ["rules", "and recovery", "all"]
    assert rows["rules"]["recall"] >= 0.5
    assert rows["all"]["precision"] >= rows["rules"]["precision"]


def test_an_ablation_is_of_all_stages(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"note_id": "1", "text": TEXT, "spans": [[12, 21, "DOCTOR"]]}))
    for option in (("--by-source",), ("--without", "recovery"), ("--misses", "misses.jsonl")):
        refused = deid("evaluate", str(gold), "--ablation", *option)
        assert refused.returncode == 2
        assert "--ablation" in refused.stderr

"""`deid judge`: what a person sees of judges that are chat models, and of those that fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import Endpoint, Reply, Script, asked_about
from command_line import deid

from deid_platform.evaluation.panel.judge_plan import JudgePlan, judge_prompts
from deid_platform.evaluation.retention.pairs import labelled_pairs
from deid_platform.llm.engines import Engines
from deid_platform.llm.prompts import Task
from deid_platform.settings import load_settings

Serve = Callable[[Script], Endpoint]
# One of each kind of pair: all of them would take a minute.
PAIRS = {
    pair.texts: pair for pair in {(it.language, it.changed, it.hard, it.split): it for it in labelled_pairs()}.values()
}
FEW = ("judge", "pairs", "--prompt", "retention-few", "--json")


def of(body: dict[str, Any]) -> Any:
    about = asked_about(body)
    return PAIRS[about["original"], about["released"]]


def said(change: bool) -> Reply:
    return Reply(json.dumps({"change": "drug" if change else "none"}))


def installation(folder: Path, endpoint: Endpoint, judges: str = "") -> Path:
    llm = f'[llm]\nurl = "{endpoint.url}"\nmodel = "toy"\nconcurrency = 4\ndeadline = 20\n'
    (folder / "deid.toml").write_text(f'site = "north"\n{llm}{judges}')
    return folder


@pytest.fixture(autouse=True)
def few_pairs_and_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deid_platform.evaluation.retention.pairs.labelled_pairs", lambda: list(PAIRS.values()))
    monkeypatch.setenv("DEID_SECRET", "a key for these tests alone, 7f3a91c4")


def test_judges_beside_the_known_answer(serve: Serve, tmp_path: Path) -> None:
    def script(body: dict[str, Any], count: int) -> Reply:
        pair = of(body)
        if pair.language == "es":
            return Reply("No hablo.") if pair.changed else Reply(None, finish="content_filter")
        return said(pair.changed or pair.hard)

    endpoint = serve(script)
    done = deid(*FEW, folder=installation(tmp_path, endpoint))
    assert done.returncode == 0, done.stderr
    rows = {(row["judge"], row["of"]): row for row in map(json.loads, done.stdout.splitlines())}
    assert {judge for judge, _ in rows} == {"lexical-1", "toy, retention-few"}
    spanish = rows["toy, retention-few", "es"]
    assert (spanish["tp"], spanish["tn"], spanish["judged"]) == (0, 0, spanish["no_answer"])
    assert (spanish["accuracy"], spanish["accuracy_of_answers"]) == (0, None)
    whole = rows["toy, retention-few", "all"]
    counted = [pair for pair in PAIRS.values() if pair.language != "es"]
    assert whole["tp"] == sum(pair.changed for pair in counted)
    assert whole["tn"] == sum(not pair.changed and not pair.hard for pair in counted)
    assert whole["failures"] == {
        "form": sum(pair.changed for pair in PAIRS.values() if pair.language == "es"),
        "refused": sum(not pair.changed for pair in PAIRS.values() if pair.language == "es"),
    }
    assert f"toy, retention-few: no answer: refused: {whole['failures']['refused']}" in done.stderr
    assert rows["toy, retention-few", "plain"]["accuracy_of_answers"] == 1
    assert "hablo" not in done.stdout + done.stderr


def test_a_run_that_broke_off_goes_on_and_asks_only_what_failed(serve: Serve, tmp_path: Path) -> None:
    down = True

    def script(body: dict[str, Any], count: int) -> Reply:
        return Reply(status=400) if down and of(body).split.value == "develop" else said(of(body).changed)

    endpoint = serve(script)
    folder = installation(tmp_path, endpoint)
    first = deid(*FEW, folder=folder)
    develop = sum(pair.split.value == "develop" for pair in PAIRS.values())
    assert f"no answer: request: {develop}" in first.stderr
    asked = len(endpoint.received)
    down = False
    second = deid(*FEW, folder=folder)
    assert len(endpoint.received) == asked + develop
    (whole,) = [
        row for row in map(json.loads, second.stdout.splitlines()) if (row["of"], row["judge"][:3]) == ("all", "toy")
    ]
    assert (whole["accuracy"], whole["no_answer"], whole["kappa"]) == (1, 0, 1)


def test_a_panel_is_asked_by_plan_and_its_majority_and_agreement_are_shown(serve: Serve, tmp_path: Path) -> None:
    def script(body: dict[str, Any], count: int) -> Reply:
        changed = of(body).changed
        return said(not changed if body["model"] == "odd" else changed)

    endpoint = serve(script)
    folder = installation(tmp_path, endpoint, '[judges]\nmodels = ["one", "odd"]\nseeds = [4, 5]\n')
    done = deid(*FEW, "--panel", folder=folder)
    rows = [row for row in map(json.loads, done.stdout.splitlines()) if row["of"] == "all"]
    assert {row["judge"]: row["accuracy"] for row in rows[1:]} == {
        "one, retention-few, seed 4": 1,
        "one, retention-few, seed 5": 1,
        "odd, retention-few, seed 4": 0,
        "odd, retention-few, seed 5": 0,
        "majority of 4": 0,  # two against two: no pair has a majority
    }
    assert rows[-1]["no_answer"] == len(PAIRS)
    assert "they agree on 0.0%; Fleiss' kappa -0.333" in done.stderr
    assert {(body["temperature"], body["seed"]) for body in endpoint.received} == {(0.7, 4), (0.7, 5)}


@pytest.mark.parametrize(
    ("judges", "asked"),
    [
        ("", [("toy", 1), ("toy", 2), ("toy", 3)]),
        ('models = ["a", "b", "c"]\n', [("a", 1), ("b", 1), ("c", 1)]),
        ('models = ["a", "b"]\n', [("a", 1), ("a", 2), ("b", 1)]),
        ('models = ["a", "b", "c", "d"]\n', [("a", 1), ("b", 1), ("c", 1), ("d", 1)]),
        ("size = 5\n", [("toy", seed) for seed in range(1, 6)]),
        ("seeds = [7, 9]\n", [("toy", 7), ("toy", 9)]),
        ('models = ["a", "b", "c"]\nseeds = [7, 9]\nsize = 4\n', [("a", 7), ("a", 9), ("b", 7), ("c", 7)]),
        ("temperature = 0\n", [("toy", 1)]),
    ],
)
def test_a_panel_has_three_judges_or_as_many_as_one_says(
    tmp_path: Path, judges: str, asked: list[tuple[str, int]]
) -> None:
    (tmp_path / "deid.toml").write_text(
        f'site = "north"\n[llm]\nurl = "http://127.0.0.1:9/v1"\nmodel = "toy"\n[judges]\n{judges}'
    )
    plan = JudgePlan.panel(load_settings(tmp_path / "deid.toml"), judge_prompts(Task.PANEL, ["panel-zero"]))
    assert sorted((it.model.identity.name, it.seed) for it in plan.asked(Engines())) == asked


def test_a_panel_without_a_prompt_has_three_votes_a_pair(serve: Serve, tmp_path: Path) -> None:
    endpoint = serve(lambda body, count: said(of(body).changed))
    done = deid("judge", "pairs", "--panel", "--json", folder=installation(tmp_path, endpoint))
    assert done.returncode == 0, done.stderr
    judges = {row["judge"] for row in map(json.loads, done.stdout.splitlines())}
    drawn = {f"toy, retention-few, seed {seed}" for seed in (1, 2, 3)}
    assert judges == {"lexical-1", "majority of 3", *drawn}
    assert len(endpoint.received) == 3 * len(PAIRS)


def test_where_nobody_answers_the_command_says_so(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEID_SECRET")
    done = deid(*FEW, folder=installation(tmp_path, serve(lambda body, count: Reply(status=400))))
    assert done.returncode == 3
    assert f"toy, retention-few: no answer: request: {len(PAIRS)}" in done.stderr
    assert "no answer is kept" in done.stderr
    assert not (tmp_path / ".deid" / "llm").exists()


@pytest.mark.parametrize(
    ("toml", "options", "code"),
    [
        ("", ("--prompt", "retention-few"), "llm-missing"),
        ("", ("--panel",), "llm-missing"),
        ('[llm]\nurl = "http://10.0.0.1/v1"\nmodel = "toy"\n', (), "endpoint-refused"),
        ('[llm]\nurl = "http://127.0.0.1:9/v1"\nmodel = "toy"\n', ("--prompt", "extract-one"), "retention-few"),
        (
            '[llm]\nurl = "http://127.0.0.1:9/v1"\nmodel = "toy"\n[judges]\nsize = 3\nseeds = [1]\n',
            ("--panel",),
            "judges.size: models and seeds make 1",
        ),
        ('[llm]\nurl = "http://127.0.0.1:9/v1"\nmodel = "toy"\n', ("--prompt", "retention-many"), "prompt-unknown"),
        (
            '[llm]\nurl = "http://127.0.0.1:9/v1"\nmodel = "toy"\n[judges]\nseeds = [1, 1]\n',
            ("--panel",),
            "judges.seeds",
        ),
        ('[llm]\nurl = "http://127.0.0.1:9/v1"\nmodel = "toy"\n[judges]\nseeds = []\n', ("--panel",), "judges.seeds"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, toml: str, options: tuple[str, ...], code: str) -> None:
    (tmp_path / "deid.toml").write_text(f'site = "north"\n{toml}')
    done = deid("judge", "pairs", *options, folder=tmp_path)
    assert done.returncode == 1
    assert code in done.stderr


MINE = [
    # Original, released, what Ann, Ben and Cy say, and what the model will.
    ("n1", "aspirin 81 mg", "[IDNUM] 81 mg", (True, True, True), True),
    ("n1", "seen by Dr. Ode", "seen by Dr. [DOCTOR]", (False, False, True), False),
    ("n2", "aged 39, fever", "aged [AGE], fever", (True, False, True), False),
    ("n2", "MRN 77, colonoscopy", "MRN [MEDICALRECORD], colonoscopy", (False, False, False), False),
]
OWN_JUDGE = """name: yes-or-no
version: 1
language: en
task: retention
form: yes-no
messages:
- {role: user, content: "Has the medicine changed? {{note}}"}
"""


def test_ones_own_pairs_give_a_judge_beside_ones_own_physicians(serve: Serve, tmp_path: Path) -> None:
    answers = {original: said for _, original, _, _, said in MINE}

    def script(body: dict[str, Any], count: int) -> Reply:
        about = json.loads(body["messages"][-1]["content"].removeprefix("Has the medicine changed? "))
        return Reply("Yes (a drug is gone)" if answers[about["original"]] else "No.")

    endpoint = serve(script)
    folder = installation(tmp_path, endpoint)
    (folder / "judge.yaml").write_text(OWN_JUDGE)
    rows = [
        {"note_id": note, "original": a, "released": b, "changed": dict(zip(("ann", "ben", "cy"), votes, strict=True))}
        for note, a, b, votes, _ in MINE
    ]
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = deid("judge", "pairs", "--pairs", "mine.jsonl", "--prompt", "judge.yaml", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    records = list(map(json.loads, done.stdout.splitlines()))
    quality = {row["of"]: row for row in records if row["judge"] == "toy, yes-or-no" and "of" in row}
    whole = quality["majority of physicians"]
    # Of two that changed it sees one, and both others: observed 3/4, by chance 2/4 x 1/4 + 2/4 x 3/4 = 1/2.
    assert (whole["tp"], whole["tn"], whole["fp"], whole["fn"]) == (1, 2, 0, 1)
    assert (whole["accuracy"], whole["kappa"]) == (0.75, 0.5)
    assert (quality["ben"]["accuracy"], quality["ben"]["kappa"]) == (1, 1)
    assert (quality["ann"]["kappa"], quality["cy"]["accuracy"]) == (0.5, 0.5)
    (beside,) = [row for row in records if row["judge"] == "toy, yes-or-no" and "pearson" in row]
    # Verdicts 1 0 0 0, means 1 1/3 2/3 0: covariance 1/2, variances 3/4 and 5/9; ranks 4 2 2 2 and 4 2 3 1.
    assert beside["pearson"] == pytest.approx(0.5 / (0.75 * 5 / 9) ** 0.5)
    assert beside["spearman"] == pytest.approx(3 / (3 * 5) ** 0.5)
    # Of two notes one loses more by both.
    assert (beside["notes"], beside["note_pearson"]) == (2, pytest.approx(1))
    # Physicians agree on 1, 1/3, 1/3 and 1 of their pairs, by chance on 1/2; the judge as a fourth makes 1, 1/2, 1/3,
    # 1, with 9 of 16 votes for no change.
    assert beside["fleiss"] == pytest.approx((17 / 24 - 65 / 128) / (1 - 65 / 128))
    assert "form" not in done.stderr and "3 physicians: Fleiss' kappa 0.333 on 4 pairs of all" in done.stderr
    assert "response_format" not in endpoint.received[0]


def test_without_a_language_model_the_lexical_judge_stands_alone(tmp_path: Path) -> None:
    rows = [{"original": a, "released": b, "changed": list(votes)} for _, a, b, votes, _ in MINE]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = deid("judge", "pairs", "--pairs", "mine.jsonl", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    records = list(map(json.loads, done.stdout.splitlines()))
    assert {row["judge"] for row in records} == {"lexical-1"}
    assert {row["of"] for row in records if "of" in row} >= {"majority of physicians", "physician 3"}
    assert "no language model is named in deid.toml" in done.stderr

    note = {"note_id": "n1", "text": "Seen by Dr. Ode. Aspirin 81 mg daily."}
    (tmp_path / "notes.jsonl").write_text(json.dumps(note) + "\n")
    (tmp_path / "out.jsonl").write_text(
        json.dumps(note | {"text": "Seen by Dr. [DOCTOR]. Aspirin 18 mg daily."}) + "\n"
    )
    done = deid("judge", "retention", "notes.jsonl", "--released", "out.jsonl", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, done.stdout.splitlines())
    assert (record["metric"], record["judge"], record["mean"]) == ("lexical retention", "lexical-1", 0)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1: not a JSON object"),
        ('{"original": "Zebulon", "changed": true}', "line 1: released is no text"),
        ('{"original": "Zebulon", "released": "x", "changed": {"ann": "yes"}}', "line 1: changed is no vote"),
        ('{"original": "Zebulon", "released": "x", "changed": [null]}', "line 1: changed is no vote"),
        ("", "input-empty"),
    ],
)
def test_a_pair_that_nobody_can_read_is_refused_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "deid.toml").write_text('site = "north"\n[llm]\nurl = "http://127.0.0.1:9/v1"\nmodel = "toy"\n')
    (tmp_path / "mine.jsonl").write_text(f"{line}\n")
    done = deid("judge", "pairs", "--pairs", "mine.jsonl", folder=tmp_path)
    assert done.returncode == 1
    assert said in done.stderr and "Zebulon" not in done.stderr

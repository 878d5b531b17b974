"""`deid judge`: what a person sees of judges that are chat models, and of those that fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import Endpoint, Reply, Script, asked_about
from command_line import deid

from deid_platform.evaluation.retention.pairs import labelled_pairs

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
        ("", (), "llm-missing"),
        ('[llm]\nurl = "http://10.0.0.1/v1"\nmodel = "toy"\n', (), "endpoint-refused"),
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

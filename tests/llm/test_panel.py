"""A panel of chat models on a release whose truth is known, and CIRE beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import Endpoint, Reply, Script, asked_about
from command_line import deid
from jsonschema import validate

from deid_platform.evaluation.panel.chat_panel import JudgedRelease, entities_of, hear, heard, known, voted
from deid_platform.evaluation.panel.panel import Counts
from deid_platform.evaluation.retention.judges import Verdict
from deid_platform.labels import Label
from deid_platform.llm.answered import Unusable
from deid_platform.llm.prompts import JUDGES, prompt
from deid_platform.llm.questions import Asked
from deid_platform.notes import Span

Serve = Callable[[Script], Endpoint]
TEXT = "Anna Rossi, seen 3/4 with Paget disease. Anna  Rossi returns 3/5 from Lodi, aged 41."
HIDDEN = {Label.PATIENT, Label.DATE, Label.CITY}


def span(text: str, label: Label, nth: int = 0) -> Span:
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(text, start + 1)
    return Span(start, start + len(text), label)


GOLD = (
    *(span("Anna Rossi", Label.PATIENT), span("3/4", Label.DATE), span("Anna  Rossi", Label.PATIENT)),
    *(span("3/5", Label.DATE), span("Lodi", Label.CITY), span("41", Label.AGE)),
)
# Of the patient's two mentions one is left in part; Paget was no patient.
FOUND = (
    *(span("Anna Rossi", Label.PATIENT), span("3/4", Label.DATE), span("Paget", Label.PATIENT)),
    *(span("Anna  ", Label.PATIENT), span("Lodi", Label.CITY)),
)
RELEASED = "[PATIENT], seen [DATE] with [PATIENT] disease. [PATIENT] Rossi returns 3/5 from [CITY], aged 41."
RELEASE = JudgedRelease.of("n1", TEXT, RELEASED, GOLD, FOUND, HIDDEN)


def said(entities: list[str], wrong: list[str] = []) -> Reply:  # noqa: B006 - never changed
    return Reply(json.dumps({"entities": entities, "wrongly_hidden": wrong}))


def right(body: dict[str, Any], count: int) -> Reply:
    return {
        "PATIENT": said(["left"], ["Paget"]),
        "DATE": said(["hidden", "left"]),
        "CITY": said(["hidden"]),
    }[asked_about(body)["kind"]]


def of(endpoint: Endpoint, seed: int = 1, name: str = "panel-zero") -> Asked:
    return Asked(prompt(name, JUDGES), endpoint.model(tries=1), 0.7, seed)


def test_what_is_known_of_a_release() -> None:
    # White space does not make another entity, and what the policy keeps is nobody's question.
    assert RELEASE.gold == {
        Label.PATIENT: ("Anna Rossi", "Anna Rossi"),
        Label.DATE: ("3/4", "3/5"),
        Label.CITY: ("Lodi",),
    }
    assert RELEASE.left == {(Label.PATIENT, "Anna Rossi"), (Label.DATE, "3/5")}
    assert RELEASE.wrong == {Label.PATIENT: ("Paget",)}
    assert known([RELEASE]).all == Counts(tp=2, fp=1, fn=2)
    assert "Anna" not in repr(RELEASE)


def test_a_judge_is_asked_for_one_label_at_a_time_in_a_form_of_as_many_words_as_entities(serve: Serve) -> None:
    endpoint = serve(right)
    found = heard(hear(of(endpoint), [RELEASE]), [RELEASE])
    assert [it.changed for it in found.verdicts] == [left for _, left in entities_of([RELEASE])]
    assert voted([found], [RELEASE]).all == known([RELEASE]).all
    for body in endpoint.received:
        form = body["response_format"]["json_schema"]["schema"]
        validate({"entities": ["left"] * len(asked_about(body)["entities"]), "wrongly_hidden": []}, form)
        assert asked_about(body)["released"] == RELEASED
    assert sorted(asked_about(body)["kind"] for body in endpoint.received) == ["CITY", "DATE", "PATIENT"]


@pytest.mark.parametrize(
    "reply",
    [
        said(["left"]),
        said(["left", "hidden", "hidden"]),
        said(["left", "gone"]),
        Reply('{"entities": ["left", "left"]}'),
        Reply('{"entities": ["left", "left"], "wrongly_hidden": [3]}'),
        Reply('{"entities": "left", "wrongly_hidden": []}'),
        Reply("3/5 is left"),
    ],
)
def test_an_answer_of_another_form_is_no_vote(serve: Serve, reply: Reply) -> None:
    endpoint = serve(lambda body, count: reply if asked_about(body)["kind"] == "DATE" else right(body, count))
    judge = heard(hear(of(endpoint), [RELEASE]), [RELEASE])
    assert [it for it in judge.verdicts if it.changed is None] == [Verdict(None, failure=Unusable.FORM)] * 2
    assert judge.failures == {"form": 1}
    counted = voted([judge], [RELEASE])
    assert (counted.discarded, sum(counted.failures.values())) == ({Label.DATE: 2}, 1)
    assert Label.DATE not in counted.labels


def test_a_majority_counts_and_what_has_none_is_discarded(serve: Serve) -> None:
    def script(body: dict[str, Any], count: int) -> Reply:
        if asked_about(body)["kind"] == "DATE":
            return [said(["hidden", "left"]), said(["hidden", "hidden"]), Reply(None, finish="content_filter")][
                body["seed"]
            ]
        return right(body, count) if body["seed"] else said(["hidden"], ["aged"])

    endpoint = serve(script)
    panel = [heard(hear(of(endpoint, seed), [RELEASE]), [RELEASE]) for seed in range(3)]
    found = voted(panel, [RELEASE])
    assert found.labels[Label.PATIENT] == Counts(fp=1, fn=1)  # two of three see Paget; "aged" has one vote
    assert found.labels[Label.DATE] == Counts(tp=1)  # on 3/5 one says left, one hidden, one nothing
    assert found.discarded == {Label.DATE: 1, Label.PATIENT: 1, Label.CITY: 1}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEID_SECRET", "a key for these tests alone, 7f3a91c4")
    text = "Dr. Ada Lovelace saw him on 3/4/2019. SSN 123-45-6789. Lungs are clear, aspirin 81 mg daily."
    spans = [
        [text.index(it), text.index(it) + len(it), label] for it, label in (("3/4/2019", "DATE"), ("Lungs", "CITY"))
    ]
    (tmp_path / "gold.jsonl").write_text(json.dumps({"note_id": "n1", "text": text, "spans": spans}) + "\n")
    return tmp_path


def installed(folder: Path, endpoint: Endpoint) -> Path:
    llm = f'[llm]\nurl = "{endpoint.url}"\nmodel = "toy"\ndeadline = 20\n[judges]\nseeds = [1, 2]\n'
    (folder / "deid.toml").write_text(f'site = "north"\n{llm}')
    return folder


def test_the_panel_of_a_gold_file(serve: Serve, folder: Path) -> None:
    def script(body: dict[str, Any], count: int) -> Reply:
        asked = asked_about(body)
        return said(["left" if it in asked["released"] else "hidden" for it in asked["entities"]])

    endpoint = serve(script)
    done = deid("judge", "panel", "gold.jsonl", "--detector", "patterns", "--json", folder=installed(folder, endpoint))
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    judges = {it["judge"]: (it["judged"], it["accuracy"]) for it in records if "judge" in it}
    assert judges == dict.fromkeys(("toy, panel-zero, seed 1", "toy, panel-zero, seed 2", "majority of 2"), (2, 1))
    labels = {it["label"]: it for it in records if "label" in it}
    assert (labels["all"]["panel_recall"], labels["all"]["known_recall"]) == (0.5, 0.5)
    assert labels["SSN"]["known_precision"] == 0  # no gold marks it, and no judge says so
    assert "they agree on 100.0%" in done.stderr
    assert not any(word in done.stdout + done.stderr for word in ("Lovelace", "6789", "Lungs"))
    before = len(endpoint.received)
    deid("judge", "panel", "gold.jsonl", "--detector", "patterns", "--json", folder=folder)
    assert len(endpoint.received) == before  # all answers are kept


def test_retention_by_a_model_of_a_gold_file_beside_lexical_retention(serve: Serve, folder: Path) -> None:
    endpoint = serve(lambda body, count: Reply('{"change": "result"}'))
    command = ("judge", "retention", "gold.jsonl", "--detector", "patterns", "--json")
    done = deid(*command, folder=installed(folder, endpoint))
    assert done.returncode == 0, done.stderr
    lexical, chat = map(json.loads, done.stdout.splitlines())
    assert (lexical["metric"], lexical["mean"]) == ("lexical retention", 1)
    assert (chat["metric"], chat["judge"], chat["mean"]) == ("chat retention", "toy, retention-few", 0)
    assert chat["reasons"] == {"result": 1}


@pytest.mark.parametrize("command", ["panel", "retention"])
def test_a_panel_that_says_nothing_is_no_figure(serve: Serve, folder: Path, command: str) -> None:
    endpoint = serve(lambda body, count: Reply("I would rather not."))
    done = deid("judge", command, "gold.jsonl", "--detector", "patterns", "--json", folder=installed(folder, endpoint))
    assert done.returncode == 3
    assert "no answer: form" in done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [it["mean"] for it in records if it.get("metric") == "CIRE"] in ([], [None])
    assert all(it["panel_recall"] is None for it in records if "panel_recall" in it)
    assert "rather" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "task", "answer"),
    [
        ("retention", "retention", Reply('{"change": "none"}')),
        ("panel", "panel", Reply('{"entities": ["hidden"], "wrongly_hidden": []}')),
    ],
)
def test_a_prompt_of_ones_own_is_a_file(serve: Serve, folder: Path, command: str, task: str, answer: Reply) -> None:
    endpoint = serve(lambda body, count: answer)
    own = f"name: mine\nversion: 1\nlanguage: en\ntask: {task}\n"
    (folder / "mine.yaml").write_text(f"{own}messages:\n- {{role: system, content: Mine}}\n"
                                      "- {role: user, content: '{{note}}'}\n")  # fmt: skip
    asked = ("judge", command, "gold.jsonl", "--detector", "patterns", "--json", "--prompt", "mine.yaml")
    done = deid(*asked, folder=installed(folder, endpoint))
    assert done.returncode == 0, done.stderr
    assert {body["messages"][0]["content"] for body in endpoint.received} == {"Mine"}
    assert any(str(json.loads(row).get("judge")).startswith("toy, mine") for row in done.stdout.splitlines())
    (folder / "mine.yaml").write_text((folder / "mine.yaml").read_text().replace(f"task: {task}", "task: rewrite"))
    done = deid(*asked, folder=folder)
    assert done.returncode == 1 and f"task is none of {task}" in done.stderr

"""Judges of retention that are chat models: what counts as a judgement, and what as none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from chat_endpoint import Endpoint, Reply, Script, asked_about

from deid_platform.errors import DeidError
from deid_platform.evaluation.retention.chat_judge import CHANGES, SCHEMA, UNCHANGED, ChatJudge, Majority, _changes
from deid_platform.evaluation.retention.judges import Verdict
from deid_platform.evaluation.retention.retention import Pair, note_retentions, retention
from deid_platform.llm.answered import Unusable
from deid_platform.llm.api import Failure
from deid_platform.llm.prompts import JUDGES, YES_NO, Task, prompt, prompt_names, read_prompt
from deid_platform.llm.questions import Asked

LOST = ("on aspirin 81 mg daily", "on [PATIENT] 81 mg daily")
KEPT = ("seen by Dr. Quarmby today", "seen by Dr. [DOCTOR] today")
Serve = Callable[[Script], Endpoint]


def judge_of(endpoint: Endpoint, name: str = "retention-few", **given: Any) -> ChatJudge:
    model = endpoint.model(**{key: given.pop(key) for key in ("tries", "deadline", "structured") if key in given})
    return ChatJudge(Asked(prompt(name, JUDGES), model, **given))


def said(change: str) -> Reply:
    return Reply(json.dumps({"change": change}))


def test_every_prompt_of_a_judge_is_of_its_name_and_its_shots_are_judgements() -> None:
    names = prompt_names(JUDGES)
    few = {"retention-few", "retention-few-it", "retention-yes-no"}
    assert {"retention-zero", "retention-zero-it", *few} <= set(names)
    for name in names:
        found = prompt(name, JUDGES)
        assert (found.language == "it") == name.endswith("-it")
        assert bool(found.shots) == (name in few)
        if found.form == YES_NO:
            assert (len(found.shots), {shot.answer for shot in found.shots}) == (9, {"Yes", "No"})
            assert all(set(json.loads(shot.note)) == {"original", "released"} for shot in found.shots)
        elif found.task is Task.RETENTION:
            for shot in found.shots:
                assert set(json.loads(shot.note)) == {"original", "released"}
                assert _changes(json.loads(shot.answer)) is not None
            assert all(f'"{change}"' in found.messages[0].content for change in (UNCHANGED, *CHANGES))


def test_no_prompt_of_a_judge_is_a_de_identifier() -> None:
    assert not set(prompt_names()) & set(prompt_names(JUDGES))
    with pytest.raises(DeidError, match="prompt-unknown"):
        prompt("retention-few")


def test_a_judge_is_asked_a_pair_at_a_time_and_its_answer_is_kept_to_a_form(serve: Serve) -> None:
    endpoint = serve(lambda body, count: said("drug" if "aspirin" in str(asked_about(body)) else "none"))
    verdicts = judge_of(endpoint).judge([LOST, KEPT])
    assert verdicts == [Verdict(True, ("drug",)), Verdict(False)]
    assert sorted(map(asked_about, endpoint.received), key=str) == sorted(
        ({"original": a, "released": b} for a, b in (LOST, KEPT)), key=str
    )
    form = endpoint.received[0]["response_format"]["json_schema"]["schema"]
    assert form == json.loads(SCHEMA.source)
    assert endpoint.received[0]["temperature"] == 0


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(None, finish="content_filter"), Unusable.REFUSED),
        (Reply('{"change": "no', finish="length"), Unusable.CUT_OFF),
        (Reply("No"), Unusable.FORM),
        (Reply("none"), Unusable.FORM),
        (Reply("null"), Unusable.FORM),
        (Reply('{"change": false}'), Unusable.FORM),
        (Reply('{"change": ["none"]}'), Unusable.FORM),
        (Reply('{"change": "nothing"}'), Unusable.FORM),
        (Reply('{"change": "none", "why": "aspirin"}'), Unusable.FORM),
        (Reply('{"change": "drug", "change": "none"}'), Unusable.FORM),
        (Reply('[{"change": "none"}]'), Unusable.FORM),
        (Reply("[" * 5000), Unusable.FORM),
        (Reply('<think>{"change": "none"}'), Unusable.CUT_OFF),
        (Reply('<think>so</think></think>{"change": "none"}'), Unusable.FORM),
        (Reply(status=500), Failure.SERVER),
        (Reply(drops=True), Failure.UNREACHABLE),
        (Reply(status=400), Failure.REQUEST),
        (Reply(body=b"<html>"), Failure.MALFORMED),
    ],
)
def test_what_is_no_judgement_is_neither_a_loss_nor_a_pass(serve: Serve, reply: Reply, why: object) -> None:
    endpoint = serve(lambda body, count: reply if "aspirin" in str(asked_about(body)) else said("none"))
    failed, fine = judge_of(endpoint, tries=2).judge([LOST, KEPT])
    assert failed == Verdict(None, failure=why)  # type: ignore[arg-type]
    assert fine == Verdict(False)
    # Where it is counted, its reason is shown.
    found = retention(
        note_retentions([Pair(*LOST), Pair(*KEPT)], judge_of(endpoint, tries=2)), judge_of(endpoint).identity
    )
    assert (found.metric, found.mean, found.answered) == ("chat retention", 0.5, 1)
    assert (found.unanswered, found.failures) == (1, {str(why): 1})


def test_a_judge_that_says_yes_or_no_gives_cire(serve: Serve) -> None:
    endpoint = serve(lambda body, count: Reply("Yes" if "aspirin" in str(asked_about(body)) else "no."))
    judge = judge_of(endpoint, "retention-yes-no")
    assert judge.judge([LOST, KEPT]) == [Verdict(True), Verdict(False)]
    assert {"response_format", "structured_outputs"}.isdisjoint(endpoint.received[0])
    assert (judge.identity.metric, judge.identity.model) == ("CIRE", "toy, retention-yes-no")
    panel = Majority([judge_of(endpoint, "retention-yes-no", temperature=0.7, seed=seed) for seed in (1, 2)])
    assert panel.identity.metric == "CIRE"
    with pytest.raises(DeidError, match="of one kind"):
        Majority([judge, judge_of(endpoint)])


def test_thoughts_before_a_verdict_are_dropped_unless_the_text_has_such_a_mark(serve: Serve) -> None:
    endpoint = serve(lambda body, count: Reply('<think>is it "drug"?</think>\n{"change": "none"}'))
    verdicts = judge_of(endpoint).judge([KEPT, ("</think>", "x")])
    assert verdicts == [Verdict(False), Verdict(None, failure=Unusable.FORM)]


def test_where_nobody_answers_nothing_is_measured(serve: Serve) -> None:
    judge = judge_of(serve(lambda body, count: Reply(drops=True)), tries=1)
    found = retention(note_retentions([Pair(*LOST)], judge), judge.identity)
    assert (found.mean, found.unanswered, found.failures) == (None, 1, {"unreachable": 1})


def test_who_judges_says_the_model_the_prompt_and_the_seed(serve: Serve) -> None:
    endpoint = serve(lambda body, count: said("none"))
    one, other = judge_of(endpoint), judge_of(endpoint, "retention-zero")
    drawn = [judge_of(endpoint, temperature=0.7, seed=seed) for seed in (1, 2)]
    assert one.identity.model == "toy, retention-few"
    assert drawn[0].identity.model == "toy, retention-few, seed 1"
    assert len({judge.identity.digest for judge in (one, other, *drawn)}) == 4
    drawn[1].judge([KEPT])
    assert (endpoint.received[0]["temperature"], endpoint.received[0]["seed"]) == (0.7, 2)


def test_a_majority_is_of_all_judges_and_silence_is_no_vote(serve: Serve) -> None:
    votes = {1: ("drug", "none"), 2: ("drug", "dose"), 3: ("?", "none")}

    def script(body: dict[str, Any], count: int) -> Reply:
        return said(votes[body["seed"]]["aspirin" not in str(asked_about(body))])

    endpoint = serve(script)
    judges = [judge_of(endpoint, temperature=0.7, seed=seed) for seed in votes]
    panel = Majority(judges)
    assert panel.judge([LOST, KEPT]) == [Verdict(True, ("drug",)), Verdict(False)]
    assert (panel.identity.metric, panel.identity.model) == ("chat retention", "majority of 3")
    # Of four judges two are no majority.
    split = Majority([*judges, judge_of(endpoint, "retention-zero", temperature=0.7, seed=3)])
    assert [it.changed for it in split.judge([LOST])] == [None]


def test_a_majority_is_of_different_judges_of_one_kind(serve: Serve) -> None:
    judge = judge_of(serve(lambda body, count: said("none")))
    for judges in ([judge], [judge, judge]):
        with pytest.raises(DeidError, match="input-invalid"):
            Majority(judges)


YES_OR_NO = """name: yes-or-no
version: 1
language: en
task: retention
form: yes-no
messages:
- role: system
  content: "Did the medicine change"
- role: user
  content: "Before: {{original}} After: {{released}}"
shots:
- note: '{"original": "on digoxin", "released": "on"}'
  answer: "Yes (a drug is gone)"
"""


def test_a_prompt_may_have_a_place_for_either_chunk_and_ask_for_yes_or_no(serve: Serve) -> None:
    endpoint = serve(lambda body, count: Reply("Output: No" if "Quarmby" in str(body) else "yes."))
    judge = ChatJudge(Asked(read_prompt(YES_OR_NO.encode(), "x"), endpoint.model()))
    own = ("{{released}} seen by Quarmby", "seen by \\1")
    assert judge.judge([LOST, own]) == [Verdict(True), Verdict(False)]
    turns = [[turn["content"] for turn in body["messages"]] for body in endpoint.received]
    assert {(turn[1], turn[2]) for turn in turns} == {("Before: on digoxin After: on", "Yes (a drug is gone)")}
    # What stands in a chunk is no place.
    assert "Before: {{released}} seen by Quarmby After: seen by \\1" in {turn[3] for turn in turns}
    assert "response_format" not in endpoint.received[0]
    listing = ChatJudge(Asked(read_prompt(YES_OR_NO.replace("form: yes-no\n", "").encode(), "x"), endpoint.model()))
    assert judge.identity.digest != listing.identity.digest


@pytest.mark.parametrize(
    ("said", "changed"),
    [("Yes", True), ("NO.", False), ("no (dates are none)", False), ("Sì", True), ("**Yes**", True),
     ("Yes and no", None), ("Maybe", None), ("", None), ("Nothing", None), ("No medicine changed", None)],
)  # fmt: skip
def test_a_word_is_a_verdict_and_a_sentence_is_none(serve: Serve, said: str, changed: bool | None) -> None:
    endpoint = serve(lambda body, count: Reply(said))
    (verdict,) = ChatJudge(Asked(read_prompt(YES_OR_NO.encode(), "x"), endpoint.model())).judge([LOST])
    assert verdict == (Verdict(None, failure=Unusable.FORM) if changed is None else Verdict(changed))


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("{{released}}", "", "messages"),
        ("{{released}}", "{{released}} {{note}}", "messages"),
        ('content: "Did the', 'content: "{{original}}', "messages"),
        ("task: retention\nform: yes-no", "task: panel", "messages"),
        ('"released": "on"', '"other": "on"', "shots"),
        ('{"original": "on digoxin", "released": "on"}', "on digoxin", "shots"),
    ],
)
def test_places_of_chunks_are_read_strictly(before: str, after: str, fault: str) -> None:
    assert before in YES_OR_NO
    with pytest.raises(DeidError, match=rf"prompt-invalid.*x: {fault}"):
        read_prompt(YES_OR_NO.replace(before, after).encode(), "x")

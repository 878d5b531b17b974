"""A chat model in this process: what it answers, in what order and form, and what it cannot."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from jsonschema import validate

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.retention.chat_judge import ChatJudge
from deid_platform.evaluation.retention.pairs import labelled_pairs
from deid_platform.llm.api import ChatAnswer, ChatRequest, Failed, Failure, Finish, Message, Schema, SchemaKind
from deid_platform.llm.prompts import JUDGES, prompt
from deid_platform.llm.questions import Asked
from deid_platform.llm.vllm_engine import EngineSettings, VllmEngine, VllmModel

pytestmark = pytest.mark.process


def request(text: str = "Who wrote this note?", **given: object) -> ChatRequest:
    return replace(ChatRequest((Message("user", text),), max_tokens=24), **given)  # type: ignore[arg-type]


def answered(model: VllmModel, *requests: ChatRequest) -> list[ChatAnswer]:
    found = list(model.answer(requests))
    assert all(isinstance(outcome, ChatAnswer) for outcome in found)
    return [outcome for outcome in found if isinstance(outcome, ChatAnswer)]


@pytest.fixture
def model(engine: VllmEngine) -> VllmModel:
    return engine.model()


def test_the_likeliest_answer_is_the_same_each_time_and_its_tokens_are_counted(model: VllmModel) -> None:
    one, other = answered(model, request(), request())
    assert one.text == other.text != ""
    assert (one.finish, one.completion_tokens) == (Finish.LENGTH, 24)
    # <|im_start|>user\n ... <|im_end|>\n<|im_start|>assistant\n, a token for each byte and each mark
    assert one.prompt_tokens == len("user\n") + len("Who wrote this note?") + len("\nassistant\n") + 3


def test_a_judge_is_answered_in_its_form(model: VllmModel) -> None:
    judge = ChatJudge(Asked(prompt("retention-zero", JUDGES), model))
    found = judge.judge([pair.texts for pair in labelled_pairs()[:3]])
    assert all(verdict.failure is None and verdict.changed is not None for verdict in found)


def test_a_seed_decides_what_is_drawn(model: VllmModel) -> None:
    first, again, other = answered(model, *(request(temperature=1.0, seed=seed) for seed in (1, 1, 2)))
    assert first.text == again.text != other.text


def test_answers_come_in_order_and_requests_are_read_as_they_are_worked_on(model: VllmModel) -> None:
    texts = [f"note {number}" for number in range(40)]
    read: list[str] = []

    def requests() -> Iterator[ChatRequest]:
        for number, text in enumerate(texts):
            read.append(text)
            yield request(text, max_tokens=3 + number % 7)

    outcomes = model.answer(requests())
    first = list(islice(outcomes, 1))
    assert len(read) <= 16  # four run at once
    found = [outcome for outcome in [*first, *outcomes] if isinstance(outcome, ChatAnswer)]
    assert read == texts
    assert [answer.completion_tokens for answer in found] == [3 + number % 7 for number in range(40)]
    alone = answered(model, request(texts[17], max_tokens=3 + 17 % 7))
    assert found[17].text == alone[0].text


FINDINGS = {
    "type": "object",
    "properties": {
        "found": {
            "type": "array",
            "maxItems": 3,
            "items": {
                "type": "object",
                "properties": {
                    "first": {"type": "integer", "minimum": 0, "maximum": 40},
                    "label": {"enum": ["PATIENT", "DOCTOR", "DATE"]},
                    "words": {"type": "string", "maxLength": 12},
                },
                "required": ["first", "label", "words"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["found"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_a_model_that_knows_nothing_answers_by_a_json_schema(model: VllmModel, temperature: float) -> None:
    asked = [
        request(f"note {n}", temperature=temperature, seed=n, max_tokens=600, schema=Schema.of_json(FINDINGS))
        for n in range(8)
    ]
    for answer in answered(model, *asked):
        assert answer.finish is Finish.STOP
        validate(json.loads(answer.text), FINDINGS)


def test_each_request_has_a_form_of_its_own(model: VllmModel) -> None:
    expression = r"(yes|no), note [0-9]{2}"
    grammar = 'root ::= "[" item ("," item)* "]"\nitem ::= "keep" | "hide"'
    schemas = [Schema(SchemaKind.REGEX, expression), Schema(SchemaKind.GRAMMAR, grammar), None]
    said, marked, free = answered(model, *(request(schema=schema, temperature=1.0, seed=5) for schema in schemas))
    assert re.fullmatch(expression, said.text)
    # Cut off at the most tokens, or whole: what there is of it is by the grammar.
    assert re.fullmatch(r"\[((keep|hide),)*(keep\]|hide\]|k?e?e?p?|h?i?d?e?)", marked.text)
    assert free.text not in (said.text, marked.text)


def test_what_cannot_be_asked_fails_by_itself(model: VllmModel) -> None:
    broken = Schema(SchemaKind.JSON, '{"type": "object", "properties": 3}')
    asked = [
        request(),
        request("x" * model.context_length),
        request(schema=broken),
        request(temperature=-1.0),
        request(),
    ]
    first, long, form, cold, last = model.answer(asked)
    assert isinstance(first, ChatAnswer)
    assert (long, form, cold) == (Failed(Failure.TOO_LONG), Failed(Failure.REQUEST), Failed(Failure.REQUEST))
    assert isinstance(last, ChatAnswer)
    assert first.text == last.text


def test_an_answer_ends_with_the_context(model: VllmModel) -> None:
    (answer,) = answered(model, request("x" * (model.context_length - 60), max_tokens=1000))
    assert answer.finish is Finish.LENGTH
    assert (answer.prompt_tokens or 0) + (answer.completion_tokens or 0) <= model.context_length


def test_a_note_cannot_end_its_own_turn(model: VllmModel) -> None:
    plain, marked = answered(model, request("note. " + "x" * 10), request("note. <|im_end|>"))
    assert plain.prompt_tokens == (marked.prompt_tokens or 0) - 2  # one sign of the mark is another, of three bytes


def test_half_a_character_is_asked_about_as_another(model: VllmModel) -> None:
    assert answered(model, request("note \ud83d"))


def test_what_requests_begin_with_in_common_is_read_once(engine: VllmEngine) -> None:
    instructions = Message("system", "Mark what identifies a person. " * 20)
    before = replace(engine.counts)
    for text in ("first note", "second note"):
        answered(engine.model(), ChatRequest((instructions, Message("user", text)), max_tokens=2))
    read, cached = engine.counts.prompt - before.prompt, engine.counts.cached - before.cached
    assert read / 2 - 128 < cached + 60 < read / 2 + 60  # but what does not fill a block of 128 tokens


def test_an_adapter_answers_otherwise_and_is_another_model(engine: VllmEngine) -> None:
    plain, adapted = engine.model(), engine.model("house")
    assert plain.identity != adapted.identity
    (one,), (other,), (again,) = (answered(model, request()) for model in (plain, adapted, plain))
    assert one.text == again.text != other.text
    with pytest.raises(DeidError) as raised:
        engine.model("another")
    assert raised.value.code is Code.MODEL_UNUSABLE


def test_who_stops_asking_leaves_nothing_behind(model: VllmModel, engine: VllmEngine) -> None:
    outcomes = model.answer(request(max_tokens=500) for _ in range(30))
    next(outcomes)
    outcomes.close()  # type: ignore[attr-defined]
    assert not engine.unfinished


def test_what_decides_an_answer_is_in_the_identity(engine_settings: EngineSettings, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in engine_settings.model.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    copied = replace(engine_settings, model=folder)
    assert copied.identity().digest == engine_settings.identity().digest
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    others = [
        replace(engine_settings, model=folder),
        replace(engine_settings, precision="float32"),
        replace(engine_settings, max_length=100),
        replace(engine_settings, seed=4),
        replace(engine_settings, template=(("enable_thinking", False),)),
    ]
    digests = {settings.identity().digest for settings in (engine_settings, *others)}
    assert len(digests) == 1 + len(others)

"""vLLM as a server, asked over loopback: forms are kept, and what breaks while a batch is asked loses no request."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate

from deid_platform.llm import tagging
from deid_platform.llm.api import ChatAnswer, ChatRequest, Failed, Failure, Finish, Message, Schema, SchemaKind
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.llm.vllm_engine import VllmEngine

pytestmark = pytest.mark.process

NUMBERS = {
    "type": "object",
    "properties": {
        "words": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 99}, "maxItems": 4}
    },
    "required": ["words"],
    "additionalProperties": False,
}
MARKER = "Zebulonquist"


@pytest.fixture(scope="module")
def server(chat_folder: Path, adapter_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from vllm_server import VllmServer  # beside this file

    lora = ["--enable-lora", "--max-lora-rank", "8", "--lora-modules", f"house={adapter_folder}"]
    it = VllmServer(chat_folder, tmp_path_factory.mktemp("server") / "log", lora)
    try:
        it.start()
        yield it
    finally:
        it.kill()


@pytest.fixture
def spec(server: Any) -> EndpointSpec:
    return EndpointSpec(server.url, "tiny", context_length=2048, concurrency=4, tries=1, deadline=120)


def request(number: int = 0, **given: object) -> ChatRequest:
    said = (Message("user", f"note {number} of Dr. {MARKER}"),)
    return replace(ChatRequest(said, max_tokens=100, schema=Schema.of_json(NUMBERS)), **given)  # type: ignore[arg-type]


def test_a_server_answers_by_a_json_schema_as_the_engine_does(spec: EndpointSpec, engine: VllmEngine) -> None:
    asked = [request(number) for number in range(6)]
    served, own = list(spec.build().answer(asked)), list(engine.model().answer(asked))
    for one, other in zip(served, own, strict=True):
        assert isinstance(one, ChatAnswer)
        assert isinstance(other, ChatAnswer)
        validate(json.loads(one.text), NUMBERS)
        assert (one.text, one.finish, one.prompt_tokens) == (other.text, other.finish, other.prompt_tokens)


def test_other_forms_and_adapters_are_served_too(spec: EndpointSpec) -> None:
    expression = Schema(SchemaKind.REGEX, r"(yes|no), note [0-9]{2}")
    grammar = Schema(SchemaKind.GRAMMAR, 'root ::= "keep" | "hide"')
    asked = [request(schema=expression), request(schema=grammar), request(schema=None)]
    said, marked, free = spec.build().answer(asked)
    assert isinstance(said, ChatAnswer)
    assert isinstance(marked, ChatAnswer)
    assert said.text[:2] in ("ye", "no")
    assert marked.text in ("keep", "hide")
    (adapted,) = replace(spec, model="house").build().answer(asked[2:])
    assert isinstance(free, ChatAnswer)
    assert isinstance(adapted, ChatAnswer)
    assert free.text != adapted.text


def test_words_that_the_note_has_not_cannot_be_tagged(spec: EndpointSpec) -> None:
    note = "Seen by Dr. Ode today in Leeds, and well otherwise. " * 3
    said = (Message("user", tagging.numbered(note)),)
    asked = [ChatRequest(said, 1.0, seed, 400, tagging.schema_for(note)) for seed in range(12)]
    answers = [outcome for outcome in spec.build().answer(asked) if isinstance(outcome, ChatAnswer)]
    assert len(answers) == len(asked)
    # Many are cut off, since the model knows nothing of ends; numbers are kept within the note all the same.
    numbers = [int(each) for answer in answers for each in re.findall(r'"(?:first|last)":(\d+)[,}]', answer.text)]
    assert len(numbers) > 20
    assert all(1 <= number <= 30 for number in numbers)


def test_what_is_too_long_fails_by_itself(spec: EndpointSpec) -> None:
    long = ChatRequest((Message("user", "x" * 3000),))
    before, failed, after = spec.build().answer([request(), long, request()])
    assert failed == Failed(Failure.TOO_LONG)
    assert isinstance(before, ChatAnswer)
    assert before.text == after.text if isinstance(after, ChatAnswer) else False


def test_a_server_that_stands_still_is_given_up_in_time_and_answers_later(spec: EndpointSpec, server: Any) -> None:
    server.send(signal.SIGSTOP)
    try:
        found = list(replace(spec, deadline=1.5).build().answer(request(number) for number in range(5)))
    finally:
        server.send(signal.SIGCONT)
    assert found == [Failed(Failure.DEADLINE)] * 5
    assert all(isinstance(outcome, ChatAnswer) for outcome in spec.build().answer(request(n) for n in range(5)))


def test_a_server_killed_in_the_middle_of_a_batch_loses_no_request(spec: EndpointSpec, server: Any) -> None:
    asked = [request(number, schema=None, max_tokens=150) for number in range(24)]
    whole = [outcome.text for outcome in spec.build().answer(asked) if isinstance(outcome, ChatAnswer)]
    assert len(whole) == len(asked)

    def requests() -> Iterator[ChatRequest]:
        for number, one in enumerate(asked):
            if number == 14:  # the first of them are answered by now, some are at work
                server.kill()
            yield one

    outcomes = list(spec.build().answer(requests()))
    assert len(outcomes) == len(asked)
    lost = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, Failed)]
    assert {outcomes[number] for number in lost} == {Failed(Failure.UNREACHABLE)}
    assert set(range(14, 24)) <= set(lost) < set(range(24))
    server.start()
    # As a run does that is started anew.
    again = dict(zip(lost, spec.build().answer(asked[number] for number in lost), strict=True))
    found = [again.get(number, outcome) for number, outcome in enumerate(outcomes)]
    assert [outcome.text for outcome in found if isinstance(outcome, ChatAnswer)] == whole


def test_a_server_says_nothing_of_what_it_was_asked(spec: EndpointSpec, server: Any) -> None:
    (answer,) = spec.build().answer([request(schema=None, max_tokens=5)])
    assert isinstance(answer, ChatAnswer)
    assert answer.finish is Finish.LENGTH
    assert MARKER.encode() not in server.log.read_bytes()

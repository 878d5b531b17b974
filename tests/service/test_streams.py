"""Streams: order, one line of error for a note that fails, and no more lines read than are answered."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable

import pytest
from service_client import InThisProcess, client_of, note, service_of

from deid_platform.engine.workers import Answer
from deid_platform.service.access import Tokens
from deid_platform.service.app import Limits, app_of
from deid_platform.service.work import Answered, Asked, Outcome

POLICIES = ("safe_harbor_plus_providers", "safe_harbor")
KIND = {"Content-Type": "application/x-ndjson"}
SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/v1/redact/stream",
    "query_string": b"",
    "headers": [(b"host", b"localhost"), (b"content-type", b"application/x-ndjson")],
}


class Unsteady:
    """Answers with the text, after a while that is another for each."""

    def __init__(self) -> None:
        self.dice = random.Random(7)

    def answer(self, batch: list[Asked], *, until: float | None = None) -> Answer[Answered]:
        time.sleep(self.dice.random() / 50)
        return [tuple(Outcome(n.text) for n in asked.notes) for asked in batch], None

    def kill(self) -> None:
        pass

    def close(self) -> None:
        pass


def lines(*notes: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in notes)


def test_answers_come_in_the_order_of_the_lines() -> None:
    client = client_of(service_of(Unsteady(), workers=4))
    answer = client.post("/v1/redact/stream", content=lines(*(note(f"note {n}") for n in range(60))), headers=KIND)
    answered = [json.loads(line) for line in answer.text.splitlines()]
    assert [(row["line"], row["text"]) for row in answered] == [(n + 1, f"note {n}") for n in range(60)]


def test_a_line_that_fails_has_a_line_with_its_code_and_never_its_text() -> None:
    client = client_of(service_of(InThisProcess(detector="patterns"), limits=Limits(bytes=1000)))
    body = b"".join(
        (
            lines(note("Seen on 03/04/2019.", note_id="a")),
            b'{"text": "Quillfeather\n',
            b"\n",
            lines(note("the quillfeather chart", note_id="b", patient={"last_name": "Quillfeather"})),
            b'{"text": "' + b"quillfeather" * 200 + b'"}\n',
            lines(note("BP 120/80.", note_id="c")).rstrip(),
        )
    )
    parts = (body[start : start + 37] for start in range(0, len(body), 37))
    answer = client.post("/v1/redact/stream", content=parts, headers=KIND)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/x-ndjson")
    assert "quillfeather" not in answer.text.lower()
    first, *failed, last = map(json.loads, answer.text.splitlines())
    assert (first["line"], first["text"]) == (1, "Seen on [DATE 2019].")
    assert [(row["line"], row.get("note_id"), row["withheld"]["code"]) for row in failed] == [
        (2, None, "request-invalid"),
        (3, "b", "note-leaks"),
        (4, None, "request-too-large"),
    ]
    assert (last["line"], last["note_id"], last["text"]) == (5, "c", "BP 120/80.")
    counted = client.get("/metrics").text
    assert 'deid_notes_total{outcome="redacted"} 2' in counted
    assert 'deid_notes_total{outcome="note-leaks"} 1' in counted


def test_a_policy_is_named_in_the_address() -> None:
    client = client_of(service_of(InThisProcess(policies=POLICIES), *POLICIES))
    body = lines(note("Seen by Dr. Alan Reed."))
    hidden = client.post("/v1/redact/stream", content=body, headers=KIND).json()["text"]
    kept = client.post("/v1/redact/stream?policy=safe_harbor", content=body, headers=KIND).json()["text"]
    assert ("Reed" in hidden, "Reed" in kept) == (False, True)
    assert (
        client.post("/v1/redact/stream?policy=x", content=body, headers=KIND).json()["error"]["code"]
        == "policy-unknown"
    )


def serve(
    receive: Callable[[], Awaitable[dict]], send: Callable[[dict], Awaitable[None]], limits: Limits, workers: int = 2
) -> None:
    service = service_of(Unsteady(), limits=limits, workers=workers)
    asyncio.run(app_of(service, Tokens({}))(dict(SCOPE), receive, send))


def test_while_no_answer_is_taken_no_further_line_is_read() -> None:
    read, sent, taken = [], [], asyncio.Event()

    async def receive() -> dict:
        read.append(1)
        if len(read) == 20:
            assert taken.is_set()
        return {"type": "http.request", "body": lines(note("Seen.")), "more_body": len(read) < 100}

    async def send(message: dict) -> None:
        if message["type"] == "http.response.body" and not taken.is_set():
            await asyncio.sleep(0.5)  # a client that does not read yet
            assert len(read) < 20
            taken.set()
        sent.append(message)

    serve(receive, send, Limits())
    assert sum(bool(message.get("body")) for message in sent) == len(read) == 100
    assert sent[-1] == {"type": "http.response.body", "body": b""}


@pytest.mark.parametrize("stuck", ["the answers", "the lines"])
def test_a_client_that_stands_still_is_let_go_without_the_end_of_an_answer(stuck: str) -> None:
    sent: list[dict] = []
    begun = iter([{"type": "http.request", "body": lines(note("Seen.")), "more_body": True}])

    async def receive() -> dict:
        if (message := next(begun, None)) is not None:
            return message
        await asyncio.sleep(30)
        return {"type": "http.disconnect"}

    async def send(message: dict) -> None:
        if stuck == "the answers" and message["type"] == "http.response.body":
            await asyncio.sleep(30)
        sent.append(message)

    with pytest.raises(Exception, match="request-slow"):
        serve(receive, send, Limits(seconds=0.2))
    assert all(message.get("more_body", True) for message in sent)


def test_a_client_that_goes_ends_its_stream() -> None:
    messages = iter([{"type": "http.request", "body": lines(note("Seen.")), "more_body": True}])

    async def receive() -> dict:
        return next(messages, {"type": "http.disconnect"})

    async def send(message: dict) -> None:
        pass

    serve(receive, send, Limits())


def test_so_many_streams_may_be_open() -> None:
    client = client_of(service_of(Unsteady(), limits=Limits(streams=0)))
    answer = client.post("/v1/redact/stream", content=lines(note("Seen.")), headers=KIND)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "service-busy")

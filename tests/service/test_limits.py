"""Sizes, seconds, places: what is refused, with which status and code, and that the next request is answered."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from time import monotonic

import httpx2
import pytest
from service_client import HERE, client_of, note, service_of

from deid_platform.engine.workers import Answer
from deid_platform.errors import Code, DeidError
from deid_platform.service.access import Tokens
from deid_platform.service.app import Limits, Service, app_of
from deid_platform.service.work import Answered, Asked, Outcome

NOTES = {"notes": [note("Seen by Dr. Alan Reed.")]}


class Slow:
    """Answers when it is let go, or raises what it was given."""

    def __init__(self, error: Exception | None = None) -> None:
        self.go = threading.Event()
        self.asked = 0
        self.error = error

    def answer(self, batch: list[Asked], *, until: float | None = None) -> Answer[Answered]:
        self.asked += 1
        if self.error is not None:
            raise self.error
        assert until is not None
        if not self.go.wait(until - monotonic()):
            raise DeidError(Code.DEADLINE_PASSED)
        return [tuple(Outcome("redacted") for _ in asked.notes) for asked in batch], None

    def kill(self) -> None:
        pass

    def close(self) -> None:
        pass


def refused(answer: object, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text


def test_a_body_over_the_limit_is_refused_whether_or_not_it_is_announced() -> None:
    client = client_of(service_of(Slow(), limits=Limits(bytes=2000)))
    long = b'{"notes": [{"text": "' + b"a" * 2000 + b'"}]}'
    kind = {"Content-Type": "application/json"}
    refused(client.post("/v1/redact", content=long, headers=kind), 413, "request-too-large")
    parts = (long[start : start + 500] for start in range(0, len(long), 500))
    refused(client.post("/v1/redact", content=parts, headers=kind), 413, "request-too-large")


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    service = service_of(Slow(), limits=Limits(seconds=0.05))
    sent: list[dict] = []

    async def never() -> dict:
        await asyncio.sleep(30)
        return {}

    async def send(message: dict) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/redact",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
    }
    asyncio.run(app_of(service, Tokens({}))(scope, never, send))
    assert sent[0]["status"] == 408
    assert b"request-slow" in sent[1]["body"]


def asked_together(service: Service, *then: Callable[[httpx2.AsyncClient], Awaitable[None]], requests: int) -> list:
    """The answers to requests that come at once, and what is done while they wait."""

    async def ask() -> list:
        transport = httpx2.ASGITransport(app_of(service, Tokens({})))
        async with httpx2.AsyncClient(transport=transport, base_url=HERE) as client:
            asked = [asyncio.create_task(client.post("/v1/redact", json=NOTES)) for _ in range(requests)]
            for step in then:
                await step(client)
            return await asyncio.gather(*asked)

    return asyncio.run(ask())


def test_a_full_queue_says_so_and_when_to_ask_again() -> None:
    staff = Slow()
    service = service_of(staff, workers=1, places=1)

    async def one_more(client: httpx2.AsyncClient) -> None:
        while service.queue.waiting < 1 or staff.asked < 1:
            await asyncio.sleep(0.01)
        full = await client.post("/v1/redact", json=NOTES)
        refused(full, 503, "service-busy")
        assert int(full.headers["Retry-After"]) >= 1
        gauges = (await client.get("/metrics")).text
        assert "deid_queue_waiting 1" in gauges
        assert "deid_workers_busy 1" in gauges
        staff.go.set()

    async def later(client: httpx2.AsyncClient) -> None:
        while service.queue.waiting:
            await asyncio.sleep(0.01)
        assert (await client.post("/v1/redact", json=NOTES)).status_code == 200

    answers = asked_together(service, one_more, later, requests=2)
    assert [answer.json()["notes"][0]["text"] for answer in answers] == ["redacted", "redacted"]


def test_a_request_that_takes_too_long_is_ended_in_the_queue_and_in_the_process() -> None:
    staff = Slow()
    service = service_of(staff, workers=1, seconds=0.3)
    for answer in asked_together(service, requests=2):
        refused(answer, 503, "deadline-passed")
    staff.go.set()
    assert client_of(service).post("/v1/redact", json=NOTES).status_code == 200


def test_until_the_model_is_loaded_only_health_is_good() -> None:
    service = service_of(Slow())
    service.queue.ready = False
    client = client_of(service)
    assert client.get("/healthz").json() == {"status": "ok"}
    for answer in (
        client.get("/readyz"),
        client.post("/v1/redact", json=NOTES),
        client.post("/v1/redact/stream", content=b"", headers={"Content-Type": "application/x-ndjson"}),
    ):
        refused(answer, 503, "service-starting")
        assert "Retry-After" in answer.headers
    service.queue.ready = True
    assert client.get("/readyz").json()["status"] == "ready"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (DeidError(Code.WORKER_LOST, "worker"), 503, "worker-lost"),
        (ValueError("Ann Quillfeather"), 500, "internal-error"),
    ],
)
def test_a_failure_is_a_code_and_quotes_nothing(error: Exception, status: int, code: str) -> None:
    client = client_of(service_of(Slow(error)))
    answer = client.post("/v1/redact", json=NOTES)
    refused(answer, status, code)
    assert "Quillfeather" not in answer.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/redact", 405), ("POST", "/healthz", 405), ("GET", "/Ann%20Quillfeather", 404)],
)
def test_other_addresses_and_methods_are_refused(method: str, path: str, status: int) -> None:
    answer = client_of(service_of(Slow())).request(method, path)
    refused(answer, status, "request-invalid")
    assert "Quillfeather" not in answer.text


def test_a_compressed_body_is_refused() -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    refused(client_of(service_of(Slow())).post("/v1/redact", content=b"{}", headers=headers), 415, "request-invalid")

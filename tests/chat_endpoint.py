"""An endpoint of nobody's model, on loopback, that does what a test tells it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from deid_platform.llm.api import ChatRequest, Message
from deid_platform.llm.endpoint import EndpointModel, EndpointSpec, Pace


@dataclass(frozen=True)
class Reply:
    """What the endpoint sends back.

    Attributes:
        text: The model's words; None for none.
        finish: Why they end.
        status: Of the response.
        body: The whole body, instead of one made of the words.
        headers: More headers.
        drops: Whether the connection ends without a response.
        never: Whether nothing is sent as long as the test runs.
    """

    text: str | None = "fine"
    finish: str = "stop"
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    drops: bool = False
    never: bool = False

    @property
    def content(self) -> bytes:
        if self.body is not None:
            return self.body
        message = {"role": "assistant", "content": self.text}
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        return json.dumps(
            {"choices": [{"index": 0, "message": message, "finish_reason": self.finish}], "usage": usage}
        ).encode()


Script = Callable[[dict[str, Any], int], Reply]
"""From the request and how often it came to what is sent back."""


@dataclass
class Endpoint:
    """A running endpoint: where it is, what it was sent, and how a model behind it is asked."""

    port: int
    received: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def spec(self, **given: Any) -> EndpointSpec:
        return EndpointSpec(**{"url": self.url, "model": "toy", "concurrency": 4, **given})

    def model(self, **given: Any) -> EndpointModel:
        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        return EndpointModel(self.spec(**given), pace=Pace(jitter=lambda: 0.5, sleep=sleep))

    @property
    def asked(self) -> list[str]:
        return list(map(asked_of, self.received))


def asked_of(body: Mapping[str, Any]) -> str:
    """What a request asks, after its examples."""
    return str(body["messages"][-1]["content"])


def asked_about(body: Mapping[str, Any]) -> dict[str, Any]:
    """The same where it is a JSON object."""
    found: dict[str, Any] = json.loads(asked_of(body))
    return found


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # by default five may wait, and a sixth tries to connect again a second later

    def handle_error(self, request: Any, client_address: Any) -> None:
        return  # whoever asks may hang up; the traceback would only fill the output


@contextmanager
def serving(script: Script) -> Iterator[Endpoint]:
    over = threading.Event()
    lock = threading.Lock()
    times: dict[str, int] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                endpoint.received.append(body)
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                key = json.dumps(body)
                times[key] = times.get(key, 0) + 1
                count = times[key]
            reply = script(body, count)
            if reply.never:
                over.wait()
            if reply.never or reply.drops:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.content)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.content)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = _Server(("127.0.0.1", 0), Handler)
    endpoint = Endpoint(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def asking(words: str, **given: Any) -> ChatRequest:
    return ChatRequest((Message("system", "You are a toy."), Message("user", words)), **given)

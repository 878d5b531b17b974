"""A chat model behind an OpenAI-compatible endpoint.

Belongs here: many requests at once, in order, with deadlines and tries. Does not belong here: which addresses are
permitted (`deid_platform/settings/address.py`), what is on the wire (`wire.py`), or keeping answers (`answers.py`).

Nothing of the environment changes where a request goes: no proxy is taken from it, no `.netrc` is read, and a redirect
is a failure. Nothing of a request or a response is logged or raised.
"""

from __future__ import annotations

import random
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import anyio
import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.llm import wire
from deid_platform.llm.api import ChatAnswer, ChatRequest, Failed, Failure, ModelIdentity
from deid_platform.runtime.stopping import check
from deid_platform.settings.address import Address, permitted

_PATH = "/chat/completions"
_LARGEST = 16 << 20
"""The most bytes of a response: more is no answer to what was asked."""
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
"""Seconds before the second try, and the most before any."""
_AGAIN = frozenset((Failure.UNREACHABLE, Failure.BUSY, Failure.SERVER))
"""What another try may mend."""


@dataclass(frozen=True, slots=True)
class EndpointSpec:
    """An endpoint as deid.toml describes it; small enough to send to a worker, which connects by itself.

    Attributes:
        url: Where the interface lies, up to `/v1`.
        model: The model's name there.
        revision: What the operator calls the weights behind that name; part of the detector's digest.
        context_length: The most tokens of a request and its answer together.
        allowed_hosts: Hosts beside this machine that are trusted with notes.
        api_key_file: Holds the key that the server asks for; None if it asks for none.
        ca_file: Certificates that sign the server's own, in PEM; None for those of the system.
        concurrency: Requests at once.
        deadline: Seconds that a request may take, all tries together.
        tries: How often a request is sent at most.
        structured: Whether the server can be given the form of an answer.
    """

    url: str
    model: str
    revision: str = ""
    context_length: int = 8192
    allowed_hosts: tuple[str, ...] = ()
    api_key_file: Path | None = None
    ca_file: Path | None = None
    concurrency: int = 8
    deadline: float = 300.0
    tries: int = 4
    structured: bool = True

    @property
    def identity(self) -> ModelIdentity:
        """Which model it is, as far as its operator says: a server does not show its weights."""
        return ModelIdentity(
            self.model, plain_digest("endpoint", self.model, self.revision, str(self.context_length), _said(self))
        )

    def for_workers(self, workers: int) -> EndpointSpec:
        """As each of several processes asks: `concurrency` is divided among them, one request each at least."""
        return replace(self, concurrency=max(1, self.concurrency // workers))

    def build(self) -> EndpointModel:
        """The model; nothing is sent yet.

        Raises:
            DeidError: `endpoint-refused`; `settings-invalid` for a key or certificates that cannot be read.
        """
        return EndpointModel(self)


class Pace(NamedTuple):
    """How tries follow each other.

    Attributes:
        jitter: Gives the share, from 0 to 1, of the longest wait that is waited.
        sleep: Waits so many seconds.
    """

    jitter: Callable[[], float] = random.random
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep


class EndpointModel:
    """A model behind an endpoint (`ChatModel`).

    Args:
        spec: Where it is and how it is asked.
        pace: How tries follow each other.

    Raises:
        DeidError: `endpoint-refused`; `settings-invalid` for a key or certificates that cannot be read.
    """

    def __init__(self, spec: EndpointSpec, *, pace: Pace | None = None) -> None:
        self._spec = spec
        self._pace = pace or Pace()
        self._address = permitted(spec.url, spec.allowed_hosts)
        self._headers = _headers(spec.api_key_file)
        self._certificates = _certificates(spec.ca_file)

    def __repr__(self) -> str:
        return f"<EndpointModel: {self._spec.model}>"

    @property
    def identity(self) -> ModelIdentity:
        """Which model it is."""
        return self._spec.identity

    @property
    def context_length(self) -> int:
        """The most tokens of a request and its answer together."""
        return self._spec.context_length

    def answer(self, requests: Iterable[ChatRequest]) -> Iterator[ChatAnswer | Failed]:
        """One outcome a request, in their order; see `ChatModel`.

        Raises:
            KeyboardInterrupt: Between two outcomes, if the process was asked to stop; requests that wait are dropped.
        """
        source = iter(requests)
        first = next(source, None)
        if first is None:
            return
        # A thread of its own for all connections: they go on while the caller works with an answer.
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(self._client()) as client:
            asked: deque[Future[ChatAnswer | Failed]] = deque([self._begun(portal, client, first)])
            try:
                # Some wait in line, so that a slow answer at the head holds up few others.
                for request in islice(source, 2 * self._spec.concurrency - 1):
                    asked.append(self._begun(portal, client, request))
                while asked:
                    outcome = asked.popleft().result()
                    check()
                    yield outcome
                    for request in islice(source, 1):
                        asked.append(self._begun(portal, client, request))
            finally:
                for waiting in asked:
                    waiting.cancel()

    def _begun(self, portal: BlockingPortal, client: _Client, request: ChatRequest) -> Future[ChatAnswer | Failed]:
        return portal.start_task_soon(self._in_time, client, request)

    def _client(self) -> _Client:
        return _Client(self._address, self._headers, self._certificates, self._spec.concurrency)

    async def _in_time(self, client: _Client, request: ChatRequest) -> ChatAnswer | Failed:
        async with client.turn:
            with anyio.move_on_after(self._spec.deadline):
                return await self._tried(client, request)
            return Failed(Failure.DEADLINE)

    async def _tried(self, client: _Client, request: ChatRequest) -> ChatAnswer | Failed:
        content = wire.body(request, self._spec.model, structured=self._spec.structured)
        for n in range(1, self._spec.tries + 1):
            outcome, asked_to_wait = await client.post(content)
            if not isinstance(outcome, Failed) or outcome.failure not in _AGAIN or n == self._spec.tries:
                return outcome
            wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (n - 1)) * self._pace.jitter()
            await self._pace.sleep(max(wait, asked_to_wait))
        raise AssertionError("no try")


class _Client:
    """The connections to one endpoint."""

    def __init__(
        self, address: Address, headers: dict[str, str], certificates: ssl.SSLContext | bool, concurrency: int
    ) -> None:
        self._url = address.url + _PATH
        # A name that is not looked up still is the name of the certificate.
        self._extensions = {"sni_hostname": address.host}
        self._client = httpx2.AsyncClient(
            headers={**headers, "Accept-Encoding": "identity"},
            verify=certificates,
            trust_env=False,
            follow_redirects=False,
            timeout=None,  # the deadline is that of the whole request
            limits=httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency),
        )
        self._concurrency = concurrency

    async def __aenter__(self) -> _Client:
        self.turn = anyio.Semaphore(self._concurrency)
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._client.aclose()

    async def post(self, content: dict[str, object]) -> tuple[ChatAnswer | Failed, float]:
        """What one try comes to, and the seconds that the server asks to wait before another."""
        begun = monotonic()
        try:
            async with self._client.stream("POST", self._url, json=content, extensions=self._extensions) as response:
                raw = bytearray()
                async for piece in response.aiter_bytes():
                    raw += piece
                    if len(raw) > _LARGEST:
                        return Failed(Failure.MALFORMED), 0.0
        except httpx2.DecodingError:
            return Failed(Failure.MALFORMED), 0.0
        except (httpx2.HTTPError, OSError):
            return Failed(Failure.UNREACHABLE), 0.0
        if response.status_code == 200:
            return wire.answered(bytes(raw), monotonic() - begun), 0.0
        return Failed(wire.refused(response.status_code, bytes(raw))), _asked_wait(response.headers)


def _asked_wait(headers: httpx2.Headers) -> float:
    asked = headers.get("retry-after", "")
    return min(float(asked), _LONGEST_WAIT) if asked.isascii() and asked.isdigit() else 0.0


def _headers(api_key_file: Path | None) -> dict[str, str]:
    if api_key_file is None:
        return {}
    try:
        key = api_key_file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        key = ""
    if not key or not key.isprintable() or " " in key:
        raise DeidError(Code.SETTINGS_INVALID, "llm.api_key_file")
    return {"Authorization": f"Bearer {key}"}


def _certificates(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file) if ca_file else _of_the_system()
    except (OSError, ssl.SSLError):
        raise DeidError(Code.SETTINGS_INVALID, "llm.ca_file") from None


@cache
def _of_the_system() -> ssl.SSLContext:
    return ssl.create_default_context()


def _said(spec: EndpointSpec) -> str:
    return "forms" if spec.structured else "free"

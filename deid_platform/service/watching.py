"""What goes around every request: who asks, what it is counted and logged as, and how a failure is answered.

Belongs here: the ASGI layer around the routes. Does not belong here: a route.

No line of the log holds an address as it was sent, a header or a body: the route is one of the service's own, the
client is the name of its token. Nothing that was raised gets further than this module: it could quote a note.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deid_platform.errors import Code, DeidError, internal
from deid_platform.service.access import Tokens, is_own_name
from deid_platform.service.bodies import GoneError
from deid_platform.service.forms import error_of
from deid_platform.service.metrics import Metrics
from deid_platform.service.queue import Queue

LOG = logging.getLogger("deid.service")
OTHER = "other"
"""The route of what is none."""
PROBES = ("/healthz", "/readyz")
"""Asked every few seconds by whatever restarts the service: not logged."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_STATUS: Mapping[Code, int] = {
    Code.TOKEN_REFUSED: 401,
    Code.REQUEST_SLOW: 408,
    Code.REQUEST_TOO_LARGE: 413,
    Code.INTERNAL: 500,
    **dict.fromkeys((Code.SERVICE_BUSY, Code.SERVICE_STARTING, Code.DEADLINE_PASSED, Code.WORKER_LOST), 503),
}
RETRIED = (Code.SERVICE_BUSY, Code.SERVICE_STARTING)
"""After which the same request may be answered: the answer says when."""


def status_of(error: DeidError) -> int:
    """The status of the answer to a request that fails by an error."""
    if error.code is Code.REQUEST_INVALID:
        return {"path": 404, "method": 405, "content type": 415}.get(error.ref or "", 400)
    return _STATUS.get(error.code, 400)


@dataclass
class Entry:
    """What is known of a request while it is answered.

    Attributes:
        route: Which of the service's addresses it asks.
        client: The name of its token.
        status: Of the answer; 0 until that begins.
        notes: How many notes it was answered for.
        withheld: How many of them have no text.
        code: The error that it ended with.
    """

    route: str = OTHER
    client: str = ""
    status: int = 0
    notes: int = 0
    withheld: int = 0
    code: str = ""
    begun: float = field(default_factory=monotonic)

    def line(self, seconds: float) -> str:
        """The line of the log."""
        said = {
            "route": self.route,
            "client": self.client or None,
            "status": self.status,
            "seconds": round(seconds, 3),
            "notes": self.notes,
            "withheld": self.withheld,
            "code": self.code or None,
        }
        return json.dumps({key: value for key, value in said.items() if value is not None})


class Watched:
    """The routes, watched.

    Args:
        app: They.
        routes: Method and path of each.
        open_to_all: The paths that need no token: they say nothing of notes.
        tokens: Who may ask the others; none lets in whoever reaches the service by a name of this machine.
        queue: Says when to ask again.
        metrics: Where requests are counted.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        routes: frozenset[tuple[str, str]],
        open_to_all: frozenset[str],
        tokens: Tokens,
        queue: Queue,
        metrics: Metrics,
    ) -> None:
        self._app = app
        self._routes = routes
        self._paths = {path for _, path in routes}
        self._open_to_all = open_to_all
        self._tokens = tokens
        self._queue = queue
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request as ASGI has it."""
        if scope["type"] != "http":
            return
        entry = scope["entry"] = Entry()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                entry.status = message["status"]
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        try:
            await self._answer(scope, receive, noted, entry)
        finally:
            seconds = monotonic() - entry.begun
            self._metrics.request(entry.route, entry.status, seconds)
            if entry.route not in PROBES:
                LOG.info(entry.line(seconds))

    async def _answer(self, scope: Scope, receive: Receive, send: Send, entry: Entry) -> None:
        failure: DeidError | None = None
        try:
            self._check(scope, entry)
            await self._app(scope, receive, send)
        except GoneError:
            entry.code = "client-gone"
            return
        except DeidError as error:
            failure = error
        except Exception as error:  # its message could quote a note
            failure = internal(error)
        if failure is None:
            return
        entry.code = failure.code.slug
        if entry.status:
            # Half an answer must not look like a whole one: the server ends the connection for it.
            raise DeidError(failure.code, failure.ref)
        await self._error(failure)(scope, receive, send)

    def _check(self, scope: Scope, entry: Entry) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        if not self._tokens and not is_own_name(headers.get("host")):
            raise DeidError(Code.REQUEST_INVALID, "host")
        if path in self._paths:
            entry.route = path
        if self._tokens and path not in self._open_to_all:
            entry.client = self._tokens.client_of(headers.get("authorization")) or ""
            if not entry.client:
                raise DeidError(Code.TOKEN_REFUSED)
        if (scope["method"], path) not in self._routes:
            raise DeidError(Code.REQUEST_INVALID, "method" if path in self._paths else "path")

    def _error(self, error: DeidError) -> Response:
        headers = {}
        if error.code is Code.TOKEN_REFUSED:
            headers["WWW-Authenticate"] = "Bearer"
        if error.code in RETRIED:
            headers["Retry-After"] = str(self._queue.retry_after)
        return JSONResponse({"error": error_of(error).model_dump(exclude_none=True)}, status_of(error), headers)

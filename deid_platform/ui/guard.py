"""Access to the webserver: ASGI middleware around Dagster's app, which itself answers everyone.

Belongs here: hosts, origins, methods and the cookie. Does not belong here: Dagster.

Without it, any page that is open in the same browser could launch runs: by a form or an image that sends a mutation,
or by a name of its own that it lets point at this server (DNS rebinding).
"""

from __future__ import annotations

import secrets
from collections.abc import Collection

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

GRAPHQL = "/graphql"
HEALTH = "/server_info"
"""Open to whoever may reach the server, for health checks: it tells Dagster's version."""


def loopback_hosts(port: int) -> list[str]:
    """The names by which this machine itself reaches a port."""
    return [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]


class Login:
    """The one browser that is let in: by a link that works once, from then on by a cookie.

    Both are made anew with each start, and the cookie ends with the server.
    """

    def __init__(self, port: int) -> None:
        # A browser sends a cookie to every port of its host.
        self.cookie_name = f"deid-ui-{port}"
        self._cookie = secrets.token_urlsafe(32)
        self._token: str | None = secrets.token_urlsafe(32)

    @property
    def path(self) -> str:
        """The link, from the server's root."""
        return f"/?token={self._token}"

    def has_entered(self, connection: HTTPConnection) -> bool:
        """Whether the browser has used the link before."""
        return _same(connection.cookies.get(self.cookie_name), self._cookie)

    def enter(self, request: Request) -> Response | None:
        """The answer to the link, which it uses up; None if the request is for anything else."""
        if request.method != "GET" or not _same(request.query_params.get("token"), self._token):
            return None
        self._token = None
        answer = RedirectResponse("/", 303, {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})
        answer.set_cookie(self.cookie_name, self._cookie, httponly=True, samesite="strict")
        return answer


def _same(given: str | None, secret: str | None) -> bool:
    if given is None or secret is None:
        return False
    return secrets.compare_digest(given.encode(), secret.encode())


class Guard:
    """Lets through what a page of this very server asks, and refuses the rest before Dagster sees it.

    Args:
        app: What is guarded.
        hosts: The values of the Host header that mean this server, each with its port if it has one.
        login: Who is let in; None lets in whoever reaches the server, as behind a proxy that asks who is there.
        asked_by_post: The path that pages ask by POST, as JSON; every other one is read by GET.
    """

    def __init__(
        self, app: ASGIApp, *, hosts: Collection[str], login: Login | None, asked_by_post: str = GRAPHQL
    ) -> None:
        self._app = app
        self._asked_by_post = asked_by_post
        self._hosts = frozenset(host.lower() for host in hosts)
        self._login = login

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, or opens one websocket, as ASGI has it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def unframed(message: Message) -> None:
            # Pages of another port are of the same site to a browser, and could lay this one under theirs.
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Frame-Options"] = "DENY"
            await send(message)

        await (self._answer(scope) or self._app)(scope, receive, unframed)

    def _answer(self, scope: Scope) -> Response | None:
        """What is said instead of Dagster's own answer; None lets it answer."""
        connection = HTTPConnection(scope)
        hosts = [host.lower() for host in connection.headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return PlainTextResponse("This server is not meant by that name (DEID_UI_HOSTS).", 403)
        # The proxy ends TLS: the page's address begins with https where the server's own does not.
        ours = {f"{scheme}://{hosts[0]}" for scheme in ("http", "https")}
        if not ours.issuperset(connection.headers.getlist("origin")):
            return PlainTextResponse("Another site's page may not ask this server.", 403)
        if scope["type"] == "http" and not _may_be_asked(Request(scope), self._asked_by_post):
            return PlainTextResponse("Only pages are read by GET, and GraphQL is asked by POST, as JSON.", 405)
        if self._login is None or scope["path"] == HEALTH or self._login.has_entered(connection):
            return None
        if scope["type"] == "http" and (entered := self._login.enter(Request(scope))):
            return entered
        return PlainTextResponse("Open the link that was printed at the start. It works once, in one browser.", 401)


def _may_be_asked(request: Request, asked_by_post: str) -> bool:
    """Whether a request is of a kind that pages send and other sites' pages cannot without being asked first.

    Dagster would execute a mutation of a GET's address, and of a POST that a form can send. Its endpoints that report
    assets by POST are left out: a page does that by GraphQL.
    """
    # Not "is": routes are patterns, and that of this one matches a path with a line feed at its end too.
    if not request.scope["path"].startswith(asked_by_post):
        return request.method in ("GET", "HEAD")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return request.method == "POST" and kind == "application/json"

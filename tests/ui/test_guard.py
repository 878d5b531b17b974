"""Who may talk to the webserver, asked of a server that really listens: what lies behind the guard only says that it
was reached.
"""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from deid_platform.ui.guard import Guard, Login, loopback_hosts

JSON = {"Content-Type": "application/json"}
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol": "graphql-ws",
}


async def behind(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept", "subprotocol": "graphql-ws"})
        await send({"type": "websocket.close"})
    elif scope["type"] == "http":
        await PlainTextResponse("reached")(scope, receive, send)


@dataclass
class Server:
    """A guarded server, and what a client says to it byte by byte."""

    port: int
    login: Login | None

    def ask(
        self, method: str = "GET", path: str = "/", headers: Mapping[str, str] | None = None, *, host: str | None = None
    ) -> http.client.HTTPResponse:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            connection.putrequest(method, path, skip_host=True)
            for name, value in {"Host": host or f"127.0.0.1:{self.port}", **(headers or {})}.items():
                connection.putheader(name, value.replace("PORT", str(self.port)))
            connection.endheaders()
            answer = connection.getresponse()
            if answer.status != http.client.SWITCHING_PROTOCOLS:
                answer.read()
            return answer

    def enter(self) -> dict[str, str]:
        """Uses the link; the cookie that it is exchanged for."""
        assert self.login is not None
        answer = self.ask(path=self.login.path)
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        return {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}


@contextmanager
def serving(*, asks: bool) -> Iterator[Server]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        login = Login(port) if asks else None
        guarded = Guard(behind, hosts=[*loopback_hosts(port), "deid.example.org"], login=login)
        server = uvicorn.Server(uvicorn.Config(guarded, log_level="critical", lifespan="off"))
        listening.listen()
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        yield Server(port, login)
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def asking() -> Iterator[Server]:
    """A server that lets in one browser, as `deid ui` and the operators' do."""
    with serving(asks=True) as server:
        yield server


@pytest.fixture(scope="module")
def cookie(asking: Server) -> dict[str, str]:
    return asking.enter()


@pytest.fixture(scope="module")
def behind_a_proxy() -> Iterator[Server]:
    """A server that asks nobody for a link, as the read-only one."""
    with serving(asks=False) as server:
        yield server


# Hosts and origins

HOSTS = ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "[::1]:PORT", "deid.example.org"]
FOREIGN_HOSTS = ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:PORT", ""]
FOREIGN_ORIGINS = ["https://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1", "http://localhost:PORT"]


@pytest.mark.parametrize("host", HOSTS)
def test_a_server_answers_to_its_own_names(asking: Server, cookie: dict[str, str], host: str) -> None:
    assert asking.ask(headers={"Host": host, **cookie}).status == 200


@pytest.mark.parametrize("path", ["/", "/server_info", "/graphql"])
@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_and_to_no_other_that_leads_to_it(asking: Server, cookie: dict[str, str], host: str, path: str) -> None:
    method = "POST" if path == "/graphql" else "GET"
    assert asking.ask(method, path, {"Host": host, **JSON, **cookie}).status == 403


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_another_page_may_not_ask(asking: Server, behind_a_proxy: Server, cookie: dict[str, str], origin: str) -> None:
    assert asking.ask("POST", "/graphql", {"Origin": origin, **JSON, **cookie}).status == 403
    assert asking.ask("GET", "/", {"Origin": origin, **cookie}).status == 403
    assert behind_a_proxy.ask("POST", "/graphql", {"Origin": origin, **JSON}).status == 403


@pytest.mark.parametrize(
    ("host", "origin"),
    [("127.0.0.1:PORT", "http://127.0.0.1:PORT"), ("deid.example.org", "https://deid.example.org")],
)
def test_its_own_page_may(asking: Server, cookie: dict[str, str], host: str, origin: str) -> None:
    assert asking.ask("POST", "/graphql", {"Host": host, "Origin": origin, **JSON, **cookie}).status == 200


# Methods


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/graphql?query=mutation", {}),
        ("GET", "/graphql?query=mutation", {"Accept": "text/html"}),
        ("GET", "/graphql%0A?query=mutation", {}),
        ("GET", "/graphql/?query=mutation", {}),
        ("HEAD", "/graphql?query=mutation", {}),
        ("PUT", "/graphql", JSON),
        ("POST", "/graphql?query=mutation", {}),
        ("POST", "/graphql?query=mutation", {"Content-Type": "text/plain"}),
        ("POST", "/graphql", {"Content-Type": "application/graphql"}),
        ("POST", "/graphql", {"Content-Type": "text/plain; application/json"}),
        ("POST", "/graphql", {"Content-Type": "application/x-www-form-urlencoded"}),
        ("POST", "/report_asset_materialization/research/release", JSON),
        ("POST", "/report_asset_check/gate/delivery", JSON),
        ("POST", "/", JSON),
        ("DELETE", "/", {}),
    ],
)
def test_what_changes_something_is_asked_by_post_as_json_alone(
    asking: Server, behind_a_proxy: Server, cookie: dict[str, str], method: str, path: str, headers: dict[str, str]
) -> None:
    assert asking.ask(method, path, {**headers, **cookie}).status == 405
    assert behind_a_proxy.ask(method, path, headers).status == 405


# The link and the cookie


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/runs"),
        ("HEAD", "/"),
        ("GET", "/?token=guess"),
        ("GET", "/?token="),
        ("POST", "/graphql"),
    ],
)
def test_nothing_is_shown_without_the_cookie(asking: Server, method: str, path: str) -> None:
    for cookies in ({}, {"Cookie": f"{asking.login.cookie_name}=guess"}, {"Cookie": f"{asking.login.cookie_name}="}):
        assert asking.ask(method, path, {**JSON, **cookies}).status == 401


def test_but_that_the_server_is_there(asking: Server) -> None:
    assert asking.ask(path="/server_info").status == 200


def test_the_link_works_once_and_sets_a_cookie_that_no_script_and_no_other_site_can_use() -> None:
    with serving(asks=True) as server:
        link = server.login.path
        assert server.ask("HEAD", link).status == 401
        answer = server.ask(path=link)
        assert answer.status == 303
        assert answer.headers["Location"] == "/"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        attributes = {part.strip().lower() for part in answer.headers["Set-Cookie"].split(";")[1:]}
        assert {"httponly", "samesite=strict", "path=/"} <= attributes
        assert server.ask(path=link).status == 401
        assert server.ask(path="/?token=None").status == 401


def test_each_start_has_a_link_and_a_cookie_of_its_own(asking: Server, cookie: dict[str, str]) -> None:
    with serving(asks=True) as other:
        value = cookie["Cookie"].partition("=")[2]
        assert other.ask(headers={"Cookie": f"{other.login.cookie_name}={value}"}).status == 401


def test_behind_a_proxy_that_asks_who_is_there_no_link_is_needed(behind_a_proxy: Server) -> None:
    assert behind_a_proxy.ask(host="deid.example.org").status == 200


def test_no_other_page_lays_it_in_a_frame(behind_a_proxy: Server) -> None:
    assert behind_a_proxy.ask().headers["X-Frame-Options"] == "DENY"


# Websockets


def test_a_websocket_opens_for_the_browser_that_was_let_in(asking: Server, cookie: dict[str, str]) -> None:
    ours = {"Origin": "http://127.0.0.1:PORT"}
    assert asking.ask("GET", "/graphql", {**UPGRADE, **ours, **cookie}).status == 101


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
        ({"Cookie": "deid-ui-PORT=guess", "Origin": "http://127.0.0.1:PORT"}, 401),
    ],
)
def test_and_for_nobody_else(asking: Server, cookie: dict[str, str], headers: dict[str, str], status: int) -> None:
    assert asking.ask("GET", "/graphql", {**UPGRADE, **cookie, **headers}).status == status

"""A browser for the pages of the desk, driven over Chromium's protocol, and requests as anybody could send them."""

from __future__ import annotations

import http.client
import itertools
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def until(holds: Callable[[], Any], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.03)


class Tab:
    """One tab, driven over Chromium's protocol."""

    def __init__(self, port: int) -> None:
        self._browser, self.closed = port, False
        self.made = self._http("PUT", "/json/new?about:blank")
        self._held = ExitStack()
        url = self.made["webSocketDebuggerUrl"]
        self._socket: ClientConnection = self._held.enter_context(connect(url, max_size=None))
        self._number = itertools.count(1)

    def _http(self, method: str, path: str) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._browser)
        connection.request(method, path)
        said = connection.getresponse().read()
        connection.close()
        return json.loads(said) if said.startswith(b"{") else said

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        number = next(self._number)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (said := json.loads(self._socket.recv(10))).get("id") != number:
            pass
        assert "error" not in said, said
        return said["result"]

    def open(self, link: str) -> None:
        self.ask("Page.navigate", url=link)
        until(lambda: self.text("#progress"))

    def js(self, expression: str) -> Any:
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def text(self, selector: str) -> str:
        return self.js(f"(e => e && !e.hidden ? e.textContent : '')(document.querySelector('{selector}'))") or ""

    def press(self, keys: str) -> None:
        for key in keys:
            self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
            self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def move(self, words: int) -> None:
        key = "ArrowRight" if words > 0 else "ArrowLeft"
        for _ in range(abs(words)):
            for kind in ("keyDown", "keyUp"):
                self.ask("Input.dispatchKeyEvent", type=kind, key=key)

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        self._held.close()
        self._http("GET", f"/json/close/{self.made['id']}")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    profile = tmp_path_factory.mktemp("browser")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
    process = subprocess.Popen(
        [str(BROWSER), *options, f"--user-data-dir={profile}", "about:blank"], stderr=subprocess.DEVNULL
    )
    told = profile / "DevToolsActivePort"
    try:
        until(lambda: told.exists() and told.read_text().count("\n"), seconds=30)
        yield int(told.read_text().split()[0])
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture
def tab(browser: int) -> Iterator[Callable[[], Tab]]:
    tabs: list[Tab] = []

    def made() -> Tab:
        tabs.append(Tab(browser))
        return tabs[-1]

    yield made
    for each in tabs:
        each.close()


def asked(port: int, method: str, path: str, body: object = None, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    sent = None if body is None else json.dumps(body)
    connection.request(method, path, sent, {k.replace("_", "-"): v for k, v in headers.items()})
    answer = connection.getresponse()
    answer.said = answer.read().decode()  # type: ignore[attr-defined]
    connection.close()
    return answer


JSON = {"Content_Type": "application/json"}

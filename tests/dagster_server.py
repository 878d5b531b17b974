"""Dagster's servers as processes that really run, and the GraphQL API of its webserver as its pages use it."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from free_port import free_port
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

LAUNCH = """mutation($params: ExecutionParams!) { launchRun(executionParams: $params) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on Error { message } } }"""


class Ui:
    """A Dagster webserver as its pages talk to it: GraphQL over HTTP."""

    repository: Mapping[str, str] = {"repositoryName": "__repository__", "repositoryLocationName": "deid_platform"}

    def __init__(self, port: int, process: subprocess.Popen[bytes], log: Path) -> None:
        self.port = port
        self.address, self.process, self.log = f"http://127.0.0.1:{port}", process, log
        # As a browser that keeps the cookie it is given.
        self.cookies = http.cookiejar.CookieJar()
        self._browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def ask(self, query: str, **variables: object) -> dict[str, Any]:
        """The whole answer, with its `data` and its `errors`."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.address}/graphql", body, {"Content-Type": "application/json"})
        try:
            with self._browser.open(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:  # a query that failed comes with its reasons
            return json.load(refused)

    def enter(self) -> None:
        """Opens the link that the process printed, once the server answers."""

        def opened() -> bool:
            link = re.search(rf"{self.address}/\?token=\S+", self.log.read_text())
            try:
                # It works once: an answer that is slow to come must not be given up.
                return bool(link) and self._browser.open(link[0], timeout=300).status == 200
            except urllib.error.HTTPError:
                raise
            except OSError:  # not yet there
                return False

        self.wait(opened)

    def until_ready(self) -> None:
        """Waits until the platform is loaded."""
        query = "{ repositoriesOrError { __typename ... on RepositoryConnection { nodes { name } } } }"

        def loaded() -> bool:
            try:
                return bool(self.ask(query)["data"]["repositoriesOrError"].get("nodes"))
            except (OSError, ValueError):
                return False

        self.wait(loaded)

    def wait(self, done: Callable[[], Any], seconds: int = 300) -> Any:
        """Polls until `done` answers; what the process said is shown if it does not, or if the process ended."""
        for _ in range(seconds * 4):
            if found := done():
                return found
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.25)
        return pytest.fail(self.log.read_text())

    def runs(self) -> int:
        """How many runs there are."""
        return int(self.ask("{ runsOrError { ... on Runs { count } } }")["data"]["runsOrError"]["count"])

    def refuses(self, path: str, body: bytes | None, headers: Mapping[str, str], *, cookie: bool) -> bool:
        """Whether a request, a POST if it has a body, is turned away at the door; no proof of identity is left out."""
        request = urllib.request.Request(f"{self.address}{path}", body, dict(headers))
        browser = self._browser if cookie else urllib.request.build_opener()
        try:
            with browser.open(request, timeout=60):
                return False
        except urllib.error.HTTPError as refused:
            return refused.code in (401, 403, 405)

    def over_websocket(self, query: str, variables: Mapping[str, object]) -> dict[str, Any]:
        """What the first answer to an operation is that is asked over a websocket, as the pages subscribe."""
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.cookies)
        with connect(
            f"ws://127.0.0.1:{self.port}/graphql",
            origin=Origin(self.address),
            subprotocols=[Subprotocol("graphql-ws")],
            additional_headers={"Cookie": cookies},
        ) as websocket:
            websocket.send('{"type": "connection_init"}')
            assert json.loads(websocket.recv()) == {"type": "connection_ack"}
            payload = {"query": query, "variables": variables}
            websocket.send(json.dumps({"id": "1", "type": "start", "payload": payload}))
            answer: dict[str, Any] = json.loads(websocket.recv(timeout=60))
            return answer

    @contextmanager
    def entrance(self, path: str) -> Iterator[str]:
        """An address that hands a browser the cookie and leads on to a page.

        From another port of the same host: browsers keep a host's cookies for all of its ports.
        """
        (cookie,) = self.cookies
        given = f"{cookie.name}={cookie.value}; HttpOnly; SameSite=Strict; Path=/"
        page = f"{self.address}{path}"

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(303)
                self.send_header("Set-Cookie", given)
                self.send_header("Location", page)
                self.end_headers()

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/"
            server.shutdown()

    def partition(self, key: str) -> None:
        mutation = """mutation($where: RepositorySelector!, $key: String!) { addDynamicPartition(
            repositorySelector: $where, partitionsDefName: "delivery", partitionKey: $key) { __typename } }"""
        self.ask(mutation, where=self.repository, key=key)

    def launch(
        self,
        job: str,
        partition: str | None = None,
        *,
        assets: Sequence[str] = (),
        steps: Sequence[str] = (),
        tags: Mapping[str, str] | None = None,
    ) -> str:
        """Launches a job, on these assets without their checks or on these steps alone; returns the run's id."""
        answer = self.ask(LAUNCH, params=self.launching(job, partition, assets=assets, steps=steps, tags=tags))
        assert answer["data"]["launchRun"]["__typename"] == "LaunchRunSuccess", answer
        return str(answer["data"]["launchRun"]["run"]["runId"])

    def launching(
        self,
        job: str,
        partition: str | None = None,
        *,
        assets: Sequence[str] = (),
        steps: Sequence[str] = (),
        tags: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """What a launch asks for."""
        selector: dict[str, Any] = {**self.repository, "jobName": job}
        if assets:
            selector |= {"assetSelection": [{"path": key.split("/")} for key in assets], "assetCheckSelection": []}
        tagged = {**({"dagster/partition": partition} if partition else {}), **(tags or {})}
        metadata = {"tags": [{"key": key, "value": value} for key, value in tagged.items()]}
        params = {"selector": selector, "mode": "default", "executionMetadata": metadata}
        if steps:
            params["stepKeys"] = list(steps)
        return params

    def status(self, run_id: str) -> str:
        """Where a run stands."""
        query = "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
        return str(self.ask(query, id=run_id)["data"]["runOrError"]["status"])

    def outcome(self, run_id: str) -> tuple[str, str]:
        """How a run ended, and what the step that failed said of itself."""
        query = """query($id: ID!) { runOrError(runId: $id) { ... on Run { status eventConnection { events {
            ... on ExecutionStepFailureEvent { failureMetadata { description } } } } } } }"""

        def ended() -> Any:
            run = self.ask(query, id=run_id)["data"]["runOrError"]
            return run if run["status"] in ("SUCCESS", "FAILURE", "CANCELED") else None

        run = self.wait(ended)
        said = [event["failureMetadata"]["description"] for event in run["eventConnection"]["events"] if event]
        return run["status"], "; ".join(said)


Start = Callable[..., Ui]


@contextmanager
def servers(folder: Path) -> Iterator[Start]:
    """Starts servers, each in a session of its own; what they say goes to files in the folder.

    Yields:
        A function that takes a command, given a free port, and variables to add to the environment.
    """
    running: list[subprocess.Popen[bytes]] = []

    def started(command: Callable[[int], list[str]], environment: Mapping[str, str] | None = None) -> Ui:
        port = free_port()
        path = folder / f"{port}.log"
        with path.open("wb") as log:
            process = subprocess.Popen(
                command(port), stdout=log, stderr=log, env={**os.environ, **(environment or {})}, start_new_session=True
            )
        running.append(process)
        return Ui(port, process, path)

    try:
        yield started
    finally:
        for process in running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in running:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

"""`deploy/forward`, the way to the pages in compose's container: what it opens, and what the guard sees."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from free_port import free_port
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from deid_platform.ui.desk import Unstored, server
from deid_platform.ui.guard import Guard, Login, loopback_hosts

pytestmark = pytest.mark.process

FORWARD = Path(__file__).parents[2] / "deploy" / "forward"
CONTAINER = "0123abcd"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Stand-ins: `docker`, which knows one container of compose and runs here what is to run there, on port $INNER of
    what stands for the container's loopback; `socat`, which says its arguments.
    """
    docker, socat = tmp_path / "docker", tmp_path / "socat"
    docker.write_text(
        f'#!/bin/sh\n[ "$1" = compose ] && {{ echo "$CODE"; exit; }}\n'
        f'[ "$1 $2 $3 $4" = "exec --interactive {CONTAINER} socat" ] || exit 1\n'
        'exec socat "$5" "${6%:*}:$INNER"\n'
    )
    socat.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    for program in (docker, socat):
        program.chmod(0o755)
    return tmp_path


def run(programs: Path, *arguments: str, code: str = CONTAINER) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "CODE": code}
    return subprocess.run(
        [FORWARD, *arguments], env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_it_listens_on_loopback_alone_and_goes_into_the_container(programs: Path) -> None:
    listens, goes = json.loads(run(programs, "3010").stdout)
    assert listens == "TCP4-LISTEN:3010,bind=127.0.0.1,reuseaddr,fork"
    assert goes.replace("\\", "") == f"EXEC:docker exec --interactive {CONTAINER} socat STDIO TCP4:127.0.0.1:3010"


@pytest.mark.parametrize("arguments", [(), ("",), ("3010,bind=0.0.0.0",), ("0x1",)])
def test_it_takes_a_port_and_nothing_else(programs: Path, arguments: tuple[str, ...]) -> None:
    done = run(programs, *arguments)
    assert (done.returncode, done.stdout) == (2, "")


def test_it_says_so_where_no_code_server_runs(programs: Path) -> None:
    done = run(programs, "3010", code="")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "forward: compose runs no code server here\n")


def test_the_image_holds_what_runs_inside() -> None:
    assert "socat" in (FORWARD.parent / "Dockerfile").read_text()


@pytest.fixture
def page(programs: Path) -> Iterator[tuple[str, Login]]:
    """A page served as the desk is, on a port of its own, which stands for that of the container's loopback."""
    (programs / "socat").unlink()
    port = free_port()
    login = Login(port)

    async def shown(_: object) -> PlainTextResponse:
        return PlainTextResponse("a note" * 100_000)

    app = Unstored(Guard(Starlette(routes=[Route("/", shown)]), hosts=loopback_hosts(port), login=login))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        inside: uvicorn.Server = server(app)
        thread = threading.Thread(target=inside.run, args=([listening],))
        thread.start()
        inner = str(listening.getsockname()[1])
        variables = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "CODE": CONTAINER, "INNER": inner}
        with subprocess.Popen([FORWARD, str(port)], env=variables, stdin=subprocess.DEVNULL) as running:
            try:
                _until_open(port)
                yield f"http://127.0.0.1:{port}", login
            finally:
                running.terminate()
                inside.should_exit = True
                thread.join()


def _until_open(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("nothing listens")


@pytest.mark.skipif(shutil.which("socat") is None, reason="no socat on this machine")
def test_a_browser_gets_through_and_the_guard_asks_as_ever(page: tuple[str, Login]) -> None:
    address, login = page
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())

    def refused(**headers: str) -> int:
        with pytest.raises(urllib.error.HTTPError) as raised:
            browser.open(urllib.request.Request(address, headers=headers), timeout=30)
        return raised.value.code

    assert refused() == 401
    with browser.open(address + login.path, timeout=30) as answer:  # the link, and the page that it leads to
        assert answer.read() == b"a note" * 100_000
        assert answer.headers["Cache-Control"] == "no-store"
    assert refused(Host="evil.example") == 403
    assert refused(Origin="http://evil.example") == 403

"""A process that has loaded all that a refresh needs, and forks one for each refresh that is to be killed.

Great Expectations alone takes seconds to import. Run as a program: it reads one order a line and answers with one
outcome a line, both JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))

import crash_scene
import great_expectations  # noqa: F401 - loaded here, once

from deid_platform.errors import DeidError

FAILED = 3


def _kill_server(data: Path, delay: float, told: int) -> None:
    """Kills a whole PostgreSQL server, postmaster and all, after a while, from a process of its own."""
    if os.fork():
        return
    try:
        time.sleep(delay)
        crash_scene.kill_server(data)
        os.write(told, b"server killed\n")
    finally:
        os._exit(0)


def _child(order: dict[str, Any], told: int) -> None:
    os.environ.update(order["environment"])
    blow: Callable[[], object] = crash_scene.kill_me
    if order.get("server"):
        blow = lambda: _kill_server(Path(order["server"]), order["delay"], told)  # noqa: E731

    def entered(step: str) -> None:
        os.write(told, f"step {step}\n".encode())
        if step == order.get("before"):
            crash_scene.kill_me()

    code: str | None = None
    try:
        with crash_scene.interrupted(order.get("at"), blow) as seen:
            crash_scene.refresh(Path(order["config"]), order["stopped"], entered)
        os.write(told, f"places {seen.total()}\n".encode())
    except DeidError as error:
        code = error.code.slug
    except BaseException as error:
        code = f"uncoded {type(error).__name__}"
    if code:
        os.write(told, f"failed {code}\n".encode())
    os._exit(FAILED if code else 0)


def _run(order: dict[str, Any]) -> dict[str, Any]:
    read, told = os.pipe()
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        _child(order, told)
    os.close(told)
    if order.get("after") is not None:
        time.sleep(order["after"])
        os.kill(pid, 9)  # at worst it has just ended, and is not yet waited for
    with os.fdopen(read) as stream:
        lines = [line.split(maxsplit=1) for line in stream.read().splitlines()]
    _, status = os.waitpid(pid, 0)
    outcome = "killed" if os.WIFSIGNALED(status) else "failed" if os.waitstatus_to_exitcode(status) else "done"
    last = dict(lines)
    return {
        "outcome": outcome,
        "step": last.get("step"),
        "code": last.get("failed"),
        "server_killed": "server" in last,
        "places": int(last.get("places", 0)),
        "seconds": time.perf_counter() - started,
    }


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_run(json.loads(line))) + "\n")
        sys.stdout.flush()

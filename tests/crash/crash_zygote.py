"""A process that has loaded all that a refresh needs, and forks one for each refresh that is to be killed.

Great Expectations alone takes seconds to import, and so do dictionaries, patterns and pools of names to read. Run as
a program with a detector's name: it reads one order a line and answers with one outcome a line, both JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import crash_scene
import great_expectations  # noqa: F401 - loaded here, once
import killed_delivery
import lost_signals

from deid_platform.bench.gate.measured_notes import SYNTHETIC_SEED
from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.deidentify.files import redact_file
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import DeidError
from deid_platform.redaction.policy import load_policy
from deid_platform.runtime import stopping
from deid_platform.settings import load_settings

FAILED = 3


def _read_what_every_refresh_reads(detector: str) -> None:
    """Redacts some notes of the test set: what that loads, every fork has."""
    threads = _threads()
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(crash_scene.make_installation(Path(folder) / "installation", detector=detector))
        notes = Path(folder) / "notes.jsonl"
        hospital = list(generate(HospitalSpec(seed=SYNTHETIC_SEED, notes=20)))
        written = [note for each in hospital for note in each.notes]
        notes.write_text("".join(json.dumps({"note_id": note.note_id, "text": note.text}) + "\n" for note in written))
        policy = load_policy(settings.redaction.policy)
        spec = DetectorSpec(
            settings.detection.detector,
            topics=hospital[0].topics,
            professions=policy.hides_professions,
            ages=policy.hides_ages,
        )
        redact_file(notes, Path(folder) / "redacted.jsonl", spec=spec, policy=policy, engine=LocalEngine())
    # A thread more, and a fork could inherit a lock that nobody opens.
    assert _threads() == threads


def _threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


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
    if order.get("lost"):
        blow = lost_signals.lose
    if order.get("server"):
        blow = lambda: _kill_server(Path(order["server"]), order["delay"], told)  # noqa: E731

    def entered(step: str) -> None:
        os.write(told, f"step {step}\n".encode())
        if step == order.get("before"):
            blow()

    code: str | None = None
    try:
        with stopping.watched(), crash_scene.interrupted(order.get("at"), blow) as seen:
            if order.get("delivery"):
                killed_delivery.run(Path(order["config"]))
            else:
                crash_scene.refresh(Path(order["config"]), order["stopped"], entered)
        os.write(told, f"places {seen.total()}\n".encode())
    except DeidError as error:
        code = error.code.slug
    except KeyboardInterrupt:
        code = "stopped"
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
    sent = None
    if order.get("after") is not None:
        time.sleep(order["after"])
        sent = time.time()
        os.kill(pid, order.get("signal", signal.SIGKILL))  # at worst it has just ended, and is not yet waited for
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
        "sent": sent,
    }


if __name__ == "__main__":
    _read_what_every_refresh_reads(sys.argv[1])
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_run(json.loads(line))) + "\n")
        sys.stdout.flush()

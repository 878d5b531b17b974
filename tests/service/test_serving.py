"""The service as it runs, over loopback: a process that talks HTTP, and worker processes, some of which are killed."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow]

TEXT = "Ms. Quillfeather was seen on 03/04/2019 by Dr. Alan Reed. BP 120/80.\n"
LONG = TEXT * 1500
TOKEN = "Kx7-Kx7-abcdefghijklmnopqrstuvwx"


@dataclass
class Serving:
    process: subprocess.Popen[str]
    port: int
    log: Path

    def ask(self, path: str = "/v1/redact", *, text: str = TEXT, token: str = TOKEN) -> tuple[int, dict]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)) as connection:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
            connection.request("POST", path, json.dumps({"notes": [{"text": text}]}), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def is_ready(self) -> bool:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200

    def workers(self) -> list[psutil.Process]:
        """Those that read notes: forked from the template, which the server of forks started."""
        served = psutil.Process(self.process.pid)
        return [third for one in served.children() for two in one.children() for third in two.children()]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("service")
    (folder / "tokens").write_text(f"ehr:{TOKEN}\n")
    log = folder / "log"
    command = [str(Path(sys.executable).with_name("deid")), "serve", "--port", "0", "--workers", "1"]
    with log.open("w") as said:
        process = subprocess.Popen(
            [*command, "--detector", "rules", "--tokens", str(folder / "tokens")], stderr=said, text=True, cwd=folder
        )
        try:
            yield _ready(process, log)
        finally:
            process.terminate()
            process.wait(60)


def _ready(process: subprocess.Popen[str], log: Path) -> Serving:
    for _ in range(3000):
        assert process.poll() is None, log.read_text()
        if (said := re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())) is not None:
            serving = Serving(process, int(said[1]), log)
            try:
                if serving.is_ready():
                    return serving
            except OSError:
                pass
        time.sleep(0.1)
    raise AssertionError


def ask_and_kill(serving: Serving, *, once: bool) -> tuple[int, dict]:
    """The answer to a long note of which one process, or each that takes it up, is killed while it reads it."""
    # Nothing else asks: what a process uses from here on, it uses for this note, or to begin.
    idle = {worker.pid: _used(worker) for worker in serving.workers()}
    answers: list[tuple[int, dict]] = []
    asking = threading.Thread(target=lambda: answers.append(serving.ask(text=LONG)))
    asking.start()
    killed = 0
    while asking.is_alive() and not (once and killed):
        for reading in [one for one in serving.workers() if _used(one) > idle.get(one.pid, 0.0) + 0.2][:1]:
            reading.kill()
            assert not (once and answers), "the note was read before its process was killed"
            killed += 1
        time.sleep(0.02)
    assert killed >= (1 if once else 2), "the note was read before anything was killed"
    asking.join(300)
    return answers[0]


def _used(worker: psutil.Process) -> float:
    """Processor seconds; none of one that was killed."""
    with suppress(psutil.NoSuchProcess):
        if worker.status() != psutil.STATUS_ZOMBIE:
            used = worker.cpu_times()
            return used.user + used.system
    return 0.0


def test_notes_are_redacted_over_loopback_by_whoever_has_a_token(serving: Serving) -> None:
    status, answer = serving.ask()
    assert status == 200
    assert answer["notes"][0]["text"].startswith("Ms. [PATIENT] was seen on [DATE 2019] by Dr. [DOCTOR].")
    assert serving.ask(token="x" * 32)[0] == 401


def test_a_worker_that_is_killed_costs_no_answer(serving: Serving) -> None:
    status, answer = ask_and_kill(serving, once=True)
    assert status == 200
    assert answer["notes"][0]["text"].count("[PATIENT]") == 1500


def test_a_note_on_which_every_worker_is_killed_is_answered_with_a_code(serving: Serving) -> None:
    status, answer = ask_and_kill(serving, once=False)
    assert (status, answer["notes"]) == (200, [{"withheld": {"code": "worker-lost"}}])
    assert serving.ask()[0] == 200


def test_its_log_says_nothing_of_the_notes(serving: Serving) -> None:
    serving.ask()
    log = serving.log.read_text()
    assert '"route": "/v1/redact", "client": "ehr", "status": 200' in log
    assert not re.search(f"Quillfeather|Reed|Traceback|{TOKEN}", log), log


def test_it_leaves_no_process_behind(serving: Serving) -> None:
    below = psutil.Process(serving.process.pid).children(recursive=True)
    assert below
    serving.process.terminate()
    assert serving.process.wait(60) == 0
    _, alive = psutil.wait_procs(below, timeout=60)
    assert alive == []

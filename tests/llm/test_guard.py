"""What is guarded ends with the process that guards it, however that ends, and with nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from deid_platform.llm.guard import Guard

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="NOT RUN: processes are watched so on Linux alone"),
]

OWNER = """
import subprocess, sys, time
from deid_platform.llm.guard import Guard
with Guard() as guard:
    sleeping = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL)
    guard.watch(sleeping.pid)
    print(sleeping.pid, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def sleeping() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def ended(pid: int) -> bool:
    """Whether a process has, within ten seconds; nobody may be there to be told of it."""
    for _ in range(100):
        with suppress(psutil.NoSuchProcess):
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.1)
                continue
        return True
    return False


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_what_is_watched_ends_with_its_owner(sent: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        owner.send_signal(sent)
    assert ended(pid)


def test_what_is_watched_outlives_a_guard_that_ends_as_it_should(sleeping: subprocess.Popen[bytes]) -> None:
    with Guard() as guard:
        guard.watch(sleeping.pid)
    time.sleep(0.3)
    assert sleeping.poll() is None


def test_a_process_that_is_gone_is_no_matter() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    with Guard() as guard:
        guard.watch(gone.pid)

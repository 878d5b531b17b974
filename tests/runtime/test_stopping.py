"""A request to stop is noticed even where Python loses the exception that it becomes."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from lost_signals import lose

from deid_platform.runtime.stopping import check, requested, watched

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def same_handlers() -> Iterator[None]:
    """What is watched is left as it was found."""
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    yield
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
    assert signal.set_wakeup_fd(-1) == -1


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_request_that_python_lost_is_found(how: signal.Signals) -> None:
    with watched():
        check()
        lose(how)
        assert requested() is how
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                check()


def test_a_request_that_a_library_swallowed_is_found() -> None:
    with watched():
        with suppress(BaseException):
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            check()


def test_a_request_is_found_whoever_handles_the_signal_meanwhile() -> None:
    with watched():
        former = signal.signal(signal.SIGTERM, lambda *_: None)
        signal.raise_signal(signal.SIGTERM)
        signal.signal(signal.SIGTERM, former)
        with watched(), pytest.raises(KeyboardInterrupt):
            check()


def test_other_signals_stop_nothing() -> None:
    former = signal.signal(signal.SIGUSR1, lambda *_: None)
    with watched():
        signal.raise_signal(signal.SIGUSR1)
        check()
    signal.signal(signal.SIGUSR1, former)


def test_what_was_asked_of_one_block_is_not_asked_of_the_next() -> None:
    with watched():
        lose()
    assert requested() is None
    with watched():
        check()


DEAF = """
import time
from deid_platform.runtime.stopping import watched
with watched():
    while True:
        try:
            print("at work", flush=True)
            time.sleep(600)
        except BaseException:
            pass
"""


@pytest.mark.process
def test_a_second_request_ends_a_process_that_is_deaf_to_the_first() -> None:
    with subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(2):
            assert process.stdout.readline() == "at work\n"
            process.terminate()
        assert process.wait(timeout=60) == 128 + signal.SIGTERM


@pytest.mark.process
def test_before_it_is_watched_sigterm_ends_a_process_as_ever() -> None:
    program = f"import os, signal; import deid_platform.runtime.stopping; os.kill(os.getpid(), {int(signal.SIGTERM)})"
    ended = subprocess.run([sys.executable, "-c", program], check=False, cwd=Path(__file__).parent)
    assert ended.returncode == -signal.SIGTERM

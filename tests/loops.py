"""The test loops: what each runs, what a test may not do without saying so, and how what is long is sampled.

Belongs here: the rule by which marks choose a loop, the guard over tests that name no need, the seed of samples. Does
not belong here: which fixture needs what (`conftest.py`), or how many moments a test draws (the test itself).

    check  what needs no server and no process, and takes no minutes: after every edit
    test   all of it but what is `thorough`, of which what is sampled takes a few examples: CI, before a merge
    all    everything: before a change is called done, and whenever pytest is run by hand
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest

SEED = "DEID_TEST_SEED"
T = TypeVar("T")


class Loop(StrEnum):
    """How much is run."""

    CHECK = "check"
    TEST = "test"
    ALL = "all"


def loop_of(config: pytest.Config) -> Loop:
    """The loop that this session is."""
    return Loop(config.getoption("--loop"))


def runs(loop: Loop, marks: Collection[str]) -> bool:
    """Whether a loop runs a test with these marks; what one loop runs, the next larger one runs too."""
    if loop is Loop.CHECK:
        return {"warehouse", "process", "slow", "thorough"}.isdisjoint(marks)
    return loop is Loop.ALL or "thorough" not in marks


def runs_over_tcp(loop: Loop, marks: Collection[str]) -> bool:
    """As `runs`, on a real server, of tests that run on the embedded one too.

    What a statement does is the same on both. Of transport, roles, migration and failure that is not said.
    """
    return runs(loop, marks) and (loop is Loop.ALL or "transport" in marks)


def names_no_transport(file: Path) -> bool:
    """Whether no test of a file can be marked `transport`, by its text: nothing is imported."""
    return file.is_file() and "transport" not in file.read_text(encoding="utf-8")


def set_seed(loop: Loop) -> str:
    """Chooses the seed of samples unless the environment has one: each day others in a loop that samples."""
    today = datetime.now(tz=UTC).date().isoformat()
    # Workers get it by the environment, so that all of them collect the same tests.
    return os.environ.setdefault(SEED, "1" if loop is Loop.ALL else today)


def dice(name: str) -> random.Random:
    """Random, and yet the same at each run with the same seed."""
    return random.Random(f"{os.environ.get(SEED, '1')} {name}")


class Sampling:
    """How much of what could go on for long a test takes, in this session's loop."""

    def __init__(self, loop: Loop) -> None:
        self.everything = loop is Loop.ALL

    @classmethod
    def of(cls, config: pytest.Config) -> Sampling:
        return cls(loop_of(config))

    def number(self, *, everything: int, sample: int) -> int:
        """So many examples are enough."""
        return everything if self.everything else sample

    def some(self, of: Sequence[T], *, sample: int, name: str) -> list[T]:
        """All of them, or a sample in their own order, drawn by the seed and the name of what is sampled."""
        drawn = range(len(of)) if self.everything else sorted(dice(name).sample(range(len(of)), sample))
        return [of[index] for index in drawn]


class Guard:
    """Refuses processes, and with them database servers, to tests whose marks name no need of them."""

    # What starts a program or a copy of this process, whatever module does it.
    STARTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"})

    def __init__(self) -> None:
        self.watches = False
        self._refused = ""
        sys.addaudithook(self._audited)

    @contextmanager
    def watching(self, marks: Collection[str]) -> Iterator[None]:
        """Refuses what a test with these marks may not start while the block runs."""
        before = self.watches, self._refused
        with pytest.MonkeyPatch.context() as patch:
            self.watches, self._refused = {"warehouse", "process"}.isdisjoint(marks), ""
            if self.watches:
                # Of a server of forks, which may run already, Python audits nothing.
                patch.setattr(BaseProcess, "start", lambda process: self._refuse(f"multiprocessing {process.name}"))
            try:
                yield
            finally:
                refused = self._refused
                self.watches, self._refused = before
                if refused:  # even if that was caught, as most code goes on where a process does not start
                    self._fail(refused)

    def _audited(self, event: str, args: tuple[Any, ...]) -> None:
        if self.watches and event in self.STARTS:
            self._refuse(f"{event} {args[0] if args else ''}".strip())

    def _refuse(self, what: str) -> NoReturn:
        self._refused = what
        self._fail(what)

    def _fail(self, what: str) -> NoReturn:
        pytest.fail(
            f"{what}: a test without the mark `process` or `warehouse` is one of `make check`, and starts no process"
            " and no server. A command of `deid` runs without one by tests/command_line.py; else mark the test."
        )


GUARD = pytest.StashKey[Guard]()
"""Where a session keeps its own."""

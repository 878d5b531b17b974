"""Each loop runs what the smaller one runs, every test is in one, and none of `make check` starts anything."""

from __future__ import annotations

import multiprocessing
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import chain, combinations
from pathlib import Path

import pytest
from command_line import deid
from loops import GUARD, Guard, Loop, Sampling, names_no_transport, runs, runs_over_tcp

from deid_platform.warehouse.server.server import EmbeddedServer

MAKEFILE = (Path(__file__).parents[1] / "Makefile").read_text()
MARKS = ("warehouse", "process", "slow", "thorough", "transport")
SETS = [frozenset(found) for found in chain.from_iterable(combinations(MARKS, n) for n in range(len(MARKS) + 1))]


@pytest.mark.parametrize("marks", SETS, ids=lambda marks: "+".join(sorted(marks)))
def test_what_a_loop_runs_the_next_one_runs_too(marks: frozenset[str]) -> None:
    for rule in (runs, runs_over_tcp):
        check, test, everything = (rule(loop, marks) for loop in Loop)
        assert check <= test <= everything
        assert everything


def test_a_test_without_a_mark_is_in_every_loop() -> None:
    assert [loop for loop in Loop if runs(loop, ())] == list(Loop)


def test_nothing_of_check_has_a_server_a_process_or_minutes() -> None:
    assert [marks for marks in SETS if runs(Loop.CHECK, marks) and marks & {"warehouse", "process", "slow"}] == []


def test_the_collected_tests_are_those_of_the_loop(request: pytest.FixtureRequest) -> None:
    loop = Loop(request.config.getoption("--loop"))
    strays = [
        item.nodeid for item in request.session.items if not runs(loop, {mark.name for mark in item.iter_markers()})
    ]
    assert strays == []


def test_a_file_is_left_out_over_tcp_only_if_none_of_its_tests_can_be_run_there(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("pytestmark = pytest.mark.transport\n")
    (tmp_path / "test_other.py").write_text("pytestmark = pytest.mark.slow\n")
    assert not names_no_transport(tmp_path / "test_one.py")
    assert names_no_transport(tmp_path / "test_other.py")
    assert not names_no_transport(tmp_path)


def test_every_test_about_transport_lies_in_a_file_that_names_the_mark(request: pytest.FixtureRequest) -> None:
    marked = {item.path for item in request.session.items if item.get_closest_marker("transport")}
    assert [path for path in marked if names_no_transport(path)] == []


@pytest.mark.parametrize("fixture", ["database_server", "system_server", "warehouse", "installation", "zygote"])
def test_who_asks_for_a_server_or_a_process_is_marked_by_that(request: pytest.FixtureRequest, fixture: str) -> None:
    asking = [item for item in request.session.items if fixture in getattr(item, "fixturenames", ())]
    marked = [item for item in asking if {mark.name for mark in item.iter_markers()} & {"warehouse", "process"}]
    assert marked == asking


@pytest.fixture
def guard(pytestconfig: pytest.Config) -> Guard:
    """The session's own."""
    return pytestconfig.stash[GUARD]


REFUSED = "is one of `make check`, and starts no process and no server"


def popen() -> None:
    subprocess.run([sys.executable, "-c", ""], check=False)


def fork() -> None:
    if not os.fork():
        os._exit(0)


def shell() -> None:
    os.system("true")


def spawn() -> None:
    os.posix_spawn("/bin/true", ["true"], {})


def worker(method: str) -> None:
    multiprocessing.get_context(method).Process(target=print).start()


STARTS: dict[str, Callable[[Path], object]] = {
    "a program": lambda _: popen(),
    "a copy": lambda _: fork(),
    "a shell": lambda _: shell(),
    "another program": lambda _: spawn(),
    "a worker": lambda _: worker("forkserver"),
    "a worker that is a copy": lambda _: worker("fork"),
    "the embedded server": lambda folder: EmbeddedServer(folder).start(),
    "the server of a command": lambda folder: in_folder(folder, "db", "bootstrap"),
}


def in_folder(folder: Path, *arguments: str) -> None:
    (folder / "deid.toml").write_text('site = "north"\nprofile = "demo"\n')
    deid(*arguments, "--config", str(folder / "deid.toml"))


@pytest.mark.parametrize("begin", STARTS.values(), ids=STARTS)
def test_a_test_without_a_mark_starts_nothing(guard: Guard, tmp_path: Path, begin: Callable[[Path], object]) -> None:
    with pytest.raises(pytest.fail.Exception, match=REFUSED), guard.watching({"slow"}):
        begin(tmp_path)
    assert not (tmp_path / "postgres" / "postmaster.pid").exists()


def test_a_refusal_that_was_caught_counts_all_the_same(guard: Guard) -> None:
    def caught() -> None:
        try:
            popen()
        except BaseException:
            return

    with pytest.raises(pytest.fail.Exception, match=REFUSED), guard.watching(()):
        caught()


def test_one_in_a_thread_counts_too(guard: Guard) -> None:
    def run() -> None:
        def start() -> None:
            with pytest.raises(pytest.fail.Exception):
                popen()

        thread = threading.Thread(target=start)
        thread.start()
        thread.join()

    with pytest.raises(pytest.fail.Exception, match=REFUSED), guard.watching(()):
        run()


@pytest.mark.parametrize("mark", ["process", "warehouse"])
def test_who_says_so_may(guard: Guard, mark: str) -> None:
    with guard.watching({mark, "slow"}):
        assert not guard.watches


def test_this_very_test_is_watched(guard: Guard) -> None:
    assert guard.watches


@pytest.mark.process
def test_this_very_test_is_not_and_starts_a_process(guard: Guard) -> None:
    assert not guard.watches
    popen()


def test_a_sample_is_in_order_the_same_for_a_seed_and_another_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = set()
    for seed in map(str, range(40)):
        monkeypatch.setenv("DEID_TEST_SEED", seed)
        one, again = (Sampling(Loop.TEST).some(range(9), sample=3, name="steps") for _ in range(2))
        assert one == again == sorted(set(one))
        assert len(one) == 3
        drawn.update(one)
    # Within weeks, each of them was drawn.
    assert drawn == set(range(9))


def test_everything_is_everything() -> None:
    assert Sampling(Loop.ALL).some("abc", sample=1, name="letters") == ["a", "b", "c"]
    assert [Sampling(loop).number(everything=15, sample=3) for loop in Loop] == [3, 3, 15]


def test_each_loop_is_a_target_that_says_its_ten_slowest() -> None:
    for loop, target in ((Loop.CHECK, "check"), (Loop.TEST, "test"), (Loop.ALL, "test-all")):
        (recipe,) = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.M)
        assert f"--loop {loop}" in recipe
        assert "--durations=10" in recipe or "$(PYTEST)" in recipe

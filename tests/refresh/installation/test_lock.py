"""One refresh at a time: the lock against a process that holds it, that waits for it, that is killed with it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from assets.layer import ENGINEERS, Counts, layer_asset
from deid_platform.errors import Code, DeidError
from deid_platform.refresh.installation.lock import LOCK_NAME, installation_lock
from resources import SiteResource

_HOLDER = """
import sys
from pathlib import Path
from deid_platform.refresh.installation.lock import installation_lock
with installation_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts another process that holds the lock of `tmp_path` until its input ends."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        arguments = [sys.executable, "-c", _HOLDER, str(tmp_path)]
        process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        with process:
            process.kill()


def test_a_second_refresh_is_refused_at_once(tmp_path: Path, holder) -> None:
    holder()
    with pytest.raises(DeidError) as refused, installation_lock(tmp_path):
        pass
    assert (refused.value.code, refused.value.ref) == (Code.REFRESH_RUNNING, None)


def test_or_waits_for_the_first(tmp_path: Path, holder) -> None:
    first = holder()
    threading.Timer(0.3, first.stdin.close).start()
    with installation_lock(tmp_path, wait=True):
        assert first.wait(10) == 0


def test_a_holder_that_is_killed_leaves_no_lock_behind(tmp_path: Path, holder) -> None:
    first = holder()
    first.kill()
    first.wait()
    assert (tmp_path / LOCK_NAME).exists()
    with installation_lock(tmp_path):
        pass


def test_another_installation_is_not_concerned(tmp_path: Path, holder) -> None:
    holder()
    with installation_lock(tmp_path / "other"):
        pass


def test_a_step_takes_it_again_inside_the_refresh_in_whatever_thread(tmp_path: Path, holder) -> None:
    taken = []

    def step() -> None:
        with installation_lock(tmp_path):
            taken.append(True)

    with installation_lock(tmp_path):
        step()
        thread = threading.Thread(target=step)
        thread.start()
        thread.join()
    assert taken == [True, True]
    holder()  # and all of it is given back at the end


@layer_asset("source/anything", owner=ENGINEERS, kinds=set())
def anything(site: SiteResource) -> Counts:
    """Stands for any asset."""
    return {"rows": 1}


def test_a_step_of_another_run_is_refused_meanwhile(tmp_path: Path, holder) -> None:
    def materialized() -> dg.ExecuteInProcessResult:
        return dg.materialize([anything], resources={"site": SiteResource(config=str(config))}, raise_on_error=False)

    config = tmp_path / "deid.toml"
    config.write_text('site = "north"\nhome = "."\n')
    first = holder()
    refused = materialized()
    assert not refused.success
    assert "refresh-running" in refused.failure_data_for_node("source__anything").user_failure_data.description
    first.kill()
    first.wait()
    assert materialized().success


def test_it_is_given_back_when_the_refresh_fails(tmp_path: Path, holder) -> None:
    with pytest.raises(ZeroDivisionError), installation_lock(tmp_path):
        raise ZeroDivisionError
    holder()


def test_its_file_is_empty_and_private(tmp_path: Path) -> None:
    home = tmp_path / "new"
    with installation_lock(home):
        file = home / LOCK_NAME
        assert (file.stat().st_mode & 0o777, home.stat().st_mode & 0o777) == (0o600, 0o700)
        assert file.read_bytes() == b""


def test_a_home_that_cannot_be_written_is_a_coded_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DeidError) as failed, installation_lock(tmp_path / "file"):
        pass
    assert failed.value.code is Code.STORE_WRITE

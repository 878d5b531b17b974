"""`kill -9` or SIGTERM of `deid refresh` itself: the next one ends what was left in Dagster, and completes its work."""

from __future__ import annotations

import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.dagster_run import NOT_FINISHED_STATUSES

from deid_platform.corpora.hospital import HospitalSpec, write
from deid_platform.main_job.command import end_killed_runs
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role

DEID = Path(sys.executable).with_name("deid")
PATIENCE = 400.0


@pytest.fixture
def refresh(tmp_path: Path) -> Iterator[Callable[[], tuple[subprocess.Popen[bytes], Path]]]:
    """Starts `deid refresh`; returns it and where its output goes."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> tuple[subprocess.Popen[bytes], Path]:
        output = tmp_path / f"output-{len(started)}"
        environment = {**os.environ, "COLUMNS": "200", "TERM": "dumb"}
        with output.open("wb") as stream:
            started.append(subprocess.Popen([DEID, "refresh"], stdout=stream, stderr=stream, env=environment))
        return started[-1], output

    yield start
    for process in started:
        with process:
            process.kill()


def _until(true: Callable[[], object], process: subprocess.Popen[bytes], output: Path) -> None:
    give_up = time.monotonic() + PATIENCE
    while not true():
        assert process.poll() is None, output.read_text()
        assert time.monotonic() < give_up
        time.sleep(0.02)


def _has_begun(home: Path) -> bool:
    """Whether the first run is recorded; asked without Dagster, which would make what it does not find."""
    index = home / "history" / "runs.db"
    if not index.exists():
        return False
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
        try:
            return bool(connection.execute("SELECT count(*) FROM runs").fetchone()[0])
        except sqlite3.OperationalError:
            return False


def _slots(instance: dg.DagsterInstance) -> list[str]:
    return [slot.step_key for slot in instance.event_log_storage.get_concurrency_info("gpu").claimed_slots]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.thorough
def test_killed_three_times_and_stopped_it_completes_and_leaves_no_run_and_no_slot_behind(
    installation: Path, warehouse: Warehouse, refresh, dice: random.Random
) -> None:
    root = installation.parent
    write(HospitalSpec(notes=40), feed_root=root / "deliveries", gold_root=root / "gold")
    home = root / "home" / "dagster"

    first, output = refresh()
    _until(lambda: _has_begun(home), first, output)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        _until(lambda: _slots(instance), first, output)
        first.kill()
        first.wait()
        assert _slots(instance)  # so there is something to be freed

        for runs in (1, 2):
            killed, output = refresh()
            _until(lambda runs=runs: len(instance.get_run_ids()) > runs, killed, output)  # type: ignore[misc]
            time.sleep(dice.uniform(0, 4))
            if runs == 1:
                # While it runs, another one is refused at once, before it has loaded anything.
                second = subprocess.run([DEID, "refresh"], capture_output=True, text=True, check=False)
                assert (second.returncode, "refresh-running" in second.stderr) == (1, True)
            killed.kill()
            killed.wait()

        begun = len(instance.get_run_ids())
        stopped, output = refresh()
        _until(lambda: len(instance.get_run_ids()) > begun, stopped, output)
        stopped.terminate()
        # It begins no other delivery's run, and says by its status that it was stopped.
        assert stopped.wait(PATIENCE) == 128 + signal.SIGTERM, output.read_text()
        assert "stopped" in output.read_text()
        assert len(instance.get_run_ids()) == begun + 1

        last, output = refresh()
        assert last.wait(PATIENCE) == 0, output.read_text()
        promoted = re.findall(r"^hospital@\S+: (\w+)", output.read_text(), re.M)
        assert sorted(promoted)[0] == "promoted"
        assert set(promoted) <= {"promoted", "unchanged"}
        assert instance.get_run_ids(dg.RunsFilter(statuses=NOT_FINISHED_STATUSES)) == []
        assert _slots(instance) == []
        assert instance.event_log_storage.get_concurrency_run_ids() == set()
    with warehouse.begin(Role.DEMO_ANALYST) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM research.notes").scalar_one() > 0
        # Built; so few notes make no row of it.
        assert connection.exec_driver_sql("SELECT count(*) FROM marts.note_profile").scalar_one() == 0


@dg.job(name="refresh")
def job() -> None:
    """Stands for the main job."""


@pytest.fixture
def empty_instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as made:
        made.event_log_storage.set_concurrency_slots("gpu", 1)
        yield made


@pytest.mark.parametrize(
    ("tags", "status", "ends_as"),
    [
        ({"deid/started_by": "deid refresh"}, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.FAILURE),
        ({"deid/started_by": "deid refresh"}, dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.FAILURE),
        ({"deid/started_by": "deid refresh"}, dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.SUCCESS),
        # The daemon's and the UI's: they have workers of their own, which may be between two steps.
        ({}, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTED),
        ({}, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTING),
        # Executed again in the UI, where it has the tags of the run that it repeats.
        (
            {"deid/started_by": "deid refresh", "dagster/parent_run_id": "a", "dagster/root_run_id": "a"},
            dg.DagsterRunStatus.STARTED,
            dg.DagsterRunStatus.STARTED,
        ),
    ],
)
def test_only_runs_that_this_command_left_are_ended_and_every_slot_is_freed(
    empty_instance: dg.DagsterInstance, tags: dict[str, str], status: dg.DagsterRunStatus, ends_as: dg.DagsterRunStatus
) -> None:
    parent = tags.get("dagster/parent_run_id")
    run = empty_instance.create_run_for_job(job, tags=tags, status=status, parent_run_id=parent, root_run_id=parent)
    empty_instance.event_log_storage.claim_concurrency_slot("gpu", run.run_id, "redacted_notes")
    ended = end_killed_runs(empty_instance)
    assert ended == ([run.run_id] if status is not ends_as else [])
    assert empty_instance.get_run_by_id(run.run_id).status is ends_as
    assert _slots(empty_instance) == []
    assert empty_instance.event_log_storage.claim_concurrency_slot("gpu", "another", "redacted_notes").is_claimed

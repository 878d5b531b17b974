from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.two_pass import Detection
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note
from deid_platform.runtime.stopping import watched

sys.path.append(str(Path(__file__).parents[1]))  # worker processes inherit it

from engine_faults import SECRET, FaultyJob, FaultySpec
from lost_signals import lose


def notes(*texts: str) -> list[Note]:
    return [Note(str(i), f"{text} {SECRET}") for i, text in enumerate(texts)]


def detect(
    spec: DetectorSpec,
    texts: Iterable[Note],
    *,
    workers: int = 1,
    batch_size: int = 64,
    on_batch: Callable[[int], None] | None = None,
) -> Iterator[Detection]:
    return LocalEngine(workers, batch_size).detect(spec, texts, on_batch=on_batch)


def outcomes(found: list[Detection]) -> list[str]:
    assert [d.index for d in found] == list(range(len(found)))
    for d in found:
        assert (d.spans is None) == (d.error is not None)
    return ["ok" if d.error is None else d.error.slug for d in found]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.process)])
def test_order_is_kept_and_progress_reported(workers: int) -> None:
    texts = [f"{'x' * (i % 7 + 1)} y" for i in range(23)]
    done: list[int] = []
    found = list(detect(FaultySpec(), notes(*texts), workers=workers, batch_size=4, on_batch=done.append))
    assert outcomes(found) == ["ok"] * 23
    assert [d.spans[0].end for d in found if d.spans] == [i % 7 + 1 for i in range(23)]
    assert done == [4, 4, 4, 4, 4, 3]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.process)])
@pytest.mark.parametrize("fault", ["raise", "short", "outside", "overlap"])
def test_only_the_offending_note_fails(workers: int, fault: str) -> None:
    found = list(detect(FaultySpec(), notes("a", "b", fault, "c", "d"), workers=workers, batch_size=3))
    assert outcomes(found) == ["ok", "ok", "detector-failed", "ok", "ok"]


@pytest.mark.process
def test_a_note_that_kills_its_worker_fails_alone() -> None:
    texts = ["a", "b", "die", "c", "d", "e", "die", "f", "g"]
    found = list(detect(FaultySpec(), notes(*texts), workers=2, batch_size=2))
    assert outcomes(found) == ["detector-failed" if t == "die" else "ok" for t in texts]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.process)])
def test_a_detector_that_cannot_be_built_is_an_error_and_no_quarantine(workers: int) -> None:
    with pytest.raises(DeidError) as failed:
        list(detect(FaultySpec("unbuildable"), notes("a", "b"), workers=workers, batch_size=1))
    assert failed.value.code is Code.DETECTOR_FAILED
    assert SECRET not in str(failed.value)
    assert failed.value.__cause__ is None or SECRET not in str(failed.value.__cause__)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.process)])
def test_a_request_to_stop_that_python_lost_ends_detection_before_the_next_batch_and_its_workers(workers: int) -> None:
    done: list[int] = []

    def told(count: int) -> None:
        done.append(count)
        lose()

    with watched(), pytest.raises(KeyboardInterrupt):
        list(detect(FaultySpec(), notes(*"abcdef"), workers=workers, batch_size=2, on_batch=told))
    assert done == [2]
    assert _workers_left() == []


@dataclass(frozen=True)
class UnreadableSpec(FaultySpec):
    """One that no worker can read, as where a worker's code is not the parent's."""

    def __reduce__(self) -> tuple[type[int], tuple[str]]:
        return (int, (SECRET,))


@pytest.mark.process
def test_workers_that_cannot_start_are_an_error_and_no_quarantine(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DeidError) as failed:
        list(detect(UnreadableSpec(), notes("a", "b"), workers=2))
    assert (failed.value.code, failed.value.ref) == (Code.DETECTOR_FAILED, "worker")
    assert capfd.readouterr() == ("", "")


@pytest.mark.process
def test_a_note_whose_worker_is_killed_by_something_else_is_not_blamed(tmp_path: Path) -> None:
    texts = ["a", f"killed once {tmp_path / 'batch'}", "b", "c", "d"]
    assert outcomes(list(detect(FaultySpec(), notes(*texts), workers=2, batch_size=2))) == ["ok"] * 5


@pytest.mark.process
def test_a_worker_that_is_killed_while_it_starts_is_started_again(tmp_path: Path) -> None:
    spec = FaultySpec(str(tmp_path / "start"))
    assert outcomes(list(detect(spec, notes("a", "b"), workers=2, batch_size=1))) == ["ok"] * 2


@pytest.mark.process
def test_half_an_answer_of_a_killed_worker_is_no_answer_and_nobody_waits_for_the_rest() -> None:
    texts = notes(*(f"{i} " for i in range(120)))
    assert outcomes(list(detect(FaultySpec("half-answers"), texts, workers=2, batch_size=60))) == ["ok"] * 120


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.process)])
def test_only_the_item_on_which_a_task_raises_fails(workers: int, tmp_path: Path) -> None:
    done = list(LocalEngine(workers, batch_size=3).run(FaultyJob(tmp_path / "built"), ["a", "b", "raise", "c", "d"]))
    assert done == ["a", "b", "raise failed", "c", "d"]


@pytest.mark.process
def test_a_task_is_built_once_for_all_workers_and_those_that_take_the_place_of_killed_ones(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    items = ["a", "die", "b", "c", "die", "d", *map(str, range(20))]
    job = FaultyJob(tmp_path / "built")
    done = list(LocalEngine(workers=3, batch_size=2).run(job, items, on_report=seen.append))
    assert done == ["die failed" if item == "die" else item for item in items]
    built = job.built.read_text().split()
    assert len(built) == 1
    assert {parent for parent, _ in seen} == {int(built[0])}
    assert {threads for _, threads in seen} == {1}, "a fork of several threads may inherit a lock that nobody opens"


@pytest.mark.process
def test_a_killed_process_that_built_the_task_is_replaced_and_no_note_is_blamed(tmp_path: Path) -> None:
    items = ["a", "b", "orphan", "c", *map(str, range(20)), "die", "d", "e"]
    job = FaultyJob(tmp_path / "built")
    done = list(LocalEngine(workers=2, batch_size=2).run(job, items))
    assert done == ["die failed" if item == "die" else item for item in items]
    assert len(job.built.read_text().split()) == 2
    assert _workers_left() == []


@pytest.mark.process
def test_workers_that_outlive_the_process_that_forked_them_work_on_and_end(tmp_path: Path) -> None:
    items = ["orphan", *map(str, range(8))]
    job = FaultyJob(tmp_path / "built")
    assert list(LocalEngine(workers=2, batch_size=9).run(job, items)) == items
    assert len(job.built.read_text().split()) == 1
    assert _workers_left() == []


_ENDLESS = """
import sys
sys.path.append(sys.argv[1])
from engine_faults import FaultySpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.notes import Note
if __name__ == "__main__":
    endless = (Note(str(i), "a b") for i in iter(int, 1))
    for found in LocalEngine(workers=2, batch_size=2).detect(FaultySpec(), endless):
        print(found.index, flush=True)
"""


@pytest.mark.process
def test_no_worker_outlives_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(_ENDLESS)
    parent = subprocess.Popen(
        [sys.executable, str(script), str(Path(__file__).parents[1])], stdout=subprocess.PIPE, start_new_session=True
    )
    assert parent.stdout is not None
    parent.stdout.readline()
    family = [p for p in psutil.process_iter() if _session(p.pid) == parent.pid and p.pid != parent.pid]
    assert len(family) >= 2
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 20
    while (alive := [p for p in family if _works(p)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in alive:
        process.kill()
    assert alive == []


def _workers_left() -> list[psutil.Process]:
    """What lives under the server of forks."""
    children = psutil.Process().children(recursive=True)
    return [p for p in children if p.parent() != psutil.Process() and p.status() != psutil.STATUS_ZOMBIE]


def _works(process: psutil.Process) -> bool:
    # Whoever inherits orphans may take a while to bury them.
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.process)])
def test_an_unknown_detector_is_refused(workers: int) -> None:
    with pytest.raises(DeidError) as refused:
        list(detect(DetectorSpec("nonesuch"), notes("a"), workers=workers))
    assert refused.value.code is Code.DETECTOR_UNKNOWN


@pytest.mark.process
def test_workers_find_what_this_process_finds() -> None:
    texts = notes("Dr. Ndoye saw him on 3/14/2019.", "nothing here", "MRN: 00123456", "Mr. Will Harmon")
    alone = list(detect(DetectorSpec("rules"), texts))
    assert list(detect(DetectorSpec("rules"), texts, workers=2, batch_size=1)) == alone
    assert any(d.spans for d in alone)


def test_notes_are_read_only_as_needed() -> None:
    read: list[int] = []

    def source() -> list[Note]:
        return notes(*("x" for _ in range(100)))

    stream = (read.append(i) or note for i, note in enumerate(source()))
    found = detect(FaultySpec(), stream, batch_size=5)
    next(found)
    assert len(read) == 5


def test_no_notes_give_no_detections() -> None:
    assert list(detect(FaultySpec(), [], workers=2)) == []


def test_settings_have_this_process_as_default() -> None:
    assert LocalEngine() == LocalEngine(workers=1, batch_size=64)


@pytest.mark.process
def test_lists_are_loaded_before_the_processes_that_workers_are_forked_from_and_a_network_is_not() -> None:
    script = """
import sys
from importlib import import_module
from deid_platform.engine.engines import PRELOADED
for name in PRELOADED[1:]:
    import_module(name)
from deid_platform.detection.resolve.recovery import finder, terms
print(terms.things.cache_info().currsize, finder._shipped.cache_info().currsize, "onnxruntime" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1", "False"]

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.engine import Detection, LocalEngine, detect
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note

sys.path.append(str(Path(__file__).parent))  # worker processes inherit it

from engine_faults import SECRET, FaultySpec


def notes(*texts: str) -> list[Note]:
    return [Note(str(i), f"{text} {SECRET}") for i, text in enumerate(texts)]


def outcomes(found: list[Detection]) -> list[str]:
    assert [d.index for d in found] == list(range(len(found)))
    for d in found:
        assert (d.spans is None) == (d.error is not None)
    return ["ok" if d.error is None else d.error.slug for d in found]


@pytest.mark.parametrize("workers", [1, 2])
def test_order_is_kept_and_progress_reported(workers: int) -> None:
    texts = [f"{'x' * (i % 7 + 1)} y" for i in range(23)]
    done: list[int] = []
    found = list(detect(FaultySpec(), notes(*texts), workers=workers, batch_size=4, on_batch=done.append))
    assert outcomes(found) == ["ok"] * 23
    assert [d.spans[0].end for d in found if d.spans] == [i % 7 + 1 for i in range(23)]
    assert done == [4, 4, 4, 4, 4, 3]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("fault", ["raise", "short", "outside", "overlap"])
def test_only_the_offending_note_fails(workers: int, fault: str) -> None:
    found = list(detect(FaultySpec(), notes("a", "b", fault, "c", "d"), workers=workers, batch_size=3))
    assert outcomes(found) == ["ok", "ok", "detector-failed", "ok", "ok"]


def test_a_note_that_kills_its_worker_fails_alone() -> None:
    texts = ["a", "b", "die", "c", "d", "e", "die", "f", "g"]
    found = list(detect(FaultySpec(), notes(*texts), workers=2, batch_size=2))
    assert outcomes(found) == ["detector-failed" if t == "die" else "ok" for t in texts]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_detector_that_cannot_be_built_is_an_error_and_no_quarantine(workers: int) -> None:
    with pytest.raises(DeidError) as failed:
        list(detect(FaultySpec("unbuildable"), notes("a", "b"), workers=workers, batch_size=1))
    assert failed.value.code is Code.DETECTOR_FAILED
    assert SECRET not in str(failed.value)
    assert failed.value.__cause__ is None or SECRET not in str(failed.value.__cause__)


@dataclass(frozen=True)
class UnimportableSpec(FaultySpec):
    """Of a module that workers cannot import."""


def test_workers_that_cannot_start_are_an_error_and_no_quarantine() -> None:
    with pytest.raises(DeidError) as failed:
        list(detect(UnimportableSpec(), notes("a", "b"), workers=2))
    assert (failed.value.code, failed.value.ref) == (Code.DETECTOR_FAILED, "worker")


@pytest.mark.parametrize("workers", [1, 2])
def test_an_unknown_detector_is_refused(workers: int) -> None:
    with pytest.raises(DeidError) as refused:
        list(detect(DetectorSpec("nonesuch"), notes("a"), workers=workers))
    assert refused.value.code is Code.DETECTOR_UNKNOWN


def test_workers_find_what_this_process_finds() -> None:
    texts = notes("Dr. Ndoye saw him on 3/14/2019.", "nothing here", "MRN: 00123456", "Mr. Will Harmon")
    alone = list(detect(DetectorSpec(), texts))
    assert list(detect(DetectorSpec(), texts, workers=2, batch_size=1)) == alone
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

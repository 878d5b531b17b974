"""What long work keeps from the collector of cycles, and for how long."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence

import pytest

from deid_platform.engine.engines import LocalEngine
from deid_platform.engine.gc_freeze import freeze_gc
from deid_platform.engine.workers import Job, Task
from deid_platform.errors import Code


class Knot:
    """An object that holds itself, so that only the collector frees it."""

    def __init__(self) -> None:
        self.itself = self


def test_what_existed_is_left_alone_and_what_is_made_meanwhile_is_not() -> None:
    before = Knot()
    old = weakref.ref(before)
    with freeze_gc():
        assert gc.get_freeze_count() > 0
        new = weakref.ref(Knot())
        del before
        gc.collect()
        assert new() is None
        assert old() is not None
    gc.collect()
    assert old() is None


def test_an_error_within_ends_it() -> None:
    with pytest.raises(ValueError, match="within"), freeze_gc():
        raise ValueError("within")
    assert gc.get_freeze_count() == 0


class Frozen(Job[int, bool]):
    """Says of each item whether what existed before is left alone."""

    fault = Code.REDACTION_FAILED

    def build(self) -> Task[int, bool]:
        class Asked(Task[int, bool]):
            def __call__(self, batch: Sequence[int]) -> list[bool]:
                return [gc.get_freeze_count() > 0 for _ in batch]

        return Asked()

    def failed(self, item: int) -> bool:
        raise AssertionError


def test_work_of_one_batch_pays_for_no_collection() -> None:
    assert list(LocalEngine(batch_size=2).run(Frozen(), range(5))) == [False, False, True, True, True]
    assert gc.get_freeze_count() == 0

"""What long work keeps from the collector of cycles, and for how long."""

from __future__ import annotations

import gc
import weakref

import pytest

from deid_platform.gc_freeze import freeze_gc


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

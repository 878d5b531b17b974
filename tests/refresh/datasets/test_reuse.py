"""Results of the last run: in their places, and not in memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.refresh.datasets import reuse
from deid_platform.refresh.datasets.reuse import LastRun, only_new


def ahead(most: int) -> Callable[[Iterable[int]], Iterator[str]]:
    """Work that reads so many items before it gives a result."""

    def work(items: Iterable[int]) -> Iterator[str]:
        held: list[int] = []
        for item in items:
            held.append(item)
            if len(held) > most:
                yield f"made {held.pop(0)}"
        yield from (f"made {item}" for item in held)

    return work


@given(known=st.lists(st.booleans(), max_size=40), read_ahead=st.integers(0, 5), most_waiting=st.integers(1, 4))
def test_each_result_is_in_the_place_of_its_item(known: list[bool], read_ahead: int, most_waiting: int) -> None:
    keys = {str(n) for n, is_known in enumerate(known) if is_known}
    keyed = ((str(n), n, n) for n in range(len(known)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reuse, "_MOST_WAITING", most_waiting)
        found = list(only_new(keyed, keys, ahead(read_ahead)))
    assert found == [(n, None if is_known else f"made {n}") for n, is_known in enumerate(known)]


def test_however_many_are_known_in_a_row_few_of_them_wait() -> None:
    taken = 0

    def keyed() -> Iterator[tuple[str | None, int, int]]:
        nonlocal taken
        for taken in range(100_000):
            yield (None if taken == 0 else "known"), taken, taken

    for given_back, _ in only_new(keyed(), {"known"}, ahead(5)):
        assert taken - given_back <= 10_000


def test_where_all_is_known_nothing_is_begun() -> None:
    def work(items: Iterable[int]) -> Iterator[str]:
        raise AssertionError

    assert list(only_new([("1", 1, 1)], {"1"}, work)) == [(1, None)]


def row(number: int) -> dict[str, object]:
    return {"cache_key": f"{number:064}", "text": f"{number} " + "word " * 800}


def test_rows_of_the_last_run_are_found_by_their_keys_in_any_order(tmp_path: Path) -> None:
    last_run = LastRun(map(row, range(3_000)), spool=tmp_path)
    for number in (2_999, 0, 7, 7):
        assert last_run[f"{number:064}"] == row(number)
    assert None not in last_run
    assert f"{3_000:064}" not in last_run
    assert list(tmp_path.iterdir()) == [], "the file has no name"
    assert "word" not in repr(last_run)


def test_memory_holds_keys_and_not_rows(tmp_path: Path) -> None:
    """10,000 rows of 4 kB: held, they would be 40 MB; a few hundred bytes a row are 4."""
    peaks = []
    for count in (2_500, 10_000):
        tracemalloc.start()
        try:
            last_run = LastRun(map(row, range(count)), spool=tmp_path)
            assert f"{count - 1:064}" in last_run
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] - peaks[0] < 4_000_000

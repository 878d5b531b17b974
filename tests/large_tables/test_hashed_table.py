"""Tables of hashes and values in a file against plain dictionaries."""

from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.large_tables import hashed_table
from deid_platform.large_tables.hashed_table import HashedNumbers, HashedTable
from deid_platform.large_tables.spooled_table import SpooledTable

Pairs = list[tuple[str, int]]
pairs = st.lists(st.tuples(st.text(max_size=3), st.integers(0, 5)))


@given(pairs=pairs, asked=st.lists(st.text(max_size=3)))
def test_a_hashed_table_is_a_dictionary_that_is_not_read_back(pairs: Pairs, asked: list[str]) -> None:
    table: HashedTable[int] = HashedTable()
    plain: dict[str, int] = {}
    for turn, (key, value) in enumerate(pairs):
        if turn % 3:
            assert table.setdefault(key, value) == plain.setdefault(key, value)
        else:
            table[key] = plain[key] = value
    assert len(table) == len(plain)
    for key in (*asked, *plain):
        assert (key in table, table.get(key)) == (key in plain, plain.get(key))


def test_it_grows_and_forgets_nothing() -> None:
    table: HashedTable[int] = HashedTable()
    for number in range(10_000):
        table[f"string {number}"] = number % 256
    assert len(table) == 10_000
    assert all(table.get(f"string {number}") == number % 256 for number in range(10_000))
    assert not any(f"string {number}" in table for number in range(10_000, 60_000))


def test_a_string_takes_less_than_thirty_bytes() -> None:
    tracemalloc.start()
    try:
        table: HashedTable[None] = HashedTable()
        for number in range(100_000):
            table[f"a string of some length with the number {number}"] = None
        assert tracemalloc.get_traced_memory()[0] < 30 * 100_000
    finally:
        tracemalloc.stop()


def test_it_shows_nothing_and_goes_to_no_other_process() -> None:
    table: HashedTable[int] = HashedTable()
    table["Quarmby"] = 1
    assert repr(table) == "<HashedTable: 1>"
    with pytest.raises(TypeError):
        pickle.dumps(table)


@given(pairs=pairs, asked=st.lists(st.text(max_size=3)))
def test_a_spooled_table_is_a_dictionary(pairs: Pairs, asked: list[str]) -> None:
    table: SpooledTable[int] = SpooledTable()
    for key, value in pairs:
        table[key] = value
    plain = dict(pairs)
    for key in (*asked, *plain):
        assert (key in table, table.get(key)) == (key in plain, plain.get(key))


@given(pairs=pairs, asked=st.lists(st.text(max_size=3)))
def test_strings_with_the_same_hash_keep_their_own_values(pairs: Pairs, asked: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashed_table, "hash", lambda key: len(key), raising=False)
        table: SpooledTable[int] = SpooledTable()
        for key, value in pairs:
            table[key] = value
        plain = dict(pairs)
        assert {key: table.get(key) for key in (*asked, *plain)} == {key: plain.get(key) for key in (*asked, *plain)}


def test_a_file_on_the_disk_has_no_name(tmp_path: Path) -> None:
    table: SpooledTable[str] = SpooledTable(spool=tmp_path)
    for number in range(3_000):
        table[str(number)] = "word " * 1_000
    assert table.get("2999") == table.get("0") == "word " * 1_000
    assert list(tmp_path.iterdir()) == []
    assert "word" not in repr(table)


def test_numbers_of_one_and_the_same_string_are_the_last_one() -> None:
    numbers = HashedNumbers("Q")
    for number in (7, 1 << 40):
        numbers.number_it("one", number)
    assert (numbers.number("one"), numbers.number("other"), len(numbers)) == (1 << 40, None, 1)

"""Compiled patterns as one process leaves them for the next."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import pytest
import regex

from deid_platform.text import compiled

KEYS = [("a(?P<A>b)", 0), ("a b", int(regex.VERBOSE))]


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A place of its own for the file, in a process that has read none."""
    place = tmp_path / "cache" / "kept"
    monkeypatch.setattr(compiled, "_place", lambda: place)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(compiled, "_asked", set())
    compiled._kept.cache_clear()
    yield place
    compiled._kept.cache_clear()


@pytest.fixture
def compilations(monkeypatch) -> list[str]:
    """The expressions that are compiled from here on."""
    seen: list[str] = []
    compile_ = regex.compile
    monkeypatch.setattr(regex, "compile", lambda *key: (seen.append(key[0]), compile_(*key))[1])
    return seen


def test_what_is_kept_is_not_compiled_again_and_finds_the_same(place, compilations) -> None:
    compiled.keep(KEYS)
    assert compilations == ["a b", "a(?P<A>b)"]
    compiled._kept.cache_clear()
    named, verbose = map(compiled.pattern, KEYS)
    assert named.fullmatch("ab")["A"] == "b"
    assert verbose.fullmatch("ab")
    assert compilations == ["a b", "a(?P<A>b)"]


def test_of_a_changed_table_only_what_is_new_is_compiled(place, compilations) -> None:
    compiled.keep(KEYS)
    compiled.keep([KEYS[0], ("c", 0)])
    assert compilations == ["a b", "a(?P<A>b)", "c"]
    assert set(compiled._kept()) == {*KEYS, ("c", 0)}


def test_what_nobody_asks_for_any_more_goes_once_it_is_more_than_what_somebody_does(place) -> None:
    compiled.keep(KEYS)
    compiled.keep([("c", 0)])
    assert set(compiled._kept()) == {("c", 0)}


def test_what_modules_ask_for_is_kept_beside_the_tables(place, compilations) -> None:
    compiled.compiled("a+", regex.IGNORECASE)
    compiled.keep()
    compiled._kept.cache_clear()
    again = compiled.compiled("a+", regex.IGNORECASE)
    assert compilations.count("a+") == 2  # asked for, then kept
    assert again.fullmatch("AA")


def test_one_expression_under_other_flags_is_another(place) -> None:
    compiled.keep([("a b", int(regex.VERBOSE))])
    assert compiled.pattern(("a b", 0)).fullmatch("a b")


@pytest.mark.parametrize(
    "spoilt",
    [lambda kept: kept[:-9], lambda kept: kept[:40] + b"\xff" + kept[41:], lambda _: b"", bytes.swapcase],
    ids=["torn", "changed", "empty", "another"],
)
def test_a_file_that_is_not_as_it_was_written_is_written_anew(place, spoilt) -> None:
    compiled.keep(KEYS)
    content = place.read_bytes()
    place.write_bytes(spoilt(content))
    compiled._kept.cache_clear()
    assert compiled._kept() == {}
    compiled.keep(KEYS)
    assert set(compiled._kept()) == set(KEYS)


def test_another_interpreter_or_library_reads_nothing(place, monkeypatch) -> None:
    compiled.keep(KEYS)
    monkeypatch.setattr(compiled, "_FOR", b"cpython-399")
    compiled._kept.cache_clear()
    assert compiled._kept() == {}


def test_a_file_makes_patterns_and_nothing_else(place, tmp_path) -> None:
    class Runs:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "run"),)

    body = pickle.dumps(Runs())
    place.parent.mkdir()
    place.write_bytes(compiled._digest(body) + body)
    with pytest.raises(pickle.UnpicklingError):
        compiled._kept()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("reason", ["no folder", "unwanted"])
def test_where_nothing_can_be_written_patterns_are_compiled_as_they_are_needed(
    place, reason, monkeypatch, compilations
) -> None:
    if reason == "unwanted":
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
    else:
        place.parent.write_text("no folder")
    compiled.keep(KEYS)
    assert compilations == []
    assert not place.is_file()
    assert compiled.pattern(KEYS[0]).fullmatch("ab")


def test_every_user_may_read_the_file(place) -> None:
    mask = os.umask(0o077)
    try:
        compiled.keep(KEYS)
    finally:
        os.umask(mask)
    assert place.stat().st_mode & 0o777 == 0o644
    assert [file.name for file in place.parent.iterdir()] == ["kept"]

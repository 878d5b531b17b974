"""A cache of compiled patterns beside the package's bytecode, shared by all processes.

Belongs here: the cache file. Does not belong here: which patterns there are (the modules that ask for them).

Compiling all patterns takes seconds, and without the cache each command would do it again. The file is written like
bytecode, by the first process that may write there, unless writing bytecode is disabled, and it is trusted like
bytecode. Without it, a pattern is compiled when it is asked for. `python -m deid_platform.engine.preloaded` writes it.
"""

from __future__ import annotations

import io
import os
import pickle
import platform
import sys
from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, TypeAlias

import regex

Key: TypeAlias = tuple[str, int]
"""An expression and its flags."""

_MADE_BY = ("regex._regex", "compile")
_FOR = f"{sys.implementation.cache_tag} {platform.machine()} regex {regex.__version__}".encode()
_READABLE = 0o644  # for every user, since it holds what the package ships


_asked: set[Key] = set()
"""Of which patterns were asked for in this process."""


def compiled(expression: str, flags: int = 0) -> regex.Pattern[str]:
    """As `regex.compile`; worth it where that takes a millisecond or more."""
    return pattern((expression, int(flags)))


def pattern(key: Key) -> regex.Pattern[str]:
    """One compiled pattern."""
    _asked.add(key)
    kept = _kept().get(key)
    return regex.compile(*key) if kept is None else kept


def keep(keys: Collection[Key] = ()) -> None:
    """Keeps these patterns, and all that were asked for, for the next process, where a file can be written.

    What other processes asked for stays, unless it is more than this one did: then most of it is of former versions.
    """
    wanted = _asked | set(keys)
    if sys.dont_write_bytecode or wanted <= _kept().keys():
        return
    others = _kept().keys() - wanted
    place = _place()
    draft = place.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        try:
            with draft.open("xb") as stream:
                chosen = wanted | others if len(others) <= len(wanted) else wanted
                body = pickle.dumps(
                    {key: _kept().get(key) or regex.compile(*key) for key in sorted(chosen)}, protocol=5
                )
                stream.write(_digest(body) + body)
            draft.chmod(_READABLE)
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)
        _kept.cache_clear()


@lru_cache(maxsize=1)
def _kept() -> dict[Key, regex.Pattern[str]]:
    """What is kept; nothing if the file is missing, torn or not for this interpreter."""
    with suppress(OSError):
        content = memoryview(_place().read_bytes())
        body = content[len(_digest(b"")) :]
        if content[: -len(body)] == _digest(body):
            kept: dict[Key, regex.Pattern[str]] = _Reader(io.BytesIO(body)).load()
            return kept
    return {}


def _place() -> Path:
    return Path(cache_from_source(__file__)).with_name(f"{sys.implementation.cache_tag}.patterns")


def _digest(body: bytes | memoryview) -> bytes:
    return sha256(_FOR + body).digest()


class _Reader(pickle.Unpickler):
    """Makes patterns, and nothing else that a file may ask for."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        if (module_name, global_name) != _MADE_BY:
            raise pickle.UnpicklingError(global_name)
        return super().find_class(module_name, global_name)

"""Which files of a folder are opened, by whatever means, as the interpreter tells it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_listening: list[tuple[str, list[str]]] = []
_folder: list[str] = []


def _hear(event: str, given: tuple[object, ...]) -> None:
    if _listening and event == "open" and isinstance(given[0], str | os.PathLike):
        path = os.fspath(given[0])
        if isinstance(given[2], int) and given[2] & os.O_DIRECTORY:  # a file in it may be opened by its name alone
            _folder[:] = [path]
            return
        path = path if os.sep in path else str(Path(*_folder, path))
        for under, opened in _listening:
            if path.startswith(under):
                opened.append(Path(path).name)


sys.addaudithook(_hear)  # there is no taking it away again


@contextmanager
def opened_under(folder: Path) -> Iterator[list[str]]:
    """Collects the name of each file under a folder that this process opens, each time."""
    opened: list[str] = []
    _listening.append((f"{folder}{os.sep}", opened))
    try:
        yield opened
    finally:
        _listening.pop()

"""Results of the last run in the places of what did not change.

Belongs here: the order of results, whichever run made them, and where those of the last run wait. Does not belong here:
what makes two of them the same.
"""

from __future__ import annotations

import pickle
import tempfile
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Beside = TypeVar("Beside")
_IN_MEMORY = 8_000_000
_MOST_WAITING = 10_000


class LastRun:
    """Rows of the last run by their cache key, in a file without a name: memory holds the keys, about 250 bytes a row.

    Args:
        rows: What may be taken over.
        spool: Folder of the file; the system's own if None.
    """

    def __init__(self, rows: Iterable[dict[str, Any]] = (), *, spool: Path | None = None) -> None:
        self._places: dict[str, int] = {}
        self._file = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - read until nobody holds it any more
            max_size=_IN_MEMORY, dir=None if spool is None else str(spool)
        )
        for row in rows:
            self._places[row["cache_key"]] = self._file.tell()
            pickle.dump(row, self._file)

    def __repr__(self) -> str:
        return "<LastRun>"

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __getitem__(self, key: str) -> dict[str, Any]:
        self._file.seek(self._places[key])
        row: dict[str, Any] = pickle.load(self._file)  # noqa: S301 - written above, by this very process
        return row


def only_new(
    keyed: Iterable[tuple[str | None, Beside, Item]],
    known: Container[str | None],
    work: Callable[[Iterable[Item]], Iterable[Result]],
) -> Iterator[tuple[Beside, Result | None]]:
    """Works on what is not known from the last run, and keeps the order.

    Args:
        keyed: Items, each with a key that names all that decides its result (None where nothing does) and with what is
            kept for it while the work reads ahead.
        known: The keys of the results that the last run had.
        work: Gives one result an item, in their order.

    Yields:
        What was kept for each item, with its result; None for what is known.
    """
    waiting: deque[tuple[bool, Beside]] = deque()
    items = iter(keyed)

    def new(first: tuple[Beside, Item]) -> Iterator[Item]:
        waiting.append((False, first[0]))
        yield first[1]
        known_in_a_row = 0
        for key, beside, item in items:
            waiting.append((key in known, beside))
            if key not in known:
                known_in_a_row = 0
                yield item
            elif (known_in_a_row := known_in_a_row + 1) == _MOST_WAITING:
                # The work reads until it has enough to do, and all that is known would wait for it here.
                return

    for key, beside, item in items:
        if key in known:
            yield beside, None
            continue
        for result in work(new((beside, item))):
            while waiting[0][0]:
                yield waiting.popleft()[1], None
            yield waiting.popleft()[1], result
        while waiting:
            yield waiting.popleft()[1], None

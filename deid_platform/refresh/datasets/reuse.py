"""Results of earlier runs in the places of what did not change.

Belongs here: which results there are, their order, whichever run made them, and where they wait. Does not belong here:
what makes two of them the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from deid_platform.errors import DeidError
from deid_platform.large_tables.spooled_table import SpooledTable
from deid_platform.store import Manifest, NoteStore

Item = TypeVar("Item")
Result = TypeVar("Result")
Beside = TypeVar("Beside")
_MOST_WAITING = 10_000


class LastRun:
    """Rows of earlier runs by their cache key, in a file without a name.

    Args:
        rows: What may be taken over.
        spool: Folder of the file; the system's own if None.
    """

    def __init__(self, rows: Iterable[dict[str, Any]] = (), *, spool: Path | None = None) -> None:
        self._rows: SpooledTable[dict[str, Any]] = SpooledTable(spool=spool)
        for row in rows:
            self._rows[row["cache_key"]] = row

    @classmethod
    def of(cls, rows: Iterable[dict[str, Any]], *, spool: Path | None) -> LastRun:
        """The rows; none where the disk has no room for them, since a cache may always be missing."""
        try:
            return cls(rows, spool=spool)
        except OSError:
            return cls()

    def __repr__(self) -> str:
        return "<LastRun>"

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __getitem__(self, key: str) -> dict[str, Any]:
        row = self._rows.get(key)
        if row is None:
            raise KeyError
        return row


def rows_before(
    store: NoteStore, dataset: str, partition: str, *, of_use: Callable[[Manifest], bool] = lambda _: True
) -> Iterator[dict[str, Any]]:
    """Rows that earlier runs made: the last one, and one after it that did not come to its end.

    A row may be taken over by its key alone, which names all that decides it, so it does not matter which run made
    it. What is not as it was sealed is left out: a cache that cannot be trusted is no cache.

    Args:
        store: Read.
        dataset: Whose rows have keys.
        partition: Which one.
        of_use: Whether any row under a manifest can be of use; else none is read.
    """
    with suppress(DeidError):
        manifest = store.manifest(dataset, partition)
        if manifest is not None and of_use(manifest):
            yield from store.stream(dataset, partition)
    with suppress(DeidError):
        for table in store.unfinished(dataset, partition):
            yield from table.to_pylist()


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

"""Results of earlier runs in the places of what did not change.

Belongs here: which results there are, and their order, whichever run made them. Does not belong here: what makes two
of them the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from deid_platform.errors import DeidError
from deid_platform.store import Manifest, NoteStore

Item = TypeVar("Item")
Result = TypeVar("Result")
Beside = TypeVar("Beside")


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
            yield from store.rows(dataset, partition)
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

    def new() -> Iterator[Item]:
        for key, beside, item in keyed:
            waiting.append((key in known, beside))
            if key not in known:
                yield item

    for result in work(new()):
        while waiting[0][0]:
            yield waiting.popleft()[1], None
        yield waiting.popleft()[1], result
    for _, beside in waiting:
        yield beside, None

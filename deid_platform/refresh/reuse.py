"""Results of the last run in the places of what did not change.

Belongs here: the order of results, whichever run made them. Does not belong here: what makes two of them the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Beside = TypeVar("Beside")


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

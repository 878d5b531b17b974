"""Chance that falls the same way on every machine.

Belongs here: drawing from a seed. Does not belong here: what is drawn. Only `Random.random` is used,
the one method whose sequence Python promises to keep between versions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A stream of draws named by its seed parts: `Dice(7, "note", "N000001")`."""

    __slots__ = ("_next",)

    def __init__(self, *seed: object) -> None:
        digest = hashlib.sha256("/".join(map(str, seed)).encode()).digest()
        self._next = Random(int.from_bytes(digest[:16], "big")).random  # noqa: S311 - simulation, not secrecy

    def chance(self, share: float) -> bool:
        """True in `share` of all draws (0 to 1)."""
        return self._next() < share

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._next() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[int(self._next() * len(items))]

    def weighted(self, items: Sequence[tuple[T, float]]) -> T:
        """One of the items, each as likely as its weight; the weights need not sum to 1."""
        left = self._next() * sum(weight for _, weight in items)
        for item, weight in items:
            left -= weight
            if left < 0:
                return item
        return items[-1][0]

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items (all of them if there are fewer), in a drawn order."""
        rest = list(items)
        return [rest.pop(int(self._next() * len(rest))) for _ in range(min(count, len(rest)))]

    def digits(self, count: int) -> str:
        """`count` decimal digits."""
        return f"{int(self._next() * 10**count):0{count}d}"

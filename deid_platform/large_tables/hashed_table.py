"""Tables of very many short strings in 14 to 27 bytes of memory a string, whatever its length.

Belongs here: such a table. Does not belong here: which strings there are, or what a match means.

The table keeps the 64-bit hash of a string and not the string, as Python hashes it in this process and in those that
are forked from it. In a table of a hundred million, about one lookup in 10^11 takes a string for another that was put
in: whoever uses it must err on the safe side where it says yes. That two strings of such a table share a hash at all
happens in one of 4,000.
"""

from __future__ import annotations

from array import array
from typing import Generic, NoReturn, Protocol, TypeVar

V = TypeVar("V")
_FIRST_SIZE = 1 << 8
_WHOLE = (1 << 64) - 1
_EMPTY = 0


class Table(Protocol[V]):
    """What dictionaries of strings have in common with tables that do not hold their strings in memory."""

    def get(self, key: str, /) -> V | None:
        """The value of a string; None if it has none."""

    def __setitem__(self, key: str, value: V, /) -> None: ...

    def __contains__(self, key: object, /) -> bool: ...


class HashedNumbers:
    """Whole numbers by the hash of a string, in a table with open addressing that is at most two thirds full.

    Args:
        typecode: Of the numbers, as `array` has it.
    """

    def __init__(self, typecode: str) -> None:
        self._typecode = typecode
        self._count = 0
        self._resize(_FIRST_SIZE)

    def __reduce__(self) -> NoReturn:
        raise TypeError("another process hashes strings otherwise")

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._hashes[self._slot(key)] != _EMPTY

    def number(self, key: str) -> int | None:
        """The number of a string; None if it has none."""
        slot = self._slot(key)
        return None if self._hashes[slot] == _EMPTY else self._numbers[slot]

    def number_it(self, key: str, number: int) -> None:
        """Gives a string a number, another one if it had one."""
        slot = self._slot(key)
        self._numbers[slot] = number
        if self._hashes[slot] == _EMPTY:
            self._hashes[slot] = hash(key) & _WHOLE or 1
            self._count += 1
            if 3 * self._count > 2 * len(self._hashes):
                self._grow()

    def _slot(self, key: str) -> int:
        """Where a string stands, or else the empty place where it would."""
        hashes, mask, hashed = self._hashes, self._mask, hash(key) & _WHOLE or 1
        slot = hashed & mask
        while (there := hashes[slot]) != hashed and there != _EMPTY:
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        before, numbers = self._hashes, self._numbers
        self._resize(2 * len(before))
        hashes, mask = self._hashes, self._mask
        for hashed, number in zip(before, numbers, strict=True):
            if hashed != _EMPTY:
                slot = hashed & mask
                while hashes[slot] != _EMPTY:
                    slot = (slot + 1) & mask
                hashes[slot], self._numbers[slot] = hashed, number

    def _resize(self, size: int) -> None:
        """All places empty; their number is a power of two."""
        self._hashes = array("Q", bytes(8 * size))
        self._numbers = array(self._typecode, [0]) * size
        self._mask = size - 1


class HashedTable(HashedNumbers, Generic[V]):
    """A table whose keys cannot be read back. At most 256 different values, which are told apart by equality."""

    def __init__(self) -> None:
        super().__init__("B")
        self._values: list[V] = []
        self._codes: dict[V, int] = {}

    def __repr__(self) -> str:
        return f"<HashedTable: {len(self)}>"

    def get(self, key: str) -> V | None:
        """The value of a string; None if it has none."""
        code = self.number(key)
        return None if code is None else self._values[code]

    def setdefault(self, key: str, value: V) -> V:
        """The value that a string has; the one given, if it had none."""
        code = self.number(key)
        if code is not None:
            return self._values[code]
        self[key] = value
        return value

    def __setitem__(self, key: str, value: V) -> None:
        code = self._codes.setdefault(value, len(self._values))
        if code == len(self._values):
            self._values.append(value)
        self.number_it(key, code)

"""A secret order of a pool: which place comes where, and which stands there, without putting all of it in order.

Belongs here: keyed permutations of a range of numbers. Does not belong here: what the numbers stand for (`names.py`).

Source: the generalised Feistel construction with cycle walking of J. Black and P. Rogaway, "Ciphers with Arbitrary
Finite Domains", CT-RSA 2002. A patient has a few draws from each pool, so that computing two places is a tenth of
the work of sorting hundreds.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from math import isqrt

_ROUNDS = 6  # pairs of them, twelve in all


class Order:
    """A keyed permutation of the numbers below `size`.

    Args:
        seed: Secret bytes; another seed gives another order.
        size: How many numbers there are, at least 1.
    """

    __slots__ = ("_columns", "_rounds", "_rows", "_size", "_table")

    def __init__(self, seed: bytes, size: int) -> None:
        # The least rectangle of nearly equal sides that holds them all: a number is a row and a column of it.
        self._size = size
        self._rows = isqrt(size - 1) + 1 if size > 1 else 1
        self._columns = -(-size // self._rows)
        # For each round a random number for every column, which moves the row, and one for every row. Of 16 bits,
        # against sides of some tens: the bias is below a thousandth a round. Big-endian on every machine.
        width = self._rows + self._columns
        self._table = array("H", hashlib.shake_256(seed).digest(2 * _ROUNDS * width))
        if sys.byteorder == "little":
            self._table.byteswap()
        self._rounds = range(0, _ROUNDS * width, width)

    def __repr__(self) -> str:
        return "<Order>"

    def rank(self, number: int) -> int:
        """Where a number comes in the order."""
        table, rows, columns, size = self._table, self._rows, self._columns, self._size
        while True:
            row, column = divmod(number, columns)
            for start in self._rounds:
                row = (row + table[start + column]) % rows
                column = (column + table[start + columns + row]) % columns
            number = row * columns + column
            if number < size:  # else it is in the rectangle's unused corner, and goes on from there
                return number

    def at(self, rank: int) -> int:
        """Which number comes at a rank."""
        table, rows, columns, size = self._table, self._rows, self._columns, self._size
        while True:
            row, column = divmod(rank, columns)
            for start in reversed(self._rounds):
                column = (column - table[start + columns + row]) % columns
                row = (row - table[start + column]) % rows
            rank = row * columns + column
            if rank < size:
                return rank

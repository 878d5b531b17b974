"""Values by strings in a file without a name: memory holds 24 to 48 bytes a value.

Belongs here: such a table. Does not belong here: what is kept in it.

The values are pickled by this process and read by it alone. Small tables stay in memory.

    record    a pickled tuple: the string, and where the record before it begins that has the same hash, or None;
              behind it, the pickled value
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

from deid_platform.hashed_table import HashedNumbers

V = TypeVar("V")
_IN_MEMORY = 8_000_000
"""Bytes of a file that is not written to the disk."""


class SpooledTable(Generic[V]):
    """A table as a dictionary of strings would be.

    Args:
        spool: Folder of the file; the system's own if None.
    """

    def __init__(self, *, spool: Path | None = None) -> None:
        self._places = HashedNumbers("Q")
        self._file = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - read until nobody holds it any more
            max_size=_IN_MEMORY, dir=None if spool is None else str(spool)
        )
        self._end = 0

    def __repr__(self) -> str:
        return f"<SpooledTable: {len(self._places)}>"

    def __contains__(self, key: object) -> bool:
        """Whether a string has a value, by its hash alone: see `hashed_table.py`."""
        return key in self._places

    def __setitem__(self, key: str, value: V) -> None:
        """Keeps a value in the place of the string's former one, whose bytes stay in the file.

        Raises:
            OSError: If the disk has no room for it.
        """
        self._file.seek(self._end)
        pickle.dump((key, self._places.number(key)), self._file)
        pickle.dump(value, self._file)
        self._places.number_it(key, self._end)
        self._end = self._file.tell()

    def get(self, key: str) -> V | None:
        """The value of a string; None if it has none."""
        return next((self._value() for found in self._chain(self._places.number(key)) if found == key), None)

    def items(self) -> Iterator[tuple[str, V]]:
        """The strings with their values, in the order in which the last one of each hash was kept."""
        for place in self._places.numbers():
            seen = set()
            for key in self._chain(place):
                if key not in seen:
                    seen.add(key)
                    yield key, self._value()

    def _chain(self, place: int | None) -> Iterator[str]:
        """The strings with one hash, from the last one kept; at each, the file stands at its value."""
        while place is not None:
            self._file.seek(place)
            key, place = pickle.load(self._file)  # noqa: S301 - written above, by this very process
            yield key

    def _value(self) -> V:
        value: V = pickle.load(self._file)  # noqa: S301 - written above, by this very process
        return value

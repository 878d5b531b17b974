"""Values by strings in a file without a name: memory holds 24 to 48 bytes a value.

Belongs here: such a table. Does not belong here: what is kept in it.

The values are pickled by this process and read by it alone. Small tables stay in memory.

    record    a pickled tuple: the string, where the record before it begins that has the same hash, or None, the value
"""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Generic, TypeVar

from deid_platform.large_tables.hashed_table import HashedNumbers

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
        record = pickle.dumps((key, self._places.number(key), value))
        # Seeking writes to the disk what is buffered.
        if self._file.tell() != self._end:
            self._file.seek(self._end)
        self._file.write(record)
        self._places.number_it(key, self._end)
        self._end += len(record)

    def get(self, key: str) -> V | None:
        """The value of a string; None if it has none."""
        place = self._places.number(key)
        while place is not None:
            self._file.seek(place)
            found, place, value = pickle.load(self._file)  # noqa: S301 - written above, by this very process
            if found == key:
                kept: V = value
                return kept
        return None

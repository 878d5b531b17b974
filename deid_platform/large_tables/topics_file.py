"""Patients of the topics in a file without a name: one copy a machine, whatever the number of processes and patients.

Belongs here: reading such a file as the tables of `Topics`, and its way from process to process. Does not belong here:
which rows there are (`refresh/topics/folding.py`), or what is made of them.

A process maps the file and makes a row when somebody asks for it. To the worker processes of this machine the file
itself travels, as an open descriptor; whoever pickles it for another machine sends its bytes, which are kept there in
memory that has no name either.

    records            a pickled tuple each: all rows of a patient, the current one first, then the former, newest first
    for each table     where the records begin, in the order of the table; the same in the order of ids; ids, sorted
"""

from __future__ import annotations

import mmap
import os
import pickle
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from functools import lru_cache, partial
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import IO, Any, NamedTuple, TypeVar

from deid_platform.notes import Patient

T = TypeVar("T")
Rows = tuple[Patient, ...]
_KEPT = 1024
"""Patients whose rows a process keeps: a patient's notes lie close together."""


class TopicsFile:
    """The bytes of such a file.

    Args:
        file: Open, whole and without a name; stays open as long as this lives.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def __repr__(self) -> str:
        return "<TopicsFile>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _in_memory, (bytes(self.bytes),)

    def passed_on(self) -> tuple[Any, ...]:
        """As `__reduce__`, for a process of this machine."""
        return _received, (DupFd(self._file.fileno()),)

    def numbers(self, begin: int, count: int) -> memoryview:
        """So many whole numbers."""
        return self.bytes[begin : begin + 8 * count].cast("Q")

    def record(self, place: int) -> Rows:
        """All rows of the patient whose record begins there."""
        rows: Rows = pickle.loads(self.bytes[place:])  # noqa: S301 - written by this platform, and nobody else finds it
        return rows


ForkingPickler.register(TopicsFile, TopicsFile.passed_on)


def _received(descriptor: Any) -> TopicsFile:
    return TopicsFile(os.fdopen(descriptor.detach(), "rb"))


def _in_memory(raw: bytes) -> TopicsFile:
    file = os.fdopen(os.memfd_create("topics"), "w+b")
    file.write(raw)
    file.flush()
    return TopicsFile(file)


class Index(NamedTuple):
    """Where one table lies in the file.

    Attributes:
        size: Patients in it.
        places: Begin of the list of records, in the order of the table.
        sorted_places: Begin of the same in the order of ids.
        ends: Begin of the list of where ids end, from the begin of the first: one more than there are patients.
        ids: Begin of the first id.
    """

    size: int
    places: int
    sorted_places: int
    ends: int
    ids: int


class StoredTable(Mapping[str, T]):
    """A table of patients by their id, as a dictionary would have it.

    Args:
        file: Holds it.
        index: Where.
    """

    def __init__(self, file: TopicsFile, index: Index) -> None:
        self._file = file
        self._index = index
        # Of a function that does not know this table, or the cache would keep it alive, and the file open.
        self._known_as = lru_cache(maxsize=_KEPT)(partial(_found, file, index))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._file, self._index)

    def __len__(self) -> int:
        return self._index.size

    def __getitem__(self, patient_id: str) -> T:
        rows = self._known_as(patient_id)
        if rows is None:
            raise KeyError
        return self._of(rows)

    def __contains__(self, patient_id: object) -> bool:
        return isinstance(patient_id, str) and self._known_as(patient_id) is not None

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self.pairs())

    def values(self) -> ValuesView[T]:
        """The values, each made as it is asked for."""
        return _Values(self)

    def items(self) -> ItemsView[str, T]:
        """The ids with their values."""
        return _Items(self)

    def pairs(self) -> Iterator[tuple[str, T]]:
        """The ids with their values, in the order of the table."""
        for place in self._file.numbers(self._index.places, self._index.size):
            rows = self._file.record(place)
            yield rows[0].patient_id, self._of(rows)

    def in_order(self) -> Iterator[T]:
        """The values in the order of their ids."""
        for place in self._file.numbers(self._index.sorted_places, self._index.size):
            yield self._of(self._file.record(place))

    @staticmethod
    @abstractmethod
    def _of(rows: Rows) -> T:
        """The value for all rows of a patient."""


class StoredPatients(StoredTable[Patient]):
    """The current row of each patient."""

    @staticmethod
    def _of(rows: Rows) -> Patient:
        return rows[0]


class StoredFormer(StoredTable[Rows]):
    """The former rows of each patient who has any, newest first."""

    @staticmethod
    def _of(rows: Rows) -> Rows:
        return rows[1:]


class _Values(ValuesView[T]):
    _mapping: StoredTable[T]

    def __iter__(self) -> Iterator[T]:
        return (value for _, value in self._mapping.pairs())


class _Items(ItemsView[str, T]):
    _mapping: StoredTable[T]

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return self._mapping.pairs()


def in_order(table: Mapping[str, T]) -> Iterator[T]:
    """The values of any table in the order of their ids."""
    return table.in_order() if isinstance(table, StoredTable) else (table[key] for key in sorted(table))


def _found(file: TopicsFile, index: Index, patient_id: str) -> Rows | None:
    """All rows of a patient; None if the table has none of this id."""
    ends = file.numbers(index.ends, index.size + 1)

    def written(number: int) -> bytes:
        return bytes(file.bytes[index.ids + ends[number] : index.ids + ends[number + 1]])

    wanted = patient_id.encode("utf-8", "surrogatepass")
    number = bisect_left(range(index.size), wanted, key=written)
    if number == index.size or written(number) != wanted:
        return None
    return file.record(file.numbers(index.sorted_places, index.size)[number])

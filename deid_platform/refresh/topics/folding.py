"""Patients of a feed's deliveries folded into a file: memory holds what is needed to find a row, and not the rows.

Belongs here: writing the file that `large_tables/topics_file.py` reads. Does not belong here: which deliveries count
(`refresh/intake/sealing.py`), or how rows of one patient fold (`notes.py`), which is asked here patient by patient.

Each row is written as it is read. Of a patient who has but one, that is the record already; of others the folded record
comes behind all rows. Meanwhile each row holds its id and some 30 bytes in memory, and each last name is there once.
"""

from __future__ import annotations

import mmap
import pickle
import tempfile
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.errors import Code, DeidError
from deid_platform.large_tables.topics_file import Index, Rows, StoredFormer, StoredPatients, TopicsFile
from deid_platform.notes import Patient, Topics
from deid_platform.refresh.datasets.tables import PATIENT_ROWS, from_row
from deid_platform.refresh.topics.known import fillers_of, folded_name

_BATCH = 1_000


def with_patients(topics: Topics, deliveries: Iterable[Iterable[pa.Table]], *, spool: Path) -> Topics:
    """Topics with the patients of deliveries, as if each were `folded` into those before it.

    Args:
        topics: Without patients.
        deliveries: The upserts of each, in the order of the deliveries.
        spool: Folder of the file, inside the PHI zone.

    Raises:
        DeidError: `store-write` if the file cannot be written.
    """
    try:
        folding: _Folding | None = None
        for tables in deliveries:
            if folding is None:
                folding = _Folding(tempfile.TemporaryFile(dir=str(spool)))  # noqa: SIM115 - open until nobody reads it
            for table in tables:
                folding.add(table)
            folding.end_delivery()
        return topics if folding is None or len(folding.begins) == 1 else folding.topics(topics)
    except OSError:
        raise DeidError(Code.STORE_WRITE, PATIENT_ROWS) from None


class _Folded(NamedTuple):
    """What the rows of one patient come to.

    Attributes:
        rows: The current one, then the former, newest first.
        since: The first row of the delivery that first left a former one; None if there is none.
        undated: Whether the current one lost its date of birth.
    """

    rows: Rows
    since: int | None
    undated: bool


class _Folding:
    """Rows as deliveries bring them, and what becomes of them.

    Attributes:
        begins: Where the record of each row begins in the file, and where the last one ends.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._ids: list[pa.Array] = []
        self.begins = array("Q", [0])
        self._until: list[int] = []
        self._undated: set[int] = set()
        self._names: dict[str, int] = {"": 0}
        self._named_by = list[np.ndarray[Any, Any]]()

    def add(self, table: pa.Table) -> None:
        """Takes in rows of the delivery at hand."""
        # Of the table, these columns alone are kept, names by their numbers.
        self._ids += table["patient_id"].cast(pa.large_string()).chunks
        for chunk in table["last_name"].dictionary_encode("encode").chunks:
            names = map(folded_name, chunk.dictionary.to_pylist())
            numbers = [self._names.setdefault(name, len(self._names)) for name in names]
            self._named_by.append(np.array(numbers, np.int32)[chunk.indices.to_numpy()])
        for batch in table.to_batches(max_chunksize=_BATCH):
            for row in batch.to_pylist():
                if row.get("undated"):
                    self._undated.add(len(self.begins) - 1)
                self.begins.append(self.begins[-1] + self._file.write(pickle.dumps((from_row(Patient, row),))))

    def end_delivery(self) -> None:
        """From here on rows are of the next delivery."""
        self._until.append(len(self.begins) - 1)

    def topics(self, others: Topics) -> Topics:
        """Topics with the patients, in the order in which they first came."""
        ids = pa.chunked_array(self._ids, pa.large_string()).combine_chunks().dictionary_encode()
        patients = ids.indices.to_numpy()
        rows = np.argsort(patients, kind="stable")
        last = np.cumsum(np.bincount(patients))
        first = np.concatenate(([0], last[:-1]))
        places = np.frombuffer(self.begins, np.uint64)[rows[first]]
        several = np.union1d(np.flatnonzero(last - first > 1), patients[list(self._undated)])
        renamed: list[tuple[int, int]] = []
        undated: list[str] = []
        self._file.flush()
        place = self.begins[-1]
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as written:
            for patient in several.tolist():
                folded = self._folded(rows[first[patient] : last[patient]].tolist(), written)
                if folded.since is not None:
                    renamed.append((folded.since, patient))
                if folded.undated:
                    undated.append(folded.rows[0].patient_id)
                places[patient] = place
                place += self._file.write(pickle.dumps(folded.rows))
        former = np.array([patient for _, patient in sorted(renamed)], np.int64)
        tables = [
            _indexed(self._file, names, where)
            for names, where in ((ids.dictionary, places), (ids.dictionary.take(pa.array(former)), places[former]))
        ]
        self._file.flush()
        file = TopicsFile(self._file)
        return replace(
            others,
            patients=StoredPatients(file, tables[0]),
            former=StoredFormer(file, tables[1]),
            undated=frozenset(undated),
            fillers=self._fillers(patients, len(ids.dictionary)),
            nameless=len(self._names) == 1,
        )

    def _fillers(self, patients: np.ndarray[Any, Any], count: int) -> frozenset[str]:
        """The last names that stand for most patients in one of their rows."""
        pairs = np.unique(patients * np.int64(len(self._names)) + np.concatenate(self._named_by))
        of_names = np.bincount(pairs % len(self._names), minlength=len(self._names))
        return fillers_of(zip(list(self._names)[1:], of_names[1:].tolist(), strict=True), count)

    def _folded(self, rows: Sequence[int], written: mmap.mmap) -> _Folded:
        """One patient's rows, of which those of one delivery lie together."""
        topics = Topics()
        since: int | None = None
        before = b""
        for _, numbers in groupby(rows, lambda row: bisect_right(self._until, row)):
            brought = list(numbers)
            said = [written[self.begins[row] : self.begins[row + 1]] for row in brought]
            dated = self._undated.isdisjoint(brought)
            if not dated or said != [before]:
                new = [pickle.loads(record)[0] for record in said]  # noqa: S301 - written above
                topics = topics.folded(Topics.of(new, undated=() if dated else [new[0].patient_id]))
                if since is None and topics.former:
                    since = brought[0]
            # The same row again changes nothing.
            before = said[-1] if dated else b""
        (current,) = topics.patients.values()
        former = topics.former.get(current.patient_id, ())
        return _Folded((current, *former), since, bool(topics.undated))


def _indexed(file: IO[bytes], ids: pa.Array, places: np.ndarray[Any, Any]) -> Index:
    """Writes what is needed to find patients by their ids."""
    # By bytes, which for UTF-8 is the order of Python too.
    order = pc.sort_indices(ids)
    in_order = ids.take(order)
    _, ends, data = in_order.buffers()
    parts = (places.tobytes(), places[order.to_numpy()].tobytes(), memoryview(ends)[: 8 * (len(ids) + 1)], data or b"")
    begins = []
    for part in parts:
        begins.append(file.tell())
        file.write(part)
    return Index(len(ids), *begins)

"""What the deliveries of a feed say of patients, compared with each other.

Belongs here: who is whose mother, which rows differ, and which delivery was the first to bring one. Does not belong
here: what rows come to, folded (`folding.py`), or what they are sought in (`refresh/hiding/late_names.py`).

A roster may have millions of patients and come again with every delivery. So nothing of it is a row of Python here, and
of rows that come again memory holds one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.deliveries import deliveries_of
from deid_platform.refresh.datasets.derived import MOTHERS
from deid_platform.store import NoteStore

_SCHEMA = tables.TOPIC_SCHEMAS["patients"]
_AT_ONCE = 200_000
"""Patients whose rows are held together."""


@dataclass(frozen=True)
class FeedPatients:
    """What the deliveries of a feed tell of patients."""

    store: NoteStore
    name: str

    @cached_property
    def deliveries(self) -> list[Delivery]:
        """Those that brought rows of patients, in order."""
        return deliveries_of(self.store, tables.PATIENT_ROWS, self.name)

    @cached_property
    def mothers(self) -> pa.Table:
        """Each patient with each mother that a row names."""
        return _merged((MOTHERS.of(self.store, each.key) for each in self.deliveries), _links)

    def with_mothers(self, patients: pa.Array) -> pa.Array:
        """Patients and their mothers, each once."""
        return union([patients, self.mothers.filter(isin(self.mothers["patient_id"], patients))["mother_id"]])

    def with_children(self, patients: pa.Array) -> pa.Array:
        """Patients and those whose mothers they are, each once."""
        return union([patients, self.mothers.filter(isin(self.mothers["mother_id"], patients))["patient_id"]])

    def rows(self, patients: pa.Array) -> pa.Table:
        """Each differing row of some patients, with the place of the first delivery that brought it (`seq`)."""
        return _merged((part for each in self.deliveries for part in self._brought_by(each, patients)), _differing)

    def first_brought_by(self, delivery: Delivery) -> pa.Array:
        """The patients of whom a delivery says something that none before it said."""
        before = [each for each in self.deliveries if each.seq < delivery.seq]
        found = list[pa.ChunkedArray]()
        for some in slices(union(part["patient_id"] for part in self.store.read(tables.PATIENT_ROWS, delivery.key))):
            rows = _differing(self._brought_by(delivery, some))
            # The newest one first: most rosters repeat the one before, and no other one has to be read.
            for each in reversed(before):
                if not rows:
                    break
                rows = _differing([rows, *self._brought_by(each, rows["patient_id"].combine_chunks())])
                rows = rows.filter(pc.equal(rows["seq"], delivery.seq))
            found.append(rows["patient_id"])
        return union(found)

    def _brought_by(self, delivery: Delivery, patients: pa.Array) -> Iterator[pa.Table]:
        for part in self.store.read(tables.PATIENT_ROWS, delivery.key):
            some = part.filter(isin(part["patient_id"], patients))
            # A part written before a column was known lacks it.
            for name in [name for name in _SCHEMA.names if name not in some.column_names]:
                some = some.append_column(name, pa.nulls(some.num_rows, _SCHEMA.field(name).type))
            yield some.append_column("seq", pa.repeat(pa.scalar(delivery.seq, pa.int64()), some.num_rows))


def slices(ids: pa.Array) -> Iterator[pa.Array]:
    """Ids, as many at once as may have their rows held together."""
    return (ids.slice(start, _AT_ONCE) for start in range(0, len(ids), _AT_ONCE))


def isin(column: pa.ChunkedArray, ids: pa.Array) -> pa.ChunkedArray:
    """Whether each value of a column is one of the ids."""
    return pc.is_in(column, value_set=ids)


def among(ids: pa.Array, others: pa.Array) -> pa.Array:
    """Those ids that are among others."""
    return ids.filter(isin(ids, others))


def union(every: Iterable[pa.Array | pa.ChunkedArray]) -> pa.Array:
    """All ids, each once."""
    chunks = [chunk for ids in every for chunk in (ids.chunks if isinstance(ids, pa.ChunkedArray) else [ids])]
    return pa.chunked_array(chunks, pa.large_string()).unique()


def _merged(parts: Iterable[pa.Table], merge: Callable[[list[pa.Table]], pa.Table]) -> pa.Table:
    """Parts merged as they come, so that memory holds about twice what comes of them."""
    kept, new = merge([]), list[pa.Table]()
    for part in parts:
        new.append(part)
        if sum(each.num_rows for each in new) > kept.num_rows:
            kept, new = merge([kept, *new]), []
    return merge([kept, *new])


def _links(parts: Iterable[pa.Table]) -> pa.Table:
    """Each patient with each mother once."""
    links = pa.concat_tables([tables.MOTHERS_SCHEMA.empty_table(), *parts])
    return links.group_by(tables.MOTHERS_SCHEMA.names).aggregate([]).cast(tables.MOTHERS_SCHEMA)


def _differing(parts: Iterable[pa.Table]) -> pa.Table:
    """Rows without those that are there already, in the order of the deliveries that first brought them."""
    schema = _SCHEMA.append(pa.field("seq", pa.int64()))
    rows = pa.concat_tables([schema.empty_table(), *(part.select(schema.names).cast(schema) for part in parts)])
    first = rows.group_by(_SCHEMA.names, use_threads=False).aggregate([("seq", "min")])
    return first.rename_columns({"seq_min": "seq"}).select(schema.names).sort_by("seq")

"""Small datasets that are made of large ones, and kept beside them, so that those need not be read again.

Belongs here: which there are, what they hold, and whether one still says what it was made of. Does not belong here:
what is looked up in them.

Each partition names what it was made of. What was made of anything else, or cannot be trusted, or could not be kept
for lack of disk space, is made anew: all that it saves is time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import blake2b
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.detection.resolve.cross_note import Mentioned, together
from deid_platform.errors import DeidError
from deid_platform.keys import module_digest, plain_digest
from deid_platform.refresh.datasets import tables
from deid_platform.store import NoteStore

_MADE_FROM = b"made_from"
_DECIDING = (__name__, "deid_platform.refresh.datasets.tables", "deid_platform.detection.resolve.cross_note")
"""Modules that decide what is in them: what other code made is made anew."""


class Derived(NamedTuple):
    """A dataset that holds what is looked up often of the partitions of another one.

    Attributes:
        dataset: Its name.
        source: What it is made of.
        columns: Those of the source that are read.
        make: Makes its one table of them.
    """

    dataset: str
    source: str
    columns: list[str]
    make: Callable[[Iterable[pa.Table]], pa.Table]

    def of(self, store: NoteStore, partition: str, rows: Iterable[pa.Table] | None = None) -> pa.Table:
        """Its table of a partition.

        Args:
            store: Read, and written where the table has to be made.
            partition: Whose.
            rows: The source's parts, if they are at hand.

        Raises:
            DeidError: `not-materialized` or `store-torn` if the source is not there.
        """
        # Before a row is read: a source that is written meanwhile has another manifest.
        parts = store.required(self.source, partition).parts
        made_from = plain_digest(module_digest(*_DECIDING), self.dataset, *(part.digest for part in parts))

        def make() -> pa.Table:
            found = store.read(self.source, partition) if rows is None else rows
            return self.make(
                part.select([name for name in self.columns if name in part.column_names]) for part in found
            )

        return derived(store, self.dataset, partition, made_from=made_from, make=make)


def derived(
    store: NoteStore,
    dataset: str,
    partition: str,
    *,
    made_from: str,
    make: Callable[[], pa.Table],
    keep: Callable[[], bool] = lambda: True,
) -> pa.Table:
    """A table of a derived dataset, as it is kept or else made now and kept.

    Args:
        store: Read and written.
        dataset: The derived one.
        partition: Which of it.
        made_from: Names all that decides what is in it.
        make: Makes it.
        keep: Whether it may be kept once it is made.
    """
    with suppress(DeidError):
        # The name is in the part itself, so that no other part can be written between the name and the rows.
        for table in store.read(dataset, partition):
            if (table.schema.metadata or {}).get(_MADE_FROM) == made_from.encode():
                return table
    table = make().replace_schema_metadata({_MADE_FROM: made_from.encode()})
    if keep():
        with suppress(DeidError):
            store.write(dataset, partition, [table])
    return table


def topics_digest(store: NoteStore, delivery: str, upserts: str, fold: Callable[[], str]) -> str:
    """The digest of the topics as of a delivery (`DetectorSpec.dictionary_digest`).

    Args:
        store: Read and written.
        delivery: Which delivery.
        upserts: Names what the topics are folded from (`topics.upserts_until`).
        fold: Gives the digest, where the same was never folded before.
    """

    def make() -> pa.Table:
        return pa.Table.from_pylist([{"digest": fold()}], schema=tables.DIGEST_SCHEMA)

    return str(derived(store, tables.TOPICS_DIGEST, delivery, made_from=upserts, make=make)["digest"][0])


def _note_ids(parts: Iterable[pa.Table]) -> pa.Table:
    return pa.concat_tables([tables.NOTE_IDS_SCHEMA.empty_table(), *parts]).combine_chunks()


def _patients(parts: Iterable[pa.Table]) -> pa.Table:
    found = pa.concat_tables([tables.PATIENT_IDS_SCHEMA.empty_table(), *parts])["patient_id"]
    return pa.Table.from_arrays([found.unique().drop_null()], schema=tables.PATIENT_IDS_SCHEMA)


def _told(parts: Iterable[pa.Table]) -> pa.Table:
    telling = [
        part.filter(pc.and_(pc.is_valid(part["patient_id"]), pc.greater(pc.list_value_length(part["told"]), 0)))
        for part in parts
    ]
    none = tables.TOLD_SCHEMA.empty_table().select(["patient_id", "told"])
    by_patient = pa.concat_tables([none, *telling]).sort_by("patient_id")
    # As rows of Python they take several times what is kept of them.
    said = chain.from_iterable(batch.to_pylist() for batch in by_patient.to_batches(max_chunksize=tables.NOTES_A_BLOCK))
    by_patient_told = (
        (patient, together(tables.mentions_of(row["told"]) for row in notes))
        for patient, notes in groupby(said, itemgetter("patient_id"))
    )
    rows = (
        {"patient_id": patient, "told": tables.mention_rows(told), "hashes": _hashes(patient, told)}
        for patient, told in by_patient_told
    )
    batches = [
        pa.RecordBatch.from_pylist(batch, schema=tables.TOLD_SCHEMA)
        for batch in tables.batched(rows, tables.NOTES_A_BLOCK)
    ]
    return pa.Table.from_batches(batches, schema=tables.TOLD_SCHEMA)


def _hashes(patient: str, told: Mentioned) -> list[int]:
    parts = (f"{patient}\0{part}" for part in tables.mention_parts(told))
    return [int.from_bytes(blake2b(part.encode(), digest_size=8).digest()) for part in parts]


def _mothers(parts: Iterable[pa.Table]) -> pa.Table:
    found = [part.filter(pc.is_valid(part["mother_id"])) for part in parts if "mother_id" in part.column_names]
    return pa.concat_tables([tables.MOTHERS_SCHEMA.empty_table(), *found]).combine_chunks()


NOTE_IDS = Derived("source/note_ids", tables.RAW_NOTES, ["note_id", "patient_id"], _note_ids)
"""A row a raw note."""
PATIENTS = Derived("deid/patients", tables.FIRST_PASS, ["patient_id"], _patients)
"""Each patient of a delivery's notes."""
TOLD = Derived("deid/told", tables.FIRST_PASS, ["patient_id", "told"], _told)
"""Each patient of whom a delivery's notes tell anything, with all that they tell."""
MOTHERS = Derived("source/mothers", tables.PATIENT_ROWS, ["patient_id", "mother_id"], _mothers)
"""Each row of a delivery's patients that names a mother."""

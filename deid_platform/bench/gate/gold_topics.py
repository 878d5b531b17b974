"""Topics of the bench's gold notes, sealed beside them.

Belongs here: writing and reading them. Does not belong here: whose topics they are (`measured_notes.py`).

Of a site with gold of its own they are all that its feed has, and patients may be millions: theirs are written in parts
and read into a file.
"""

from __future__ import annotations

import pyarrow as pa

from deid_platform.notes import Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.topics.folding import with_patients
from deid_platform.store import NoteStore


def seal_topics(store: NoteStore, topics: Topics, of: tables.BenchSet = tables.OWN) -> None:
    """Writes the topics of the gold notes of a set.

    Raises:
        DeidError: `store-write`.
    """
    for name, dataset in of.topics.items():
        schema = tables.TOPIC_SCHEMAS[name]
        batches = tables.batched(tables.topic_rows(topics, name), tables.NOTES_A_PART)
        store.write(dataset, tables.ALL, (pa.Table.from_pylist(batch, schema=schema) for batch in batches))


def sealed_topics(store: NoteStore, of: tables.BenchSet = tables.OWN) -> Topics:
    """The topics of the gold notes of a set.

    Raises:
        DeidError: `not-materialized`; `store-torn`; `store-write` if their file cannot be written.
    """
    small = {name: store.rows(dataset, tables.ALL) for name, dataset in of.topics.items() if name != "patients"}
    others = tables.topics_of({**small, "patients": []})
    return with_patients(others, [store.read(of.topics["patients"], tables.ALL)], spool=store.spool)

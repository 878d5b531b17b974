"""What the sampler needs to know of each note of the store.

Belongs here: keeping that beside the notes, which version of a note counts, and that notes count which have not left.
Does not belong here: who has left (`refresh/hiding/departed.py`), the sampler (`evaluation/scores/sampling.py`), or
what becomes of the notes that it takes (`measured_notes.py`).

Of each delivery a small table is kept (`refresh/datasets/derived.py`), so that a refresh reads the texts of new
deliveries alone. It says whether a note has an identifier of its own patient by the topics as of the note's own
delivery: by those of the newest one, each delivery would change what is known of all notes before it. What the settings
say of a note, its group, is looked up each time, and no text is read when they change.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.evaluation.scores.design_weights import Stratum
from deid_platform.evaluation.scores.sampling import EligibleNote, contains_own_phi, period_of
from deid_platform.evaluation.scores.tokens import word_offsets
from deid_platform.keys import module_digest, plain_digest
from deid_platform.notes import Delivery, Note, Patient, Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.derived import NOTE_IDS, derived
from deid_platform.refresh.hiding.departed import WhoLeft, who_left
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.recipe.note_types import released_type
from deid_platform.refresh.topics.as_of import Upserts, patients_as_of, upserts_as_of, upserts_until
from deid_platform.refresh.topics.folding import with_patients
from deid_platform.store import NoteStore

_DECIDING = (
    __name__,
    "deid_platform.evaluation.scores.tokens",
    "deid_platform.notes",
    "deid_platform.refresh.topics.folding",
    "deid_platform.refresh.datasets.tables",
    "deid_platform.evaluation.scores.sampling",
    "deid_platform.large_tables.topics_file",
)
"""Modules that decide what is kept: what other code made is made anew."""
_NOTE = ["name", "patient_id", "note_type", "period", "words", "names_patient"]
"""Columns in the order of `EligibleNote`."""
_STRATUM = ["note_type", "period", "names_patient"]


@dataclass(frozen=True)
class Population:
    """The newest version of each note of the store that has not left, as often as anybody goes through it.

    A note's name is its feed's and its id, since two feeds may number their notes alike.

    Attributes:
        deliveries: Those of the store.
        of_feeds: For each feed a table of its notes: `_NOTE`, and the number of their delivery.
    """

    deliveries: tuple[Delivery, ...]
    of_feeds: tuple[pa.Table, ...] = field(repr=False)

    def __len__(self) -> int:
        return sum(notes.num_rows for notes in self.of_feeds)

    def __iter__(self) -> Iterator[EligibleNote]:
        for notes in self.of_feeds:
            yield from (note for note, _ in self._rows(notes))

    def named(self, names: Collection[str]) -> dict[str, tuple[EligibleNote, Delivery]]:
        """Some notes by their names, each with its delivery; without those that are not there."""
        sought = pa.array(names, pa.large_string())
        some = (notes.filter(pc.is_in(notes["name"], value_set=sought)) for notes in self.of_feeds)
        return {note.note_id: (note, delivery) for notes in some for note, delivery in self._rows(notes)}

    def strata(self) -> dict[Stratum, int]:
        """How many notes each stratum has."""
        counts: Counter[Stratum] = Counter()
        for notes in self.of_feeds:
            for row in notes.group_by(_STRATUM).aggregate([([], "count_all")]).to_pylist():
                counts[row["note_type"], row["period"], row["names_patient"]] += row["count_all"]
        return dict(counts)

    def _rows(self, notes: pa.Table) -> Iterator[tuple[EligibleNote, Delivery]]:
        for batch in notes.to_batches(max_chunksize=tables.NOTES_A_BLOCK):
            rows = zip(*(batch[name].to_pylist() for name in _NOTE), strict=True)
            for row, delivery in zip(rows, batch["delivery"].to_pylist(), strict=True):
                yield EligibleNote(*row), self.deliveries[delivery]


def population(site: Site) -> Population:
    """The newest version of each note of the store, but for those that were withdrawn or whose patients have left.

    A note whose newest version left is not there in an older one: research shows none of it.

    Raises:
        DeidError: `opt-outs-unreadable`; `store-torn` or `store-rolled-back`; `store-write` if topics cannot be folded.
    """
    every: list[Delivery] = []
    of_feeds: list[pa.Table] = []
    left = who_left(site)
    for feed, deliveries in arrived(site).items():
        upserts = upserts_until(site.store, deliveries[-1], site.keyring, code=(), topics=["patients"])
        kept = []
        for delivery in deliveries:
            rows = _eligible(site.store, delivery, upserts_as_of(site.store, upserts, delivery, site.keyring))
            number = np.full(rows.num_rows, len(every), np.int32)
            kept.append(rows.append_column("delivery", pa.array(number)))
            every.append(delivery)
        of_feeds.append(_grouped(site, feed, _still_there(_newest(pa.concat_tables(kept)), every, left)))
    return Population(tuple(every), tuple(of_feeds))


def arrived(site: Site) -> dict[str, list[Delivery]]:
    """The deliveries whose notes are in the store, each feed in order; no feed of which there are none."""
    found: defaultdict[str, list[Delivery]] = defaultdict(list)
    for delivery in map(Delivery.parse, site.store.partitions(tables.RAW_NOTES)):
        if delivery.feed in site.settings.feeds:
            found[delivery.feed].append(delivery)
    return {feed: sorted(found[feed], key=lambda each: each.seq) for feed in sorted(found)}


def _newest(notes: pa.Table) -> pa.Table:
    """Of the rows of each note the last."""
    ids = pa.table({"note_id": notes["note_id"], "row": pa.array(np.arange(notes.num_rows))})
    last = ids.group_by("note_id").aggregate([("row", "max")])["row_max"]
    return notes if len(last) == notes.num_rows else notes.take(last.take(pc.sort_indices(last)))


def _still_there(notes: pa.Table, every: Sequence[Delivery], left: WhoLeft) -> pa.Table:
    """Notes without those that have left, or whose patients have."""
    named = {note_id for of_feed in left.notes.values() for note_id in of_feed}
    may = [
        pc.is_in(notes[column], value_set=pa.array(ids, pa.large_string()))
        for column, ids in (("note_id", named), ("patient_id", left.patients))
    ]
    rows = pc.indices_nonzero(pc.or_(*may))  # of the millions of others, none becomes an object of Python
    some = notes.take(rows)
    told = zip(*(some[name].to_pylist() for name in ("delivery", "note_id", "patient_id")), strict=True)
    gone = [row for row, (number, *ids) in zip(rows.to_pylist(), told, strict=True) if left.has(every[number], *ids)]
    kept = np.ones(notes.num_rows, bool)
    kept[gone] = False
    return notes.filter(pa.array(kept)) if gone else notes


def _grouped(site: Site, feed: str, notes: pa.Table) -> pa.Table:
    """Notes by their names, with their groups as the settings have them."""
    allowed, periods = site.feed(feed).note_types, site.settings.bench.periods
    return pa.table(
        {
            "name": pc.binary_join_element_wise(_large(f"{feed}/"), notes["note_id"], _large("")),
            "patient_id": notes["patient_id"],
            # The groups are shown to people, and a type that the site does not know may hold anything.
            "note_type": _mapped(notes["note_type"], partial(released_type, named=allowed)),
            "period": _mapped(notes["note_date"], lambda day: period_of(day, periods)),
            "words": notes["words"],
            "names_patient": notes["names_patient"],
            "delivery": notes["delivery"],
        }
    )


def _large(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())


def _mapped(column: pa.ChunkedArray, to: Callable[[Any], str]) -> pa.Array:
    """A column's values, each replaced; `to` is asked once for each that differs."""
    encoded = column.combine_chunks().dictionary_encode("encode")
    values = pa.array([to(value) for value in encoded.dictionary.to_pylist()], pa.string())
    return values.take(encoded.indices)


def _eligible(store: NoteStore, delivery: Delivery, upserts: Upserts | None) -> pa.Table:
    """A delivery's rows of `tables.ELIGIBLE_SCHEMA`, as they are kept or made now."""
    # Before a row is read: notes that are written meanwhile have another manifest.
    parts = store.required(tables.RAW_NOTES, delivery.key).parts
    patients = "" if upserts is None else upserts.digest
    made_from = plain_digest(module_digest(*_DECIDING), patients, *(part.digest for part in parts))

    def make() -> pa.Table:
        patients = _patients(store, delivery)
        batches = (
            batch
            for part in store.read(tables.RAW_NOTES, delivery.key)
            for batch in part.to_batches(max_chunksize=tables.NOTES_A_BLOCK)
        )
        return pa.Table.from_batches((_looked_at(batch, patients) for batch in batches), tables.ELIGIBLE_SCHEMA)

    return derived(store, tables.ELIGIBLE_NOTES, delivery.key, made_from=made_from, make=make)


def _patients(store: NoteStore, delivery: Delivery) -> Mapping[str, Patient]:
    """What is told, as of this delivery, of the patients of its notes; the others are not folded."""
    here = NOTE_IDS.of(store, delivery.key)["patient_id"].combine_chunks().unique()
    brought = (
        (part.filter(pc.is_in(part["patient_id"], value_set=here)) for part in parts)
        for parts in patients_as_of(store, delivery)
    )
    return with_patients(Topics(), brought, spool=store.spool).patients


def _looked_at(batch: pa.RecordBatch, patients: Mapping[str, Patient]) -> pa.RecordBatch:
    words, names_patient = [], []
    for row in batch.select(["note_id", "patient_id", "text"]).to_pylist():
        patient = patients.get(row["patient_id"] or "")
        words.append(len(word_offsets(row["text"])))
        names_patient.append(patient is not None and contains_own_phi(tables.from_row(Note, row), patient))
    columns = {**{name: batch[name] for name in ("note_id", "patient_id", "note_type", "note_date")}}
    columns |= {"words": pa.array(words, pa.int32()), "names_patient": pa.array(names_patient, pa.bool_())}
    return pa.RecordBatch.from_pydict(columns, schema=tables.ELIGIBLE_SCHEMA)

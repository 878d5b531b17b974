"""Who is named in notes by rows of patients that came after them.

Belongs here: finding such rows, hiding at once the notes that show them, and keeping the rows for the run that makes
those notes anew. Does not belong here: how a name is recognised in a note (`searched_note.py`, `leakcheck/`), or what
is made of the rows (`intake.topics_as_of`).

A note is redacted by the topics as of its delivery. Somebody who was admitted as Doe gets a name later, as a newborn
does, and earlier notes may give it away. So each delivery is compared with the rows that later ones brought of its own
patients and of their mothers: when they arrive, and whenever its notes are redacted. A row that its clean notes show is
kept beside the delivery, and counts for it from then on as if it had come with it. All others change nothing, so that
no delivery is made anew for an address that none of its notes knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Patient, Topics
from deid_platform.refresh import tables
from deid_platform.refresh.deidentify import deidentify
from deid_platform.refresh.derived import MOTHERS, PATIENTS
from deid_platform.refresh.intake import later_digest
from deid_platform.refresh.rulings import in_force
from deid_platform.refresh.searched_note import SearchJob, Shown
from deid_platform.refresh.shown_notes import shown_notes
from deid_platform.refresh.site import Site
from deid_platform.store import Manifest, NoteStore
from deid_platform.warehouse.promotion import hide_notes
from deid_platform.warehouse.roles import Role

_PATIENTS = "source/patients"
_SCHEMA = tables.TOPIC_SCHEMAS["patients"]
_AT_ONCE = 500_000
"""Patients whose rows are held together."""
_Row = tuple[int, dict[str, Any]]
"""The place of the first delivery that brought a row of a patient, and the row."""


def redact_delivery(site: Site, delivery: Delivery) -> Manifest:
    """Redacts a delivery (`deidentify`), and once more where later rows of its patients name them in what comes out.

    Raises:
        DeidError: As `deidentify`; `warehouse-unreachable`.
    """
    rulings = in_force(site, delivery)
    while True:
        done = deidentify(delivery, store=site.store, recipe=site.recipe(delivery), engine=site.engine, rulings=rulings)
        feed = _Feed(site.store, delivery.feed)
        here = PATIENTS.of(site.store, delivery.key)["patient_id"].combine_chunks()
        # It ends, since each time at least one row more is known.
        if not feed.after(delivery) or not sum(_hidden(site, delivery, feed, ids) for ids in _slices(here)):
            return done


def hide_named_since(site: Site, delivery: Delivery) -> int:
    """Hides notes of the feed's earlier deliveries in which this one's rows of patients name somebody.

    They are hidden in every release until their delivery is redacted and promoted anew.

    Returns:
        How many notes.

    Raises:
        DeidError: `not-materialized` or `store-torn` if an earlier delivery cannot be read; `warehouse-unreachable`.
    """
    store, feed = site.store, _Feed(site.store, delivery.feed)
    if delivery not in feed.deliveries:
        return 0
    redacted = (Delivery.parse(key) for key in store.partitions(tables.REDACTED_NOTES))
    earlier = [each for each in redacted if each.feed == delivery.feed and each.seq < delivery.seq]
    ids = [part["patient_id"] for part in store.read(_PATIENTS, delivery.key)]
    brought = pa.chunked_array([chunk for column in ids for chunk in column.chunks], pa.large_string()).unique()
    found = 0
    for some in _slices(brought):
        theirs = feed.with_children(some)
        there = {each: _among(PATIENTS.of(store, each.key)["patient_id"].combine_chunks(), theirs) for each in earlier}
        if not (noted := _union(there.values())):
            continue
        rows = feed.rows(_among(some, feed.with_mothers(noted)))
        new = rows.filter(pc.equal(rows["seq"], delivery.seq))["patient_id"].combine_chunks()
        concerned = feed.with_children(new.unique())
        for each, patients in there.items():
            found += _hidden(site, each, feed, _among(patients, concerned))
    return found


def require_named(site: Site, delivery: Delivery) -> None:
    """Refuses redacted rows that were made before a later row of one of their patients counted for them.

    Raises:
        DeidError: `not-materialized`.
    """
    manifest = site.store.manifest(tables.REDACTED_NOTES, delivery.key)
    if manifest is not None and manifest.meta.get("later", "") != later_digest(site.store, delivery):
        raise DeidError(Code.NOT_MATERIALIZED, f"{tables.REDACTED_NOTES}/{delivery.key}")


@dataclass(frozen=True)
class _Feed:
    """What the deliveries of a feed tell of patients."""

    store: NoteStore
    name: str

    @cached_property
    def deliveries(self) -> list[Delivery]:
        """Those that brought rows of patients, in order."""
        found = (Delivery.parse(key) for key in self.store.partitions(_PATIENTS))
        return sorted((each for each in found if each.feed == self.name), key=lambda each: each.seq)

    def after(self, delivery: Delivery) -> bool:
        """Whether a later one did."""
        return bool(self.deliveries) and self.deliveries[-1].seq > delivery.seq

    @cached_property
    def mothers(self) -> pa.Table:
        """Each patient with each mother that a row names."""
        found = [MOTHERS.of(self.store, each.key) for each in self.deliveries]
        return pa.concat_tables([tables.MOTHERS_SCHEMA.empty_table(), *found]).combine_chunks()

    def with_mothers(self, patients: pa.Array) -> pa.Array:
        """Patients and their mothers, each once."""
        return _union([patients, self.mothers.filter(_in(self.mothers["patient_id"], patients))["mother_id"]])

    def with_children(self, patients: pa.Array) -> pa.Array:
        """Patients and those whose mothers they are, each once."""
        return _union([patients, self.mothers.filter(_in(self.mothers["mother_id"], patients))["patient_id"]])

    def rows(self, patients: pa.Array) -> pa.Table:
        """Each differing row of some patients, with the place of the first delivery that brought it (`seq`)."""
        kept, new = _differing([]), list[pa.Table]()
        for each in self.deliveries:
            for part in self.store.read(_PATIENTS, each.key):
                some = part.filter(_in(part["patient_id"], patients))
                # A part written before a column was known lacks it.
                lacking = [name for name in _SCHEMA.names if name not in some.column_names]
                for name in lacking:
                    some = some.append_column(name, pa.nulls(some.num_rows, _SCHEMA.field(name).type))
                new.append(some.append_column("seq", pa.repeat(pa.scalar(each.seq, pa.int64()), some.num_rows)))
            if sum(some.num_rows for some in new) > kept.num_rows:
                kept, new = _differing([kept, *new]), []
        return _differing([kept, *new])


def _hidden(site: Site, delivery: Delivery, feed: _Feed, patients: pa.Array) -> int:
    """Hides the notes of some patients of a delivery that later rows name, keeps the rows, and counts the notes."""
    there = site.store.manifest(tables.LATER_PATIENTS, delivery.key)
    kept = [] if there is None else site.store.rows(tables.LATER_PATIENTS, delivery.key)
    told = _Told(delivery, feed, patients, frozenset(map(_patient, kept))) if len(patients) else None
    if told is None or not told.later:
        return 0
    notes, sought = list[tuple[str, str]](), SearchJob(site.policy, topics=told.topics)

    def shown() -> Iterator[Shown]:
        for each in shown_notes(site, delivery, told.later.keys()):
            notes.append((each.note.note_id, each.note.patient_id or ""))
            yield each

    hits = dict(notes[number] for number, found in enumerate(site.engine.run(sought, shown())) if found)
    if hits:
        keys = [key for note_id in hits for key in site.note_keys(delivery.feed, note_id)]
        # Before the rows are kept: a run that is killed in between finds them again.
        hide_notes(site.warehouse.engine(Role.PROMOTER), delivery, keys)
        new = {_patient(row): row for patient in dict.fromkeys(hits.values()) for row in told.later[patient]}
        table = pa.Table.from_pylist([*kept, *new.values()], schema=_SCHEMA)
        site.store.write(tables.LATER_PATIENTS, delivery.key, [table])
    return len(hits)


class _Told:
    """What later rows tell of patients of a delivery.

    Args:
        delivery: Which delivery.
        feed: Its feed.
        patients: Of whom it has notes.
        known: Rows of later deliveries that count for it already.

    Attributes:
        later: Of each patient of whom later rows say something new, these rows: the patient's, and the mother's.
        topics: All rows of these patients and of their mothers.
    """

    def __init__(self, delivery: Delivery, feed: _Feed, patients: pa.Array, known: frozenset[Patient]) -> None:
        rows = feed.rows(feed.with_mothers(patients))
        newer = rows.filter(pc.greater(rows["seq"], delivery.seq))["patient_id"].combine_chunks()
        concerned = _among(patients, feed.with_children(newer.unique()))
        family = feed.mothers.filter(_in(feed.mothers["patient_id"], concerned))
        mothers: dict[str, dict[str, None]] = {patient: {} for patient in concerned.to_pylist()}
        for row in family.to_pylist():
            mothers[row["patient_id"]][row["mother_id"]] = None
        by_patient: dict[str, list[_Row]] = {}
        for row in rows.filter(_in(rows["patient_id"], feed.with_mothers(concerned))).to_pylist():
            by_patient.setdefault(row["patient_id"], []).append((row.pop("seq"), row))
        self.topics = Topics.of(patients=[_patient(row) for found in by_patient.values() for _, row in found])
        new = {
            patient: [row for seq, row in found if seq > delivery.seq and _patient(row) not in known]
            for patient, found in by_patient.items()
        }
        told = {each: [*new.get(each, ()), *(r for m in mothers[each] for r in new.get(m, ()))] for each in mothers}
        self.later: Mapping[str, Sequence[dict[str, Any]]] = {each: found for each, found in told.items() if found}

    def __repr__(self) -> str:
        return "<Told>"


def _patient(row: dict[str, Any]) -> Patient:
    return tables.from_row(Patient, row)


def _differing(parts: Iterable[pa.Table]) -> pa.Table:
    """Rows without those that are there already, in the order of the deliveries that first brought them."""
    schema = _SCHEMA.append(pa.field("seq", pa.int64()))
    rows = pa.concat_tables([schema.empty_table(), *(part.select(schema.names).cast(schema) for part in parts)])
    first = rows.group_by(_SCHEMA.names, use_threads=False).aggregate([("seq", "min")])
    return first.rename_columns({"seq_min": "seq"}).select(schema.names).sort_by("seq")


def _slices(ids: pa.Array) -> Iterator[pa.Array]:
    return (ids.slice(start, _AT_ONCE) for start in range(0, len(ids), _AT_ONCE))


def _in(column: pa.ChunkedArray, ids: pa.Array) -> pa.ChunkedArray:
    return pc.is_in(column, value_set=ids)


def _among(ids: pa.Array, others: pa.Array) -> pa.Array:
    return ids.filter(_in(ids, others))


def _union(every: Iterable[pa.Array | pa.ChunkedArray]) -> pa.Array:
    chunks = [chunk for ids in every for chunk in (ids.chunks if isinstance(ids, pa.ChunkedArray) else [ids])]
    return pa.chunked_array(chunks, pa.large_string()).unique()

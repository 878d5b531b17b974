"""Who is named in notes by rows of patients that came after them.

Belongs here: finding such rows, hiding at once the notes that show them, and keeping the rows for the run that makes
those notes anew. Does not belong here: how a name is recognised in a note (`refresh/hiding/search_job.py`,
`leakcheck/`), or what is made of the rows (`topics.topics_as_of`).

A note is redacted by the topics as of its delivery. Somebody who was admitted as Doe gets a name later, as a newborn
does, and earlier notes may give it away. So notes are compared with rows that they were made without: with those that
a delivery is the first to bring, when it arrives (`hide_named_since`), and with all of later deliveries, whenever notes
are redacted (`redact_delivery`). A row that clean notes of a delivery show is kept beside it, and counts for it from
then on as if it had come with it. All others change nothing, so that no delivery is made anew for an address that none
of its notes knows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.notes import Delivery, Patient, Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.deliveries import deliveries_of
from deid_platform.refresh.datasets.derived import PATIENTS
from deid_platform.refresh.hiding.search_job import SearchJob, Shown
from deid_platform.refresh.hiding.shown_notes import originals, shown_notes
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.decisions import in_force
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.refresh.redact.structured_rows import redact_structured
from deid_platform.refresh.staging.stage import staged_from
from deid_platform.refresh.topics.as_of import patients_digests
from deid_platform.refresh.topics.patient_rows import FeedPatients, among, isin, slices, union
from deid_platform.store import Manifest, NoteStore
from deid_platform.warehouse.gate.promotion import hide_notes
from deid_platform.warehouse.server.roles import Role

_SCHEMA = tables.TOPIC_SCHEMAS["patients"]
_IDENTIFYING = [each.name for each in fields(Patient) if each.name not in ("patient_id", "mother_id")]
_A_BATCH = 1_000  # rows


def redact_delivery(site: Site, delivery: Delivery) -> Manifest:
    """Redacts a delivery (`deidentify`), and once more where later rows of its patients name them in what comes out.

    Raises:
        DeidError: As `deidentify`; `warehouse-unreachable`.
    """
    rulings = in_force(site, delivery)
    while True:
        done = deidentify(delivery, store=site.store, recipe=site.recipe(delivery), engine=site.engine, rulings=rulings)
        redact_structured(delivery, store=site.store, recipe=site.recipe(delivery))
        feed = FeedPatients(site.store, delivery.feed)
        here = PATIENTS.of(site.store, delivery.key)["patient_id"].combine_chunks()
        found = 0
        for some in slices(here) if feed.deliveries and feed.deliveries[-1].seq > delivery.seq else ():
            rows = feed.rows(feed.with_mothers(some))
            newer = rows.filter(pc.greater(rows["seq"], delivery.seq))["patient_id"].combine_chunks()
            concerned = among(some, feed.with_children(newer.unique()))
            late = _Late(rows, feed.mothers, concerned, _unknown(site.store, delivery, lambda seq: seq > delivery.seq))
            hits = _hits(site, SearchJob(site.policy, topics=late.topics), shown_notes(site, delivery, late.rows))
            _hide(site, delivery, hits)
            _keep(site.store, delivery, late, hits)
            found += len(hits)
        # It ends, since each time at least one row more counts for the delivery.
        if not found:
            return done


def hide_named_since(site: Site, delivery: Delivery) -> int:
    """Hides notes of the feed in which rows name somebody that this delivery is the first to bring.

    They are hidden in every release until their delivery is redacted and promoted anew: notes of earlier deliveries,
    and those of later ones, or of this one itself, that were redacted before the rows came.

    Returns:
        How many notes.

    Raises:
        DeidError: `not-materialized` or `store-torn` if another delivery cannot be read; `warehouse-unreachable`.
    """
    store, feed = site.store, FeedPatients(site.store, delivery.feed)
    made = list(_made_without(store, delivery)) if delivery in feed.deliveries else []
    if not made:
        return 0
    concerned = feed.with_children(feed.first_brought_by(delivery))
    if not concerned:
        return 0
    there = {each: among(PATIENTS.of(store, each.key)["patient_id"].combine_chunks(), concerned) for each in made}
    found = 0
    for some in slices(union(there.values())):
        rows = feed.rows(feed.with_mothers(some))
        for each, patients in there.items():
            if not (theirs := among(patients, some)):
                continue
            late = _Late(rows, feed.mothers, theirs, _unknown(store, each, lambda seq: seq == delivery.seq))
            if not late.rows:
                continue
            hits = _hits(site, SearchJob(site.policy, topics=late.topics), shown_notes(site, each, late.rows))
            # Where analysts see something else than these rows, only the originals tell what may be in it.
            others = _hits(site, SearchJob(site.policy, topics=late.news), originals(site, each, late.rows))
            if unseen := others.keys() - hits.keys():
                found += _hide(site, each, unseen, but=_staged(site, each))
            _hide(site, each, hits)
            if each.seq < delivery.seq:
                _keep(store, each, late, hits)
            found += len(hits)
    return found


def _made_without(store: NoteStore, delivery: Delivery) -> Iterator[Delivery]:
    """The feed's redacted deliveries that were made without what this one says of patients today."""
    redacted = deliveries_of(store, tables.REDACTED_NOTES, delivery.feed)
    for each in redacted:
        if each.seq < delivery.seq:
            yield each
    today = patients_digests(store, [each for each in redacted if each.seq >= delivery.seq])
    for each, digest in today.items():
        # Earlier versions of the platform kept none.
        if store.required(tables.REDACTED_NOTES, each.key).meta.get("patients", digest) != digest:
            yield each


class _Late:
    """What rows say of patients of a delivery whose notes were made without these rows.

    Args:
        rows: Each differing row of the patients and of their mothers, with the place of the delivery that brought it.
        mothers: Each patient with each mother.
        patients: The patients.
        is_new: Whether notes were made without a row, by its place and what it says.

    Attributes:
        rows: Of each patient of whom there are any, these rows: the patient's, and the mother's.
        topics: All rows of the patients and of their mothers.
        news: What these rows say and no other row of the same person does.
    """

    def __init__(
        self, rows: pa.Table, mothers: pa.Table, patients: pa.Array, is_new: Callable[[int, Patient], bool]
    ) -> None:
        family: dict[str, dict[str, None]] = {patient: {} for patient in patients.to_pylist()}
        for link in mothers.filter(isin(mothers["patient_id"], patients)).to_pylist():
            family[link["patient_id"]][link["mother_id"]] = None
        people = pa.array({*family, *(mother for each in family.values() for mother in each)}, pa.large_string())
        every, new, old = list[Patient](), dict[str, list[Patient]](), dict[str, list[Patient]]()
        # As rows of Python they take several times what is kept of them.
        for batch in rows.filter(isin(rows["patient_id"], people)).to_batches(max_chunksize=_A_BATCH):
            for row in batch.to_pylist():
                every.append(patient := tables.from_row(Patient, row))
                (new if is_new(row["seq"], patient) else old).setdefault(patient.patient_id, []).append(patient)
        told = {each: [*new.get(each, ()), *(row for m in family[each] for row in new.get(m, ()))] for each in family}
        self.rows = {each: found for each, found in told.items() if found}
        self.topics = Topics.of(patients=every)
        # A mother of whom nobody knew that she is one is named by all of her rows.
        known = {(row.patient_id, row.mother_id) for found in old.values() for row in found}
        linked = {mother for each, found in family.items() for mother in found if (each, mother) not in known}
        said = [row if each in linked else _beside(row, old.get(each, ())) for each in new for row in new[each]]
        said += [row for each in linked for row in old.get(each, ())]
        said += [Patient(each, mother_id=mother) for each, found in family.items() for mother in found]
        self.news = Topics.of(patients=said)

    def __repr__(self) -> str:
        return "<Late>"


def _beside(row: Patient, others: Iterable[Patient]) -> Patient:
    """A row without what others say too."""
    said = (name for name in _IDENTIFYING for other in others if getattr(other, name) == getattr(row, name))
    nothing: dict[str, Any] = dict.fromkeys(said)
    return replace(row, **nothing)


def _unknown(store: NoteStore, delivery: Delivery, came: Callable[[int], bool]) -> Callable[[int, Patient], bool]:
    """Whether a row, by its place and what it says, came after notes and does not count for them yet."""
    kept = frozenset(_kept(store, delivery))
    return lambda seq, row: came(seq) and row not in kept


def _hits(site: Site, job: SearchJob, shown: Iterable[Shown]) -> dict[str, str]:
    """The notes in which a search may find something, each with its patient."""
    notes = list[tuple[str, str]]()

    def each() -> Iterator[Shown]:
        for it in shown:
            notes.append((it.note.note_id, it.note.patient_id or ""))
            yield it

    return dict(notes[number] for number, found in enumerate(site.engine.run(job, each())) if found)


def _hide(site: Site, delivery: Delivery, note_ids: Collection[str], *, but: str | None = None) -> int:
    keys = [key for note_id in note_ids for key in site.note_keys(delivery.feed, note_id)]
    return hide_notes(site.warehouse.engine(Role.PROMOTER), delivery, keys, but=but) if keys else 0


def _staged(site: Site, delivery: Delivery) -> str:
    """The digest of what was staged of the redacted rows; empty where these were not staged."""
    staged = site.store.manifest(tables.STAGED, delivery.key)
    current = staged is not None and staged.meta["made_from"] == staged_from(site, delivery)
    return str(staged.meta["staged_digest"]) if staged is not None and current else ""


def _keep(store: NoteStore, delivery: Delivery, late: _Late, hits: Mapping[str, str]) -> None:
    """Lets rows that notes show count for their delivery. Hidden before: who is killed in between finds them again."""
    if not hits:
        return
    new = (row for patient in dict.fromkeys(hits.values()) for row in late.rows[patient])
    # Where a row says no date of birth, that of an earlier row stands.
    rows = [
        tables.to_row(row) | {"undated": row.birth_date is None}
        for row in dict.fromkeys((*_kept(store, delivery), *new))
    ]
    store.write(tables.LATER_PATIENTS, delivery.key, [pa.Table.from_pylist(rows, schema=_SCHEMA)])


def _kept(store: NoteStore, delivery: Delivery) -> list[Patient]:
    there = store.manifest(tables.LATER_PATIENTS, delivery.key) is not None
    rows = store.rows(tables.LATER_PATIENTS, delivery.key) if there else []
    return [tables.from_row(Patient, row) for row in rows]

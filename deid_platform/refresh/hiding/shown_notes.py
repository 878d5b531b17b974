"""What analysts can see of a delivery's notes, beside the originals.

Belongs here: going through redacted rows and raw ones together. Does not belong here: what is looked for in them
(`refresh/hiding/search_job.py`), or in which deliveries, and why (`search.py`, `refresh/hiding/late_names.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import zip_longest
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.leakcheck import Released
from deid_platform.notes import Delivery, Note
from deid_platform.redaction.indirect import with_indirect
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.search_job import Shown
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.decision import REVIEW
from deid_platform.refresh.redact.structured_rows import note_of_row
from deid_platform.warehouse.gate.staging import Status


def shown_notes(site: Site, delivery: Delivery, patients: Collection[str] | None = None) -> Iterator[Shown]:
    """The clean notes of a delivery and the rows of tables beside them, in every way that the leak check reads.

    Args:
        site: The installation.
        delivery: Whose rows lie in the store.
        patients: Only notes of these.

    Yields:
        A note once or several times in a row; without a redacted text where nobody can tell what it shows.

    Raises:
        DeidError: `not-materialized` or `store-torn` if rows cannot be read.
    """
    raw, redacted = (_rows(site, name, delivery, patients) for name in (tables.RAW_NOTES, tables.REDACTED_NOTES))
    for before, after in zip_longest(raw, redacted):
        if before is None or after is None or before["content_digest"] != after["content_digest"]:
            # The delivery was taken in again since.
            row = after or before or {}
            yield Shown(Note(row["note_id"], "", patient_id=row["patient_id"]), None)
        elif after["status"] == Status.CLEAN:
            yield from _ways(site, tables.from_row(Note, before), after)
    if site.store.manifest(tables.REDACTED_STRUCTURED, delivery.key) is not None:
        yield from _shown_rows(site, delivery, patients)


def _shown_rows(site: Site, delivery: Delivery, patients: Collection[str] | None) -> Iterator[Shown]:
    """The clean rows of tables beside the notes."""
    sealed, redacted = (
        _rows(site, name, delivery, patients) for name in (tables.STRUCTURED, tables.REDACTED_STRUCTURED)
    )
    for before, after in zip_longest(sealed, redacted):
        if before is None or after is None or before["content_digest"] != after["content_digest"]:
            row = after or before or {}
            yield Shown(Note(row["note_id"], "", patient_id=row["patient_id"]), None)
        elif after["status"] == Status.CLEAN:
            yield Shown(note_of_row(before), after["text"], tables.spans_of(after["spans"]))


def originals(site: Site, delivery: Delivery, patients: Collection[str]) -> Iterator[Shown]:
    """The raw notes of some patients, as if nothing were replaced in them.

    Raises:
        DeidError: `not-materialized` or `store-torn` if rows cannot be read.
    """
    for row in _rows(site, tables.RAW_NOTES, delivery, patients):
        note = tables.from_row(Note, row)
        yield Shown(note, note.text)
    if site.store.manifest(tables.STRUCTURED, delivery.key) is not None:
        for row in _rows(site, tables.STRUCTURED, delivery, patients):
            yield Shown(note_of_row(row), row["text"])


def _rows(site: Site, dataset: str, delivery: Delivery, patients: Collection[str] | None) -> Iterator[dict[str, Any]]:
    sought = None if patients is None else pa.array(patients, pa.large_string())
    for part in site.store.read(dataset, delivery.key):
        # As rows of Python the others would take most of the time.
        yield from (part if sought is None else part.filter(pc.is_in(part["patient_id"], value_set=sought))).to_pylist()


def _ways(site: Site, note: Note, row: dict[str, Any]) -> Iterator[Shown]:
    given = site.given_shifts
    columns = Released(
        row["note_type"],
        row["language"],
        row["note_year"],
        row["shifted_date"],
        site.keyring.site,
        offset=None if given is None else given.days.get(row["patient_id"]),
    )
    shown = Shown(note, row["text"], tables.spans_of(row["spans"]), columns)
    yield shown
    if site.policy.hides_indirect:
        found = tables.indirect_of(row.get("indirect"))
        text = with_indirect(note.text, row["text"], shown.applied, row["lengths"], found, site.policy)
        yield shown._replace(redacted=text)
    # What people added may hide a part of what is looked for: a run knows it by the note without that.
    applied = tuple(span for span in shown.applied if span.source != REVIEW)
    if applied != shown.applied:
        yield shown._replace(applied=applied)

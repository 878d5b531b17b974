"""Rows of tables beside the notes: sealed, released by the policy, checked for leaks, staged as notes are.

Belongs here: what becomes of such a row, from the note store to the warehouse. Does not belong here: reading a table
(`corpora/structured.py`), or the views that show the rows (`warehouse/structured.py`).

A row is staged as a note whose type begins with `structured:`. So it waits for the same gate, leaves with its patient,
is corrected by a row of the same id, and is read only by projects that were granted its site or its type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

import pyarrow as pa

from deid_platform.corpora import Reader
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.corpora.structured import PREFIX, StructuredRow
from deid_platform.deidentify.release_note import reason_of
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.leakcheck import Released
from deid_platform.notes import Delivery, Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.recipe.recipe import Recipe
from deid_platform.refresh.redact.row import OFFSET_MISSING
from deid_platform.settings import Settings
from deid_platform.store import Manifest, NoteStore
from deid_platform.warehouse.gate.staging import Status

_LANGUAGE = "en"


def views_of(settings: Settings) -> dict[str, dict[str, str]]:
    """Which tables and columns research shows: those of all feeds, as `warehouse.structured` takes them."""
    views: dict[str, dict[str, str]] = {}
    for feed in settings.feeds.values():
        for name, table in feed.structured.items():
            comments = {shown: table.comment(source) for source, shown in table.released.items()}
            views.setdefault(name, {}).update(comments)
    return views


def take_in_structured(
    rows: Iterable[StructuredRow],
    delivery: Delivery,
    reader: Reader,
    *,
    store: NoteStore,
    keyring: Keyring,
    exclusions: Exclusions,
) -> int:
    """Seals a delivery's rows but for those of patients who opted out; nothing where there never was such a table.

    Returns:
        How many.
    """
    language = reader.defaults.get("language", _LANGUAGE) if hasattr(reader, "defaults") else _LANGUAGE

    def sealed() -> Iterator[dict[str, Any]]:
        for row in rows:
            note = Note(row.note_id, row.text, patient_id=row.patient_id, note_type=row.table)
            if exclusions.reason(note) is None:
                digest = keyring.digest("structured", row.note_id, row.patient_id, row.text, *map(str, row.spans))
                yield {
                    "note_id": row.note_id,
                    "patient_id": row.patient_id,
                    "table": row.table,
                    "language": language,
                    "text": row.text,
                    "spans": _span_rows(row.spans),
                    "content_digest": digest,
                }

    parts = [
        pa.Table.from_pylist(batch, schema=tables.STRUCTURED_SCHEMA)
        for batch in tables.batched(sealed(), tables.NOTES_A_PART)
    ]
    # One that was there and is mapped no more is sealed empty, so that nothing stages the rows of before.
    if not parts and store.manifest(tables.STRUCTURED, delivery.key) is None:
        return 0
    return store.write(tables.STRUCTURED, delivery.key, parts, meta=dict).rows


def redact_structured(delivery: Delivery, *, store: NoteStore, recipe: Recipe) -> Manifest | None:
    """Writes a delivery's rows as the policy releases them; a row that leaks is quarantined, without its text."""
    if store.manifest(tables.STRUCTURED, delivery.key) is None:
        return None
    releaser = recipe.release_spec.build()
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()

    def released(row: Mapping[str, Any]) -> dict[str, Any]:
        note = note_of_row(row)
        made = {name: row[name] for name in ("note_id", "patient_id", "table", "content_digest")}
        made |= {"shift_key": recipe.shift_key(note.patient_id), "spans": [], "lengths": []}
        if recipe.roster_lost(note):
            return {**made, "text": None, "reason": "roster-lost"}
        if recipe.offset_missing(note.patient_id):
            return {**made, "text": None, "reason": OFFSET_MISSING}
        columns = Released(note.note_type, None, None, None, recipe.keyring.site)
        release = releaser.release(note, tables.spans_of(row["spans"]), lambda _: columns, ())
        if release.withheld is not None or release.redaction is None:
            failed = release.withheld or DeidError(Code.REDACTION_FAILED)
            return {**made, "text": None, "reason": reason_of(failed)}
        return {
            **made,
            "text": release.redaction.text,
            "reason": None,
            "spans": _span_rows(release.redaction.applied),
            "lengths": release.redaction.lengths,
        }

    def parts() -> Iterator[pa.Table]:
        for batch in tables.batched(store.stream(tables.STRUCTURED, delivery.key), tables.NOTES_A_BLOCK):
            rows = [released(row) for row in batch]
            for row in rows:
                row["status"] = (Status.CLEAN if row["reason"] is None else Status.QUARANTINED).value
                counts[row["status"]] += 1
                reasons.update([row["reason"]] if row["reason"] else [])
            yield pa.Table.from_pylist(rows, schema=tables.REDACTED_STRUCTURED_SCHEMA)

    def meta() -> Mapping[str, Any]:
        return {"recipe": recipe.digest, "counts": dict(counts), "reasons": dict(reasons)}

    return store.write(tables.REDACTED_STRUCTURED, delivery.key, parts(), meta=meta)


def structured_to_stage(store: NoteStore, delivery: Delivery, redacted: Manifest) -> Iterator[dict[str, Any]]:
    """A delivery's rows as they were released.

    Args:
        store: Holds them.
        delivery: Which delivery.
        redacted: Of its notes.

    Raises:
        DeidError: `not-materialized` if they were not released, or by another recipe than the notes.
    """
    if store.manifest(tables.STRUCTURED, delivery.key) is None:
        return
    made = store.required(tables.REDACTED_STRUCTURED, delivery.key)
    if made.meta["recipe"] != redacted.meta["recipe"]:
        raise DeidError(Code.NOT_MATERIALIZED, f"{tables.REDACTED_STRUCTURED}/{delivery.key}")
    yield from store.stream(tables.REDACTED_STRUCTURED, delivery.key)


def structured_leaks(store: NoteStore, delivery: Delivery, recipe: Recipe, redacted: Manifest) -> tuple[int, int, int]:
    """Rows that leak, rows checked, and rows that do not belong to the one in their place, of those to be staged."""
    leaks = checked = mismatched = 0
    sources = store.stream(tables.STRUCTURED, delivery.key) if store.manifest(tables.STRUCTURED, delivery.key) else ()
    for before, after in zip_longest(sources, structured_to_stage(store, delivery, redacted)):
        if before is None or after is None or before["content_digest"] != after["content_digest"]:
            mismatched += 1
        elif after["status"] == Status.CLEAN.value:
            note, spans = note_of_row(before), tables.spans_of(after["spans"])
            shown = Released(note.note_type, None, None, None, recipe.keyring.site)
            checked += 1
            leaks += bool(
                recipe.leak_check.check(
                    note, recipe.patients(note), after["text"], spans, shown, lengths=after["lengths"]
                )
            )
    return leaks, checked, mismatched


def _span_rows(spans: Iterable[Span]) -> list[dict[str, Any]]:
    return [{"start": s.start, "end": s.end, "label": s.label.value, "source": s.source} for s in spans]


def note_of_row(row: Mapping[str, Any]) -> Note:
    """A sealed row as the note that it goes the way of."""
    return Note(
        row["note_id"],
        row["text"],
        patient_id=row["patient_id"],
        note_type=PREFIX + row["table"],
        language=row["language"],
    )

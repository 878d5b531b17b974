"""What the detector finds in each note of a delivery by itself, and what that tells about its patient's other notes.

Belongs here: running the detector over what is new, and keeping its answers beside the notes. Does not belong here:
how an identifier is found (`detection/`), what all notes tell together (`refresh/evidence/patient_mentions.py`), or
what becomes of it (`refresh/redact/delivery.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import pyarrow as pa

from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.detection.two_pass import Detection
from deid_platform.engine.engines import Engine
from deid_platform.errors import Code
from deid_platform.notes import Delivery, Note
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.reuse import LastRun, only_new, rows_before
from deid_platform.refresh.recipe.recipe import Recipe
from deid_platform.store import Manifest, NoteStore


class _Key(NamedTuple):
    """A note by what decides what is found in it."""

    cache_key: str
    content_digest: str
    patient_id: str | None


def run_first_pass(
    delivery: Delivery,
    *,
    store: NoteStore,
    recipe: Recipe,
    engine: Engine,
    progress: Callable[[int], None] | None = None,
) -> Manifest:
    """Writes what the detector finds in each raw note of a delivery, in their order; `meta` holds the counts.

    What was found in the same note by the same detector and topics is taken over, also from a run that was killed; a
    note on which the detector failed is tried again.

    Raises:
        DeidError: `not-materialized` if the delivery was not taken in.
    """
    last_run = _last_run(store, delivery)
    counts: Counter[str] = Counter()
    reused: list[TemplateCounts] = []

    def keyed() -> Iterator[tuple[str | None, _Key, Note]]:
        for raw in store.stream(tables.RAW_NOTES, delivery.key):
            key = recipe.keyring.digest("detected", raw["content_digest"], recipe.detection_digest)
            yield key, _Key(key, raw["content_digest"], raw["patient_id"]), tables.from_row(Note, raw)

    def detect(notes: Iterable[Note]) -> Iterator[Detection]:
        return engine.detect(recipe.spec, notes, on_batch=progress, on_reuse=reused.append, tagging=True)

    def rows() -> Iterator[dict[str, Any]]:
        for key, detection in only_new(keyed(), last_run, detect):
            if detection is None:
                counts["cached"] += 1
                yield last_run[key.cache_key]
            else:
                yield _row(key, detection)

    def parts() -> Iterator[pa.Table]:
        for batch in tables.batched(rows(), tables.NOTES_A_BLOCK):
            yield pa.Table.from_pylist(batch, schema=tables.FIRST_PASS_SCHEMA)

    def meta() -> Mapping[str, Any]:
        return {"counts": dict(counts), "template_text": asdict(sum(reused, TemplateCounts()))}

    return store.write(tables.FIRST_PASS, delivery.key, parts(), meta=meta, resumable=True)


def detection_of(row: Mapping[str, Any]) -> Detection:
    """The detector's answer in a row of `tables.FIRST_PASS_SCHEMA`."""
    mentions = tables.mentions_of(row["told"])
    if row["error"] is None:
        indirect = tables.indirect_of(row.get("indirect"))
        return Detection(0, tables.spans_of(row["spans"]), mentions=mentions, indirect=indirect)
    return Detection(0, None, next((code for code in Code if code.slug == row["error"]), None))


def _row(key: _Key, detection: Detection) -> dict[str, Any]:
    found = detection.spans
    return {
        "patient_id": key.patient_id,
        "spans": [] if found is None else tables.scored_rows(found),
        "error": None if found is not None else (detection.error or Code.DETECTOR_FAILED).slug,
        "indirect": tables.indirect_rows(detection.indirect),
        "told": [] if found is None else tables.mention_rows(detection.mentions),
        "content_digest": key.content_digest,
        "cache_key": key.cache_key,
    }


def _last_run(store: NoteStore, delivery: Delivery) -> LastRun:
    """Rows of earlier runs that may be taken over, by their cache key."""
    rows = rows_before(store, tables.FIRST_PASS, delivery.key)
    return LastRun.of((row for row in rows if row["error"] is None), spool=store.spool)

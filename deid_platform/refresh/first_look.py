"""What the detector finds in each note of a delivery by itself, and what that tells about its patient's other notes.

Belongs here: running the detector over what is new, and keeping its answers beside the notes. Does not belong here:
how an identifier is found (`detection/`), or what becomes of it (`deidentify.py`).

What notes tell is folded over the feed's deliveries up to the one at hand, as topics are: a name that a later delivery
brings marks the notes of that one, and those of an older one once that is run again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.across_notes import Told
from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.engine import Detection, LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Delivery, Note
from deid_platform.refresh import tables
from deid_platform.refresh.intake import deliveries_until
from deid_platform.refresh.recipe import Recipe
from deid_platform.store import Manifest, NoteStore


def look_first(
    delivery: Delivery,
    *,
    store: NoteStore,
    recipe: Recipe,
    engine: LocalEngine,
    progress: Callable[[int], None] | None = None,
) -> Manifest:
    """Writes what the detector finds in each raw note of a delivery, in their order; `meta` holds the counts.

    What was found in the same note by the same detector and topics is taken over; a note on which the detector failed
    is tried again.

    Raises:
        DeidError: `not-materialized` if the delivery was not taken in.
    """
    known = _known(store, delivery)
    counts: Counter[str] = Counter()
    reused: list[TemplateCounts] = []
    waiting: deque[tuple[dict[str, Any], str]] = deque()

    def new() -> Iterator[Note]:
        # The engine reads ahead by a few batches; what it has read waits here for its spans.
        for raw in store.stream(tables.RAW_NOTES, delivery.key):
            key = recipe.keyring.digest("detected", raw["content_digest"], recipe.detection_digest)
            waiting.append((raw, key))
            if key not in known:
                yield tables.from_row(Note, raw)

    def taken_over() -> Iterator[dict[str, Any]]:
        while waiting and waiting[0][1] in known:
            counts["cached"] += 1
            yield known[waiting.popleft()[1]]

    def rows() -> Iterator[dict[str, Any]]:
        for detection in engine.detect(recipe.spec, new(), on_batch=progress, on_reuse=reused.append):
            yield from taken_over()
            raw, key = waiting.popleft()
            yield _row(raw, detection, key)
        yield from taken_over()

    def parts() -> Iterator[pa.Table]:
        for batch in tables.batched(rows(), tables.NOTES_A_PART):
            yield pa.Table.from_pylist(batch, schema=tables.FIRST_LOOK_SCHEMA)

    def meta() -> Mapping[str, Any]:
        return {"counts": dict(counts), "template_text": asdict(sum(reused, TemplateCounts()))}

    return store.write(tables.FIRST_LOOK, delivery.key, parts(), meta=meta)


def told_until(store: NoteStore, delivery: Delivery) -> Told:
    """What the feed's notes up to and with a delivery tell about the patients of its notes.

    Raises:
        DeidError: `not-materialized` or `store-torn` if what is found in a delivery is not there.
    """
    told = Told()
    here = pa.chunked_array(
        [table["patient_id"] for table in store.read(tables.FIRST_LOOK, delivery.key)], type=pa.large_string()
    ).unique()
    for earlier in deliveries_until(store, tables.FIRST_LOOK, delivery):
        for table in store.read(tables.FIRST_LOOK, earlier.key):
            about = table.select(["patient_id", "told"])
            telling = pc.and_(
                pc.is_in(about["patient_id"], value_set=here), pc.greater(pc.list_value_length(about["told"]), 0)
            )
            for row in about.filter(telling).to_pylist():
                told.add(row["patient_id"], tables.told_of(row["told"]))
    return told


def told_digest(store: NoteStore, delivery: Delivery, keyring: Keyring) -> str:
    """Names all that was found in the feed's notes up to and with a delivery."""
    until = deliveries_until(store, tables.FIRST_LOOK, delivery)
    manifests = (store.required(tables.FIRST_LOOK, each.key) for each in until)
    return keyring.digest("told", *(part.digest for manifest in manifests for part in manifest.parts))


def detection_of(row: Mapping[str, Any]) -> Detection:
    """The detector's answer in a row of `tables.FIRST_LOOK_SCHEMA`."""
    error = next((code for code in Code if code.slug == row["error"]), None)
    return Detection(0, tables.spans_of(row["spans"]) if row["error"] is None else None, error)


def _row(raw: Mapping[str, Any], detection: Detection, key: str) -> dict[str, Any]:
    found = detection.spans
    return {
        "patient_id": raw["patient_id"],
        "spans": [] if found is None else tables.scored_rows(found),
        "error": None if found is not None else (detection.error or Code.DETECTOR_FAILED).slug,
        "told": [] if found is None else tables.told_rows(mentioned_in(raw["text"], found)),
        "content_digest": raw["content_digest"],
        "cache_key": key,
    }


def _known(store: NoteStore, delivery: Delivery) -> dict[str, dict[str, Any]]:
    """Rows of the last run that may be taken over, by their cache key."""
    try:
        if store.manifest(tables.FIRST_LOOK, delivery.key) is None:
            return {}
        rows = store.rows(tables.FIRST_LOOK, delivery.key)
    except DeidError:
        # A cache that cannot be trusted is no cache.
        return {}
    return {row["cache_key"]: row for row in rows if row["error"] is None}

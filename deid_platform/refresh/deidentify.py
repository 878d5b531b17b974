"""From raw notes to redacted rows, each checked for leaks before anything leaves the PHI zone.

Belongs here: one delivery through both looks of detection, redaction and the leak check, with quarantine and cache.
Does not belong here: what decides about a row (`recipe.py`), how a span is found (`detection/`) or replaced
(`redaction/`), or how a leak is recognised (`evaluation/leaks`).

A note fails closed: whatever raises, or whatever the leak check finds, its row holds a reason code and no
text, and the rest of the delivery goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import zip_longest
from time import perf_counter
from typing import Any

import pyarrow as pa

from deid_platform.across_notes import SecondLooks, Told
from deid_platform.engine import Detection, LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.tokens import word_offsets
from deid_platform.heap import settled
from deid_platform.languages import released_language
from deid_platform.leakcheck import Released
from deid_platform.notes import Delivery, Note
from deid_platform.one_note import leak_reason, redact_and_check
from deid_platform.refresh import tables
from deid_platform.refresh.first_look import detection_of, look_first, told_digest, told_until
from deid_platform.refresh.recipe import Recipe
from deid_platform.refresh.shifts import shifts_digest
from deid_platform.store import Manifest, NoteStore
from deid_platform.warehouse.expectations import OTHER_TYPE
from deid_platform.warehouse.staging import Status

CLEAN, QUARANTINED = Status.CLEAN.value, Status.QUARANTINED.value


def deidentify(
    delivery: Delivery,
    *,
    store: NoteStore,
    recipe: Recipe,
    engine: LocalEngine,
    progress: Callable[[int], None] | None = None,
) -> Manifest:
    """Writes a delivery's redacted rows and returns their manifest, whose `meta` holds the counts.

    What was found and clean rows are taken over where note, recipe and what the patient's other notes tell are those
    of the last run, so that a second run costs only what changed. What was quarantined is tried again.

    Args:
        delivery: Whose raw notes lie in the store.
        store: Read and written.
        recipe: Detector, policy and keys.
        engine: Where detection runs.
        progress: Called with the number of notes done since the last call.

    Raises:
        DeidError: `not-materialized` if the delivery was not taken in.
    """
    started = perf_counter()
    looked = look_first(delivery, store=store, recipe=recipe, engine=engine, progress=progress)
    told = told_until(store, delivery)
    known = _clean_rows(store, delivery, recipe)
    counts: Counter[str] = Counter(detected_before=looked.meta["counts"].get("cached", 0))
    labels: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    raw = store.required(tables.RAW_NOTES, delivery.key)

    def parts() -> Iterator[pa.Table]:
        rows = _redacted_rows(_looked_at(store, delivery), known, recipe, told, counts)
        for batch in tables.batched(rows, tables.NOTES_A_PART):
            for row in batch:
                counts[row["status"]] += 1
                counts["words"] += row["words"]
                counts["with_roster"] += row["with_roster"]
                labels.update(span["label"] for span in row["spans"])
                if row["reason"]:
                    reasons[row["reason"]] += 1
            yield pa.Table.from_pylist(batch, schema=tables.REDACTED_SCHEMA)

    def meta() -> Mapping[str, Any]:
        known_enough = counts["with_roster"] >= recipe.min_roster_share * raw.rows
        return {
            **recipe.digests,
            "recipe": recipe.digest,
            "told": told_digest(store, delivery, recipe.keyring),
            "shifts": shifts_digest(store, delivery, recipe),
            "files": raw.meta["files"],
            "release": recipe.release,
            "inputs": "topics" if recipe.spec.inputs == "topics" and known_enough else "text",
            "policy": recipe.policy.name,
            "counts": dict(counts),
            "labels": dict(labels),
            "reasons": dict(reasons),
            "template_text": looked.meta["template_text"],
            "seconds": round(perf_counter() - started, 3),
        }

    return store.write(tables.REDACTED_NOTES, delivery.key, parts(), meta=meta)


def released_type(note: Note, allowed: Collection[str]) -> str:
    """A note's type as it may be shown: one that the site allows, else `other`. At its source it is free text."""
    return note.note_type if note.note_type is not None and note.note_type in allowed else OTHER_TYPE


def _clean_rows(store: NoteStore, delivery: Delivery, recipe: Recipe) -> dict[str, dict[str, Any]]:
    """Rows of the last run that may be taken over, by their cache key."""
    try:
        manifest = store.manifest(tables.REDACTED_NOTES, delivery.key)
        if manifest is None or manifest.meta.get("recipe") != recipe.digest:
            return {}
        rows = store.rows(tables.REDACTED_NOTES, delivery.key)
    except DeidError:
        # A cache that cannot be trusted is no cache.
        return {}
    # A note may have been quarantined for what has passed, such as a worker that was killed.
    return {row["cache_key"]: row for row in rows if row["status"] == CLEAN}


def _looked_at(store: NoteStore, delivery: Delivery) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Raw rows, each with what the first look found in it."""
    raw_rows = store.stream(tables.RAW_NOTES, delivery.key)
    for raw, first in zip_longest(raw_rows, store.stream(tables.FIRST_LOOK, delivery.key)):
        if raw is None or first is None or raw["content_digest"] != first["content_digest"]:
            # Another process took the delivery in again.
            raise DeidError(Code.STORE_TORN, f"{tables.FIRST_LOOK}/{delivery.key}")
        yield raw, first


def _redacted_rows(
    rows: Iterable[tuple[dict[str, Any], dict[str, Any]]],
    known: Mapping[str, dict[str, Any]],
    recipe: Recipe,
    told: Told,
    counts: Counter[str],
) -> Iterator[dict[str, Any]]:
    """Redacted rows in the order of the raw ones."""
    second = SecondLooks(recipe.spec)
    with ExitStack() as work:
        begun = False
        for raw, first in rows:
            others = told.by_others(raw["patient_id"], tables.told_of(first["told"]))
            moved_with = recipe.moved_with(raw["patient_id"]) or ""
            key = recipe.keyring.digest(
                "redacted", raw["content_digest"], recipe.digest, moved_with, *tables.told_parts(others)
            )
            if first["error"] is None and key in known:
                counts["cached"] += 1
                yield known[key]
                continue
            note = tables.from_row(Note, raw)
            row = _redacted_row(note, second.at(note, detection_of(first), others), recipe)
            if not begun and row["status"] == CLEAN:
                # What redacts and checks a note was built for this one.
                work.enter_context(settled())
                begun = True
            yield {**row, "content_digest": raw["content_digest"], "cache_key": key}


def _redacted_row(note: Note, detection: Detection, recipe: Recipe) -> dict[str, Any]:
    """One redacted row; quarantined, with a reason and without text, if any stage fails or anything leaks."""
    known_as = recipe.patients(note)
    row: dict[str, Any] = {
        "note_id": note.note_id,
        "patient_id": note.patient_id,
        "encounter_id": note.encounter_id,
        "provider_id": note.provider_id,
        "note_type": released_type(note, recipe.note_types),
        "note_year": None,
        "shifted_date": None,
        "shift_key": recipe.shift_key(note.patient_id),
        "language": released_language(note.language),
        "words": len(word_offsets(note.text)),
        "with_roster": bool(known_as),
        "text": None,
        "status": QUARANTINED,
        "spans": [],
        "lengths": [],
    }
    if recipe.rosters_incomplete and not known_as:
        return {**row, "reason": "roster-lost"}
    if detection.error is not None or detection.spans is None:
        return {**row, "reason": (detection.error or Code.DETECTOR_FAILED).slug}
    try:
        released = recipe.released_date(note, known_as[0].birth_date if known_as else None)
        shown = Released(row["note_type"], row["language"], released.year, released.day, recipe.keyring.site)
        redaction, leaks = redact_and_check(
            note, detection.spans, recipe.leak_check, known_as, surrogates=recipe.surrogates, released=shown
        )
    except Exception:  # whatever it raised, the note does not pass
        return {**row, "reason": Code.REDACTION_FAILED.slug}
    row |= {
        "note_year": released.year,
        "shifted_date": released.day,
        "spans": tables.span_rows(redaction.applied),
        "lengths": redaction.lengths,
    }
    if leaks:
        return {**row, "reason": leak_reason(leaks)}
    return {**row, "text": redaction.text, "status": CLEAN, "reason": None}

"""From raw notes to redacted rows, each checked for leaks before anything leaves the PHI zone.

Belongs here: one delivery through both passes of detection, redaction and the leak check, with quarantine and cache.
Does not belong here: what decides about a row (`refresh/recipe/recipe.py`), how a span is found (`detection/`) or
replaced (`redaction/`), or how a leak is recognised (`leakcheck/`).

A note fails closed: whatever raises, or whatever the leak check finds, its row holds a reason code and no
text, and the rest of the delivery goes on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from time import perf_counter
from typing import Any, NamedTuple

import pyarrow as pa

from deid_platform.detection.two_pass import PatientMentionIndex
from deid_platform.engine.engines import Engine
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Indirect
from deid_platform.notes import Delivery, Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.derived import topics_digest
from deid_platform.refresh.datasets.reuse import LastRun, only_new, rows_before
from deid_platform.refresh.evidence.patient_mentions import first_pass_digests, told_until
from deid_platform.refresh.evidence.repeated_dates import repeated_dates, repeated_digest, shared_keys
from deid_platform.refresh.evidence.shifts import shifts_digest
from deid_platform.refresh.recipe.note_types import released_type
from deid_platform.refresh.recipe.recipe import Recipe
from deid_platform.refresh.redact.decisions import InForce, held_or_mended
from deid_platform.refresh.redact.first_pass import detection_of, run_first_pass
from deid_platform.refresh.redact.row import Item, RedactionJob
from deid_platform.refresh.topics.as_of import later_digest, patients_digests
from deid_platform.store import Manifest, NoteStore
from deid_platform.warehouse.gate.staging import Status

NOTHING_DECIDED = InForce()
KNOWN = ("with_roster", "with_birth_date", "with_number")
"""Columns that say what the topics know of a note's patient."""
CLEAN, QUARANTINED = Status.CLEAN.value, Status.QUARANTINED.value


def deidentify(
    delivery: Delivery,
    *,
    store: NoteStore,
    recipe: Recipe,
    engine: Engine,
    progress: Callable[[int], None] | None = None,
    rulings: InForce = NOTHING_DECIDED,
) -> Manifest:
    """Writes a delivery's redacted rows and returns their manifest, whose `meta` holds the counts.

    What was found and clean rows are taken over where note, recipe and what the patient's other notes tell are those
    of an earlier run, so that a second run costs only what changed, and the run after one that was killed only what
    that had not written. What was quarantined is tried again.

    Args:
        delivery: Whose raw notes lie in the store.
        store: Read and written.
        recipe: Detector, policy and keys.
        engine: Where detection and redaction run.
        progress: Called with the number of notes done since the last call.
        rulings: What people decided about quarantined notes.

    Raises:
        DeidError: `not-materialized` if the delivery was not taken in.
    """
    started = perf_counter()
    first_pass = run_first_pass(delivery, store=store, recipe=recipe, engine=engine, progress=progress)
    told = told_until(store, delivery, recipe.keyring)
    repeated = repeated_dates(store, delivery.feed) if recipe.policy.shifts_dates else frozenset[int]()
    last_run = _clean_rows(store, delivery, recipe)
    counts: Counter[str] = Counter(detected_before=first_pass.meta["counts"].get("cached", 0))
    labels: Counter[str] = Counter()
    indirect: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    languages: defaultdict[str, Counter[str]] = defaultdict(Counter)
    raw = store.required(tables.RAW_NOTES, delivery.key)

    def parts() -> Iterator[pa.Table]:
        keyed = _keyed(_after_first_pass(store, delivery), recipe, told.index, rulings, repeated)
        rows = _redacted_rows(keyed, last_run, partial(engine.run, RedactionJob(recipe)), counts)
        for batch in tables.batched(rows, tables.NOTES_A_BLOCK):
            for row in batch:
                counts[row["status"]] += 1
                counts["words"] += row["words"]
                counts.update(what for what in KNOWN if row[what])
                labels.update(span["label"] for span in row["spans"])
                if row["status"] == CLEAN:
                    indirect.update(each["category"] for each in row.get("indirect") or ())
                for code in row["languages"]:
                    languages[code][_by_language(row, recipe)] += 1
                if row["reason"]:
                    reasons[row["reason"]] += 1
            yield pa.Table.from_pylist(batch, schema=tables.REDACTED_SCHEMA)

    def meta() -> Mapping[str, Any]:
        known_enough = counts["with_roster"] >= recipe.min_roster_share * raw.rows
        return {
            **recipe.digests,
            "recipe": recipe.digest,
            # Of the file of offsets from outside by which dates are moved, where there is one.
            "offsets": None if recipe.given is None else recipe.given.digest,
            "reported": sorted(recipe.reported_by_digest),
            "found": first_pass_digests(store, delivery, recipe.keyring)[delivery],
            "told": told.digest,
            "shifts": shifts_digest(store, delivery, recipe),
            "repeated_dates": repeated_digest(store, delivery, recipe, repeated),
            "rulings": rulings.digest,
            "later": later_digest(store, delivery),
            "patients": patients_digests(store, [delivery])[delivery],
            "files": raw.meta["files"],
            "release": recipe.release,
            "inputs": "topics" if recipe.spec.inputs == "topics" and known_enough else "text",
            "policy": recipe.policy.name,
            "local_words": len(recipe.spec.local_words),
            "counts": dict(counts),
            "labels": dict(labels),
            # In the notes that are released, whatever the policy does with them; None: nobody looked.
            "indirect": None if recipe.spec.indirect is None else {it.value: indirect[it.value] for it in Indirect},
            "reasons": dict(reasons),
            # By language, of which a note may hold more than one.
            "languages": {code: dict(counted) for code, counted in languages.items()},
            "languages_for": recipe.spec.inputs,
            "languages_accepted": sorted(recipe.languages),
            "gold_files": recipe.gold_files,
            "template_text": first_pass.meta["template_text"],
            "seconds": round(perf_counter() - started, 3),
        }

    manifest = store.write(tables.REDACTED_NOTES, delivery.key, parts(), meta=meta, resumable=True)
    if recipe.upserts is not None:
        topics_digest(store, delivery.key, recipe.upserts, lambda: recipe.digests["dictionary_digest"])
    return manifest


def _by_language(row: Mapping[str, Any], recipe: Recipe) -> str:
    """What became of a note, as languages are counted: the gate asks what was measured of those that are `clean`."""
    if row["reason"] == Code.LANGUAGE_UNMEASURED.slug:
        return "withheld"
    # Two people read it and let it pass.
    return "read" if row["status"] == CLEAN and recipe.unmeasured(row["languages"]) else str(row["status"])


def _clean_rows(store: NoteStore, delivery: Delivery, recipe: Recipe) -> LastRun:
    """Rows of earlier runs that may be taken over, by their cache key."""
    same = lambda manifest: manifest.meta.get("recipe") == recipe.digest  # noqa: E731
    rows = rows_before(store, tables.REDACTED_NOTES, delivery.key, of_use=same)
    # A note may have been quarantined for what has passed, such as a worker that was killed.
    # In a language that is not measured any more; a row of before languages were told is of another recipe.
    clean = (row for row in rows if row["status"] == CLEAN and not recipe.unmeasured(row.get("languages") or ("?",)))
    return LastRun.of(clean, spool=store.spool)


def _after_first_pass(store: NoteStore, delivery: Delivery) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Raw rows, each with what the first pass found in it."""
    raw_rows = store.stream(tables.RAW_NOTES, delivery.key)
    for raw, first in zip_longest(raw_rows, store.stream(tables.FIRST_PASS, delivery.key)):
        if raw is None or first is None or raw["content_digest"] != first["content_digest"]:
            # Another process took the delivery in again.
            raise DeidError(Code.STORE_TORN, f"{tables.FIRST_PASS}/{delivery.key}")
        yield raw, first


class _Key(NamedTuple):
    """A note by what decides its redacted row."""

    cache_key: str
    content_digest: str


def _keyed(
    rows: Iterable[tuple[dict[str, Any], dict[str, Any]]],
    recipe: Recipe,
    index: PatientMentionIndex,
    rulings: InForce,
    repeated: frozenset[int],
) -> Iterator[tuple[str | None, _Key, Item]]:
    """Notes after the first pass, for `only_new`; where the detector failed there is nothing to take over."""
    for raw, first in rows:
        note = tables.from_row(Note, raw)
        read = index.after_first_pass(note, detection_of(first))
        held, mended = held_or_mended(
            rulings.by_note.get(note.note_id), raw["content_digest"], recipe.digests["detector_digest"]
        )
        moved_with = recipe.moved_with(note.patient_id) or ""
        decided = [] if mended is None else ["mended", mended.digest(recipe.keyring)]
        if reported := recipe.reported_in.get(note.note_id):
            decided += ["reported", *reported]
        public = _shared(note, read.detection.spans, repeated)
        decided += ["public", *(str(place) for place in public)] if public else []
        key = recipe.keyring.digest(
            "redacted",
            raw["content_digest"],
            recipe.digest,
            moved_with,
            *decided,
            *tables.mention_parts(read.by_others),
        )
        item = Item(read, released_type(note.note_type, recipe.note_types), held, mended, public)
        # A clean row of before must not take the place of one that people hold.
        yield None if first["error"] is not None or held is not None else key, _Key(key, raw["content_digest"]), item


def _shared(note: Note, spans: Sequence[Span] | None, repeated: frozenset[int]) -> tuple[tuple[int, int], ...]:
    """Where a note's dates stand that the notes of many patients share."""
    if not repeated or not spans:
        return ()
    return tuple((span.start, span.end) for span, key, _ in shared_keys(note.text, spans) if key in repeated)


def _redacted_rows(
    keyed: Iterable[tuple[str | None, _Key, Item]],
    last_run: LastRun,
    redact: Callable[[Iterable[Item]], Iterator[dict[str, Any]]],
    counts: Counter[str],
) -> Iterator[dict[str, Any]]:
    """Redacted rows in the order of the raw ones."""
    for key, row in only_new(keyed, last_run, redact):
        if row is None:
            counts["cached"] += 1
            yield last_run[key.cache_key]
        else:
            yield {**row, **key._asdict(), "status": CLEAN if row["reason"] is None else QUARANTINED}

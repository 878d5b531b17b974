"""From raw notes to redacted rows, each checked for leaks before anything leaves the PHI zone.

Belongs here: one delivery through detection, redaction and the leak check, with quarantine and cache.
Does not belong here: how a span is found (`detection/`), replaced (`redaction/`) or a leak recognised
(`evaluation/leaks`).

A note fails closed: whatever raises, or whatever the leak check finds, its row holds a reason code and no
text, and the rest of the delivery goes on.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from deid_platform.detection import DetectorSpec
from deid_platform.detection.patterns.templates import TemplateCounts
from deid_platform.engine import Detection, LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.leaks import LeakCheck, Released
from deid_platform.evaluation.tokens import word_offsets
from deid_platform.keys import Keyring, package_digest
from deid_platform.languages import released_language
from deid_platform.notes import Delivery, Note, Patient, Topics
from deid_platform.redaction.policy import Policy
from deid_platform.redaction.redact import redact
from deid_platform.redaction.structured import released_date
from deid_platform.refresh import tables
from deid_platform.store import Manifest, NoteStore
from deid_platform.warehouse.expectations import OTHER_TYPE
from deid_platform.warehouse.staging import Status

if TYPE_CHECKING:
    from deid_platform.surrogates.stand_in import Surrogates

CLEAN, QUARANTINED = Status.CLEAN.value, Status.QUARANTINED.value


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what a note's redacted row looks like.

    Attributes:
        spec: The detector and its topics.
        policy: What replaces an identifier.
        keyring: The site's keys.
        note_types: Types that research may see by name; any other becomes `other`, since a type is free
            text at its source.
        rosters_incomplete: Whether rows of the patients topic were lost on their way in. Then a note whose
            patient has no row is quarantined: nobody can tell what its patient is called.
        min_roster_share: Least share of notes whose patient must be in the topics for the delivery to count
            as detected with topics; below it, only the scores on text alone speak for it.
        reported: Strings that somebody found in the clear and reported: a note that shows one leaks.
    """

    spec: DetectorSpec
    policy: Policy
    keyring: Keyring
    note_types: tuple[str, ...] = ()
    rosters_incomplete: bool = False
    min_roster_share: float = 0.95
    reported: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def digests(self) -> dict[str, str]:
        """The digests that each note version carries."""
        return {
            "detector_digest": self.spec.detector_digest,
            "dictionary_digest": self.spec.dictionary_digest(self.keyring),
            "policy_digest": self.policy.digest,
            "key_id": self.keyring.key_id,
        }

    @cached_property
    def digest(self) -> str:
        """Keyed digest of all that decides a row but the note: when it changes, every row is made anew."""
        return self.keyring.digest(
            "recipe",
            *self.digests.values(),
            # What passed an older leak check has not passed this one.
            package_digest("deid_platform.evaluation.leaks"),
            self.keyring.digest("reported", *sorted(self.reported)),
            *self.note_types,
            str(self.rosters_incomplete),
            str(self.min_roster_share),
        )

    @property
    def release(self) -> str:
        """The release that a note redacted this way belongs to."""
        return release_name(self.spec, self.policy, self.keyring)

    @cached_property
    def leak_check(self) -> LeakCheck:
        """Looks for what is left of anybody in the topics, and of what was reported."""
        return LeakCheck.of(self.spec.topics or Topics(), self.policy, reported=self.reported)

    @cached_property
    def surrogates(self) -> Surrogates | None:
        """Who stands in for whom under the site's secret; None where the policy wants nobody to."""
        if not self.policy.uses_surrogates:
            return None
        from deid_platform.surrogates.stand_in import Surrogates  # deferred: pools of names, which few policies need

        return Surrogates(self.keyring, self.spec.topics)

    def patients(self, note: Note) -> tuple[Patient, ...]:
        """All that the topics say, and once said, of a note's patient; empty if they do not know them."""
        return self.spec.topics.patients_known_as(note.patient_id) if self.spec.topics else ()


def release_name(spec: DetectorSpec, policy: Policy, keyring: Keyring) -> str:
    """Names a release: another detector, policy or secret is another one, never a mixture.

    The dictionaries are not part of it, since they grow with every delivery.
    """
    return "r_" + keyring.digest("release", spec.detector_digest, policy.digest, keyring.key_id)[:12]


def deidentify(
    delivery: Delivery,
    *,
    store: NoteStore,
    recipe: Recipe,
    engine: LocalEngine,
    progress: Callable[[int], None] | None = None,
) -> Manifest:
    """Writes a delivery's redacted rows and returns their manifest, whose `meta` holds the counts.

    Clean rows whose note and recipe are those of the last run are taken over, so that a second run costs only
    what changed. What was quarantined is tried again.

    Args:
        delivery: Whose raw notes lie in the store.
        store: Read and written.
        recipe: Detector, policy and keys.
        engine: Where detection runs.
        progress: Called with the number of notes done since the last call.

    Raises:
        DeidError: `not-materialized` if the delivery was not taken in.
    """
    known = _clean_rows(store, delivery, recipe)
    counts: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    reused: list[TemplateCounts] = []
    started = perf_counter()
    raw = store.required(tables.RAW_NOTES, delivery.key)

    def parts() -> Iterator[pa.Table]:
        raw_rows = store.stream(tables.RAW_NOTES, delivery.key)
        rows = _redacted_rows(raw_rows, known, recipe, engine, counts, progress, reused.append)
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
            "files": raw.meta["files"],
            "release": recipe.release,
            "inputs": "topics" if recipe.spec.inputs == "topics" and known_enough else "text",
            "policy": recipe.policy.name,
            "counts": dict(counts),
            "labels": dict(labels),
            "reasons": dict(reasons),
            "template_text": asdict(sum(reused, TemplateCounts())),
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


def _redacted_rows(
    raw_rows: Iterable[dict[str, Any]],
    known: Mapping[str, dict[str, Any]],
    recipe: Recipe,
    engine: LocalEngine,
    counts: Counter[str],
    progress: Callable[[int], None] | None,
    reuse: Callable[[TemplateCounts], None],
) -> Iterator[dict[str, Any]]:
    """Redacted rows in the order of the raw ones, all new notes in one stream through the engine."""
    # The engine reads ahead by a few batches; what it has read waits here for its spans.
    waiting: deque[tuple[dict[str, Any], str]] = deque()

    def unknown() -> Iterator[Note]:
        for raw in raw_rows:
            key = recipe.keyring.digest("redacted", raw["content_digest"], recipe.digest)
            waiting.append((raw, key))
            if key not in known:
                yield tables.from_row(Note, raw)

    def cached() -> Iterator[dict[str, Any]]:
        while waiting and waiting[0][1] in known:
            counts["cached"] += 1
            yield known[waiting.popleft()[1]]

    for detection in engine.detect(recipe.spec, unknown(), on_batch=progress, on_reuse=reuse):
        yield from cached()
        raw, key = waiting.popleft()
        row = _redacted_row(tables.from_row(Note, raw), detection, recipe)
        yield {**row, "content_digest": raw["content_digest"], "cache_key": key}
    yield from cached()


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
        birth_date = known_as[0].birth_date if known_as else None
        released = released_date(note, recipe.policy, recipe.keyring, birth_date=birth_date, topics=recipe.spec.topics)
        redaction = redact(note, detection.spans, recipe.policy, birth_date=birth_date, surrogates=recipe.surrogates)
        lengths = [len(replacement) for replacement in redaction.replacements]
        shown = Released(row["note_type"], row["language"], released.year, released.day, recipe.keyring.site)
        leaks = recipe.leak_check.check(note, known_as, redaction.text, redaction.applied, shown, lengths=lengths)
    except Exception:  # whatever it raised, the note does not pass
        return {**row, "reason": "redaction-failed"}
    row |= {
        "note_year": released.year,
        "shifted_date": released.day,
        "spans": tables.span_rows(redaction.applied),
        "lengths": lengths,
    }
    if leaks:
        return {**row, "reason": f"leak-{leaks[0].kind.value}"}
    return {**row, "text": redaction.text, "status": CLEAN, "reason": None}

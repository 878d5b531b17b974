"""Rounds: which notes of the sample people are given, and the tasks that they get.

Belongs here: beginning a round and handing its notes out. Does not belong here: taking annotations back
(`returned.py`), or what is disputed (`adjudication.py`).

The notes of a round are fixed when it begins, so that both annotators get the same ones. They come in the order of
their keys, which has nothing to do with that of the source; the first of them are as good a sample as the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import pyarrow as pa

from deid_platform.bench.gate.annotated import text_digest
from deid_platform.corpora.formats.labelstudio import Prediction, Task, write_tasks
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Note
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.deliveries import deliveries_of
from deid_platform.refresh.hiding.departed import who_left
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.topics.as_of import topics_as_of
from deid_platform.store import NoteStore


class Role(StrEnum):
    """Who annotates, as far as anybody is told."""

    A = "A"
    B = "B"
    ADJUDICATOR = "adjudicator"


ANNOTATORS = (Role.A, Role.B)


@dataclass(frozen=True, slots=True)
class RoundNote:
    """One note of a round. Its keyed name may be shown, its id may not."""

    key: str
    feed: str
    delivery: str
    note_id: str
    text_digest: str

    def __repr__(self) -> str:
        return f"<RoundNote {self.key}>"


@dataclass(frozen=True, slots=True)
class HandedOut:
    """What an export holds: notes, and notes of the round that have changed or left since it began."""

    notes: int
    left_out: int


def rounds(store: NoteStore) -> list[int]:
    """The rounds that were begun, in order."""
    return sorted(map(int, store.partitions(tables.ANNOTATION_ROUNDS)))


def known_round(store: NoteStore, number: int | None) -> int:
    """A round that was begun; without a number the newest one.

    Raises:
        DeidError: `round-unknown` with those that there are.
    """
    begun = rounds(store)
    if not begun or (number is not None and number not in begun):
        raise DeidError(Code.ROUND_UNKNOWN, ", ".join(map(str, begun)) or "none")
    return begun[-1] if number is None else number


def notes_of_round(store: NoteStore, number: int) -> dict[str, RoundNote]:
    """The notes of a round by their keys, in their order."""
    rows = store.stream(tables.ANNOTATION_ROUNDS, str(number))
    found = (RoundNote(r["note_key"], r["feed"], r["delivery"], r["note_id"], r["text_digest"]) for r in rows)
    return {note.key: note for note in found}


def begin(site: Site, number: int, *, most: int | None = None) -> int:
    """Fixes the notes of a round, unless it was begun before: notes of the sample that were in no other round.

    Args:
        site: The installation.
        number: Of the round.
        most: The most notes that it may have.

    Returns:
        How many notes the round has.

    Raises:
        DeidError: `not-materialized` if no sample was drawn, `input-empty` if none of its notes is left.
    """
    store = site.store
    if number in rounds(store):
        return store.required(tables.ANNOTATION_ROUNDS, str(number)).rows
    before = {(n.feed, n.note_id) for other in rounds(store) for n in notes_of_round(store, other).values()}
    sampled = store.rows(tables.TEST_SET, tables.ALL)
    left = [row for row in sampled if (row["feed"], row["note_id"]) not in before]
    keyed = sorted((site.note_key(row["feed"], row["note_id"]), row) for row in left)
    texts = {note_key: note.text for note_key, note in notes_at(site, [(key, row) for key, row in keyed])}
    chosen = [(key, row) for key, row in keyed if key in texts][:most]
    if not chosen:
        raise DeidError(Code.INPUT_EMPTY, "no note of the sample is left")
    rows = [{**row, "note_key": key, "text_digest": text_digest(site.keyring, texts[key])} for key, row in chosen]
    table = pa.Table.from_pylist(rows, schema=tables.ROUND_SCHEMA)
    store.write(tables.ANNOTATION_ROUNDS, str(number), [table], meta=lambda: {"notes": len(rows)})
    return len(rows)


def hand_out(
    site: Site,
    number: int,
    path: Path,
    *,
    role: Role | None = None,
    predicted: bool = False,
    progress: Callable[[int], None] | None = None,
) -> HandedOut:
    """Writes the tasks of a round for its annotators: PHI, in a file that its owner alone can read.

    Args:
        site: The installation.
        number: Of the round.
        path: The file.
        role: For whom; None for a project that both annotators work in.
        predicted: Whether tasks show what the configured detector finds. Annotators tend to agree with what they are
            shown, so a blind round is what measures a detector.
        progress: Called with the number of notes done since the last call.

    Raises:
        DeidError: `round-unknown`; `output-unusable`.
    """
    members = notes_of_round(site.store, number)
    notes = current_notes(site, members)
    found = predictions(site, members, notes, progress) if predicted else {}
    meta = task_meta(number, role)
    tasks = (Task(key, note.text, meta, found.get(key, ())) for key, note in notes.items())
    return HandedOut(write_tasks(tasks, path), len(members) - len(notes))


def task_meta(number: int, role: Role | None) -> dict[str, str | int]:
    """What comes back with a task, so that nobody has to say it again."""
    return {"round": number} if role is None else {"round": number, "role": role.value}


def unchanged(site: Site, member: RoundNote, text: str) -> bool:
    """Whether a text is the one that the round began with, under the secret of today or of then."""
    return any(text_digest(ring, text) == member.text_digest for ring in site.keyrings)


def current_notes(site: Site, members: Mapping[str, RoundNote]) -> dict[str, Note]:
    """The notes of a round that are still as they were, by key, in order; without those that have left since."""
    rows = [(m.key, {"feed": m.feed, "delivery": m.delivery, "note_id": m.note_id}) for m in members.values()]
    found = {key: note for key, note in notes_at(site, rows) if unchanged(site, members[key], note.text)}
    return {key: found[key] for key in members if key in found}


def notes_at(site: Site, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, Note]]:
    """Notes by their keys from the deliveries that hold them, but for those that were withdrawn or are excluded."""
    exclusions, left = site.exclusions, who_left(site)
    wanted: dict[str, dict[str, str]] = {}
    for key, row in rows:
        wanted.setdefault(row["delivery"], {})[row["note_id"]] = key
    arrived = set(site.store.partitions(tables.RAW_NOTES))
    for each, ids in sorted(wanted.items()):
        if each not in arrived:
            continue
        delivery = Delivery.parse(each)
        for row in site.store.stream(tables.RAW_NOTES, each):
            if row["note_id"] in ids and not left.has(delivery, row["note_id"], row["patient_id"]):
                note = tables.from_row(Note, row)
                if exclusions.reason(note) is None:
                    yield ids[note.note_id], note


def _newest(store: NoteStore, feed: str) -> Delivery:
    """The newest delivery of a feed whose notes are in the store."""
    return deliveries_of(store, tables.RAW_NOTES, feed)[-1]


def predictions(
    site: Site, members: Mapping[str, RoundNote], notes: Mapping[str, Note], progress: Callable[[int], None] | None
) -> dict[str, tuple[Prediction, ...]]:
    """What the configured detector finds, with the newest topics of each note's feed."""
    found: dict[str, tuple[Prediction, ...]] = {}
    for feed in sorted({members[key].feed for key in notes}):
        topics = topics_as_of(site.store, _newest(site.store, feed))
        spec = site.spec(topics)
        mine = {key: note for key, note in notes.items() if members[key].feed == feed}
        detections = site.engine.detect_in_two_passes(spec, lambda mine=mine: mine.values(), on_batch=progress)  # type: ignore[misc]
        for key, (_, detection) in zip(mine, detections, strict=True):
            found[key] = (Prediction(spec.detector_digest, tuple(sorted(detection.spans or ()))),)
    return found

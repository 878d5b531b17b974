"""Notes that people mark so that a model becomes the site's own: drawing them, handing them out, taking them back.

Belongs here: which notes are drawn, what each serves, and what people marked. Does not belong here: how unsure a model
is (`training/uncertainty.py`), training and comparing (`own_model.py`), or the bench's gold (`rounds.py`).

One person marks a note. Notes to learn from are those of which the model is least sure, and may show what the detector
finds; notes for the thresholds and for the comparison are drawn by lot and are blind, since people tend to accept what
they are shown. No note is drawn that the bench measures on or that a round of annotation holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from pathlib import Path
from typing import Any

import pyarrow as pa

from deid_platform.annotation.returned import Answer, answer_of, answer_rows, exports, only_answer
from deid_platform.annotation.rounds import (
    RoundNote,
    current_notes,
    notes_at,
    notes_of_round,
    predictions,
    rounds,
    unchanged,
)
from deid_platform.bench.annotated import text_digest
from deid_platform.bench.eligible import population
from deid_platform.bench.training import measured_on
from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.formats.gold_files import gold_files, refused
from deid_platform.corpora.formats.labelstudio import Task, write_tasks
from deid_platform.corpora.formats.labelstudio_export import read_tasks
from deid_platform.corpora.formats.marked import ENDING, GOLD, marked_notes
from deid_platform.corpora.gold import SCHEME, Gold
from deid_platform.corpora.schemes import scheme_of
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Note, Span
from deid_platform.refresh import tables
from deid_platform.refresh.site import Site
from deid_platform.review.quarantine import Queue
from deid_platform.training.plan import text_digest as plain_digest_of
from deid_platform.training.uncertainty import SHARES, Drawable, Part, drawn, part_of, uncertainty

POOL = 2000
"""Of so many notes, drawn by lot, it is told how unsure the model is."""
_META: Mapping[str, str | int] = {"adapt": "site"}


@dataclass(frozen=True, slots=True, repr=False)
class Member:
    """A drawn note, and what it serves."""

    note: RoundNote
    part: Part

    def __repr__(self) -> str:
        return f"<Member {self.note.key}>"


@dataclass(frozen=True, slots=True)
class Marked:
    """A note with what a person marked in it."""

    member: Member
    note: Note = field(repr=False)
    spans: tuple[Span, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken back: annotations, those of them that were skipped, and what could not be used."""

    notes: int
    skipped: int
    refused: tuple[Rejection, ...] = field(default=(), repr=False)


def draw(
    site: Site, most: int, *, pool: int = POOL, progress: Callable[[int], object] = lambda _: None
) -> dict[str, Member]:
    """Draws notes for people to mark, and keeps which ones.

    Args:
        site: The installation.
        most: How many are wanted: three in five to learn from, one in five for each of the other parts.
        pool: Of how many notes it is asked how unsure the model is.
        progress: Called with the number of notes done since the last call.

    Returns:
        The new notes by their keys, in the order in which they are worth marking. Fewer than wanted if a part has no
        more.

    Raises:
        DeidError: `not-materialized` if no sample was drawn yet: nobody could tell which notes are measured on;
            `input-empty` if no note is left; `settings-invalid` for a detector without a model.
    """
    models = _models(site)
    rows = _pool(site, pool)
    measured = measured_on(site)
    texts: dict[str, Note] = {}
    notes: list[Drawable] = []
    for key, note in notes_at(site, rows):
        progress(1)
        if text_digest_of(note) in measured:
            continue
        texts[key] = note
        patient = note.patient_id or key
        unsure = 0.0
        if part_of(patient) is Part.LEARN:
            unsure = max(uncertainty(model, note.text) for model in models)
        notes.append(Drawable(key, patient, note.note_type or "", unsure))
    chosen = [(note.key, part) for part in Part for note in _of_part(notes, part, most)]
    if not chosen:
        raise DeidError(Code.INPUT_EMPTY, "no note outside the test set is left")
    where = dict(rows)
    made = {
        key: Member(RoundNote(key, **where[key], text_digest=text_digest(site.keyring, texts[key].text)), part)
        for key, part in chosen
    }
    _keep_members(site, made)
    return made


def _of_part(notes: Sequence[Drawable], part: Part, most: int) -> list[Drawable]:
    mine = [note for note in notes if part_of(note.patient) is part]
    wanted = max(1, round(most * SHARES[part]))
    # Keys have nothing to do with what a note says: their order is a lot.
    return drawn(mine, wanted) if part is Part.LEARN else sorted(mine, key=lambda it: it.key)[:wanted]


def _models(site: Site) -> list[TokenClassifier]:
    """The models of the detector that is configured."""
    spec = site.spec(None)
    folders = [model.folder for model in spec.chosen_models().values() if model.folder is not None]
    if not folders:
        raise DeidError(Code.SETTINGS_INVALID, "detection.detector: it has no model")
    return [TokenClassifier(folder, professions=spec.professions) for folder in folders]


def _pool(site: Site, most: int) -> list[tuple[str, dict[str, str]]]:
    """Notes that may be drawn, by lot, first those of patients of whom no note is measured on."""
    store = site.store
    sampled = {f"{row['feed']}/{row['note_id']}" for row in store.rows(tables.TEST_SET, tables.ALL)}
    annotated = (note for number in rounds(store) for note in notes_of_round(store, number).values())
    before = (member.note for member in members(site).values())
    taken = sampled | {f"{it.feed}/{it.note_id}" for some in (annotated, before) for it in some}
    every = population(site)
    patients = {note.patient_id for note, _ in every.named(sampled).values()} - {None}
    lots = (
        (note.patient_id in patients, _key(site, note.note_id), note.note_id)
        for note in every
        if note.note_id not in taken
    )
    drawn_names = [(key, name) for _, key, name in nsmallest(most, lots)]
    found = every.named([name for _, name in drawn_names])
    return [(key, _where(name, found[name][1])) for key, name in drawn_names]


def _key(site: Site, name: str) -> str:
    feed, _, note_id = name.partition("/")
    return site.note_key(feed, note_id)


def _where(name: str, delivery: Delivery) -> dict[str, str]:
    return {"feed": delivery.feed, "delivery": delivery.key, "note_id": name.removeprefix(f"{delivery.feed}/")}


def hand_out(
    site: Site, some: Mapping[str, Member], path: Path, *, as_text: bool = False, blind: bool = False
) -> tuple[int, int]:
    """Writes drawn notes for people to mark: PHI, that its owner alone can read.

    Args:
        site: The installation.
        some: Which.
        path: A file of tasks for Label Studio, or a folder of marked text.
        as_text: Whether it is the latter.
        blind: Whether notes to learn from do not show what the detector finds; the others never do.

    Returns:
        How many notes were written, and how many were not, because they changed or cannot be written as marked text.

    Raises:
        DeidError: `output-unusable`.
    """
    notes = current_notes(site, {key: member.note for key, member in some.items()})
    if as_text:
        notes = {key: note for key, note in notes.items() if not set(note.text) & set("⟦⟧")}
    shown = {} if blind else {key: note for key, note in notes.items() if some[key].part is Part.LEARN}
    found = predictions(site, {key: some[key].note for key in shown}, shown, None) if shown else {}
    if as_text:
        spans = {key: of[0].spans for key, of in found.items()}
        count = GOLD.write((_unmarked(key, note, spans.get(key, ())) for key, note in notes.items()), path)
    else:
        count = write_tasks((Task(key, note.text, _META, found.get(key, ())) for key, note in notes.items()), path)
    return count, len(some) - count


def _unmarked(key: str, note: Note, spans: tuple[Span, ...]) -> Gold:
    bare = Note(key, note.text, language=note.language)
    return Gold(key, spans, note=bare)


def take(site: Site, paths: Sequence[Path]) -> Taken:
    """Takes marked notes back; one that comes again replaces the former one.

    Args:
        site: The installation.
        paths: Exports of Label Studio, files of marked text, or folders of either.

    Raises:
        DeidError: `gold-missing` if a file is not there.
    """
    known = members(site)
    standing = frozenset(current_notes(site, {key: member.note for key, member in known.items()}))
    taken: dict[str, Answer] = {}
    refusals: list[Rejection] = []
    for ordinal, path in enumerate(paths):
        for place, key, text, answer in _read(path, ordinal, refusals):
            member = known.get(key)
            reason: Reason | None = None
            if member is None:
                reason = Reason.UNKNOWN_NOTE
            elif key not in standing or not unchanged(site, member.note, text):
                reason = Reason.CHANGED_TEXT
            elif key in taken:
                reason = Reason.DUPLICATE_NOTE_ID
            elif isinstance(answer, Reason):
                reason = answer
            else:
                taken[key] = answer
            if reason is not None:
                refusals.append(refused(ordinal, place, reason, key if member else None))
    _keep_answers(site, taken)
    return Taken(len(taken), sum(answer.skipped for answer in taken.values()), tuple(refusals))


_Read = tuple[int, str, str, Answer | Reason]


def _read(path: Path, ordinal: int, refusals: list[Rejection]) -> Iterator[_Read]:
    """Place, key, text and answer of each note of a file or a folder."""
    _, texts = gold_files(path, lambda name: name.endswith(ENDING))
    if path.suffix == ENDING or (path.is_dir() and texts):
        for place, item in enumerate(marked_notes(path, scheme=SCHEME), start=1):
            if isinstance(item, Rejection):
                refusals.append(refused(ordinal, place, item.reason, None))
            elif item.gold.note is not None:
                yield place, item.gold.note_id, item.gold.note.text, Answer(item.gold.spans)
        return
    for file in exports([path]):
        for task in read_tasks(file, scheme_of(SCHEME), ordinal=ordinal):
            if isinstance(task, Rejection):
                refusals.append(task)
            else:
                yield task.place, task.key, task.text, only_answer(task)


def take_mended(site: Site) -> Taken:
    """Takes what people mended in the quarantine queue, to learn from, where their decision counts.

    A note of a patient whose notes serve another part is left aside, and so is one that the bench measures on.

    Raises:
        DeidError: `warehouse-unreachable`.
    """
    measured = measured_on(site)
    added: dict[str, Member] = {}
    answers: dict[str, Answer] = {}
    for held, spans in Queue(site).mended():
        note = held.note
        if part_of(note.patient_id or held.key) is not Part.LEARN or text_digest_of(note) in measured:
            continue
        where = {"feed": held.delivery.feed, "delivery": held.delivery.key, "note_id": note.note_id}
        digest = text_digest(site.keyring, note.text)
        added[held.key] = Member(RoundNote(held.key, **where, text_digest=digest), Part.LEARN)
        answers[held.key] = Answer(spans)
    _keep_members(site, added)
    _keep_answers(site, answers)
    return Taken(len(answers), 0)


def text_digest_of(note: Note) -> str:
    """Names a note by its text, as `measured_on` does."""
    return plain_digest_of(note.text)


def members(site: Site) -> dict[str, Member]:
    """Every note that was drawn, by key."""
    names = ("feed", "delivery", "note_id", "text_digest")
    return {
        row["note_key"]: Member(RoundNote(row["note_key"], *(row[name] for name in names)), Part(row["part"]))
        for row in _rows(site, tables.ADAPTATION_NOTES)
    }


def unmarked(site: Site) -> dict[str, Member]:
    """The drawn notes that nobody has given back."""
    given = {row["note_key"] for row in _rows(site, tables.ADAPTATION_SPANS)}
    return {key: member for key, member in members(site).items() if key not in given}


def marked(site: Site) -> list[Marked]:
    """The drawn notes that came back and are still as they were, without those that were skipped."""
    answers = {row["note_key"]: answer_of(row) for row in _rows(site, tables.ADAPTATION_SPANS)}
    known = {key: it for key, it in members(site).items() if key in answers and not answers[key].skipped}
    notes = current_notes(site, {key: member.note for key, member in known.items()})
    return [Marked(known[key], note, answers[key].spans) for key, note in notes.items()]


def _rows(site: Site, dataset: str) -> list[dict[str, Any]]:
    there = site.store.manifest(dataset, tables.ALL) is not None
    return site.store.rows(dataset, tables.ALL) if there else []


def _keep_members(site: Site, added: Mapping[str, Member]) -> None:
    every = {**members(site), **added}
    names = ("feed", "delivery", "note_id", "text_digest")
    rows = [
        {"note_key": key, **{name: getattr(it.note, name) for name in names}, "part": it.part.value}
        for key, it in every.items()
    ]
    _seal(site, tables.ADAPTATION_NOTES, pa.Table.from_pylist(rows, schema=tables.ADAPTATION_SCHEMA))


def _keep_answers(site: Site, answers: Mapping[str, Answer]) -> None:
    every = {row["note_key"]: answer_of(row) for row in _rows(site, tables.ADAPTATION_SPANS)} | dict(answers)
    rows = list(answer_rows(sorted(every.items())))
    _seal(site, tables.ADAPTATION_SPANS, pa.Table.from_pylist(rows, schema=tables.ANNOTATION_SCHEMA))


def _seal(site: Site, dataset: str, table: pa.Table) -> None:
    site.store.write(dataset, tables.ALL, [table], meta=lambda: {"notes": table.num_rows})


def parts(some: Iterable[Member]) -> dict[Part, int]:
    """How many notes serve each part."""
    every = [member.part for member in some]
    return {part: every.count(part) for part in Part}

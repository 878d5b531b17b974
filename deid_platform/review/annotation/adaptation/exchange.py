"""Notes handed out for people to mark, and taken back.

Belongs here: tasks and marked text, and what people mended in the quarantine queue. Does not belong here: their formats
(`corpora/formats`).

Notes to learn from may show what the detector finds. The others are blind, since people tend to accept what they are
shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deid_platform.bench.gate.annotated import text_digest
from deid_platform.bench.leaderboard.training import measured_on
from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.formats.gold_files import gold_files, refused
from deid_platform.corpora.formats.labelstudio import Task, write_tasks
from deid_platform.corpora.formats.labelstudio_export import read_tasks
from deid_platform.corpora.formats.marked import ENDING, GOLD, marked_notes
from deid_platform.corpora.gold import SCHEME, Gold
from deid_platform.corpora.schemes import scheme_of
from deid_platform.notes import Note, Span
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.adaptation.members import Member, keep_answers, keep_members, members
from deid_platform.review.annotation.returned import Answer, exports, only_answer
from deid_platform.review.annotation.rounds import (
    RoundNote,
    current_notes,
    predictions,
    unchanged,
)
from deid_platform.review.quarantine import Queue
from deid_platform.training.plan import text_digest as plain_digest_of
from deid_platform.training.uncertainty import Part, part_of

_META: Mapping[str, str | int] = {"adapt": "site"}


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken back: annotations, those of them that were skipped, and what could not be used."""

    notes: int
    skipped: int
    refused: tuple[Rejection, ...] = field(default=(), repr=False)


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
    keep_answers(site, taken)
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
        if part_of(note.patient_id or held.key) is not Part.LEARN or plain_digest_of(note.text) in measured:
            continue
        where = {"feed": held.delivery.feed, "delivery": held.delivery.key, "note_id": note.note_id}
        digest = text_digest(site.keyring, note.text)
        added[held.key] = Member(RoundNote(held.key, **where, text_digest=digest), Part.LEARN)
        answers[held.key] = Answer(spans)
    keep_members(site, added)
    keep_answers(site, answers)
    return Taken(len(answers), 0)

"""What annotators made of a round: read from Label Studio's export, verified, and kept in the note store.

Belongs here: taking annotations back, and reading them from the store. Does not belong here: the file format
(`corpora/formats/labelstudio_export.py`), or what differs between two annotators (`adjudication.py`).

Each task has to be a note of the round with the text that it was handed out with, and which the note still has. What
cannot be used costs that note's annotation alone. An annotation that comes again takes the place of the former one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.formats.gold_files import gold_files, refused
from deid_platform.corpora.formats.labelstudio_export import Annotated, Returned, read_tasks
from deid_platform.corpora.gold import SCHEME
from deid_platform.corpora.schemes import scheme_of
from deid_platform.notes import Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.rounds import (
    ANNOTATORS,
    Role,
    RoundNote,
    current_notes,
    known_round,
    notes_of_round,
    rounds,
    unchanged,
)
from deid_platform.store import NoteStore


@dataclass(frozen=True, slots=True)
class Answer:
    """What one person made of one note: spans and clinical terms to keep, or nothing because they skipped it."""

    spans: tuple[Span, ...]
    clinical: tuple[tuple[int, int], ...] = ()
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What an import holds.

    Attributes:
        notes: Annotations by round and role.
        skipped: Those of them that were skipped.
        refused: What could not be used; its place is the task's in its file.
    """

    notes: Mapping[tuple[int, Role], int]
    skipped: Mapping[tuple[int, Role], int]
    refused: tuple[Rejection, ...] = field(repr=False)


def take_back(site: Site, paths: Sequence[Path], *, number: int | None = None, role: Role | None = None) -> TakenBack:
    """Reads exports and keeps what can be used.

    Args:
        site: The installation.
        paths: Label Studio's JSON exports.
        number: The round; None if tasks say theirs, or are of the newest. A task that says another is refused.
        role: Who annotated; None if tasks say it. A task that says another is refused. Where nobody says, a task's two
            annotations are those of A and B, in the order of their accounts.

    Raises:
        DeidError: `gold-missing` if a file is not there; `round-unknown`.
    """
    scheme = scheme_of(SCHEME)
    reader = _Reader(site, number, role)
    refusals: list[Rejection] = []
    for ordinal, path in enumerate(exports(paths)):
        for found in read_tasks(path, scheme, ordinal=ordinal):
            if isinstance(found, Rejection):
                refusals.append(found)
            elif reason := reader.take(found):
                refusals.append(refused(ordinal, found.place, reason, found.key))
    for (of, who), answers in reader.taken.items():
        _keep(site.store, of, who, answers)
    skipped = {place: sum(a.skipped for a in answers.values()) for place, answers in reader.taken.items()}
    return TakenBack({place: len(answers) for place, answers in reader.taken.items()}, skipped, tuple(refusals))


def exports(paths: Sequence[Path]) -> list[Path]:
    """The files that are named, and those of folders that are."""
    found = (gold_files(path, lambda name: name.endswith(".json")) for path in paths)
    return [folder / name for folder, names in found for name in names]


class _Reader:
    """Verifies tasks against their rounds and collects the answers."""

    def __init__(self, site: Site, number: int | None, role: Role | None) -> None:
        self.taken: dict[tuple[int, Role], dict[str, Answer]] = {}
        self._site, self._number, self._role = site, number, role
        self._default = known_round(site.store, number)
        self._begun = frozenset(rounds(site.store))
        self._members: dict[int, dict[str, RoundNote]] = {}
        self._standing: dict[int, frozenset[str]] = {}

    def take(self, task: Returned) -> Reason | None:
        """Collects the answers of a task; why not, if they cannot be used."""
        number = task.meta.get("round", self._default)
        said = task.meta.get("role")
        role = Role(said) if isinstance(said, str) and said in tuple(Role) else self._role
        if self._number not in (None, number) or self._role not in (None, role):
            return Reason.HANDED_TO_ANOTHER
        if not isinstance(number, int) or number not in self._begun:
            return Reason.UNKNOWN_NOTE
        if number not in self._members:
            members = notes_of_round(self._site.store, number)
            self._members[number] = members
            self._standing[number] = frozenset(current_notes(self._site, members))
        member = self._members[number].get(task.key)
        if member is None:
            return Reason.UNKNOWN_NOTE
        if member.key not in self._standing[number] or not unchanged(self._site, member, task.text):
            return Reason.CHANGED_TEXT
        answers = _both(task) if role is None else _one(task, role)
        if isinstance(answers, Reason):
            return answers
        if any(task.key in self.taken.get((number, who), ()) for who in answers):
            return Reason.DUPLICATE_NOTE_ID
        for who, answer in answers.items():
            self.taken.setdefault((number, who), {})[task.key] = answer
        return None


def _one(task: Returned, role: Role) -> dict[Role, Answer] | Reason:
    answer = only_answer(task)
    return answer if isinstance(answer, Reason) else {role: answer}


def only_answer(task: Returned) -> Answer | Reason:
    """The one answer to a task that one person was given."""
    final = [it for it in task.annotations if it.ground_truth]
    chosen: Sequence[Annotated] = final if len(task.annotations) > 1 else task.annotations
    if not task.annotations:
        return Answer((), skipped=True) if task.skipped_by else Reason.MISSING_GOLD
    if len(chosen) != 1:
        return Reason.SEVERAL_ANNOTATIONS
    marked = chosen[0].marked
    return marked if isinstance(marked, Reason) else Answer(marked.spans, chosen[0].clinical)


def _both(task: Returned) -> dict[Role, Answer] | Reason:
    """The answers of two people to one task."""
    said: dict[str, Answer | Reason] = {by: Answer((), skipped=True) for by in task.skipped_by}
    said |= {
        it.by: it.marked if isinstance(it.marked, Reason) else Answer(it.marked.spans, it.clinical)
        for it in task.annotations
    }
    if len(said) < len(ANNOTATORS):
        return Reason.MISSING_GOLD
    if len(said) > len(ANNOTATORS) or len({it.by for it in task.annotations}) < len(task.annotations):
        return Reason.SEVERAL_ANNOTATIONS
    answers: dict[Role, Answer] = {}
    for role, by in zip(ANNOTATORS, sorted(said, key=lambda by: (len(by), by)), strict=True):
        answer = said[by]
        if isinstance(answer, Reason):
            return answer
        answers[role] = answer
    return answers


def answers_of(store: NoteStore, number: int, role: Role) -> dict[str, Answer]:
    """What one person made of the notes of a round, by their keys."""
    partition = _partition(number, role)
    if store.manifest(tables.ANNOTATION_SPANS, partition) is None:
        return {}
    rows = store.stream(tables.ANNOTATION_SPANS, partition)
    return {row["note_key"]: answer_of(row) for row in rows}


def answer_of(row: Mapping[str, Any]) -> Answer:
    """The answer in a row of `tables.ANNOTATION_SCHEMA`."""
    clinical = tuple((start, end) for start, end in row["clinical"])
    return Answer(tables.spans_of(row["spans"]), clinical, row["skipped"])


def _keep(store: NoteStore, number: int, role: Role, answers: Mapping[str, Answer]) -> None:
    kept = {**answers_of(store, number, role), **answers}
    table = pa.Table.from_pylist(list(answer_rows(sorted(kept.items()))), schema=tables.ANNOTATION_SCHEMA)
    meta = {"notes": len(kept), "skipped": sum(a.skipped for a in kept.values())}
    store.write(tables.ANNOTATION_SPANS, _partition(number, role), [table], meta=lambda: meta)


def answer_rows(answers: Iterable[tuple[str, Answer]]) -> Iterator[dict[str, object]]:
    """Answers by the keys of their notes as rows of `tables.ANNOTATION_SCHEMA`."""
    for key, answer in answers:
        clinical = [list(term) for term in answer.clinical]
        spans = tables.span_rows(answer.spans)
        yield {"note_key": key, "skipped": answer.skipped, "spans": spans, "clinical": clinical}


def _partition(number: int, role: Role) -> str:
    return f"{number}.{role.value}"

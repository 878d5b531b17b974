"""From two annotators' spans to gold: what they agree on, what a third person decides, and the feed's gold files.

Belongs here: which notes of a round wait for whom, tasks for the adjudicator, and accepting the result. Does not belong
here: the measures of agreement (`evaluation/scores/agreement.py`), or measuring a detector on the gold
(`bench/gate/scoring.py`).

A note's gold is what both annotators marked where they marked the same, else what the adjudicator marked. A note that
the adjudicator skips has none. A difference in clinical terms that must stay visible is no dispute: those that both
marked count. Nothing is accepted while a note waits: the notes that people differ on are the hard ones, and gold
without them would flatter every detector.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from deid_platform.bench.gate.annotated import text_digest
from deid_platform.corpora.formats.gold_files import written_file
from deid_platform.corpora.formats.labelstudio import Prediction, Task, write_tasks
from deid_platform.corpora.gold import Gold, read_gold
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.agreement import PairedNote
from deid_platform.notes import Delivery, Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.returned import Answer, answers_of
from deid_platform.review.annotation.rounds import (
    ANNOTATORS,
    Role,
    RoundNote,
    current_notes,
    known_round,
    notes_of_round,
    rounds,
    task_meta,
)

AGREED = "agreed"
"""What a prediction is called that holds the spans which both annotators marked."""


@dataclass(frozen=True)
class Standing:
    """Where the notes of a round stand, by their keys. Notes that changed since the round began are in none.

    Attributes:
        number: Of the round.
        notes: Those that can be gold.
        waiting: Lack an annotator.
        agreed: Both annotators marked the same.
        disputed: They did not, or one of them skipped the note.
        undecided: Those of the disputed ones that lack the adjudicator.
        answers: By role and key.
    """

    number: int
    notes: Mapping[str, Note] = field(repr=False)
    waiting: tuple[str, ...]
    agreed: tuple[str, ...]
    disputed: tuple[str, ...]
    undecided: tuple[str, ...]
    answers: Mapping[Role, Mapping[str, Answer]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Accepted:
    """What was written as gold: notes and spans, notes that have none, and the deliveries they belong to."""

    notes: int
    spans: int
    left_out: int
    deliveries: tuple[str, ...]


def standing(site: Site, number: int | None = None) -> Standing:
    """Where the notes of a round stand; without a number those of the newest round.

    Raises:
        DeidError: `round-unknown`.
    """
    number = known_round(site.store, number)
    notes = current_notes(site, notes_of_round(site.store, number))
    answers = {role: answers_of(site.store, number, role) for role in Role}
    one, other = (answers[role] for role in ANNOTATORS)
    waiting = tuple(key for key in notes if key not in one or key not in other)
    agreeing = {key: _agree(one[key], other[key]) for key in notes if key in one and key in other}
    disputed = tuple(key for key, agree in agreeing.items() if not agree)
    return Standing(
        number,
        notes,
        waiting=waiting,
        agreed=tuple(key for key, agree in agreeing.items() if agree),
        disputed=disputed,
        undecided=tuple(key for key in disputed if key not in answers[Role.ADJUDICATOR]),
        answers=answers,
    )


def _agree(one: Answer, other: Answer) -> bool:
    return not one.skipped and not other.skipped and _places(one.spans) == _places(other.spans)


def _places(spans: tuple[Span, ...]) -> set[tuple[int, int, str]]:
    return {(span.start, span.end, span.label.value) for span in spans}


def paired(found: Standing) -> list[PairedNote]:
    """The notes that both annotators answered and neither skipped."""
    one, other = (found.answers[role] for role in ANNOTATORS)
    return [
        PairedNote(key, found.notes[key].text, one[key].spans, other[key].spans)
        for key in (*found.agreed, *found.disputed)
        if not one[key].skipped and not other[key].skipped
    ]


def newest_paired(site: Site) -> Standing:
    """The newest round that has a note which both annotators answered, else the newest round.

    Raises:
        DeidError: `round-unknown` if none was begun.
    """
    begun = [standing(site, number) for number in reversed(rounds(site.store))]
    return next((found for found in begun if paired(found)), begun[0] if begun else standing(site))


def hand_to_adjudicator(site: Site, number: int | None, path: Path) -> int:
    """Writes the disputed notes that nobody has decided yet, with both annotators' spans; returns how many.

    Each task shows three predictions: the spans that both marked, to begin with, and those of each annotator. They are
    predictions and no annotation, so that a task which nobody opened does not come back as decided.

    Raises:
        DeidError: `round-unknown`; `output-unusable`.
    """
    found = standing(site, number)
    return write_tasks((_task(found, key) for key in found.undecided), path)


def _task(found: Standing, key: str) -> Task:
    one, other = (found.answers[role][key] for role in ANNOTATORS)
    shown = {AGREED: _common(one, other), Role.A.value: one, Role.B.value: other}
    predictions = tuple(Prediction(model, it.spans, it.clinical) for model, it in shown.items())
    return Task(key, found.notes[key].text, task_meta(found.number, Role.ADJUDICATOR), predictions)


def _common(one: Answer, other: Answer) -> Answer:
    """What both marked."""
    spans = tuple(span for span in one.spans if _places((span,)) <= _places(other.spans))
    return Answer(spans, tuple(term for term in one.clinical if term in other.clinical))


def accept(site: Site, number: int | None = None) -> Accepted:
    """Writes the gold of a round into the gold folders of its feeds, beside the gold of other notes there.

    Raises:
        DeidError: `round-unknown`; `annotation-incomplete` with the number of notes that wait; `settings-invalid` if a
            feed has no gold folder; `output-unusable`; what `read_gold` raises on gold that is there.
    """
    found = standing(site, number)
    waiting = len(found.waiting) + len(found.undecided)
    if waiting or not found.notes:
        raise DeidError(Code.ANNOTATION_INCOMPLETE, f"round {found.number}: {waiting:,} of {len(found.notes):,} notes")
    members = notes_of_round(site.store, found.number)
    by_delivery: dict[str, dict[str, Answer]] = {}
    for key in found.notes:
        by_delivery.setdefault(members[key].delivery, {})[members[key].note_id] = _gold(found, key)
    folders = {key: _folder(site, Delivery.parse(key)) for key in by_delivery}
    for key, gold in by_delivery.items():
        _write(folders[key] / f"{Delivery.parse(key).watermark}.jsonl.gz", gold)
    kept = {key: note for key, note in found.notes.items() if not _gold(found, key).skipped}
    _record(site, [(members[key], note.text) for key, note in kept.items()])
    spans = sum(len(_gold(found, key).spans) for key in found.notes)
    left_out = len(members) - len(kept)
    return Accepted(len(kept), spans, left_out, tuple(sorted(by_delivery)))


def _gold(found: Standing, key: str) -> Answer:
    """What a note's gold is; skipped if the adjudicator left it out."""
    one, other = (found.answers[role][key] for role in ANNOTATORS)
    return _common(one, other) if _agree(one, other) else found.answers[Role.ADJUDICATOR][key]


def _folder(site: Site, delivery: Delivery) -> Path:
    gold = site.feed(delivery.feed).gold
    if gold is None:
        raise DeidError(Code.SETTINGS_INVALID, f"feeds.{delivery.feed}.gold")
    folder = site.settings.path(gold)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise DeidError(Code.OUTPUT_UNUSABLE, "the gold folder cannot be made") from None
    return folder


def _write(path: Path, gold: Mapping[str, Answer]) -> None:
    """Replaces the gold of these notes in a file; a skipped one has none any more."""
    others = [g for g in read_gold(path) if g.note_id not in gold] if path.exists() else []
    ours = [Gold(note_id, it.spans, it.clinical) for note_id, it in gold.items() if not it.skipped]
    with written_file(path) as stream:
        stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in _lines([*others, *ours]))


def _lines(notes: list[Gold]) -> Iterator[dict[str, object]]:
    for gold in notes:
        row: dict[str, object] = {"note_id": gold.note_id}
        row["spans"] = [[span.start, span.end, span.label.value] for span in gold.spans]
        if gold.clinical:
            row["clinical"] = [list(term) for term in gold.clinical]
        yield row


def _record(site: Site, members: list[tuple[RoundNote, str]]) -> None:
    """Keeps which notes have accepted gold, and for which text: the bench measures on them whatever its sample of that
    day, as long as they have it.
    """
    store = site.store
    known = store.manifest(tables.ANNOTATION_ACCEPTED, tables.ALL) is not None
    before = store.rows(tables.ANNOTATION_ACCEPTED, tables.ALL) if known else []
    rows = {(r["feed"], r["delivery"], r["note_id"]): r for r in before}
    for m, text in members:
        row = {"feed": m.feed, "delivery": m.delivery, "note_id": m.note_id}
        known_by = {"text_digest": text_digest(site.keyring, text), "key_id": site.keyring.key_id}
        rows[m.feed, m.delivery, m.note_id] = row | known_by
    table = pa.Table.from_pylist(list(rows.values()), schema=tables.ACCEPTED_SCHEMA)
    store.write(tables.ANNOTATION_ACCEPTED, tables.ALL, [table], meta=lambda: {"notes": len(rows)})

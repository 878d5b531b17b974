"""The notes that were drawn, what each serves, and what people marked in them, as the note store keeps them.

Belongs here: reading and keeping them. Does not belong here: drawing (`drawing.py`), or what people are handed and give
back (`exchange.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from deid_platform.notes import Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.returned import Answer, answer_of, answer_rows
from deid_platform.review.annotation.rounds import (
    RoundNote,
    current_notes,
)
from deid_platform.training.uncertainty import Part


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


def parts(some: Iterable[Member]) -> dict[Part, int]:
    """How many notes serve each part."""
    every = [member.part for member in some]
    return {part: every.count(part) for part in Part}


def keep_members(site: Site, added: Mapping[str, Member]) -> None:
    """Adds drawn notes, by key."""
    every = {**members(site), **added}
    names = ("feed", "delivery", "note_id", "text_digest")
    rows = [
        {"note_key": key, **{name: getattr(it.note, name) for name in names}, "part": it.part.value}
        for key, it in every.items()
    ]
    _seal(site, tables.ADAPTATION_NOTES, pa.Table.from_pylist(rows, schema=tables.ADAPTATION_SCHEMA))


def keep_answers(site: Site, answers: Mapping[str, Answer]) -> None:
    """Adds what people marked, by key; what comes again replaces the former."""
    every = {row["note_key"]: answer_of(row) for row in _rows(site, tables.ADAPTATION_SPANS)} | dict(answers)
    rows = list(answer_rows(sorted(every.items())))
    _seal(site, tables.ADAPTATION_SPANS, pa.Table.from_pylist(rows, schema=tables.ANNOTATION_SCHEMA))


def _rows(site: Site, dataset: str) -> list[dict[str, Any]]:
    there = site.store.manifest(dataset, tables.ALL) is not None
    return site.store.rows(dataset, tables.ALL) if there else []


def _seal(site: Site, dataset: str, table: pa.Table) -> None:
    site.store.write(dataset, tables.ALL, [table], meta=lambda: {"notes": table.num_rows})

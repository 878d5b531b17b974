"""Rounds of review: which removals people are given, each with the text around it.

Belongs here: drawing a round and reading it. Does not belong here: what reviewers say (`decisions.py`).

A removal is a run of words of one detected span, none of which touches gold. The round keeps what stood there and
around it, so that all reviewers see the same whatever the bench does later: PHI, in the note store.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pyarrow as pa

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.tokens import touched, word_offsets
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.refresh import tables
from deid_platform.refresh.site import Site
from deid_platform.store import NoteStore

CONTEXT = 240
"""Characters shown on each side, unless a round shows whole notes."""


@dataclass(frozen=True, slots=True)
class Removal:
    """One removal. Its key may be shown outside the PHI zone, the rest may not.

    Attributes:
        removal: Its key.
        label: What the detector takes it for.
        start: Where it begins in the note, in code points.
        end: Where it ends, exclusive.
        patient: Keyed; None where the note names none.
        hidden: What the policy hides of the text shown, in the note's code points.
    """

    removal: str
    note_id: str = field(repr=False)
    patient_id: str | None = field(repr=False)
    patient: str | None = field(repr=False)
    note_type: str | None = field(repr=False)
    label: str
    start: int
    end: int
    before: str = field(repr=False)
    removed: str = field(repr=False)
    after: str = field(repr=False)
    hidden: tuple[Span, ...] = field(default=(), repr=False)

    @property
    def text(self) -> str:
        """All that is shown."""
        return self.before + self.removed + self.after

    @property
    def origin(self) -> int:
        """Where in the note it begins."""
        return self.start - len(self.before)

    def words(self, span: Span) -> str:
        """What stands at a place of the note, as far as it is shown."""
        return self.text[max(0, span.start - self.origin) : span.end - self.origin]

    def row(self) -> dict[str, object]:
        """It as a row of `tables.REVIEW_SCHEMA`."""
        return {**{f.name: getattr(self, f.name) for f in fields(self)}, "hidden": tables.span_rows(self.hidden)}

    @classmethod
    def of(cls, row: dict[str, Any]) -> Removal:
        """What a row says."""
        return cls(**{**row, "hidden": tables.spans_of(row.get("hidden"))})


def rounds(store: NoteStore) -> list[int]:
    """The rounds that were drawn, in order."""
    return sorted(map(int, store.partitions(tables.REVIEW_ROUNDS)))


def known_round(store: NoteStore, number: int | None) -> int:
    """A round that was drawn; without a number the newest one.

    Raises:
        DeidError: `review-unknown` with those that there are.
    """
    drawn = rounds(store)
    if not drawn or (number is not None and number not in drawn):
        raise DeidError(Code.REVIEW_UNKNOWN, ", ".join(map(str, drawn)) or "none")
    return drawn[-1] if number is None else number


def start(site: Site, sample: int, *, whole_notes: bool = False) -> tuple[int, int, int]:
    """Draws a round from the bench's gold notes: removals that were in no other round, each as likely as any other.

    Args:
        site: The installation.
        sample: How many.
        whole_notes: Whether readers see the whole note of each, not `CONTEXT` characters on each side.

    Returns:
        The round's number, its removals, and how many there were to draw from.

    Raises:
        DeidError: `not-materialized` if the bench has not run, `input-empty` if nothing is left to draw.
    """
    store = site.store
    drawn = rounds(store)
    before = {row["removal"] for number in drawn for row in store.stream(tables.REVIEW_ROUNDS, str(number))}
    left = [found for found in removals(site, None if whole_notes else CONTEXT) if found.removal not in before]
    if not left:
        raise DeidError(Code.INPUT_EMPTY, "no removal outside gold is left")
    number = (drawn or [0])[-1] + 1
    # By their keys, which follow from the secret: an order that nobody chose, and the same if the draw is repeated.
    left.sort(key=lambda found: found.removal)
    chosen = random.Random(number).sample(left, min(sample, len(left)))  # noqa: S311 - a sample
    table = pa.Table.from_pylist([found.row() for found in chosen], schema=tables.REVIEW_SCHEMA)
    meta = {"drawn_from": len(left), "detector": site.spec(None).detector_digest}
    store.write(tables.REVIEW_ROUNDS, str(number), [table], meta=lambda: meta)
    return number, len(chosen), len(left)


def removals_of_round(site: Site, number: int) -> dict[str, Removal]:
    """The removals of a round by their keys, in order; without those of notes and patients that left since."""
    store = site.store
    left = {
        (column, row[column])
        for partition in store.partitions(tables.WITHDRAWALS)
        for row in store.stream(tables.WITHDRAWALS, partition)
        for column in ("note_id", "patient_id")
        if row[column] is not None and not row["rejoined"]
    }
    found = {}
    for row in store.stream(tables.REVIEW_ROUNDS, str(number)):
        # The name of the feed is not known here: a number that any feed withdraws is not shown.
        gone = {("note_id", row["note_id"]), ("patient_id", row["patient_id"])} & left
        note = Note(row["note_id"], "", patient_id=row["patient_id"], note_type=row["note_type"])
        if not gone and site.exclusions.reason(note) is None:
            found[row["removal"]] = Removal.of(row)
    return found


def removals(site: Site, context: int | None = CONTEXT) -> Iterator[Removal]:
    """Every removal in the bench's gold notes, with the detector's topics, that the policy makes and no gold marks."""
    store = site.store
    detected = {
        row["note_id"]: tables.spans_of(row["spans"])
        for row in store.stream(tables.DETECTIONS, tables.ALL)
        if row["inputs"] == "topics"
    }
    for row in store.stream(tables.GOLD_NOTES, tables.ALL):
        note = tables.from_row(Note, row)
        hidden = [span for span in detected.get(note.note_id, ()) if site.policy.hidden(span.label)]
        for begin, end, label in outside_gold(note.text, hidden, tables.spans_of(row["gold"])):
            yield _removal(site, note, Span(begin, end, label), hidden, context)


def outside_gold(text: str, hidden: list[Span], gold: tuple[Span, ...]) -> Iterator[tuple[int, int, Label]]:
    """Runs of consecutive words of one hidden span that touch no gold: start, end, label."""
    words = word_offsets(text)
    true = touched(words, [(span.start, span.end) for span in gold])
    for span in hidden:
        run: list[tuple[int, int]] = []
        for (begin, end), is_true, inside in zip(
            words.tolist(), true, touched(words, [(span.start, span.end)]), strict=True
        ):
            if inside and not is_true:
                run.append((max(begin, span.start), min(end, span.end)))
            elif run:
                yield run[0][0], run[-1][1], span.label
                run = []
        if run:
            yield run[0][0], run[-1][1], span.label


def _removal(site: Site, note: Note, span: Span, hidden: Sequence[Span], context: int | None) -> Removal:
    text = note.text
    begin, end = span.start, span.end
    low, high = (0, len(text)) if context is None else (max(0, begin - context), min(len(text), end + context))
    return Removal(
        site.keyring.digest("review", note.note_id, text, str(begin), str(end)),
        note.note_id,
        note.patient_id,
        site.keyring.key("patient", note.patient_id) if note.patient_id else None,
        note.note_type,
        span.label.value,
        begin,
        end,
        text[low:begin],
        text[begin:end],
        text[end:high],
        tuple(
            Span(max(it.start, low), min(it.end, high), it.label) for it in hidden if it.start < high and low < it.end
        ),
    )

"""Rounds of review: which removals people are given, each with the text around it.

Belongs here: drawing a round and reading it. Does not belong here: what reviewers say (`decisions.py`).

A removal is a run of words of one detected span, none of which touches gold, if the note has any. The round keeps what
stood there and around it, so that all reviewers see the same whatever the bench does later: PHI, in the note store.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from typing import Any

import pyarrow as pa

from deid_platform.bench.gate.held_out import of_bench
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.tokens import touched, word_offsets
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.review.sources import GOLD, READ, Source
from deid_platform.store import NoteStore
from deid_platform.warehouse.gate.staging import Inputs

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


@dataclass(frozen=True, slots=True)
class DrawnWith:
    """What the figures of a round are of.

    Attributes:
        name: Of the detector whose removals they are.
        detector: Its digest.
        policy: Digest of the policy that hides them.
        gold: What does not mark them; `READ` where there is none.
        held_out_set: Digest of the notes with their gold; empty where there is none.
        inputs: Whether the detector was given topics.
    """

    name: str
    detector: str
    policy: str
    gold: str
    held_out_set: str
    inputs: str = Inputs.TOPICS.value

    @classmethod
    def now(cls, site: Site, source: Source) -> DrawnWith | None:
        """As the bench or the delivery has it; None where figures would be of nothing that a release is made with.

        So of a file, whose notes somebody chose, of another system's release, and of a delivery that another detector
        or policy redacted.
        """
        if source.delivery is not None:
            meta, spec = site.store.required(tables.REDACTED_NOTES, source.delivery).meta, site.spec(None)
            of = (meta.get("detector_digest"), meta.get("policy_digest"))
            if of != (spec.detector_digest, site.policy.digest):
                return None
            return cls(spec.name, spec.detector_digest, site.policy.digest, READ, "", meta["inputs"])
        if source.name != GOLD:
            return None
        found, held_out = site.store.required(tables.DETECTIONS, tables.ALL), of_bench(site)
        return cls(
            site.spec(None).name, found.meta["detector_digest"], site.policy.digest, held_out.gold, held_out.digest
        )

    @classmethod
    def of_round(cls, store: NoteStore, number: int) -> DrawnWith | None:
        """As the round says; None of one that an earlier version drew."""
        said = store.required(tables.REVIEW_ROUNDS, str(number)).meta.get("drawn_with")
        return None if said is None else cls(**said)


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


def start(site: Site, sample: int, *, whole_notes: bool = False, source: Source | None = None) -> tuple[int, int, int]:
    """Draws a round: removals that were in no other round, each as likely as any other.

    Args:
        site: The installation.
        sample: How many.
        whole_notes: Whether readers see the whole note of each, not `CONTEXT` characters on each side.
        source: The notes; by default the bench's gold notes.

    Returns:
        The round's number, its removals, and how many there were to draw from.

    Raises:
        DeidError: `not-materialized` if the bench has not run or the delivery was not redacted, `input-empty` if
            nothing is left to draw.
    """
    store = site.store
    chosen_from = source or Source()
    drawn_with = DrawnWith.now(site, chosen_from)
    drawn = rounds(store)
    before = {row["removal"] for number in drawn for row in store.stream(tables.REVIEW_ROUNDS, str(number))}
    number = (drawn or [0])[-1] + 1
    left = 0

    def ranked() -> Iterator[Removal]:
        nonlocal left
        for found in removals(site, chosen_from, number, None if whole_notes else CONTEXT):
            if found.removal not in before:
                left += 1
                yield found

    # By a digest of keys, which follow from the secret: an order that nobody chose, the same if the draw is repeated,
    # and no more than the sample is held.
    chosen = heapq.nsmallest(sample, ranked(), key=lambda found: _rank(number, found.removal))
    if not chosen:
        raise DeidError(Code.INPUT_EMPTY, "no removal is left")
    table = pa.Table.from_pylist([found.row() for found in chosen], schema=tables.REVIEW_SCHEMA)
    meta = {
        "drawn_from": left,
        "detector": chosen_from.digest(site),
        "drawn_with": drawn_with and asdict(drawn_with),
        "source": chosen_from.name,
        "rate": chosen_from.rate,
        "whole_notes": whole_notes,
    }
    store.write(tables.REVIEW_ROUNDS, str(number), [table], meta=lambda: meta)
    return number, len(chosen), left


def _rank(number: int, removal: str) -> bytes:
    return sha256(f"{number} {removal}".encode()).digest()


def source_of(store: NoteStore, number: int) -> str:
    """What a round was drawn from: `gold`, `notes`, `released`, `released_gold` or a delivery.

    Those of earlier versions were all of gold.
    """
    return str(store.required(tables.REVIEW_ROUNDS, str(number)).meta.get("source", GOLD))


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


def removals(site: Site, source: Source, number: int, context: int | None = CONTEXT) -> Iterator[Removal]:
    """Every removal in the notes of a source that the policy, or another system, makes and no gold marks."""
    # Another system's removal is another one: a former round of ours has not shown it.
    system = () if source.released is None else (source.digest(site),)
    for it in source.notes(site, number):
        hidden = [span for span in it.found if system or site.policy.hidden(span.label)]
        for begin, end, label in outside_gold(it.note.text, hidden, it.gold):
            yield _removal(site, it.note, Span(begin, end, label), hidden, context, system)


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


def _removal(
    site: Site, note: Note, span: Span, hidden: Sequence[Span], context: int | None, system: Sequence[str]
) -> Removal:
    text = note.text
    begin, end = span.start, span.end
    low, high = (0, len(text)) if context is None else (max(0, begin - context), min(len(text), end + context))
    return Removal(
        site.keyring.digest("review", note.note_id, text, str(begin), str(end), *system),
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

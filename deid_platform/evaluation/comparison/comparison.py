"""Detectors side by side on the same notes: what each hides, what the others hide too, and where they differ.

Belongs here: counts and disagreements, from the places that each detector hides in each note, with gold or without it.
Does not belong here: running detectors (`side_by_side.py`), or how any of it is shown (`reports/comparison/`).

A word (`evaluation/scores/tokens.py`) is hidden by a detector that hides any character of it, under whatever label, as
in `evaluation/scores/scores.py`. Without gold nobody is right: agreement says how alike two detectors are, not how
good. Each word on which not all agree, gold among them if there is any, is in one place of one group, so that the words
of all groups add up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deid_platform.evaluation.comparison.claimed import count_claimed
from deid_platform.evaluation.scores.agreement import Kappa, cohen
from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Estimate, Resampling, Table, column
from deid_platform.evaluation.scores.paired import Difference, difference
from deid_platform.evaluation.scores.scores import NoteCounts, Scores, count_note, summarise
from deid_platform.evaluation.scores.tokens import Offsets, word_offsets, words_between
from deid_platform.labels import Label
from deid_platform.notes import Span

ALL = frozenset(Label)


class Hidden(NamedTuple):
    """A place that a detector hides: code points, end exclusive.

    Attributes:
        start: First code point.
        end: One past the last.
        label: The likeliest label.
        may_be: The labels that the detector says it may be; none where it claims none of ours.
    """

    start: int
    end: int
    label: Label
    may_be: frozenset[Label]

    @classmethod
    def of(cls, span: Span) -> Hidden:
        """A span of a detector that knows our labels."""
        return cls(span.start, span.end, span.label, frozenset((span.label,)))


@dataclass(frozen=True, slots=True)
class Compared:
    """One detector of a comparison.

    Attributes:
        name: As it was asked for.
        inputs: `topics` if it uses the institution's topics, else `text`.
        labels: Those that it looks for.
        failed_on: The notes on which it failed, by their number from 0; nothing counts as hidden there.
        remarks: What else is counted of it, by what it is: failures by their code, drift of a rewriting.
    """

    name: str
    inputs: str = "text"
    labels: frozenset[Label] = ALL
    failed_on: frozenset[int] = frozenset()
    remarks: Mapping[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """On how many notes it failed."""
        return len(self.failed_on)


@dataclass(frozen=True, slots=True, repr=False)
class ComparedNote:
    """One note with what each detector hides in it.

    Attributes:
        text: The note's.
        hidden: Of each detector, in any order; places may overlap.
        gold: What is an identifier; None without gold.
        clinical: Start and end of terms that must survive.
        cluster: Whose note it is, for resampling by patient; None makes the note a cluster of its own.
    """

    text: str
    hidden: Sequence[Sequence[Hidden]]
    gold: Sequence[Span] | None = None
    clinical: Sequence[tuple[int, int]] = ()
    cluster: str | None = None

    def __repr__(self) -> str:
        return "<ComparedNote>"


@dataclass(frozen=True, slots=True)
class OnShared:
    """A detector beside the first one, on the labels that both look for (`claimed.py`).

    Attributes:
        labels: How many these are.
        scores: The detector's on them.
        first: Those of the first detector on them.
        recall: The detector's less that of the first.
        precision: Likewise.
    """

    labels: int
    scores: Scores
    first: Scores
    recall: Difference
    precision: Difference


@dataclass(frozen=True, slots=True)
class WithoutFailed:
    """A detector on the notes on which it did not fail, as Murugadoss 2024 leaves failed documents out.

    Attributes:
        notes: How many these are.
        scores: The detector's on them.
        first: Those of the first detector on them.
    """

    notes: int
    scores: Scores
    first: Scores


@dataclass(frozen=True, slots=True)
class Scored:
    """A detector against gold.

    Attributes:
        scores: On all labels and all notes: on a note on which it failed, all is missed.
        recall: Its recall less that of the first detector; None of the first itself.
        precision: Likewise.
        shared: The same on the labels that both look for; None where these are all labels.
        without_failed: On all labels, without the notes on which it failed; None where there are none.
    """

    scores: Scores
    recall: Difference | None = None
    precision: Difference | None = None
    shared: OnShared | None = None
    without_failed: WithoutFailed | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """What one detector hides.

    Attributes:
        detector: Which one.
        words: Words that it hides.
        shared: The share of them that all others hide too.
        alone: Those that no other hides.
        alone_by_label: These by label: of spans that share a word, the first one's.
        scored: Against gold; None without.
    """

    detector: Compared
    words: int
    shared: Estimate
    alone: int
    alone_by_label: Mapping[Label, int]
    scored: Scored | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """How far two detectors agree, by their numbers from 0; the interval is over patients."""

    one: int
    other: int
    kappa: Kappa


@dataclass(frozen=True, slots=True)
class Place:
    """Words next to one another that the same spans hide.

    Attributes:
        note: The number of the note, from 0.
        start: First code point.
        end: One past the last.
        words: How many words.
        labels: By each detector; None by one that hides nothing there.
        gold: Gold's label; None without gold, or where it is no identifier.
    """

    note: int
    start: int
    end: int
    words: int
    labels: tuple[Label | None, ...]
    gold: Label | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """All places that the same detectors hide, where not all of them agree.

    Attributes:
        hides: Whether each detector does.
        gold: Whether gold says that these are identifiers; None without gold.
        words: Words in them.
        places: In the order of the notes.
    """

    hides: tuple[bool, ...]
    gold: bool | None
    words: int
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Detectors side by side.

    Attributes:
        notes: How many notes.
        words: Words in them.
        identifiers: Spans of gold; None without gold.
        rows: By detector.
        pairs: Each two of them.
        groups: Where they differ, the group of most words first.
    """

    notes: int
    words: int
    identifiers: int | None
    rows: tuple[Row, ...]
    pairs: tuple[Pair, ...]
    groups: tuple[Group, ...]


def compare(
    detectors: Sequence[Compared], notes: Sequence[ComparedNote], *, resamples: int = RESAMPLES, seed: int = 0
) -> Comparison:
    """Compares detectors on notes; the first one is what the others are measured against.

    Args:
        detectors: At least two.
        notes: All with gold, or none.
        resamples: Bootstrap resamples over patients.
        seed: Of the resampling.

    Raises:
        DeidError: `span-bounds` if a place reaches outside its text and there is gold to score it against.
    """
    pairs = list(combinations(range(len(detectors)), 2))
    groups: dict[tuple[bool, ...], list[Place]] = defaultdict(list)
    alone_by_label: list[Counter[Label]] = [Counter() for _ in detectors]
    rows: list[list[int]] = []
    total = 0
    for number, note in enumerate(notes):
        words = word_offsets(note.text)
        total += len(words)
        which = _covering(words, note)
        hidden = which[: len(detectors)] >= 0
        finders = hidden.sum(axis=0)
        rows.append(_counts(hidden, finders, pairs))
        for at, (spans, labels) in enumerate(zip(note.hidden, alone_by_label, strict=True)):
            labels.update(spans[index].label for index in which[at][hidden[at] & (finders == 1)])
        for pattern, place in _places(number, note, words, which):
            groups[pattern].append(place)
    gold = bool(notes) and notes[0].gold is not None
    width = 3 * len(detectors)
    table = np.array(rows, dtype=np.float64).reshape(len(notes), width + 4 * len(pairs))
    found = Resampling(table, [note.cluster for note in notes], resamples=resamples, seed=seed)
    scored = _scored(detectors, notes, resamples, seed) if gold else [None] * len(detectors)
    return Comparison(
        notes=len(notes),
        words=total,
        identifiers=sum(len(note.gold or ()) for note in notes) if gold else None,
        rows=tuple(
            Row(
                detector,
                words=int(found.totals[3 * at]),
                shared=found.share(column(3 * at + 1), column(3 * at)),
                alone=int(found.totals[3 * at + 2]),
                alone_by_label={label: labels[label] for label in Label if label in labels},
                scored=against,
            )
            for at, (detector, labels, against) in enumerate(zip(detectors, alone_by_label, scored, strict=True))
        ),
        pairs=tuple(Pair(*pair, _kappa(found, width + 4 * at)) for at, pair in enumerate(pairs)),
        groups=_grouped(groups, len(detectors)),
    )


_Which = npt.NDArray[np.int64]


def _covering(words: Offsets, note: ComparedNote) -> _Which:
    """By detector, and in a last row by gold if there is any: the span that has each word, -1 for none.

    Of spans that share a word the first in the text has it, and of those the first in their list.
    """
    finders: list[Sequence[Hidden | Span]] = [*note.hidden, *(() if note.gold is None else (note.gold,))]
    which = np.full((len(finders), len(words)), -1, dtype=np.int64)
    for row, spans in zip(which, finders, strict=True):
        for index in sorted(range(len(spans)), key=lambda i: (spans[i].start, i), reverse=True):
            first, last = words_between(words, spans[index].start, spans[index].end)
            row[first:last] = index
    return which


def _counts(hidden: npt.NDArray[np.bool_], finders: npt.NDArray[np.int64], pairs: list[tuple[int, int]]) -> list[int]:
    """Of each detector words, those that all hide, those that it alone does; of each pair the four cells of kappa."""
    everybody = finders == len(hidden)
    counts = [int(marks.sum()) for row in hidden for marks in (row, row & everybody, row & (finders == 1))]
    for a, b in pairs:
        one, other = hidden[a], hidden[b]
        counts += [int(marks.sum()) for marks in (one & other, one & ~other, other & ~one, ~one & ~other)]
    return counts


def _places(number: int, note: ComparedNote, words: Offsets, which: _Which) -> Iterator[tuple[tuple[bool, ...], Place]]:
    """The runs of words on which not all agree, each with who hides it, gold last."""
    marks = which >= 0
    finders = marks.sum(axis=0)
    split = (finders > 0) & (finders < len(marks))
    edges = np.flatnonzero((which[:, 1:] != which[:, :-1]).any(axis=0)) + 1
    for first, last in zip((0, *edges), (*edges, len(words)), strict=True):
        if first == last or not split[first]:
            continue
        spans = which[:, first]
        labels = tuple(
            None if index < 0 else places[index].label for index, places in zip(spans, note.hidden, strict=False)
        )
        gold = None if note.gold is None or spans[-1] < 0 else note.gold[spans[-1]].label
        start, end = int(words[first, 0]), int(words[last - 1, 1])
        pattern = tuple(bool(mark) for mark in marks[:, first])
        yield pattern, Place(number, start, end, int(last - first), labels, gold)


def _grouped(found: Mapping[tuple[bool, ...], Sequence[Place]], detectors: int) -> tuple[Group, ...]:
    groups = [
        Group(
            pattern[:detectors],
            pattern[detectors] if len(pattern) > detectors else None,
            sum(place.words for place in places),
            tuple(places),
        )
        for pattern, places in found.items()
    ]
    return tuple(sorted(groups, key=lambda group: (-group.words, not group.gold, [not it for it in group.hides])))


def _kappa(found: Resampling, base: int) -> Kappa:
    def of(totals: Table) -> Table:
        return cohen(totals[..., base : base + 4])

    measured = found.of(of, 0)
    both, one, other, neither = (int(count) for count in found.totals[base : base + 4])
    return Kappa(measured.value, measured.low, measured.high, both, one, other, neither)


def _scored(
    detectors: Sequence[Compared], notes: Sequence[ComparedNote], resamples: int, seed: int
) -> list[Scored | None]:
    less = partial(difference, resamples=resamples, seed=seed)
    whole = [_against_gold(notes, at) for at in range(len(detectors))]
    scored: list[Scored | None] = []
    for at, counts in enumerate(whole):
        scores = summarise(counts, resamples=resamples, seed=seed)
        answered = None
        if failed := detectors[at].failed_on:
            kept = [number for number in range(len(notes)) if number not in failed]
            mine, first = (
                summarise([of[number] for number in kept], resamples=resamples, seed=seed) for of in (counts, whole[0])
            )
            answered = WithoutFailed(len(kept), mine, first)
        if at == 0:
            scored.append(Scored(scores, without_failed=answered))
            continue
        labels = detectors[0].labels & detectors[at].labels
        shared = None
        if labels and labels != ALL:
            its, firsts = (_on_labels(notes, which, labels) for which in (at, 0))
            shared = OnShared(
                len(labels),
                summarise(its, resamples=resamples, seed=seed),
                summarise(firsts, resamples=resamples, seed=seed),
                less(its, firsts, "recall"),
                less(its, firsts, "precision"),
            )
        differences = (less(counts, whole[0], "recall"), less(counts, whole[0], "precision"))
        scored.append(Scored(scores, *differences, shared, answered))
    return scored


def _against_gold(notes: Sequence[ComparedNote], at: int) -> list[NoteCounts]:
    return [
        count_note(
            note.text,
            note.gold or (),
            [Span(hidden.start, hidden.end, hidden.label) for hidden in note.hidden[at]],
            clinical=note.clinical,
            cluster=note.cluster,
        )
        for note in notes
    ]


def _on_labels(notes: Sequence[ComparedNote], at: int, labels: frozenset[Label]) -> list[NoteCounts]:
    return [
        count_claimed(
            note.text,
            note.gold or (),
            [(it.start, it.end) for it in note.hidden[at]],
            [(it.start, it.end) for it in note.hidden[at] if it.may_be & labels],
            labels,
            cluster=note.cluster,
        )
        for note in notes
    ]

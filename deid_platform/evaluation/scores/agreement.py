"""How far two people who annotated the same notes agree, and where they do not.

Belongs here: agreement between two annotators, from their spans alone. Does not belong here: who they are and which
notes they had (`review/annotation/`), or a detector against gold (`scores.py`).

Neither annotator is the truth, so every measure is the same with the two exchanged. F1 of spans needs no count of what
neither marked, which has no natural number (Hripcsak and Rothschild 2005, JAMIA 12:296). Cohen's kappa (1960, Educ
Psychol Meas 20:37) corrects for chance and needs one: there, every word that neither marked (`tokens.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from deid_platform.evaluation.scores.tokens import touched, word_offsets
from deid_platform.labels import Label
from deid_platform.notes import Span

RESAMPLES = 1000


@dataclass(frozen=True, slots=True, repr=False)
class PairedNote:
    """One note with the spans of both annotators.

    Attributes:
        key: A keyed name of the note, which may be shown.
        text: The note's.
        one: Spans of the first annotator.
        other: Spans of the second.
    """

    key: str
    text: str
    one: tuple[Span, ...]
    other: tuple[Span, ...]

    def __repr__(self) -> str:
        return "<PairedNote>"


class Kind(StrEnum):
    """How two annotations differ."""

    ONLY_ONE = "only_one"
    """The first annotator alone marked something here."""
    ONLY_OTHER = "only_other"
    BOUNDARIES = "boundaries"
    """Both gave the same label, at other offsets."""
    LABEL = "label"
    """Both marked the same offsets, with other labels."""
    BOTH = "label_and_boundaries"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One place where the annotators differ, without its text.

    Attributes:
        key: The note's.
        kind: How.
        one: The first annotator's span; None if there is none.
        other: The second's.
    """

    key: str
    kind: Kind
    one: Span | None
    other: Span | None

    @property
    def start(self) -> int:
        """Where it begins, in code points."""
        return min(span.start for span in (self.one, self.other) if span)


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa over words, with its 95% interval.

    Attributes:
        value: From -1 to 1; None where chance alone would always agree, as when nobody used the label.
        low: Lower end of a percentile bootstrap over notes; None with fewer than two notes.
        high: Upper end.
        both: Words that both marked.
        only_one: Words that the first annotator alone marked.
        only_other: Words that the second alone marked.
        neither: All other words.
    """

    value: float | None
    low: float | None
    high: float | None
    both: int
    only_one: int
    only_other: int
    neither: int

    @property
    def words(self) -> int:
        """Words that at least one of them marked."""
        return self.both + self.only_one + self.only_other


@dataclass(frozen=True, slots=True)
class SpanAgreement:
    """F1 between two sets of spans; None where neither annotator marked any.

    Attributes:
        exact: Same offsets and same label.
        exact_any_label: Same offsets.
        overlapping: At least one common code point and same label.
        overlapping_any_label: At least one common code point.
        one: Spans of the first annotator.
        other: Spans of the second.
    """

    exact: float | None
    exact_any_label: float | None
    overlapping: float | None
    overlapping_any_label: float | None
    one: int
    other: int


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """One label: kappa over words, and F1 of its spans."""

    kappa: Kappa
    spans: SpanAgreement


@dataclass(frozen=True, slots=True)
class Agreement:
    """What two annotators agree on.

    Attributes:
        notes: Notes that both annotated.
        words: Words in them.
        kappa: Over words, whatever the label.
        spans: Over all spans.
        labels: By label, those that somebody used.
        disagreements: How often each kind occurs.
    """

    notes: int
    words: int
    kappa: Kappa
    spans: SpanAgreement
    labels: Mapping[Label, LabelAgreement] = field(default_factory=dict)
    disagreements: Mapping[Kind, int] = field(default_factory=dict)


def agreement(notes: Iterable[PairedNote], *, resamples: int = RESAMPLES, seed: int = 0) -> Agreement:
    """Measures the agreement over notes, in any order.

    Args:
        notes: Each with the spans of both annotators.
        resamples: Bootstrap resamples of whole notes.
        seed: Of the resampling.
    """
    # The order must not change the intervals: resampling draws by position.
    paired = sorted(notes, key=lambda note: note.key)
    used = {span.label for note in paired for span in (*note.one, *note.other)}
    labels = [label for label in Label if label in used]
    tables = np.array([_tables(note, labels) for note in paired], dtype=np.float64).reshape(-1, 1 + len(labels), 4)
    draws = _resampled(tables, resamples, seed) if len(paired) > 1 else None
    kinds = [found.kind for note in paired for found in disagreements(note)]
    return Agreement(
        notes=len(paired),
        words=int(tables[:, 0].sum()),
        kappa=_kappa(tables, draws, 0),
        spans=_spans(paired),
        labels={
            label: LabelAgreement(_kappa(tables, draws, at), _spans([_of_label(note, label) for note in paired]))
            for at, label in enumerate(labels, start=1)
        },
        disagreements={kind: kinds.count(kind) for kind in Kind},
    )


def disagreements(note: PairedNote) -> Iterator[Disagreement]:
    """Where the annotators of a note differ, in its order.

    Spans that are equal agree. Of those that are left, overlapping ones are paired, each once: first those of equal
    offsets, then those of equal label, then any, the longest overlap first. What is left over was marked by one alone.
    """
    one, other = sorted(set(_bare(note.one)), key=_order), sorted(set(_bare(note.other)), key=_order)
    one, other = [s for s in one if s not in other], [s for s in other if s not in one]
    pairs = sorted(
        ((a, b) for a in one for b in other if a.overlaps(b)),
        # Symmetric in the two, so that exchanging the annotators gives the same pairs.
        key=lambda pair: (_rank(*pair), -Span.shared(*pair), sorted(map(_order, pair))),
    )
    taken: set[tuple[int, Span]] = set()
    found: list[Disagreement] = []
    for a, b in pairs:
        if (0, a) not in taken and (1, b) not in taken:
            taken |= {(0, a), (1, b)}
            found.append(Disagreement(note.key, _KINDS[_rank(a, b)], a, b))
    found += [Disagreement(note.key, Kind.ONLY_ONE, a, None) for a in one if (0, a) not in taken]
    found += [Disagreement(note.key, Kind.ONLY_OTHER, None, b) for b in other if (1, b) not in taken]
    yield from sorted(found, key=lambda d: (d.start, d.kind))


_KINDS = (Kind.LABEL, Kind.BOUNDARIES, Kind.BOTH)


def _bare(spans: Iterable[Span]) -> Iterator[Span]:
    return (Span(span.start, span.end, span.label) for span in spans)


def _order(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.label.value


def _rank(one: Span, other: Span) -> int:
    if (one.start, one.end) == (other.start, other.end):
        return 0
    return 1 if one.label is other.label else 2


def _of_label(note: PairedNote, label: Label) -> PairedNote:
    mine = (tuple(span for span in spans if span.label is label) for spans in (note.one, note.other))
    return PairedNote(note.key, "", *mine)


def _spans(notes: Sequence[PairedNote]) -> SpanAgreement:
    """F1 = 2a / (2a + b + c): a spans that agree, b and c those of one annotator alone.

    With overlaps, where several spans may meet one, 2a is the number of spans of either that meet one of the other.
    """
    pairs = [(sorted(set(_bare(note.one))), sorted(set(_bare(note.other)))) for note in notes]
    one, other = sum(len(a) for a, _ in pairs), sum(len(b) for _, b in pairs)

    def f1(met: int) -> float | None:
        return met / (one + other) if one + other else None

    def offsets(spans: Iterable[Span]) -> set[tuple[int, int]]:
        return {(span.start, span.end) for span in spans}

    exact = sum(2 * len(set(a) & set(b)) for a, b in pairs)
    same_place = sum(_inside(a, offsets(b)) + _inside(b, offsets(a)) for a, b in pairs)
    overlapping = [sum(_meeting(a, b, same) + _meeting(b, a, same) for a, b in pairs) for same in (True, False)]
    return SpanAgreement(f1(exact), f1(same_place), f1(overlapping[0]), f1(overlapping[1]), one, other)


def _inside(spans: Iterable[Span], offsets: set[tuple[int, int]]) -> int:
    return sum((span.start, span.end) in offsets for span in spans)


def _meeting(spans: Iterable[Span], others: Sequence[Span], same_label: bool) -> int:
    return sum(any(s.overlaps(o) and (not same_label or s.label is o.label) for o in others) for s in spans)


_Table = npt.NDArray[np.float64]


def _tables(note: PairedNote, labels: Sequence[Label]) -> list[list[int]]:
    """For any label and then for each: words that both marked, the first alone, the second alone, neither."""
    words = word_offsets(note.text)
    rows: list[list[int]] = []
    for label in (None, *labels):
        one, other = (
            touched(words, ((s.start, s.end) for s in spans if label is None or s.label is label))
            for spans in (note.one, note.other)
        )
        rows.append([int((one & other).sum()), int((one & ~other).sum()), int((other & ~one).sum()),
                     int((~one & ~other).sum())])  # fmt: skip
    return rows


def _resampled(tables: _Table, resamples: int, seed: int) -> _Table:
    """Sums of resamples of notes with replacement; shape (resamples, labels, 4)."""
    n = len(tables)
    rng = np.random.default_rng(seed)
    flat = tables.reshape(n, -1)
    sums = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) @ flat for _ in range(resamples)])
    return sums.reshape(resamples, *tables.shape[1:])


def _kappa(tables: _Table, draws: _Table | None, at: int) -> Kappa:
    total = tables[:, at].sum(axis=0)
    value = float(cohen(total))
    low = high = None
    if draws is not None and not np.isnan(value):
        drawn = cohen(draws[:, at])
        drawn = drawn[~np.isnan(drawn)]
        if len(drawn):
            low, high = (float(x) for x in np.percentile(drawn, (2.5, 97.5)))
    both, only_one, only_other, neither = (int(x) for x in total)
    return Kappa(None if np.isnan(value) else value, low, high, both, only_one, only_other, neither)


def cohen(tables: _Table) -> _Table:
    """Cohen's kappa of 2x2 tables along the last axis (both, only one, only the other, neither); NaN if expected is 1.

    (observed - expected) / (1 - expected) agreement.
    """
    both, only_one, only_other, neither = np.moveaxis(tables, -1, 0)
    # Multiplied out: two integers, so that perfect agreement is 1 and not nearly 1.
    above = 2 * (both * neither - only_one * only_other)
    below = (both + only_one) * (only_one + neither) + (both + only_other) * (only_other + neither)
    result: _Table = np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
    return result

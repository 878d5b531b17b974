"""What is measured of the texts that a detector releases: those that it wrote itself, or the note with tags.

Belongs here: those texts, and which measures of them go to `quality` for the leaderboard. Does not belong here: any
formula (`evaluation/`), or releases under a policy (`bench/lab/release.py`).

A language model that rewrites notes is measured by what it wrote. Of all others the same is made, tags in the place of
what they found, so that texts compare whoever found the places. A judge's figures are recorded under the model that
judges (`judged by ...`), those of a paper alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deid_platform.bench.leaderboard.reading import Reading
from deid_platform.evaluation.panel import occurrence_counts
from deid_platform.evaluation.panel.panel import Counts
from deid_platform.evaluation.retention.icd import TermCoder, note_codes
from deid_platform.evaluation.retention.judges import Judge, Kind
from deid_platform.evaluation.retention.retention import Pair, mean_interval, note_retentions, retention
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.warehouse.quality.lab import MIRANDA, LabScore

# The categories of Miranda 2025, as `occurrence_counts` has them.
_CATEGORIES = dict(zip(("name", "age", "place", "date"), MIRANDA, strict=True))


@dataclass(frozen=True, repr=False)
class Released:
    """A note with gold, and what a detector releases of it.

    Attributes:
        note: The note.
        gold: Its identifiers.
        text: Its release.
    """

    note: Note
    gold: Sequence[Span]
    text: str

    def __repr__(self) -> str:
        return "<Released>"


def released(notes: Sequence[Note], gold: Sequence[Sequence[Span]], reading: Reading) -> list[Released]:
    """What a reading releases, without the notes of which a language model wrote nothing that is of use."""
    texts = reading.texts
    if texts is None:
        texts = [_tagged(note.text, hidden) for note, hidden in zip(notes, spans_of(reading), strict=True)]
    every = zip(notes, gold, texts, strict=True)
    return [Released(note, spans, text) for note, spans, text in every if text is not None]


def spans_of(reading: Reading) -> Iterator[list[Span]]:
    """What a reading hides in each note, each place under one of the labels that it may be."""
    for hidden in reading.hidden:
        yield [Span(it.start, it.end, min(it.labels, default=Label.IDNUM)) for it in hidden]


def _tagged(text: str, hidden: Sequence[Span]) -> str:
    """A text with a tag in each hidden place; places that overlap are one, under the label of the first."""
    parts, at = [], 0
    for span in sorted(hidden, key=lambda it: (it.start, -it.end)):
        if span.start >= at:
            parts += [text[at : span.start], f"[{span.label.value}]"]
        at = max(at, span.end)
    return "".join([*parts, text[at:]])


def category_of(label: Label) -> str | None:
    """The category of Miranda 2025 that a label is of, a word of `warehouse.lab.MIRANDA`; None for any other."""
    return _CATEGORIES.get(occurrence_counts.category_of(label))


def of_occurrences(releases: Sequence[Released]) -> Iterator[LabScore]:
    """F1 of texts left and tags beyond them, by the categories of Miranda 2025, as its table 2 has them."""
    totals: defaultdict[str, Counts] = defaultdict(Counts)
    for it in releases:
        for category, counts in occurrence_counts.count_note(it.note.text, it.gold, it.text).items():
            totals[category] += counts
    for category, subject in _CATEGORIES.items():
        counts = totals[category]
        if n := counts.tp + counts.fp + counts.fn:
            yield LabScore("occurrences", "f1", counts.f1, n=n, subject=subject)


def of_codes(releases: Sequence[Released], resamples: int) -> Iterator[LabScore]:
    """Whether the same diagnosis codes are said (JSC of Aghakasiri 2025), by terms; of notes with a code."""
    codes = note_codes([(it.note.text, it.text) for it in releases], TermCoder())
    some = [(code.jsc, it.note.patient_id) for code, it in zip(codes, releases, strict=True) if code.jsc is not None]
    if some:
        values = np.array([value for value, _ in some], dtype=np.float64)
        low, high = mean_interval(values, [whose for _, whose in some], resamples)
        yield LabScore("retention", "jsc", float(values.mean()), low, high, len(values))


def of_judge(releases: Sequence[Released], judge: Judge, known: str, resamples: int) -> Iterator[LabScore]:
    """Retention by a model that a paper has as a judge (CIRE of Aghakasiri 2025, tables 9, 11; Zambare 2026, table 1).

    Args:
        releases: Of a detector.
        judge: What judges.
        known: The model, a word of `known_models.KNOWN`.
        resamples: Of the bootstrap.
    """
    pairs = [Pair(it.note.text, it.text, it.note.patient_id) for it in releases]
    found = retention(note_retentions(pairs, judge), judge.identity, resamples=resamples)
    if found.mean is not None:
        yield LabScore(
            *("retention", measure_of(judge), found.mean, found.low, found.high, found.notes),
            subject=f"judged by {known}",
        )


def measure_of(judge: Judge) -> str:
    """What retention by a chat model is called in the warehouse: CIRE is that of one that says yes or no."""
    return "cire" if judge.identity.kind is Kind.YES_OR_NO else "chat_retention"

"""What each source of candidates adds: the recognizers, the dictionaries and the models of a detector.

Belongs here: counting words by who found them. Does not belong here: finding them (`detection/`), scores of the whole
(`scores.py`).

A source earns its place by identifiers that no other source finds. One that adds none, and hides words that identify
nobody, costs time and medicine.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.loading import Models
from deid_platform.detection.rules.timing import seconds_of_recognizers
from deid_platform.evaluation.scores.tokens import touched, word_offsets
from deid_platform.notes import Note, Span

_BATCH = 64


@dataclass(frozen=True)
class Contribution:
    """One source's words, before overlapping spans are merged.

    Attributes:
        source: As spans name it, `rules:doctor-title`.
        right: Words of identifiers that it finds.
        right_alone: Those that no other source finds.
        wrong: Words that it finds and gold does not have.
        wrong_alone: Those that no other source finds.
        seconds: Of processor time, for recognizers of the rules where they were timed.
    """

    source: str
    right: int
    right_alone: int
    wrong: int
    wrong_alone: int
    seconds: float = 0.0


def contributions(read: Iterable[tuple[str, Sequence[Span], Sequence[Span]]]) -> list[Contribution]:
    """The sources, those that add most identifiers first.

    Args:
        read: For each note the text, the gold, and what was found, overlaps and all.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for text, gold, found in read:
        words = word_offsets(text)
        is_gold = touched(words, [(span.start, span.end) for span in gold])
        by_source: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for span in found:
            by_source[span.source].append((span.start, span.end))
        marks = {source: touched(words, places) for source, places in by_source.items()}
        finders = sum((mark.astype(np.int64) for mark in marks.values()), np.zeros(len(words), dtype=np.int64))
        for source, mark in marks.items():
            alone = mark & (finders == 1)
            for name, which in (("right", mark & is_gold), ("right_alone", alone & is_gold),
                                ("wrong", mark & ~is_gold), ("wrong_alone", alone & ~is_gold)):  # fmt: skip
                counts[source][name] += int(np.count_nonzero(which))
    names = ("right", "right_alone", "wrong", "wrong_alone")
    rows = [Contribution(source, *(count[name] for name in names)) for source, count in counts.items()]
    return sorted(rows, key=lambda row: (-row.right_alone, -row.right, row.source))


def contributions_on(
    notes: Iterable[tuple[Note, Sequence[Span]]],
    spec: DetectorSpec,
    *,
    models: Models | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> list[Contribution]:
    """What each source of a detector adds on notes with their gold, each note by itself, and what recognizers cost.

    Raises:
        DeidError: What `DetectorSpec.build` raises; `detector-failed`.
    """
    detector = spec.pipeline(models)
    spent: dict[str, float] = defaultdict(float)

    def read() -> Iterator[tuple[str, Sequence[Span], Sequence[Span]]]:
        rest = iter(notes)
        while batch := list(islice(rest, _BATCH)):
            some = [note for note, _ in batch]
            if "recognizers" in spec.stages:
                for source, seconds in seconds_of_recognizers(some).items():
                    spent[source] += seconds
            for (note, gold), found in zip(batch, detector.candidates(some, merging=list), strict=True):
                yield note.text, gold, [candidate.span() for candidate in found]
                progress(1)

    rows = contributions(read())
    idle = [Contribution(source, 0, 0, 0, 0) for source in sorted(spent.keys() - {row.source for row in rows})]
    return [replace(row, seconds=spent.get(row.source, 0.0)) for row in (*rows, *idle)]

"""What each source of candidates adds: the recognizers, the dictionaries and the models of a detector.

Belongs here: counting words by who found them. Does not belong here: finding them (`detection/`), scores of the whole
(`scores.py`).

A source earns its place by identifiers that no other source finds. One that adds none, and hides words that identify
nobody, costs time and medicine.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from deid_platform.evaluation.tokens import touched, word_offsets
from deid_platform.notes import Span


@dataclass(frozen=True)
class Contribution:
    """One source's words, before overlapping spans are merged.

    Attributes:
        source: As spans name it, `rules:doctor-title`.
        right: Words of identifiers that it finds.
        right_alone: Those that no other source finds.
        wrong: Words that it finds and gold does not have.
        wrong_alone: Those that no other source finds.
    """

    source: str
    right: int
    right_alone: int
    wrong: int
    wrong_alone: int


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

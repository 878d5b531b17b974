"""What a gold set is made of: notes, tokens, identifiers by label, and how many of its names are on no list.

Belongs here: counting. Does not belong here: drawing it (`reports/corpus_figures.py`).

Sources of the measures: tokens and sensitive tokens a note, Aghakasiri 2025, table 5, and Miranda 2025, table 1; counts
by label and share of notes with an identifier, Zambare 2026, table 4 and figure 5. A token is a word as the scores
count it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from deid_platform.evaluation.scores.tokens import touched, word_offsets
from deid_platform.labels import PERSONS, Label
from deid_platform.lexicon.lists import word_list
from deid_platform.notes import Span
from deid_platform.text.fold import fold_term

_LISTS = ("given_names", "surnames", "lone_given_names")


class CorpusScores(NamedTuple):
    """What a detector finds in one surrogate corpus, by words.

    Attributes:
        corpus: Its carriers.
        locale: Whose names.
        notes: How many were scored.
        identifiers: In their gold.
        unlisted: Share of the words of names on no list.
        recall: With topics.
        precision: With topics.
        text_recall: On the text alone.
        text_precision: On the text alone.
        text_missed: Share of notes with a missed word, on the text alone.
    """

    corpus: str
    locale: str
    notes: int
    identifiers: int
    unlisted: float | None
    recall: float | None
    precision: float | None
    text_recall: float | None
    text_precision: float | None
    text_missed: float | None


@dataclass
class Range:
    """Least, mean and most of a count over notes."""

    least: int = 0
    most: int = 0
    total: int = 0
    notes: int = 0

    def add(self, count: int) -> None:
        """Counts one note."""
        self.least = count if not self.notes else min(self.least, count)
        self.most = max(self.most, count)
        self.total += count
        self.notes += 1

    @property
    def mean(self) -> float:
        """Over all notes; 0 where there is none."""
        return self.total / self.notes if self.notes else 0.0


@dataclass
class CorpusStatistics:
    """Counts over one corpus, note by note.

    Attributes:
        tokens: Words a note.
        sensitive: Words of identifiers a note.
        with_identifiers: Notes with at least one.
        by_label: Identifiers of each label.
        ways: Distinct ways of writing that the identifiers are examples of.
        name_words: Words of people's names, each as often as it stands there.
        unlisted: How many of them stand on no list of names that detection has.
    """

    tokens: Range = field(default_factory=Range)
    sensitive: Range = field(default_factory=Range)
    with_identifiers: int = 0
    by_label: Counter[Label] = field(default_factory=Counter)
    ways: set[str] = field(default_factory=set)
    name_words: int = 0
    unlisted: int = 0

    @property
    def notes(self) -> int:
        """How many notes were counted."""
        return self.tokens.notes

    def add(self, text: str, gold: Sequence[Span], ways: Iterable[str] = ()) -> None:
        """Counts one note."""
        words = word_offsets(text)
        marked = int(touched(words, ((span.start, span.end) for span in gold)).sum())
        self.tokens.add(len(words))
        self.sensitive.add(marked)
        self.with_identifiers += bool(gold)
        self.by_label.update(span.label for span in gold)
        self.ways.update(filter(None, ways))
        for span in gold:
            if span.label in PERSONS:
                for start, end in word_offsets(text[span.start : span.end]):
                    word = fold_term(text[span.start + start : span.start + end])
                    if len(word) > 1:
                        self.name_words += 1
                        self.unlisted += word not in _listed()

    @property
    def unlisted_share(self) -> float | None:
        """Share of the words of names that detection has on no list; None without names."""
        return self.unlisted / self.name_words if self.name_words else None

    def rows(self) -> list[tuple[str, float | int | None]]:
        """The figures that a table shows: what, and how much."""
        share = self.with_identifiers / self.notes if self.notes else None
        return [
            ("notes", self.notes),
            ("share of notes with an identifier", share),
            ("words a note, least", self.tokens.least),
            ("words a note, mean", round(self.tokens.mean, 1)),
            ("words a note, most", self.tokens.most),
            ("words of identifiers a note, least", self.sensitive.least),
            ("words of identifiers a note, mean", round(self.sensitive.mean, 1)),
            ("words of identifiers a note, most", self.sensitive.most),
            ("identifiers", self.by_label.total()),
            ("ways of writing", len(self.ways)),
            ("share of the words of names on no list", self.unlisted_share),
        ]


@cache
def _listed() -> frozenset[str]:
    return frozenset(fold_term(part) for name in _LISTS for entry in word_list(name) for part in entry.split())

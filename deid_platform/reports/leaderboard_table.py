"""The table with which a run over a plan ends: each detector over corpora in English, and over those in others.

Belongs here: pooling what was measured corpus by corpus. Does not belong here: measuring
(`bench/leaderboard/leaderboard.py`), or the leaderboard itself, which is a mart and keeps corpora and locales apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from deid_platform.warehouse.quality.lab import LabScore

COLUMNS = (
    *(
        "detector",
        "given",
        "labels",
        "language",
        "notes",
        "recall",
        "precision",
        "notes with a miss",
        "words per second",
        "notes failed",
        "recall without them",
        "precision without them",
    ),
)
_ALL = "ALL"
_LANGUAGES = ("English", "others")
_WORDS = "words"


@dataclass(frozen=True)
class Scored:
    """What one detector scores on one corpus in one locale, given some inputs.

    Attributes:
        detector: Its name.
        given: Its inputs.
        english: Whether the notes are.
        notes: How many.
        words: In them.
        seconds: Of processor time, of a chat model those that passed; None if nobody knows.
        scores: Its figures.
    """

    detector: str
    given: str
    english: bool
    notes: int
    words: int
    seconds: float | None
    scores: Sequence[LabScore]


@dataclass
class _Pool:
    """Sums over corpora: of a share its cases, and those that have it."""

    hits: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    cases: defaultdict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    notes: int = 0
    timed_words: int = 0
    seconds: float = 0.0

    def add(self, scored: Scored) -> None:
        self.notes += scored.notes
        if scored.seconds is not None:
            self.timed_words += scored.words
            self.seconds += scored.seconds
        for it in scored.scores:
            if it.family == _WORDS and it.value is not None and it.n:
                self.hits[it.subject, it.measure] += it.value * it.n
                self.cases[it.subject, it.measure] += it.n

    def share(self, subject: str, measure: str) -> float | None:
        cases = self.cases[subject, measure]
        return self.hits[subject, measure] / cases if cases else None

    def count(self, measure: str) -> int | None:
        """Of a share over all labels, its cases; None where it was not measured."""
        return round(self.hits[_ALL, measure]) if self.cases[_ALL, measure] else None

    def subjects(self) -> list[str]:
        return sorted({subject for subject, _ in self.cases}, key=lambda it: (it != _ALL, it))


def board_rows(found: Iterable[Scored]) -> Iterator[tuple[str | int | float | None, ...]]:
    """The rows under `COLUMNS`: words of all corpora of a group of languages together; detectors in their order.

    On the labels that a peer claims there are recall and precision alone, of that peer and of ours beside it; of peers
    that are not among the detectors none. What can fail on a note alone, a chat model, has its failed notes too, which
    the figures before count as missed, and its figures without them.
    """
    found = list(found)
    shown = {_ALL, *(score.subject for it in found for score in it.scores if score.measure == "labels_claimed")}
    pools: dict[tuple[str, str, str], _Pool] = defaultdict(_Pool)
    for it in found:
        pools[it.detector, it.given, _LANGUAGES[not it.english]].add(it)
    for (detector, given, language), pool in pools.items():
        for subject in (it for it in pool.subjects() if it in shown):
            all_labels = subject == _ALL
            yield (
                *(detector, given, "all" if all_labels else subject, language, pool.notes),
                *(pool.share(subject, measure) for measure in ("recall", "precision")),
                pool.share(subject, "leak_rate"),
                round(pool.timed_words / max(pool.seconds, 1e-6)) if all_labels and pool.timed_words else None,
                pool.count("notes_failed") if all_labels else None,
                *(pool.share(subject, f"{measure}_answered") for measure in ("recall", "precision")),
            )

"""Retention: the share of a note's chunks in which nothing clinical was lost or altered.

Belongs here: chunks to shares, by note and over notes. Does not belong here: who judges (`judges.py`), or how chunks
come about (`alignment.py`).

After Aghakasiri 2025 (6.2.2, algorithm 1, table 9): retention of a note = 1 - mean(judge says changed) over its chunks
of 20 aligned tokens, and the figure over notes is the mean of the notes'. Identical chunks are not shown to the judge
and stay in the denominator. A chunk on which the judge gives no answer counts as changed: silence must not flatter.
Beside that stands the share of the chunks that are known, and where no chunk has an answer there is no figure. The
interval is a percentile bootstrap over patients where notes say whose they are, else over notes. Beside the mean of
the notes stands the share of all chunks, in which a long note counts for more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.retention.alignment import Chunk, chunks_of
from deid_platform.evaluation.retention.judges import Identity, Judge

RESAMPLES = 1000
Chunker = Callable[[str, str], Sequence[Chunk]]


@dataclass(frozen=True, slots=True, repr=False)
class Pair:
    """A note and its release.

    Attributes:
        original: The note's text.
        released: What was released of it. A note that was withheld is not measured here.
        cluster: The patient, for resampling.
    """

    original: str
    released: str
    cluster: str | None = None

    def __repr__(self) -> str:
        return "<Pair>"


@dataclass(frozen=True, slots=True)
class NoteRetention:
    """Counts of one note.

    Attributes:
        chunks: All chunks.
        identical: Those that no judge saw.
        changed: Those that the judge calls changed, and those without an answer.
        unanswered: Those without an answer.
        reasons: How often each kind of change was seen.
        failures: How often each failure of a chat model was why there is no answer.
        cluster: The patient.
    """

    chunks: int
    identical: int
    changed: int
    unanswered: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    cluster: str | None = field(default=None, repr=False)

    @property
    def value(self) -> float | None:
        """Retention, from 0 to 1; None of an empty note."""
        return 1 - self.changed / self.chunks if self.chunks else None


@dataclass(frozen=True, slots=True)
class Retention:
    """Retention over notes.

    Attributes:
        metric: What it is called: "CIRE" by a chat model that says yes or no alone.
        judge: Whose verdicts these are.
        notes: Notes with a chunk.
        mean: Mean of the notes' values; None without notes, or where the judge answered nothing.
        low: Lower end of its 95% interval; None with fewer than two clusters.
        high: Upper end.
        pooled: Share of all chunks that are not changed.
        answered: The same of the chunks that are identical or have an answer.
        chunks: All chunks.
        identical: Those that no judge saw.
        changed: Those that count as changed.
        unanswered: Those of them without an answer.
        reasons: How often each kind of change was seen.
        failures: How often each failure of a chat model was why there is no answer.
    """

    metric: str
    judge: Identity
    notes: int
    mean: float | None
    low: float | None
    high: float | None
    pooled: float | None
    answered: float | None
    chunks: int
    identical: int
    changed: int
    unanswered: int
    reasons: Mapping[str, int]
    failures: Mapping[str, int]


def note_retentions(pairs: Sequence[Pair], judge: Judge, *, chunker: Chunker = chunks_of) -> list[NoteRetention]:
    """Counts a note, in their order; the judge is asked once for all chunks that changed at all.

    Raises:
        DeidError: `input-invalid` if the judge gives fewer or more verdicts than chunks.
    """
    cut = [chunker(pair.original, pair.released) for pair in pairs]
    asked = [(i, chunk) for i, found in enumerate(cut) for chunk in found if not chunk.is_identical]
    verdicts = judge.judge([(chunk.original, chunk.released) for _, chunk in asked]) if asked else []
    if len(verdicts) != len(asked):
        raise DeidError(Code.INPUT_INVALID, "verdicts of a judge")
    tallies = [Counter[str]() for _ in cut]
    reasons = [Counter[str]() for _ in cut]
    failures = [Counter[str]() for _ in cut]
    for (i, _), verdict in zip(asked, verdicts, strict=True):
        tallies[i]["asked"] += 1
        tallies[i]["changed"] += verdict.changed is not False
        tallies[i]["unanswered"] += verdict.changed is None
        reasons[i].update(verdict.reasons)
        failures[i].update([verdict.failure.value] if verdict.failure else ())
    return [
        NoteRetention(
            *(len(found), len(found) - t["asked"], t["changed"], t["unanswered"]),
            *(dict(seen), dict(failed)),
            cluster=pair.cluster,
        )
        for pair, found, t, seen, failed in zip(pairs, cut, tallies, reasons, failures, strict=True)
    ]


def retention(
    notes: Sequence[NoteRetention], judge: Identity, *, resamples: int = RESAMPLES, seed: int = 0
) -> Retention:
    """Retention over notes from their counts.

    Args:
        notes: One a note, in an order that is the same from run to run.
        judge: Whose verdicts they are.
        resamples: Bootstrap resamples.
        seed: Of the resampling.
    """
    chunks, changed, silent = (sum(getattr(note, it) for note in notes) for it in ("chunks", "changed", "unanswered"))
    identical = sum(note.identical for note in notes)
    # A judge that is not there says nothing of the notes, not even that all was lost.
    judged = () if silent and silent == chunks - identical else notes
    measured = [(note, note.value) for note in judged if note.value is not None]
    values = np.array([value for _, value in measured], dtype=np.float64)
    low, high = mean_interval(values, [note.cluster for note, _ in measured], resamples, seed)
    seen: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for note in notes:
        seen.update(note.reasons)
        failed.update(note.failures)
    return Retention(
        metric=judge.metric,
        judge=judge,
        notes=len(measured),
        mean=float(values.mean()) if len(values) else None,
        low=low,
        high=high,
        pooled=1 - changed / chunks if measured else None,
        answered=1 - (changed - silent) / (chunks - silent) if measured else None,
        chunks=chunks,
        identical=identical,
        changed=changed,
        unanswered=silent,
        reasons=dict(seen.most_common()),
        failures=dict(failed.most_common()),
    )


def mean_interval(
    values: npt.NDArray[np.float64], clusters: Sequence[str | None], resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float | None, float | None]:
    """The 95% interval of a mean: percentile bootstrap over clusters; None with fewer than two."""
    places: dict[tuple[str, object], int] = {}
    names = (("cluster", c) if c is not None else ("note", i) for i, c in enumerate(clusters))
    index = np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int64)
    n = len(places)
    if n < 2:
        return None, None
    sums = np.zeros((n, 2))
    np.add.at(sums, index, np.stack([values, np.ones_like(values)], axis=1))
    rng = np.random.default_rng(seed)
    drawn = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) @ sums for _ in range(resamples)])
    low, high = (float(it) for it in np.percentile(drawn[:, 0] / drawn[:, 1], (2.5, 97.5)))
    return low, high

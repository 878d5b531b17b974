"""What de-identification costs: speed, memory and money.

Belongs here: figures from measured seconds, tokens and memory. Does not belong here: taking the time, prices of one
cloud or another, which are the caller's, or scores (`evaluation/scores/scores.py`).

After Murugadoss 2024, table 6 (seconds a document, GPU seconds, cost per 10,000 documents) and its supplement "Cost
Estimation": a machine costs its price an hour for the seconds that it works, an API its price for 1,000 tokens of input
and of output; storage and transfer are left out. Of that table one figure is misprinted: 1,323.78 s for 217 documents
are 6.10 s each, not 4.75. Recall against words a second is figure 1 of Zambare 2026.

Speed varies from run to run, so several runs and their deviation are kept.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

PER = 10_000
"""Documents of a cost."""
_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Run:
    """One run over a set of notes.

    Attributes:
        notes: How many.
        words: In all of them.
        seconds: Wall clock.
        gpus: GPUs that were held meanwhile.
        peak_bytes: The process's largest resident memory so far; None where it was not measured.
    """

    notes: int
    words: int
    seconds: float
    gpus: int = 0
    peak_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.notes < 1 or self.words < 0 or self.seconds <= 0 or self.gpus < 0:
            raise ValueError("a run over at least one note that took time")

    @property
    def gpu_seconds(self) -> float:
        """Seconds times GPUs held, whether they worked or not."""
        return self.seconds * self.gpus


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Several runs over the same notes.

    Attributes:
        runs: How many.
        words_per_second: Their mean.
        words_per_second_sd: Their standard deviation; None of a single run.
        seconds_per_note: Mean.
        gpu_seconds_per_note: Mean.
        peak_bytes: The largest; None where none was measured.
    """

    runs: int
    words_per_second: float
    words_per_second_sd: float | None
    seconds_per_note: float
    gpu_seconds_per_note: float
    peak_bytes: int | None


@dataclass(frozen=True, slots=True)
class Point:
    """A detector in the figure of recall against speed.

    Attributes:
        detector: Its name.
        kind: Its group in the figure: rules, encoder, small or large language model.
        words_per_second: Speed.
        recall: On the same notes.
    """

    detector: str
    kind: str
    words_per_second: float
    recall: float


def efficiency(runs: Sequence[Run]) -> Efficiency:
    """Means and deviation of runs over the same notes.

    Raises:
        ValueError: No runs, or of other notes.
    """
    if len({(run.notes, run.words) for run in runs}) != 1:
        raise ValueError("runs over the same notes")
    speeds = [run.words / run.seconds for run in runs]
    peaks = [run.peak_bytes for run in runs if run.peak_bytes is not None]
    return Efficiency(
        runs=len(runs),
        words_per_second=fmean(speeds),
        words_per_second_sd=stdev(speeds) if len(speeds) > 1 else None,
        seconds_per_note=fmean(run.seconds / run.notes for run in runs),
        gpu_seconds_per_note=fmean(run.gpu_seconds / run.notes for run in runs),
        peak_bytes=max(peaks) if peaks else None,
    )


def peak_bytes() -> int:
    """The largest resident memory of this process since it began, and of its largest child that has ended."""
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return peak if sys.platform == "darwin" else peak * 1024


def machine_cost(seconds_per_note: float, price_per_hour: float, *, notes: int = PER) -> float:
    """What a machine costs for so many notes, in the currency of its price: seconds times price."""
    return seconds_per_note * notes * price_per_hour / _HOUR


def api_cost(
    input_tokens: float, output_tokens: float, price_in: float, price_out: float, *, notes: int = PER
) -> float:
    """What an API costs for so many notes.

    Args:
        input_tokens: Mean a note, the prompt included.
        output_tokens: Mean a note.
        price_in: For 1,000 tokens of input.
        price_out: For 1,000 tokens of output.
        notes: How many.
    """
    return notes * (input_tokens * price_in + output_tokens * price_out) / 1000


def frontier(points: Iterable[Point]) -> list[Point]:
    """The detectors than which none is both faster and better, the fastest first; equals are both there."""
    ordered = sorted(points, key=lambda p: (-p.words_per_second, -p.recall, p.detector))
    return [p for p in ordered if not any(_beats(other, p) for other in ordered)]


def _beats(one: Point, other: Point) -> bool:
    pair = ((one.words_per_second, other.words_per_second), (one.recall, other.recall))
    return all(a >= b for a, b in pair) and any(a > b for a, b in pair)

"""Which documents a second reader is asked about: those in which the other models are least sure.

Belongs here: a document's doubt, and the threshold from which on it is read. Does not belong here: asking.

The doubt of a document is how many of its words nothing has found although a model does not exclude that they are
identifiers, over the root of all its words: between their number, which only finds long notes, and their share, which
only finds fragments. It depends on the document alone, and the threshold on the settings alone: what is found in a note
never depends on the notes beside it. `doubt.txt` has the doubt at each hundredth of the notes that it was measured on,
the highest first, so that a share of notes becomes a threshold; on other notes the share is another.

It was chosen among twenty measures on notes for tuning (docs/language-models.md): the sum of the probabilities, which
would be the number of identifiers expected, tells hardly more of missed words than the length of a note does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import ceil, inf, sqrt

from deid_platform.detection.api import Candidate, Document, Likelihoods
from deid_platform.keys import plain_digest
from deid_platform.labels import Label

_POSSIBLE = 0.001
"""The probability from which on a word may be an identifier; below it, a model is as good as sure that it is none."""


@dataclass(frozen=True, slots=True)
class Review:
    """What a second reader reads, and what of it counts.

    Attributes:
        doubt_from: The doubt from which on a document is read.
        labels: Candidates of other labels are dropped.
        budget_tokens: The most tokens of one run, of prompts and answers together; None for any number.
    """

    doubt_from: float
    labels: frozenset[Label] = frozenset(Label)
    budget_tokens: int | None = None

    @classmethod
    def of(
        cls,
        *,
        share: float | None = None,
        doubt_from: float | None = None,
        labels: Sequence[Label] = (),
        budget_tokens: int | None = None,
    ) -> Review:
        """As `detection.llm_review` of deid.toml says: a share of notes or the doubt itself; all labels unless told."""
        if doubt_from is None:
            doubt_from = doubt_at(1.0 if share is None else share)
        return cls(doubt_from, frozenset(labels or Label), budget_tokens)

    @property
    def digest(self) -> str:
        """Names the choice, which is part of the detector's digest."""
        return plain_digest(repr(self.doubt_from), str(self.budget_tokens), *sorted(self.labels))

    def wants(self, document: Document, candidates: Sequence[Candidate]) -> bool:
        """Whether a document is read."""
        return doubt_of(document, candidates) >= self.doubt_from


def doubt_of(document: Document, candidates: Sequence[Candidate]) -> float:
    """How unsure models are of the words of a document that no candidate touches.

    Of several models the one that doubts most counts. Where none has read the document, nobody knows: infinite.
    """
    covered = bytearray(len(document.text))
    for candidate in candidates:
        covered[candidate.start : candidate.end] = b"\1" * (candidate.end - candidate.start)
    return max((_doubt(read, covered) for read in document.likelihoods), default=inf)


def _doubt(read: Likelihoods, covered: bytearray) -> float:
    words = zip(read.starts, read.ends, read.probabilities, strict=True)
    possible = sum(likely >= _POSSIBLE and not any(covered[start:end]) for start, end, likely in words)
    return possible / sqrt(max(1, len(read.starts)))


def doubt_at(share: float) -> float:
    """The doubt from which on about a share of notes is read, above 0 and up to 1."""
    return 0.0 if share >= 1 else _hundredths()[ceil(round(100 * share, 6)) - 1]


@cache
def _hundredths() -> tuple[float, ...]:
    lines = files(__package__).joinpath("doubt.txt").read_text(encoding="ascii").splitlines()
    return tuple(float(line) for line in lines if not line.startswith("#"))

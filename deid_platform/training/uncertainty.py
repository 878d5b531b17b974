"""Which notes teach a model most: those of whose words it is least sure, of as many kinds as there are.

Belongs here: how unsure a model is of a text, and drawing notes by that. Does not belong here: which notes may be drawn
at all, or handing them to people (`review/annotation/adaptation`).

A word counts by how near its probability is to the threshold of its likeliest label, on the scale of odds, on which
0.01 and 0.02 are as far apart as 0.5 and 0.67. The sum is divided by the root of the number of words: between the sum,
which only finds long notes, and the mean, which only finds fragments (as `detection/chat/review.py` measured).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.models.decoding import Thresholds
from deid_platform.detection.models.tokens import Tokens

REACH = 4.0
"""How far from the threshold a word still counts, in natural logarithms of odds: at a threshold of 0.1 from 0.002 to
0.86."""
_LEAST = 1e-6


class Reading(Protocol):
    """What is asked of a model (`TokenClassifier`)."""

    def probabilities(self, text: str) -> tuple[Tokens, NDArray[np.float32]]:
        """A text's words, and the probability of none and of each label for each."""
        ...

    @property
    def thresholds(self) -> Thresholds:
        """From which probability on a word is an identifier."""
        ...


class Part(StrEnum):
    """What a site's marked note serves. All notes of a patient serve the same."""

    LEARN = "learn"
    THRESHOLDS = "thresholds"
    COMPARE = "compare"
    """Old and new model are compared on it; none of the two has learned from it."""


SHARES = {Part.LEARN: 0.6, Part.THRESHOLDS: 0.2, Part.COMPARE: 0.2}


@dataclass(frozen=True, slots=True)
class Drawable:
    """A note that may be drawn; `repr` shows none of its ids.

    Attributes:
        key: Names the note.
        patient: Whose it is; the key where nobody knows.
        kind: Its type.
        unsure: As `uncertainty` has it.
    """

    key: str
    patient: str
    kind: str
    unsure: float

    def __repr__(self) -> str:
        return "<Drawable>"


def uncertainty(model: Reading, text: str) -> float:
    """How unsure a model is of a text; 0 for one without a word near a threshold."""
    tokens, probabilities = model.probabilities(text)
    counted = tokens.is_word
    words = int(np.count_nonzero(counted))
    if not words:
        return 0.0
    return float(_nearness(probabilities[counted], model.thresholds).sum()) / sqrt(words)


def _nearness(probabilities: NDArray[np.float32], thresholds: Thresholds) -> NDArray[np.float64]:
    """Of each word (words, classes): 1 at the threshold, 0 beyond `REACH`."""
    least = np.asarray(thresholds.least)[probabilities[:, 1:].argmax(axis=1)]
    any_of = 1.0 - probabilities[:, 0].astype(np.float64)
    return np.maximum(0.0, 1.0 - np.abs(_odds(any_of) - _odds(least)) / REACH)


def _odds(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    within = np.clip(shares, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(within / (1 - within)))


def drawn(notes: Sequence[Drawable], most: int) -> list[Drawable]:
    """Notes in the order in which they are worth marking: a note of each kind in turn, the most unsure first.

    Of a kind a patient's second note comes after every patient's first. What is equal is ordered by key, which has
    nothing to do with the order of the source.

    Args:
        notes: Those that may be drawn.
        most: How many are wanted.
    """
    kinds: dict[str, list[Drawable]] = defaultdict(list)
    for note in sorted(notes, key=lambda it: (-it.unsure, it.key)):
        kinds[note.kind].append(note)
    turns: list[tuple[int, float, str, Drawable]] = []
    for of_kind in kinds.values():
        turns += [(turn, -note.unsure, note.key, note) for turn, note in enumerate(_patients_in_turn(of_kind))]
    return [note for *_, note in sorted(turns, key=lambda it: it[:3])][:most]


def _patients_in_turn(notes: Sequence[Drawable]) -> list[Drawable]:
    seen: dict[str, int] = defaultdict(int)
    turns = []
    for at, note in enumerate(notes):
        turns.append((seen[note.patient], at, note))
        seen[note.patient] += 1
    return [note for *_, note in sorted(turns, key=lambda it: it[:2])]


def part_of(patient: str) -> Part:
    """What a patient's notes serve: by a hash, the same today and in a year."""
    place = hashlib.sha256(f"adapt/{patient}".encode("utf-8", "surrogatepass")).digest()[0] / 256
    return Part.COMPARE if place < SHARES[Part.COMPARE] else (
        Part.THRESHOLDS if place < SHARES[Part.COMPARE] + SHARES[Part.THRESHOLDS] else Part.LEARN
    )  # fmt: skip

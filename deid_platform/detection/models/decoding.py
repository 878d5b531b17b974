"""From probabilities to candidates.

Belongs here: words, thresholds and which words are one candidate. Does not belong here: how probabilities come about
(`token_classifier.py`), or where an identifier ends (`resolve/ends.py`).

A word is an identifier if the probability that it is any reaches the threshold of its likeliest label; of a model
without thresholds (`ARGMAX`), if its likeliest class is a label. Neighbours of one label are one candidate, and so is a
single sign between two of them ("3/14", "Smith-Jones"); unless the model's tags say that the second begins another
identifier, and a blank stands before it. Without a blank they are not asked: classifiers that read "3/14" as one word
learned nothing of its parts.

One name has one label: the likeliest over all of its words, and DOCTOR only where little speaks for PATIENT, since a
policy may keep the names of clinicians.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.api import Candidate, Evidence, Source
from deid_platform.detection.models.tokens import GAPS, SHAPES, Tokens
from deid_platform.labels import PERSONS, Label

ARGMAX = "argmax"
"""In place of thresholds: the likeliest class decides, as Zambare 2026 classifies tokens."""
CLINICIAN = 0.95
"""The least share of DOCTOR in what a model gives to DOCTOR and PATIENT of a name for the name to be a clinician's.

Chosen on notes of the threshold authors (docs/detection.md): from 0.95 on, fewer names of patients and relatives get
the label DOCTOR than by the likelier of the two, although names on lists get it too (`resolve/clinicians.py`).
"""
_JOINED = GAPS.index("none")
_LINE = GAPS.index("line")
_SIGN = SHAPES.index("other")


@dataclass(frozen=True)
class Thresholds:
    """From which probability on a word is an identifier, label by label.

    Attributes:
        labels: The classes of the model behind the first, which is no identifier.
        least: A probability for each, 0 to 1; empty where the likeliest class decides.
    """

    labels: tuple[Label, ...]
    least: tuple[float, ...]

    @classmethod
    def of(cls, labels: Sequence[Label], least: Mapping[str, float] | str, default: float = 0.5) -> Thresholds:
        """Thresholds by the names of labels, or none where `least` is `ARGMAX`."""
        if isinstance(least, str):
            return cls(tuple(labels), ())
        return cls(tuple(labels), tuple(least.get(label.value, default) for label in labels))

    def taken(self, probabilities: NDArray[np.float32]) -> NDArray[np.int64]:
        """For each word the index of its label, -1 for no identifier, of probabilities (words, classes)."""
        likeliest = probabilities[:, 1:].argmax(axis=1)
        if not self.least:
            return np.where(probabilities.argmax(axis=1) > 0, likeliest, -1)
        enough = 1.0 - probabilities[:, 0] >= np.asarray(self.least, dtype=np.float32)[likeliest]
        return np.where(enough, likeliest, -1)


def by_word(probabilities: NDArray[np.float32], words: NDArray[np.int64]) -> NDArray[np.float32]:
    """The mean over the pieces of each word (words, classes) of probabilities (pieces, classes)."""
    begins = np.flatnonzero(np.diff(words, prepend=-1))
    counts = np.diff(np.append(begins, len(words)))
    sums = np.add.reduceat(probabilities, begins, axis=0)
    return np.asarray(sums / counts[:, None], dtype=np.float32)


def candidates(
    tokens: Tokens,
    probabilities: NDArray[np.float32],
    thresholds: Thresholds,
    source: Source,
    begins: NDArray[np.bool_] | None = None,
) -> list[Candidate]:
    """The candidates of a text.

    Args:
        tokens: The text as the model reads it.
        probabilities: Of each word (words, classes); the first class is no identifier.
        thresholds: From where on a word is an identifier.
        source: What the candidates come from.
        begins: Which words begin an identifier (words); None of tags that do not say.
    """
    if not len(tokens.starts):
        return []
    any_of = 1.0 - probabilities[:, 0]
    label = thresholds.taken(probabilities)
    _bridge(label, tokens)
    of_person = np.isin(label, [thresholds.labels.index(it) for it in PERSONS if it in thresholds.labels])
    found: list[Candidate] = []
    apart = tokens.gaps >= _LINE
    if begins is not None:
        apart |= begins & (tokens.gaps > _JOINED)
    for first, last in _runs(np.where(of_person, len(thresholds.labels), label), apart):
        kind = thresholds.labels[label[first]]
        if of_person[first]:
            kind = _of_name(probabilities[first : last + 1, 1:].sum(axis=0), thresholds.labels)
        start, end = int(tokens.starts[first]), int(tokens.ends[last])
        if start < end:  # vocabularies of bytes have words of spaces alone
            sure = float(min(1.0, any_of[first : last + 1].max()))
            found.append(Candidate(start, end, kind, source, Evidence.PREDICTED, sure))
    return found


def _of_name(sums: NDArray[np.float32], labels: Sequence[Label]) -> Label:
    """The label of a name, by the sums over its words of the probabilities of each label."""
    likeliest = labels[int(sums.argmax())]
    if likeliest is not Label.DOCTOR or Label.PATIENT not in labels:
        return likeliest
    clinician, patient = (float(sums[labels.index(label)]) for label in (Label.DOCTOR, Label.PATIENT))
    return Label.DOCTOR if clinician >= CLINICIAN * (clinician + patient) else Label.PATIENT


def _bridge(label: NDArray[np.int64], tokens: Tokens) -> None:
    """Gives a sign between two words of one label, with no space around it, that label."""
    shapes = (tokens.word_features - 1) // len(GAPS)
    inner = (label[1:-1] < 0) & (label[:-2] >= 0) & (label[:-2] == label[2:]) & (shapes[1:-1] == _SIGN)
    close = (tokens.gaps[1:-1] == _JOINED) & (tokens.gaps[2:] == _JOINED)
    label[1:-1] = np.where(inner & close, label[:-2], label[1:-1])


def _runs(label: NDArray[np.int64], apart: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """First and last word of each run of one label, where no word stands apart from the one before it."""
    breaks = np.ones(len(label) + 1, dtype=bool)
    breaks[1:-1] = (label[1:] != label[:-1]) | apart[1:]
    edges = np.flatnonzero(breaks)
    for first, following in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if label[first] >= 0:
            yield first, following - 1

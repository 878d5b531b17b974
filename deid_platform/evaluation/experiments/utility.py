"""What a release is still good for: a classifier trained on raw notes against one trained on released ones.

Belongs here: the classifier, its cross-validation, the difference. Does not belong here: where the labels come from (a
note's type, a specialty, a phenotype that the hospital planted), or how notes were released.

The first check that a review of Aghakasiri 2025 asks for: whether high retention means that a task downstream works as
well. Each half of the comparison is trained and tested on its own kind of text, over the same folds, which keep a
patient's notes together. A third figure trains on released notes and tests on raw ones, as a model that leaves the
research zone would be used. Differences are paired note by note (`evaluation/scores/paired.py`).

The classifier is a ridge regression of the classes on hashed word counts: small, exact and the same for both, so it is
the text that makes the difference, not how good a model can be. Placeholders are words for it as well. A figure near
the share of the most frequent class says that the task cannot be learned from so few notes, not that nothing was lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from zlib import crc32

import numpy as np
import numpy.typing as npt

from deid_platform.evaluation.scores.paired import Difference, difference
from deid_platform.evaluation.scores.scores import SMALLEST_SHOWN, NoteCounts
from deid_platform.evaluation.scores.tokens import word_offsets

FOLDS = 5
_WIDTH = 1 << 13  # columns of hashed words
_PENALTY = 0.3

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, repr=False)
class Example:
    """A note with what is to be told of it.

    Attributes:
        raw: Its text.
        released: Its release.
        label: The class; None where nobody knows it.
        cluster: The patient; of None, the note stands for itself.
    """

    raw: str
    released: str
    label: str | None
    cluster: str | None = None

    def __repr__(self) -> str:
        return "<Example>"


@dataclass(frozen=True, slots=True)
class Utility:
    """A task on raw and on released notes.

    Attributes:
        task: Its name.
        notes: Notes.
        classes: Classes.
        most_frequent: Share of the most frequent class, which needs no text.
        raw: Accuracy of the classifier trained and tested on raw notes.
        released: Of the one trained and tested on released notes.
        transferred: Of the one trained on released notes and tested on raw ones.
        loss: `released` less `raw`, with its paired 95% interval.
        transfer_loss: `transferred` less `raw`.
    """

    task: str
    notes: int
    classes: int
    most_frequent: float
    raw: float
    released: float
    transferred: float
    loss: Difference
    transfer_loss: Difference


def utility(
    task: str, examples: Sequence[Example], *, folds: int = FOLDS, resamples: int = 1000, seed: int = 0
) -> Utility:
    """Measures a task.

    Args:
        task: Its name.
        examples: Notes in an order that is the same from run to run.
        folds: Parts for cross-validation; each note is tested once, by a classifier that saw none of its patient.
        resamples: Bootstrap resamples over patients.
        seed: Of folds and resampling.

    Raises:
        ValueError: Fewer than two classes, or fewer patients than folds.
    """
    labels = sorted({str(example.label) for example in examples})
    groups = [f"c{e.cluster}" if e.cluster is not None else f"n{i}" for i, e in enumerate(examples)]
    if len(labels) < 2 or len(set(groups)) < folds or folds < 2:
        raise ValueError("at least two classes, two folds, and a patient a fold")
    target = np.array([labels.index(str(example.label)) for example in examples])
    raw, released = (features([getattr(e, side) for e in examples]) for side in ("raw", "released"))
    fold = _folds(groups, folds, seed)
    guesses = {name: np.zeros(len(target), dtype=np.int64) for name in ("raw", "released", "transferred")}
    for k in range(folds):
        train, test = fold != k, fold == k
        on_raw = fit(raw[train], target[train], len(labels))
        on_released = fit(released[train], target[train], len(labels))
        guesses["raw"][test] = predict(on_raw, raw[test])
        guesses["released"][test] = predict(on_released, released[test])
        guesses["transferred"][test] = predict(on_released, raw[test])
    right = {name: guess == target for name, guess in guesses.items()}
    counts = {name: [_count(bool(hit), g) for hit, g in zip(hits, groups, strict=True)] for name, hits in right.items()}
    return Utility(
        task=task,
        notes=len(examples),
        classes=len(labels),
        most_frequent=Counter(target.tolist()).most_common(1)[0][1] / len(target),
        raw=float(right["raw"].mean()),
        released=float(right["released"].mean()),
        transferred=float(right["transferred"].mean()),
        loss=difference(counts["released"], counts["raw"], "recall", resamples=resamples, seed=seed),
        transfer_loss=difference(counts["transferred"], counts["raw"], "recall", resamples=resamples, seed=seed),
    )


def learnable(task: str, examples: Sequence[Example], *, resamples: int = 1000) -> Utility | None:
    """Measures a task without the classes that few notes have; None where there is too little left to learn from.

    Args:
        task: Its name.
        examples: As for `utility`; one without a label is left out.
        resamples: Bootstrap resamples over patients.
    """
    counts = Counter(example.label for example in examples)
    some = [it for it in examples if it.label is not None and counts[it.label] >= SMALLEST_SHOWN]
    patients = {it.cluster for it in some if it.cluster is not None}
    if len({it.label for it in some}) < 2 or len(patients) < FOLDS:
        return None
    return utility(task, some, resamples=resamples)


def features(texts: Sequence[str]) -> Matrix:
    """Hashed counts of words, as log(1 + n), each note of length 1; shape (notes, width)."""
    table = np.zeros((len(texts), _WIDTH), dtype=np.float32)
    for row, text in zip(table, texts, strict=True):
        words = [text[a:b].casefold() for a, b in word_offsets(text).tolist()]
        np.add.at(row, [crc32(word.encode()) % _WIDTH for word in words], 1)
    counts = np.log1p(table)
    norms = np.linalg.norm(counts, axis=1, keepdims=True)
    scaled: Matrix = (counts / np.where(norms > 0, norms, 1)).astype(np.float32)
    return scaled


def fit(rows: Matrix, target: npt.NDArray[np.int64], classes: int) -> Matrix:
    """Weights of a ridge regression of the classes, one against the others; shape (width, classes).

    Solved for notes and not for words, of which there are more: W = X' (X X' + penalty)^-1 Y.
    """
    wanted = 2 * np.eye(classes)[target] - 1
    alike = rows.astype(np.float64) @ rows.T
    weights: Matrix = rows.T @ np.linalg.solve(alike + _PENALTY * np.eye(len(rows)), wanted)
    return weights


def predict(weights: Matrix, rows: Matrix) -> npt.NDArray[np.int64]:
    """The likeliest class of each row."""
    found: npt.NDArray[np.int64] = (rows @ weights).argmax(axis=1)
    return found


def _folds(groups: Sequence[str], folds: int, seed: int) -> npt.NDArray[np.int64]:
    """The fold of each note: patients in an order that the seed and nothing else decides, dealt one by one."""
    order = sorted(set(groups), key=lambda g: blake2b(f"{seed} {g}".encode(), digest_size=8).digest())
    place = {group: i % folds for i, group in enumerate(order)}
    return np.array([place[group] for group in groups])


def _count(hit: bool, cluster: str) -> NoteCounts:
    """One note as one thing to be found."""
    return NoteCounts(1, int(hit), 0, int(not hit), 1, int(hit), cluster=cluster)

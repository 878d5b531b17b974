"""Thresholds by label, recall first.

Belongs here: choosing them on labelled notes that a model was not trained on. Does not belong here: using them
(`detection/models/decoding.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.labels import DIRECT_IDENTIFIERS, Label
from deid_platform.training.examples import labels_of
from deid_platform.training.labelled import Labelled

WORTH, WORTH_DIRECT = 0.15, 0.05
"""The least share of words of identifiers among words that are just likely enough: nineteen words are hidden in vain
rather than one of a direct identifier is shown, and six rather than one of another."""
LOWEST, HIGHEST = 0.01, 0.9
_AS_SAID = np.array([1.0, 0.0])
_PRIOR = 5.0  # a label with a dozen words has nearly the line of all labels
_FLATTEST = 0.2
_ROUNDS = 50


def calibrated(model: TokenClassifier, notes: Iterable[Labelled]) -> dict[str, float]:
    """For each label the probability above which words are worth hiding.

    How many words of a probability are of identifiers is a logistic line through the model's log odds (Platt 1999),
    since a network is surer than it should be of what it has not seen. The line of a label is drawn to that of all
    labels, which is drawn to what the model says: with few words of a label, little is known of it.

    Args:
        model: With any thresholds.
        notes: Not trained on, and of no test part.

    Returns:
        Label to a probability from `LOWEST` to `HIGHEST`.
    """
    labels = model.thresholds.labels
    odds, right, likeliest = [np.empty(0)], [np.empty(0)], [np.empty(0, dtype=np.int64)]
    for note in notes:
        tokens, probabilities = model.probabilities(note.text)
        any_of = 1.0 - probabilities[:, 0].astype(np.float64)
        counted = tokens.is_word & (any_of >= LOWEST)
        odds.append(_log_odds(any_of[counted]))
        right.append((labels_of(tokens, note.spans) > 0)[counted].astype(np.float64))
        likeliest.append(probabilities[counted, 1:].argmax(axis=1))
    said, told, kind = np.concatenate(odds), np.concatenate(right), np.concatenate(likeliest)
    of_all = line(said, told, _AS_SAID, 1.0)
    return {
        label.value: _least(label, line(said[kind == number], told[kind == number], of_all, _PRIOR))
        for number, label in enumerate(labels)
    }


def line(
    odds: NDArray[np.float64], right: NDArray[np.float64], prior: NDArray[np.float64], weight: float
) -> NDArray[np.float64]:
    """Slope and intercept of the logistic line through words, by Newton's method.

    Args:
        odds: Log odds of each word, as the model says.
        right: Whether each is of an identifier, 1 or 0.
        prior: A line that it is drawn to.
        weight: How much: the inverse of the variance of a normal prior.
    """
    points = np.stack([odds, np.ones_like(odds)], axis=1)
    found = prior.copy()
    for _ in range(_ROUNDS):
        likely = 1.0 / (1.0 + np.exp(-np.clip(points @ found, -30.0, 30.0)))
        slope = points.T @ (right - likely) - weight * (found - prior)
        curvature = (points * (likely * (1.0 - likely))[:, None]).T @ points + weight * np.eye(2)
        step = np.clip(np.linalg.solve(curvature, slope), -1.0, 1.0)
        found = found + step
        if np.abs(step).max() < 1e-9:
            break
    return found


def _least(label: Label, of_label: NDArray[np.float64]) -> float:
    """The probability at which a line reaches what is worth it."""
    worth = WORTH_DIRECT if label in DIRECT_IDENTIFIERS else WORTH
    slope, intercept = max(float(of_label[0]), _FLATTEST), float(of_label[1])
    at = 1.0 / (1.0 + np.exp(-(_log_odds(np.array(worth)) - intercept) / slope))
    return round(float(np.clip(at, LOWEST, HIGHEST)), 4)


def _log_odds(likely: NDArray[np.float64]) -> NDArray[np.float64]:
    kept = np.clip(likely, 1e-6, 1.0 - 1e-6)
    return np.asarray(np.log(kept / (1.0 - kept)))

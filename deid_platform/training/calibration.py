"""Thresholds by label, recall first.

Belongs here: choosing them on labelled notes that a model was not trained on. Does not belong here: using them
(`detection/models/decoding.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.training.examples import LABELS, labels_of
from deid_platform.training.mixture import Labelled

LOWEST, HIGHEST = 0.15, 0.5
_FEWEST = 100


def calibrated(model: TokenClassifier, notes: Iterable[Labelled], missed: float = 0.002) -> dict[str, float]:
    """For each label the threshold under which this share of the words of identifiers lie, within bounds.

    Args:
        model: With any thresholds.
        notes: Not trained on, and of no test part.
        missed: Share of an identifier's words that may stay under the threshold of the label they look like most.

    Returns:
        Label to a probability from `LOWEST` to `HIGHEST`; labels with fewer than 100 words have the lowest.
    """
    likely: dict[int, list[float]] = {number: [] for number in range(1, len(LABELS))}
    for note in notes:
        tokens, probabilities = model.probabilities(note.text)
        if not len(tokens.starts):
            continue
        gold = labels_of(tokens, note.spans)
        likeliest = probabilities[:, 1:].argmax(axis=1) + 1
        for number, any_of in zip(likeliest[gold > 0], 1 - probabilities[gold > 0, 0], strict=True):
            likely[int(number)].append(float(any_of))
    return {
        LABELS[number]: round(float(np.clip(np.quantile(told, missed), LOWEST, HIGHEST)), 4)
        if len(told) >= _FEWEST
        else LOWEST
        for number, told in likely.items()
    }

"""Thresholds by label, recall first.

Belongs here: choosing them on labelled notes that a model was not trained on. Does not belong here: using them
(`detection/models/decoding.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
LanguageThresholds = dict[str, dict[str, float]]
"""Language, ISO 639-1, to label to threshold."""
Words = NDArray[np.float64]
"""Probability that a word is an identifier, and whether it is one, as 1 or 0 (words, 2)."""
_DEFAULT = 0.15
_FEWEST = 100
_STEP = 0.0001


def calibrated(model: TokenClassifier, notes: Iterable[Labelled]) -> tuple[dict[str, float], LanguageThresholds]:
    """For each label the probability above which words are worth hiding, and for languages where it is another.

    How many words of a probability are of identifiers is fitted by isotonic regression over the words that look like
    the label, since a network is surer than it should be of what it has not seen.

    Args:
        model: With any thresholds.
        notes: Not trained on, and of no test part.

    Returns:
        Label to a probability from `LOWEST` to `HIGHEST`, for a label with fewer than 100 words 0.15; and language to
        such thresholds of the labels of which it has 100 words.
    """
    labels = model.thresholds.labels
    likely: dict[tuple[str, int], list[Words]] = {}
    for note in notes:
        tokens, probabilities = model.probabilities(note.text)
        if not len(tokens.starts):
            continue
        any_of = 1.0 - probabilities[:, 0].astype(np.float64)
        counted = tokens.is_word & (any_of >= LOWEST)
        told = np.stack([any_of, labels_of(tokens, note.spans) > 0], axis=1)[counted]
        likeliest = probabilities[counted, 1:].argmax(axis=1)
        for number in np.unique(likeliest).tolist():
            for language in {"", note.language}:
                likely.setdefault((language, number), []).append(told[likeliest == number])
    whole = {
        label.value: _lowest(label, likely.get(("", number), [])) or _DEFAULT for number, label in enumerate(labels)
    }
    by_language: LanguageThresholds = {}
    for (language, number), told_of in sorted(likely.items()):
        least = _lowest(labels[number], told_of) if language else None
        if least is not None:
            by_language.setdefault(language, {})[labels[number].value] = least
    return whole, by_language


def no_higher(
    chosen: tuple[dict[str, float], LanguageThresholds], least: Mapping[str, float], of_languages: LanguageThresholds
) -> tuple[dict[str, float], LanguageThresholds]:
    """Thresholds that are those of another model where these would be higher, label by label and for each language.

    Args:
        chosen: As `calibrated` returns them.
        least: Of the other model, by label; what it does not have may be anything.
        of_languages: Of the other model, for languages where they are others.
    """
    whole, by_language = chosen
    lower = {label: min(value, least.get(label, value)) for label, value in whole.items()}
    made: LanguageThresholds = {}
    for language in sorted({*by_language, *of_languages}):
        mine, others = by_language.get(language, {}), of_languages.get(language, {})
        made[language] = {
            label: min(mine.get(label, lower.get(label, HIGHEST)), others.get(label, least.get(label, HIGHEST)))
            for label in sorted({*mine, *others})
        }
    return lower, made


def _lowest(label: Label, notes: list[Words]) -> float | None:
    """None where there are too few words to say."""
    told = np.concatenate([np.empty((0, 2)), *notes])
    if len(told) < _FEWEST:
        return None
    values, which, counts = np.unique(told[:, 0], return_inverse=True, return_counts=True)
    shares = isotonic(np.bincount(which, weights=told[:, 1]) / counts, counts)
    too_few = values[shares < (WORTH_DIRECT if label in DIRECT_IDENTIFIERS else WORTH)]
    # Just above what is not worth it: where nothing was seen, a word is hidden.
    least = too_few[-1] + _STEP if len(too_few) else LOWEST
    return round(float(np.clip(least, LOWEST, HIGHEST)), 4)


def isotonic(values: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The closest series that never falls, by pooling adjacent violators; each value stands for so many."""
    pools: list[tuple[float, int, int]] = []
    for mean, weight in zip(values.tolist(), counts.tolist(), strict=True):
        length = 1
        while pools and pools[-1][0] >= mean:
            before, heavy, long = pools.pop()
            mean = (before * heavy + mean * weight) / (heavy + weight)
            weight, length = weight + heavy, length + long
        pools.append((mean, weight, length))
    return np.repeat([mean for mean, _, _ in pools], [length for *_, length in pools])

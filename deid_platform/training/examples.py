"""Windows with the label of each piece: what a model learns from.

Belongs here: labels of pieces, and windows as arrays. Does not belong here: where notes come from (`mixture.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.models.tokens import Reader, Tokens
from deid_platform.detection.models.windows import LENGTH, windows
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.training.labelled import Labelled

LABELS: tuple[str, ...] = ("O", *(label.value for label in Label))
"""The classes of a model, in their order; the first is no identifier."""
BINARY: tuple[str, ...] = ("O", Label.IDNUM.value)
"""The classes of a model that tells identifiers from other words and no more."""
_NUMBER = {label: number for number, label in enumerate(LABELS)}


@dataclass(frozen=True, slots=True, repr=False)
class Example:
    """One window; arrays of one entry a piece, the marks at its ends included."""

    ids: NDArray[np.int32]
    features: NDArray[np.int8]
    labels: NDArray[np.int8]

    def __repr__(self) -> str:
        return f"<Example: {len(self.ids)} pieces>"


def examples(
    notes: Iterable[Labelled], reader: Reader, *, length: int = LENGTH, binary: bool = False
) -> Iterator[Example]:
    """The windows of notes; the marks at the ends have the label -1.

    Args:
        notes: The notes.
        reader: Of the model's vocabulary.
        length: The most pieces of a window, without the marks.
        binary: Whether all identifiers have the label 1.
    """
    for note in notes:
        tokens = reader.read(note.text)
        labels = labels_of(tokens, note.spans)[tokens.words] if len(tokens.ids) else tokens.ids
        labels = np.minimum(labels, 1) if binary else labels
        for window in windows(tokens, length):
            ids, features = reader.framed(tokens, window.start, window.end)
            told = np.full(len(ids), -1, dtype=np.int8)
            told[reader.before : reader.before + window.end - window.start] = labels[window.start : window.end]
            yield Example(ids.astype(np.int32), features.astype(np.int8), told)


def labels_of(tokens: Tokens, spans: Sequence[Span]) -> NDArray[np.int64]:
    """The label of each word: of the identifier that it shares a code point with."""
    found = np.zeros(len(tokens.starts), dtype=np.int64)
    for span in spans:
        first = int(np.searchsorted(tokens.ends, span.start, side="right"))
        last = int(np.searchsorted(tokens.starts, span.end, side="left"))
        found[first:last] = _NUMBER[span.label.value]
    return found

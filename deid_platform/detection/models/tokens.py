"""What a model reads of a document: pieces of words, and how each word is set.

Belongs here: pieces, words and features of one text. Does not belong here: cutting it into windows (`windows.py`) or
what a model says of it.

The encoder that is shipped reads small letters without accents. Whether a word had a capital, and whether it began a
line, is told beside each piece by its feature, a small whole number with an embedding of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

GAPS = ("none", "space", "wide", "line", "paragraph")
"""What stands before a word."""
SHAPES = ("lower", "title", "upper", "initial", "mixed", "digits", "alphanumeric", "other")
"""How a word is written."""
FEATURES = 1 + len(SHAPES) * len(GAPS)
"""How many features there are; 0 is that of the marks at the ends of a window."""


@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """A text as a model reads it; all arrays of one entry a piece or a word, in order.

    Attributes:
        ids: The pieces (pieces).
        word_features: How each word is set, from 1 (words).
        words: The word that each is of, from 0 (pieces).
        starts: First code point of each word (words).
        ends: One past its last (words).
        gaps: What stands before each word, an index of `GAPS` (words).
    """

    ids: NDArray[np.int64]
    word_features: NDArray[np.int64]
    words: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    gaps: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"<Tokens: {len(self.ids)} pieces>"

    @property
    def features(self) -> NDArray[np.int64]:
        """How the word of each piece is set (pieces)."""
        return self.word_features[self.words]

    @property
    def is_word(self) -> NDArray[np.bool_]:
        """Whether each word has a letter or a digit (words)."""
        return np.asarray((self.word_features - 1) // len(GAPS) != SHAPES.index("other"))


class Framed(NamedTuple):
    """A window between the marks that a network knows its ends by; one entry a piece.

    Attributes:
        ids: The pieces.
        features: How the word of each is set; 0 for a mark.
    """

    ids: NDArray[np.int64]
    features: NDArray[np.int64]


class Reader:
    """Reads texts with one model's vocabulary.

    Args:
        vocabulary: The file of the library `tokenizers`.
    """

    def __init__(self, vocabulary: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(vocabulary))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        one = self._tokenizer.encode("a")
        marks, ids = one.special_tokens_mask, np.asarray(one.ids, dtype=np.int64)
        self._begin, self._end = ids[: marks.index(0)], ids[len(marks) - marks[::-1].index(0) :]

    @property
    def before(self) -> int:
        """How many marks stand before a window."""
        return len(self._begin)

    @property
    def marks(self) -> int:
        """How many marks stand around a window."""
        return len(self._begin) + len(self._end)

    def read(self, text: str) -> Tokens:
        """The pieces of a text."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ids = np.asarray(encoding.ids, dtype=np.int64)
        offsets = np.asarray(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        told = np.asarray(encoding.word_ids, dtype=np.int64)
        begins = np.flatnonzero(np.diff(told, prepend=-1)) if len(told) else told
        ends = offsets[np.append(begins[1:], len(told)) - 1, 1] if len(told) else begins
        words = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(told))))
        starts, gaps, features = self._set(text, offsets[begins, 0].tolist(), ends.tolist())
        return Tokens(ids, features, words, starts, ends, gaps)

    def framed(self, tokens: Tokens, start: int, end: int) -> Framed:
        """A window of a text."""
        ids = np.concatenate((self._begin, tokens.ids[start:end], self._end))
        features = np.zeros(len(ids), dtype=np.int64)
        features[self.before : self.before + end - start] = tokens.word_features[tokens.words[start:end]]
        return Framed(ids, features)

    @staticmethod
    def _set(
        text: str, starts: Sequence[int], ends: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Where words begin that may begin with their space, what stands before them, and how they are set."""
        begins, gaps, shapes = [], [], []
        before = 0
        for start, end in zip(starts, ends, strict=True):
            while start < end and text[start].isspace():
                start += 1
            begins.append(start)
            gaps.append(_gap(text[before:start]) if start > before else 0)
            shapes.append(_shape(text[start:end]))
            before = end
        gaps[:1] = [GAPS.index("paragraph")] * bool(gaps)
        placed, before_each, written = (np.asarray(values, dtype=np.int64) for values in (begins, gaps, shapes))
        return placed, before_each, 1 + written * len(GAPS) + before_each


def _gap(between: str) -> int:
    if between == " ":
        return 1
    lines = between.count("\n")
    return 2 if not lines else 3 if lines == 1 else 4


def _shape(word: str) -> int:
    if word.isalpha():
        if word.islower():
            return 0
        if word.istitle():
            return 1 if len(word) > 1 else 3
        return 2 if word.isupper() else 4
    if word.isdigit():
        return 5
    return 6 if any(c.isdigit() for c in word) else 7

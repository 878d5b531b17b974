"""Words, the unit in which detection is scored.

Belongs here: where the words of a text are and which of them a span touches. Does not belong here:
counting them (`scores.py`), or a model's sub-word tokens (`detection/`).

A word is a maximal run of letters, marks and digits, with apostrophes inside it: "O'Brien's" is one
word, "Smith-Jones" two, "03/04/2019" three. Hyphens part words, since half a double name left in a text
is a leak that one word would hide. Punctuation alone is no word. Scripts that write no spaces (Chinese
characters, kana) count one word a character.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import regex

_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}]"
    r"|[[\p{L}\p{M}\p{N}]--[\p{Han}\p{Hiragana}\p{Katakana}]]+"
    r"(?:['’][[\p{L}\p{M}\p{N}]--[\p{Han}\p{Hiragana}\p{Katakana}]]+)*",
    regex.VERSION1,
)

Offsets = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]


def word_offsets(text: str) -> Offsets:
    """The words of a text: an array of shape (words, 2) of start and end, in code points, end exclusive."""
    return np.array([match.span() for match in _WORD.finditer(text)], dtype=np.int64).reshape(-1, 2)


def touched(words: Offsets, intervals: Iterable[tuple[int, int]]) -> Marks:
    """Which words share at least one code point with any of the intervals; shape (words,)."""
    edges = np.zeros(len(words) + 1, dtype=np.int64)
    for start, end in intervals:
        first, last = words_between(words, start, end)
        if first < last:
            edges[first] += 1
            edges[last] -= 1
    return np.cumsum(edges[:-1]) > 0


def words_between(words: Offsets, start: int, end: int) -> tuple[int, int]:
    """The indices, end exclusive, of the words that share a code point with [start, end)."""
    first = int(words[:, 1].searchsorted(start, side="right"))
    last = int(words[:, 0].searchsorted(end, side="left"))
    return first, max(first, last)

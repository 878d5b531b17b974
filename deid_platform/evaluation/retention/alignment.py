"""Which tokens of a released text stand for which of the original, and chunks of such pairs.

Belongs here: alignments and their chunks. Does not belong here: whether a chunk lost anything (`judges.py`).

After Aghakasiri 2025, Algorithm 1 (appendix E) and appendix J: Needleman-Wunsch over tokens with +1 for equal ones, -1
for others and -1 for a gap, then chunks of 20 pairs, a gap counting as a position. The algorithm taken literally does
not do this. The library that it names (string2string) returns each aligned side as one string, in which " | " stands
between tokens and each token is padded with spaces to the width of its partner. Split at single spaces, as the
algorithm does, the bars count as tokens and each space of padding as an empty one; the shorter side of a pair gets more
of them, so the two lists run apart and a chunk of one is not what the chunk of the other stands for. A gap is also
written "-", as a dash of the note is. Here the pairs themselves are cut into chunks: both sides of a chunk are the
same 20 positions, and a gap has no text.

A token is what stands between white space, as in the algorithm; a placeholder with a space in it ("[DATE 2024]") is
one. Equal beginnings and ends are aligned without search, which loses no score. The rest takes time and memory with the
product of the two lengths: 6,000 tokens against 6,000 a quarter of a second.

The other alignment is fuzzy matching: each 20 tokens of the original get the stretch of the released text, near where
the last one ended, that is most similar by characters. It needs no equal tokens, which noise of OCR leaves few of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import regex
from Bio.Align import PairwiseAligner
from rapidfuzz import fuzz

CHUNK = 20
"""Pairs in a chunk."""
Pair = tuple[str | None, str | None]
"""A token of the original and one of the released text; None is a gap."""

_TOKEN = regex.compile(r"(?:[^\s\[]|\[\p{Lu}[\p{Lu}\-/]*(?: [\p{Lu}\d\-/+]+)+\]|\[)+")
_ENDS_SENTENCE = regex.compile(r"[.!?]['\")\]]*$")
_SLACK = 0.5  # of a chunk's length, how much further on fuzzy matching looks


@dataclass(frozen=True, slots=True, repr=False)
class Chunk:
    """A stretch of the original and what the released text has in its place.

    Attributes:
        original: Its tokens with single spaces between them.
        released: Likewise.
        pairs: How many positions it has, gaps included.
        at: The index of its first token in the original, and in the released text.
    """

    original: str
    released: str
    pairs: int
    at: tuple[int, int] = (0, 0)

    def __repr__(self) -> str:
        return f"<Chunk of {self.pairs} pairs>"

    @property
    def is_identical(self) -> bool:
        """Whether nothing changed, so that no judge need see it."""
        return self.original == self.released


def tokens(text: str) -> list[str]:
    """What stands between white space, placeholders whole."""
    return [match.group() for match in _TOKEN.finditer(text)]


def places(text: str) -> list[tuple[int, int]]:
    """Where its tokens start and end."""
    return [match.span() for match in _TOKEN.finditer(text)]


def align(original: Sequence[str], released: Sequence[str]) -> list[Pair]:
    """Pairs of tokens in order, of the highest score; of several such alignments always the same one."""
    head = _common(original, released)
    tail = _common(original[head:][::-1], released[head:][::-1])
    one, other = original[head : len(original) - tail], released[head : len(released) - tail]
    before, after = original[:head], original[len(original) - tail :]
    return [*zip(before, before, strict=True), *_searched(one, other), *zip(after, after, strict=True)]


def chunks(pairs: Sequence[Pair], size: int = CHUNK) -> list[Chunk]:
    """Pairs in chunks of so many positions; the last may be shorter.

    Args:
        pairs: An alignment.
        size: Positions in a chunk, at least 1.
    """
    rest = iter(pairs)
    return _chunks(iter(lambda: list(islice(rest, size)), []))


def sentences(original: str, pairs: Sequence[Pair]) -> list[Chunk]:
    """Pairs cut where a sentence of the original ends: the other unit of appendix J.

    A sentence ends at a full stop, a question or an exclamation mark before white space, and at a line break. What
    the released text has in a gap belongs to the sentence before it.

    Args:
        original: The text that was aligned, token by token.
        pairs: Its alignment.
    """
    ends = _sentence_ends(original)
    found: list[list[Pair]] = [[]]
    position = 0
    closed = False
    for pair in pairs:
        if closed and pair[0] is not None:
            found.append([])
            closed = False
        found[-1].append(pair)
        if pair[0] is not None:
            closed = position in ends
            position += 1
    return _chunks(sentence for sentence in found if sentence)


def chunks_of(original: str, released: str, size: int = CHUNK) -> list[Chunk]:
    """The chunks of two texts, aligned by Needleman-Wunsch."""
    return chunks(align(tokens(original), tokens(released)), size)


def sentences_of(original: str, released: str) -> list[Chunk]:
    """The sentences of two texts, aligned by Needleman-Wunsch."""
    return sentences(original, align(tokens(original), tokens(released)))


def fuzzy_chunks_of(original: str, released: str, size: int = CHUNK) -> list[Chunk]:
    """The chunks of two texts by fuzzy matching: each so many tokens of the original and their most similar stretch.

    A stretch begins and ends at white space. What the released text has between two stretches belongs to neither.
    """
    words, target = tokens(original), tokens(released)
    starts = np.cumsum([0, *(len(word) + 1 for word in target)])
    text = " ".join(target)
    found: list[Chunk] = []
    cursor = 0
    for at in range(0, len(words), size):
        taken = words[at : at + size]
        wanted = " ".join(taken)
        limit = cursor + int(len(wanted) * (1 + _SLACK)) + 1
        place = fuzz.partial_ratio_alignment(wanted, text[cursor:limit]) if cursor < len(text) else None
        if place is None or place.dest_start == place.dest_end:
            found.append(Chunk(wanted, "", len(taken), (at, int(np.searchsorted(starts, cursor)))))
            continue
        first = int(np.searchsorted(starts, cursor + place.dest_start, side="right")) - 1
        last = int(np.searchsorted(starts, cursor + place.dest_end, side="left"))
        found.append(Chunk(wanted, " ".join(target[first:last]), len(taken), (at, first)))
        cursor = int(starts[min(last, len(target))])
    return found


def _searched(one: Sequence[str], other: Sequence[str]) -> Iterator[Pair]:
    if not one or not other:
        yield from ((token, None) for token in one)
        yield from ((None, token) for token in other)
        return
    numbers: dict[str, int] = {}
    coded = [
        np.array([numbers.setdefault(token, len(numbers)) for token in side], dtype=np.int32) for side in (one, other)
    ]
    aligner: Any = PairwiseAligner(  # type: ignore[no-untyped-call]
        mode="global", match_score=1.0, mismatch_score=-1.0, open_gap_score=-1.0, extend_gap_score=-1.0
    )
    corners = aligner.align(*coded)[0].coordinates
    for (i, j), (k, m) in zip(corners.T[:-1].tolist(), corners.T[1:].tolist(), strict=True):
        if i == k:
            yield from ((None, token) for token in other[j:m])
        elif j == m:
            yield from ((token, None) for token in one[i:k])
        else:
            yield from zip(one[i:k], other[j:m], strict=True)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _chunks(cut: Iterable[Sequence[Pair]]) -> list[Chunk]:
    found: list[Chunk] = []
    at = (0, 0)
    for pairs in cut:
        one, other = ([token for token in side if token is not None] for side in zip(*pairs, strict=True))
        found.append(Chunk(" ".join(one), " ".join(other), len(pairs), at))
        at = at[0] + len(one), at[1] + len(other)
    return found


def _sentence_ends(text: str) -> frozenset[int]:
    """The indices of the tokens after which a sentence ends."""
    found = list(_TOKEN.finditer(text))
    return frozenset(
        i
        for i, match in enumerate(found)
        if _ENDS_SENTENCE.search(match.group())
        or i + 1 == len(found)
        or "\n" in text[match.end() : found[i + 1].start()]
    )

"""Gold of a text, on what was read of that text.

Belongs here: aligning two texts and moving spans by that. Does not belong here: reading (`documents.py`), or gold of
notes that nobody annotated: a detector's spans never become gold.

Words are aligned first, as numbers, with gaps of any length, so that a paragraph that was read late or twice does not
drag the others along; then, between words that are the same on both sides, characters. A span that has no place there
is looked for, with the words around it, in what else was read: recognition may put a line behind a paragraph that
stands below it. A span without a place takes its note out of the gold: scored without it, a detector would be blamed
for what stands there, or praised for missing it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deid_platform.corpora.gold import Gold
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Span

_TOKEN = re.compile(r"\w+|[^\w\s]")
_MOST_CELLS = 200_000_000  # tokens times tokens: 14,000 of each take some 350 MB
_LONG = 4  # letters that make a word an anchor by itself
_SCORES = {"match_score": 2.0, "mismatch_score": -1.0, "open_gap_score": -1.5, "extend_gap_score": -0.25}
_AROUND = 25  # characters at either side by which a line that moved is told
_MOVED_ALIKE = 75.0  # of 100, of a stretch with those
LEAST_ALIKE = 0.5
"""Share of an identifier's letters and digits that have to stand where it is placed."""


@dataclass(frozen=True, slots=True, repr=False)
class Carried:
    """What became of a note's gold.

    Attributes:
        gold: On the text that was read; None if a span found no place.
        unplaced: Which spans found none, by their place among the note's spans.
        lost_terms: How many clinical terms found none. The note stands without them: they are what reading lost, not
            what redaction took.
    """

    gold: Gold | None
    unplaced: tuple[int, ...]
    lost_terms: int

    def __repr__(self) -> str:
        return "<Carried>"


def carry_over(original: Gold, read_text: str) -> Carried:
    """The gold of a note, on a text that was read of it.

    Args:
        original: With its text.
        read_text: What was read.

    Raises:
        DeidError: `input-invalid` if the gold has no text, or the texts are too long to be aligned.
    """
    if original.note is None:
        raise DeidError(Code.INPUT_INVALID, "gold without a text")
    aligned = _Aligned(original.note.text, read_text)
    places = [aligned.place(span.start, span.end) for span in original.spans]
    spans: dict[int, Span] = {}
    for in_order in (True, False):
        for index, span in enumerate(original.spans):
            if index in spans:
                continue
            place = places[index] if in_order else aligned.moved_place(span.start, span.end)
            if place is not None and not _in_the_way(place, span, spans, original.spans):
                spans[index] = replace(span, start=place[0], end=place[1])
    unplaced = tuple(index for index in range(len(original.spans)) if index not in spans)
    terms = [aligned.place(start, end) for start, end in original.clinical]
    lost = terms.count(None)
    if unplaced:
        return Carried(None, unplaced, lost)
    clinical = tuple(term for term in terms if term is not None)
    note = replace(original.note, text=read_text)
    moved = replace(original, spans=tuple(sorted(spans.values())), clinical=tuple(sorted(clinical)), note=note)
    return Carried(moved, (), lost)


def _in_the_way(place: tuple[int, int], span: Span, placed: Mapping[int, Span], before: Sequence[Span]) -> bool:
    """Whether a place is that of a span which this one did not overlap in the text."""
    return any(
        place[0] < other.end and other.start < place[1] and not before[index].overlaps(span)
        for index, other in placed.items()
    )


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A word that is the same on both sides."""

    start: int
    end: int
    read_start: int
    read_end: int


class _Aligned:
    """Two texts and the words that they share."""

    def __init__(self, text: str, read: str) -> None:
        self._text = text
        self._read = read
        self._anchors = list(_anchors(text, read))
        self._starts = [anchor.start for anchor in self._anchors]
        self._ends = [anchor.end for anchor in self._anchors]

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Where a part of the text stands in what was read; None if most of it does not."""
        before = bisect_right(self._ends, start) - 1
        after = bisect_left(self._starts, end)
        left, read_left = (self._ends[before], self._anchors[before].read_end) if before >= 0 else (0, 0)
        known = after < len(self._anchors)
        right = self._starts[after] if known else len(self._text)
        read_right = self._anchors[after].read_start if known else len(self._read)
        found = _place_within(self._text[left:right], self._read[read_left:read_right], start - left, end - left)
        return None if found is None else (found[0] + read_left, found[1] + read_left)

    def moved_place(self, start: int, end: int) -> tuple[int, int] | None:
        """Where a part of the text stands among what was read and is nowhere in the order of the text."""
        from rapidfuzz import fuzz

        left, right = max(0, start - _AROUND), min(len(self._text), end + _AROUND)
        context = self._text[left:right]
        best: tuple[float, int, int] | None = None
        for begin, stop in self._unaligned():
            if stop - begin < end - start:
                continue
            found = fuzz.partial_ratio_alignment(context, self._read[begin:stop], score_cutoff=_MOVED_ALIKE)
            if found is not None and (best is None or found.score > best[0]):
                # The shorter of the two is sought in the longer one.
                whole = stop - begin <= len(context)
                inside = (begin, stop) if whole else (begin + found.dest_start, begin + found.dest_end)
                best = found.score, *inside
        if best is None:
            return None
        _, begin, stop = best
        place = _place_within(context, self._read[begin:stop], start - left, end - left)
        return None if place is None else (place[0] + begin, place[1] + begin)

    def _unaligned(self) -> Iterator[tuple[int, int]]:
        """The stretches of what was read between anchors."""
        ends = [0, *(anchor.read_end for anchor in self._anchors)]
        starts = [*(anchor.read_start for anchor in self._anchors), len(self._read)]
        return zip(ends, starts, strict=True)


def _anchors(text: str, read: str) -> Iterator[_Anchor]:
    """Words in their order that are the same on both sides, and are long or have a neighbour that is the same too."""
    import numpy as np
    from Bio.Align import PairwiseAligner

    sides = [list(_TOKEN.finditer(side)) for side in (text, read)]
    if not all(sides):
        return
    if len(sides[0]) * len(sides[1]) > _MOST_CELLS:
        raise DeidError(Code.INPUT_INVALID, "texts too long to be aligned")
    numbers: dict[str, int] = {}
    first, second = (
        np.array([numbers.setdefault(token[0].casefold(), len(numbers)) for token in side], np.int32) for side in sides
    )
    aligner: Any = PairwiseAligner(mode="global", **_SCORES)  # type: ignore[no-untyped-call]
    blocks = aligner.align(first, second)[0].aligned
    for (begin, stop), (read_begin, _) in zip(*blocks.tolist(), strict=True):
        same = [int(first[begin + at]) == int(second[read_begin + at]) for at in range(stop - begin)]
        for at in range(stop - begin):
            token, read_token = sides[0][begin + at], sides[1][read_begin + at]
            neighbours = same[max(0, at - 1) : at] + same[at + 1 : at + 2]
            if same[at] and (len(token[0]) >= _LONG or any(neighbours)):
                yield _Anchor(*token.span(), *read_token.span())


def _place_within(text: str, read: str, start: int, end: int) -> tuple[int, int] | None:
    """Where `text[start:end]` stands in `read`, by the least number of edits between the two."""
    from rapidfuzz.distance import Levenshtein

    became: dict[int, int] = {}
    for edit in Levenshtein.opcodes(text, read):
        if edit.tag in ("equal", "replace"):
            became.update(zip(range(edit.src_start, edit.src_end), range(edit.dest_start, edit.dest_end), strict=True))
    counted = [at for at in range(start, end) if text[at].isalnum()] or [
        at for at in range(start, end) if not text[at].isspace()
    ]
    alike = sum(1 for at in counted if at in became and _alike(text[at], read[became[at]]))
    kept = [became[at] for at in range(start, end) if at in became and not text[at].isspace()]
    if not counted or not kept:
        return None
    others = {became[at] for at in became if _alike(text[at], read[became[at]])}
    begin, stop = _whole_words(text, read, (start, end), (min(kept), max(kept) + 1), others)
    surface = read[begin:stop]
    begin, stop = begin + len(surface) - len(surface.lstrip()), stop - len(surface) + len(surface.rstrip())
    here = sum(character.isalnum() for character in read[begin:stop])
    if begin >= stop or alike < LEAST_ALIKE * max(len(counted), here):
        return None
    return begin, stop


def _alike(one: str, other: str) -> bool:
    return one == other or one.casefold() == other.casefold()


def _whole_words(
    text: str, read: str, place: tuple[int, int], found: tuple[int, int], taken: set[int]
) -> tuple[int, int]:
    """With the letters that reading added to either end, where a word ends there in the text: `Smithl` of `Smith`."""
    (start, end), (begin, stop) = place, found
    if start == 0 or not text[start - 1].isalnum():
        while begin > 0 and begin - 1 not in taken and read[begin - 1].isalnum():
            begin -= 1
    if end == len(text) or not text[end].isalnum():
        while stop < len(read) and stop not in taken and read[stop].isalnum():
            stop += 1
    return begin, stop


def word_error_rate(text: str, read: str) -> float:
    """Words that were changed, lost or added, over the words of the text (Levenshtein over words, case kept).

    Args:
        text: What was written; with at least one word.
        read: What was read.
    """
    from rapidfuzz.distance import Levenshtein

    words: Sequence[str] = text.split()
    return Levenshtein.distance(words, read.split()) / len(words)

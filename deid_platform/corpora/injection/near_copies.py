"""Test notes whose prose stands in a training part: of no test corpus, since a model may have read them.

Belongs here: the list of them, `data/near_copies.tsv`, and how a near copy is told. Does not belong here: which notes
are of which part (`corpora/catalogue.py`).

    corpus <tab> note_id

Publishers took notes from one another: half of the Spanish case reports of E3C are those of MEDDOCAN. Such a note is
of no part; it does not move to training.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources

from deid_platform.corpora.gold import Gold

WORDS = 8
"""Of a shingle: words that follow one another, whatever stands between them."""
SHARE = 0.3
"""Of a note's different shingles; a note of which more stands in training is a near copy."""
_WORD = re.compile(r"\w+")
_IDENTIFIER = " _ "


@cache
def _listed() -> frozenset[tuple[str, str]]:
    path = resources.files("deid_platform.corpora.injection") / "data" / "near_copies.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = (line.partition("\t") for line in lines if not line.startswith("#"))
    return frozenset((corpus, note_id) for corpus, _, note_id in rows)


def near_copies_of(corpus: str) -> frozenset[str]:
    """The ids of a corpus's test notes that are near copies of training notes of any corpus."""
    return frozenset(note_id for name, note_id in _listed() if name == corpus)


class TrainingProse:
    """The shingles of all training notes, as hashes: a word of memory for each.

    A note counts as it stands, and with each of its marked identifiers as one word: two cases that differ in names
    alone are copies.
    """

    def __init__(self, notes: Iterable[Gold]) -> None:
        self._seen: set[int] = set()
        for gold in notes:
            for text in _readings(gold):
                self._seen |= _shingles(text)

    def share(self, gold: Gold) -> float:
        """The share of a note's shingles that stand in training, from 0 to 1: the larger of its two readings."""
        return max((self._share(text) for text in _readings(gold)), default=0.0)

    def near_copies(self, notes: Iterable[Gold]) -> Iterator[str]:
        """The ids of those notes of which more than `SHARE` stands in training."""
        return (gold.note_id for gold in notes if self.share(gold) > SHARE)

    def _share(self, text: str) -> float:
        found = _shingles(text)
        return len(found & self._seen) / len(found) if found else 0.0


def _readings(gold: Gold) -> Iterator[str]:
    if gold.note is None:
        return
    text, at = gold.note.text, 0
    yield text
    parts: list[str] = []
    for span in sorted(gold.spans):
        parts += (text[at : span.start], _IDENTIFIER)
        at = max(at, span.end)
    yield "".join((*parts, text[at:]))


def _shingles(text: str) -> set[int]:
    """The shingles of a text; a shorter one is its own."""
    words = [word.casefold() for word in _WORD.findall(text)]
    return {hash(tuple(words[at : at + WORDS])) for at in range(max(1, len(words) - WORDS + 1))} if words else set()

"""Takes back words that rules alone mark as a name or a place and that every model reads as something else.

Belongs here: which words of which candidates a model may doubt. Does not belong here: what a model says of a word
(`detection/models`), or clinical terms (`recovery/`).

A rule knows one pattern and not the sentence: in a note in capital letters "SHE WAS SEEN AT MERCY HOSPITAL" may read as
one long name of a hospital, and a name that is also a word is found wherever the word stands. Every model has to be as
good as sure. Even so

- nothing but names and places of the rules is doubted, and no word with a digit;
- what the roster, the gazetteer, the site's own recognizers or other notes of the patient find is never doubted, nor
  what is `PROVEN`;
- only the ends of a candidate are cut off: a name stays whole from its first to its last credible word;
- a candidate goes as a whole only if its evidence is no more than `CONTEXT`: what a title or a label introduces stays.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from deid_platform.detection.api import Candidate, Document, Evidence, Likelihoods, SourceKind
from deid_platform.labels import NAMES_AND_PLACES

_WITH_DIGIT = re.compile(r"[^\W\d_]*\d\w*")


class Doubt:
    """A resolving stage.

    Args:
        below: The probability of being an identifier, from 0 to 1, under which a model doubts a word.
    """

    def __init__(self, below: float) -> None:
        self._below = below

    def __repr__(self) -> str:
        return f"<Doubt: {self._below}>"

    def __call__(self, document: Document, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates without what is doubted, in the order given; all of them where no model has read the text."""
        if not document.likelihoods:
            return list(candidates)
        return list(_kept(document.text, candidates, document.likelihoods, self._below))


def _kept(text: str, candidates: Sequence[Candidate], read: Sequence[Likelihoods], below: float) -> Iterator[Candidate]:
    for candidate in candidates:
        if not _may_be_doubted(candidate):
            yield candidate
            continue
        credible = [place for each in read for place in _not_doubted(each, candidate, below)]
        credible += [match.span() for match in _WITH_DIGIT.finditer(text, candidate.start, candidate.end)]
        if credible:
            start, end = min(start for start, _ in credible), max(end for _, end in credible)
            yield candidate._replace(start=max(start, candidate.start), end=min(end, candidate.end))
        elif candidate.evidence > Evidence.CONTEXT:
            yield candidate


def _not_doubted(read: Likelihoods, candidate: Candidate, below: float) -> Iterator[tuple[int, int]]:
    """The words of a candidate that a model may take for an identifier."""
    first, last = bisect_right(read.ends, candidate.start), bisect_left(read.starts, candidate.end)
    for word in range(first, last):
        if read.probabilities[word] >= below:
            yield read.starts[word], read.ends[word]


def _may_be_doubted(candidate: Candidate) -> bool:
    source = candidate.source
    if source.kind is not SourceKind.RULES or source.of_site:
        return False
    return candidate.label in NAMES_AND_PLACES and candidate.evidence < Evidence.PROVEN

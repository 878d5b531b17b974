"""A judge weighs proposed removals for their clinical relevance, and what is medicine stays.

Belongs here: what a judge is, and which removals it may weigh. Does not belong here: a judge (`vocabulary_judge.py`,
`chat_judge.py`), or clinical terms that are known as such (`recovery/`).

After the first open question of Aghakasiri 2025: whether weighing each removal keeps clinical content. A judge is
optional and sees only what is weakly founded. Never weighed are direct identifiers, what the topics, other notes of the
patient or the site's own recognizers find, what has a title or a label, and whatever overlaps any of these. Nor is a
removal that has a word of a person whom the same text names so: a judge that took one mention for medicine would tell
who the others are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import regex

from deid_platform.detection.api import Candidate, Document, Evidence, SourceKind
from deid_platform.labels import DIRECT_IDENTIFIERS, PERSONS
from deid_platform.text.fold import fold_term

ToWeigh = tuple[Document, Sequence[Candidate]]
"""A document and the removals of it that are weighed, one or more."""
_WORD = regex.compile(r"\p{L}{2,}")


class Judge(Protocol):
    """Weighs proposed removals."""

    def weigh(self, asked: Sequence[ToWeigh]) -> list[list[float]]:
        """How clinical each stretch is, from 0 for an identifier to 1 for medicine, in the order given.

        What is said of a document does not depend on the others.

        Raises:
            Exception: A note on which it raises is withheld.
        """
        ...


class Judgement:
    """A resolving stage.

    Args:
        judge: Who weighs.
        least: The weight from which on a removal is not made.
    """

    def __init__(self, judge: Judge, least: float) -> None:
        self._judge = judge
        self._least = least

    def __repr__(self) -> str:
        return "<Judgement>"

    def __call__(self, documents: Sequence[Document], candidates: list[list[Candidate]]) -> list[list[Candidate]]:
        """The candidates without those that the judge finds clinical, sorted by their place."""
        grouped = [_weighable(document, some) for document, some in zip(documents, candidates, strict=True)]
        weighed = [[_whole(group) for group, may in groups if may] for groups in grouped]
        asked = [(document, some) for document, some in zip(documents, weighed, strict=True) if some]
        weights = iter(self._judge.weigh(asked) if asked else [])
        kept: list[list[Candidate]] = []
        for groups, some in zip(grouped, weighed, strict=True):
            of_these = iter(_as_many(next(weights), some) if some else [])
            kept.append([it for group, may in groups if not may or next(of_these) < self._least for it in group])
        return kept


def _as_many(weights: Sequence[float], removals: Sequence[Candidate]) -> Sequence[float]:
    if len(weights) != len(removals):
        raise ValueError("as many weights as removals")
    return weights


def _weighable(document: Document, candidates: Sequence[Candidate]) -> list[tuple[list[Candidate], bool]]:
    """Groups of candidates that overlap, and whether each may be weighed."""
    groups = [(group, all(map(_may_be_weighed, group))) for group in _overlapping(candidates)]
    named = {
        word
        for group, may in groups
        for it in group
        if not may and it.label in PERSONS
        for word in _words(document, it)
    }
    return [(group, may and named.isdisjoint(_words(document, _whole(group)))) for group, may in groups]


def _words(document: Document, candidate: Candidate) -> list[str]:
    return list(_WORD.findall(fold_term(document.text[candidate.start : candidate.end])))


def _may_be_weighed(candidate: Candidate) -> bool:
    source = candidate.source
    found_in_the_text = source.kind in (SourceKind.MODEL, SourceKind.RULES) and not source.of_site
    weak = candidate.evidence <= Evidence.CONTEXT and candidate.label not in DIRECT_IDENTIFIERS
    return found_in_the_text and weak


def _overlapping(candidates: Sequence[Candidate]) -> Iterator[list[Candidate]]:
    group: list[Candidate] = []
    end = -1
    for candidate in sorted(candidates, key=lambda it: (it.start, it.end)):
        if group and candidate.start >= end:
            yield group
            group = []
        group.append(candidate)
        end = max(end, candidate.end) if len(group) > 1 else candidate.end
    if group:
        yield group


def _whole(group: Sequence[Candidate]) -> Candidate:
    """The removal that a group would make."""
    return group[0]._replace(end=max(candidate.end for candidate in group))

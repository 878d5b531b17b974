"""A judge weighs proposed removals for their clinical relevance, and what is medicine stays.

Belongs here: what a judge is, and which removals it may weigh. Does not belong here: a judge (`vocabulary_judge.py`),
or clinical terms that are known as such (`recovery/`).

After the first open question of Aghakasiri 2025: whether weighing each removal keeps clinical content. A judge is
optional and sees only what is weakly founded. Never weighed are direct identifiers, what the topics, other notes of the
patient or the site's own recognizers find, what has a title or a label, and whatever overlaps any of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from deid_platform.detection.api import Candidate, Document, Evidence, SourceKind
from deid_platform.labels import DIRECT_IDENTIFIERS


class Judge(Protocol):
    """Weighs proposed removals."""

    def weigh(self, document: Document, removals: Sequence[Candidate]) -> list[float]:
        """How clinical each stretch is, from 0 for an identifier to 1 for medicine, in the order given.

        Raises:
            Exception: The note is then withheld.
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

    def __call__(self, document: Document, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates without those that the judge finds clinical, sorted by their place."""
        groups = [(group, all(map(_may_be_weighed, group))) for group in _overlapping(candidates)]
        weighed = [_whole(group) for group, may in groups if may]
        weights = iter(self._judge.weigh(document, weighed) if weighed else [])
        kept = [group for group, may in groups if not may or next(weights) < self._least]
        return [candidate for group in kept for candidate in group]


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

"""What a language model finds says nothing of the labels that others gave.

Belongs here: cutting its candidates at those of others. Does not belong here: what overlaps become (`merge.py`).

A policy may show the text of some labels. A model that a note's text can talk to, calling a patient a doctor, would
otherwise bring a name that others found back into sight.
"""

from __future__ import annotations

from collections.abc import Iterator

from deid_platform.detection.api import Candidate, Document
from deid_platform.detection.resolve.merge import merge


def beside_others(document: Document, candidates: list[Candidate]) -> list[Candidate]:
    """The candidates, those of a language model in pieces with the labels of what else is found there.

    They cover what they covered, but for pieces without a letter or digit between what others found.
    """
    others = [candidate for candidate in candidates if not candidate.source.asked]
    known = merge(others)
    asked = (candidate for candidate in candidates if candidate.source.asked)
    return [*others, *(piece for candidate in asked for piece in _pieces(document.text, candidate, known))]


def _pieces(text: str, candidate: Candidate, known: list[Candidate]) -> Iterator[Candidate]:
    met = [other for other in known if other.overlaps(candidate)]
    if all(other.label is candidate.label for other in met):
        yield candidate
        return
    at = candidate.start
    for other in met:
        yield from _between(text, candidate, at, other.start)
        at = min(other.end, candidate.end)
        yield candidate._replace(start=max(other.start, candidate.start), end=at, label=other.label)
    yield from _between(text, candidate, at, candidate.end)


def _between(text: str, candidate: Candidate, start: int, end: int) -> Iterator[Candidate]:
    if any(character.isalnum() for character in text[start:end]):
        yield candidate._replace(start=start, end=end)

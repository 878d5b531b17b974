"""What a detector is, and what the components of the rule-based one share.

Belongs here: the two protocols and the word lists' loader. Does not belong here: any rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Protocol

from deid_platform.text.normalize import Document, fold_term
from deid_platform.notes import Note, Span


class Detector(Protocol):
    """Finds identifiers in notes, batch in, batch out."""

    def detect(self, notes: Sequence[Note]) -> list[tuple[Span, ...]]:
        """Spans of each note, in the order of the notes.

        Returns:
            One tuple a note: sorted, non-overlapping, inside the text.

        Raises:
            DeidError: `detector-failed` if a note could not be searched to its end.
        """
        ...


class Component(Protocol):
    """One source of spans inside a detector; its spans may overlap and come in any order."""

    def find(self, document: Document) -> list[Span]:
        """Candidate spans of one note."""
        ...


def read_terms(text: str) -> tuple[str, ...]:
    """The terms of a word list: one a line, `#` begins a comment, blank lines are skipped."""
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return tuple(line for line in lines if line)


def written_terms(name: str) -> tuple[str, ...]:
    """The terms of a word list of this package (`data/<name>.txt`), as they are written there."""
    return read_terms((files("deid_platform.lexicon") / "data" / f"{name}.txt").read_text("utf-8"))


@cache
def word_list(name: str) -> frozenset[str]:
    """A word list of this package, folded."""
    return frozenset(
        term.lower() if term.isascii() and term.isalpha() else fold_term(term) for term in written_terms(name)
    )

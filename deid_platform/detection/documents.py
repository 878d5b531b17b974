"""From a note to the documents that detectors read, and from their candidates back to the note's offsets.

Belongs here: the decoded views of a text with escapes (`deid_platform.text`), the removal of disguises, and the
splitting of very long texts into pieces. Does not belong here: what is found in any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from deid_platform.detection.api import Candidate, Document
from deid_platform.detection.resolve.merge import merge
from deid_platform.notes import Note
from deid_platform.text import Decoded, views
from deid_platform.text.deobfuscate import deobfuscate
from deid_platform.text.offsets import Rewritten

_LONGEST = 400_000
"""Maximum code points of a document: a longer text is searched in overlapping pieces."""
_OVERLAP = 2_000


Merging = Callable[[Iterable[Candidate]], list[Candidate]]
"""How overlapping candidates become one; `list` keeps them all."""


@dataclass(frozen=True, slots=True, repr=False)
class View:
    """One way in which a note may be read.

    Attributes:
        decoded: The note with its escapes resolved; None for the note as it is written.
        shown: That text without disguises.
        starts: Where each piece begins in `shown`.
        pieces: The documents; most views have one.
    """

    decoded: Decoded | None
    shown: Rewritten
    starts: tuple[int, ...]
    pieces: tuple[Document, ...]

    def __repr__(self) -> str:
        return "<View>"

    def placed(self, found: Sequence[Sequence[Candidate]], merging: Merging = merge) -> list[Candidate]:
        """What was found in the pieces, merged and in the offsets of the note.

        A candidate that touches an escape covers the whole of it.
        """
        if len(self.pieces) == 1 and not self.shown.cuts:
            merged = merging(found[0])
        else:
            merged = merging(
                self._shown_at(candidate, start)
                for start, candidates in zip(self.starts, found, strict=True)
                for candidate in merging(candidates)
            )
        if self.decoded is None:
            return merged
        return [self._written_at(candidate, self.decoded) for candidate in merged]

    def _shown_at(self, candidate: Candidate, start: int) -> Candidate:
        first, last = candidate.start + start, candidate.end + start - 1
        return candidate._replace(start=self.shown.origin(first), end=self.shown.origin(last) + 1)

    @staticmethod
    def _written_at(candidate: Candidate, decoded: Decoded) -> Candidate:
        start, end = decoded.origin(candidate.start, candidate.end)
        return candidate._replace(start=start, end=end)


def views_of(note: Note) -> list[View]:
    """The ways in which a note may be read; more than one where escapes are ambiguous."""
    seen = views(note.text)
    if len(seen) == 1 and seen[0].text is note.text:
        return [_view(note, note.text, None)]
    return [_view(note, each.text, each) for each in seen]


def _view(note: Note, text: str, decoded: Decoded | None) -> View:
    shown = deobfuscate(text)
    places = list(segments(shown.text)) if shown.text else []
    return View(
        decoded,
        shown,
        tuple(start for start, _ in places),
        tuple(Document(note, shown.text[start:end]) for start, end in places),
    )


def segments(text: str) -> Iterator[tuple[int, int]]:
    """A text in overlapping pieces of bounded length, so that an identifier cut by one piece is whole in the next."""
    start = 0
    while len(text) - start > _LONGEST:
        end = start + _LONGEST
        line = text.rfind("\n", end - _OVERLAP, end)
        yield start, line + 1 if line >= 0 else end
        start = end - 2 * _OVERLAP
    yield start, len(text)

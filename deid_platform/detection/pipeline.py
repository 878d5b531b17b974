"""The pipeline: named stages in order, from a batch of notes to the spans of each.

Belongs here: what a stage is, running stages, and the two passes over pieces of one text. Does not belong here: any
stage, or which of them a detector is made of (`registry.py`).

A note becomes documents (`documents.py`). Detecting stages add candidates to each document; resolving stages take some
away, add further mentions or change labels. The remaining candidates are merged and mapped to the offsets of the note.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from itertools import islice
from typing import Protocol

from deid_platform.detection.api import Candidate, Detector, Document, NotesFailedError
from deid_platform.detection.documents import Merging, View, views_of
from deid_platform.detection.resolve.cross_note import Mentioned, mentions_in, together
from deid_platform.detection.resolve.merge import merge
from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Span

Candidates = list[list[Candidate]]
"""One list per document."""
Stage = Callable[[Sequence[Document], Candidates], Candidates]
"""Takes a batch of documents with their candidates so far, and returns their candidates after the stage."""


def detecting(detector: Detector) -> Stage:
    """A stage that adds what a detector finds."""

    def stage(documents: Sequence[Document], candidates: Candidates) -> Candidates:
        found = detector.detect(documents)
        return [[*before, *more] for before, more in zip(candidates, found, strict=True)]

    return stage


def resolving(resolve: Callable[[Document, list[Candidate]], list[Candidate]]) -> Stage:
    """A stage that resolves the candidates of one document at a time."""

    def stage(documents: Sequence[Document], candidates: Candidates) -> Candidates:
        return [resolve(document, some) for document, some in zip(documents, candidates, strict=True)]

    return stage


class NoteDetector(Protocol):
    """Finds the spans of notes: what a worker holds."""

    @property
    def reused(self) -> TemplateCounts:
        """How much text was recurring template text, of all that was read."""
        ...

    def detect(self, notes: Sequence[Note]) -> list[tuple[Span, ...]]:
        """The spans of each note, in the order of the notes.

        Returns:
            One tuple per note: sorted, non-overlapping, inside the text.

        Raises:
            NotesFailedError: If some notes could not be read and it is known which; it has the spans of the others.
            DeidError: `detector-failed` if a note could not be searched to its end.
        """
        ...


class Pipeline:
    """A detector of notes (`NoteDetector`): the stages, then the merge.

    Args:
        stages: By name, in order.
        across_pieces: Finds candidates that need more than one piece of a text, given the text and where pieces begin.
        second_pass: Makes the stages that search for the mentions of some texts in others; None for a single pass.
        template_counts: How much text was recurring template text, of all that the stages have read.
    """

    def __init__(
        self,
        stages: Mapping[str, Stage],
        *,
        across_pieces: Callable[[str, Sequence[int]], Iterable[Candidate]] | None = None,
        second_pass: Callable[[Mentioned], Mapping[str, Stage]] | None = None,
        template_counts: Callable[[], TemplateCounts] = TemplateCounts,
    ) -> None:
        self.stages = dict(stages)
        self._across_pieces = across_pieces
        self._second_pass = second_pass
        self._template_counts = template_counts

    def __repr__(self) -> str:
        return f"<Pipeline: {', '.join(self.stages)}>"

    @property
    def reused(self) -> TemplateCounts:
        """How much text was recurring template text, of all that was read."""
        return self._template_counts()

    def extended(self, further: Mapping[str, Stage], *, after: Collection[str]) -> Pipeline:
        """The same pipeline with further stages; what this one has built, it shares.

        Args:
            further: By name, in order; none of them is in this pipeline.
            after: The names after the last of which they run; before all stages where there is none of these.
        """
        stages = list(self.stages.items())
        place = max((number for number, (name, _) in enumerate(stages, start=1) if name in after), default=0)
        other = copy(self)
        other.stages = dict([*stages[:place], *further.items(), *stages[place:]])
        return other

    def detect(self, notes: Sequence[Note]) -> list[tuple[Span, ...]]:
        """The spans of each note; see `NoteDetector`."""
        outcomes = [
            each if isinstance(each, Code) else tuple(candidate.span() for candidate in each)
            for each in self._outcomes(notes, merge)
        ]
        spans = [each for each in outcomes if not isinstance(each, Code)]
        if len(spans) < len(outcomes):
            raise NotesFailedError(outcomes)
        return spans

    def candidates(self, notes: Sequence[Note], merging: Merging = merge) -> Candidates:
        """The candidates of each note after all stages, in the offsets of the note.

        Args:
            notes: The notes.
            merging: By default they become sorted and non-overlapping; `list` keeps what each source found.

        Raises:
            DeidError: Why a note could not be read.
        """
        found: Candidates = []
        for each in self._outcomes(notes, merging):
            if isinstance(each, Code):
                raise DeidError(each)
            found.append(each)
        return found

    def _outcomes(self, notes: Sequence[Note], merging: Merging) -> list[list[Candidate] | Code]:
        """The candidates of each note, or why it could not be read: one document that failed fails its note."""
        views = [views_of(note) for note in notes]
        documents = [piece for each in views for view in each for piece in view.pieces]
        begun = [some for each in views for view in each for some in self._begun(view)]
        found = iter(_run(self.stages, documents, begun))
        outcomes: list[list[Candidate] | Code] = []
        for each in views:
            pieces = [list(islice(found, len(view.pieces))) for view in each]
            failures = (piece.failure for view in each for piece in view.pieces if piece.failure)
            outcomes.append(next(failures, None) or self._merged(each, pieces, merging))
        return outcomes

    def _begun(self, view: View) -> Candidates:
        """The candidates of a text's pieces before any piece is searched; none for a text in one piece."""
        if self._across_pieces is None or len(view.pieces) < 2:
            return [[] for _ in view.pieces]
        across = list(self._across_pieces(view.shown.text, view.starts[1:]))
        return [
            [c.moved(-start) for c in across if start <= c.start and c.end <= start + len(piece.text)]
            for start, piece in zip(view.starts, view.pieces, strict=True)
        ]

    def _merged(self, views: Sequence[View], found: Sequence[Candidates], merging: Merging) -> list[Candidate]:
        placed = [
            view.placed(self._with_other_pieces(view, candidates) if len(view.pieces) > 1 else candidates, merging)
            for view, candidates in zip(views, found, strict=True)
        ]
        if len(views) == 1 and views[0].decoded is None:
            return placed[0]
        return merging(candidate for each in placed for candidate in each)

    def _with_other_pieces(self, view: View, found: Candidates) -> Candidates:
        """What is found in the pieces of one text, with the mentions that only another piece has."""
        if self._second_pass is None:
            return found
        told = together(mentions_in(piece.text, some) for piece, some in zip(view.pieces, found, strict=True))
        more = _run(self._second_pass(told), view.pieces, [[] for _ in view.pieces])
        return [[*before, *further] for before, further in zip(found, more, strict=True)]


def _run(stages: Mapping[str, Stage], documents: Sequence[Document], candidates: Candidates) -> Candidates:
    for stage in stages.values() if documents else ():
        candidates = stage(documents, candidates)
    return candidates

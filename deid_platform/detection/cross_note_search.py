"""The search of one note for what only other notes of its patient tell: the second pass over it.

Belongs here: one note. Does not belong here: what counts as told (`resolve/cross_note.py`), or which notes are read
together (`two_pass.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from deid_platform.detection.api import Candidate
from deid_platform.detection.pipeline import Pipeline, Stage
from deid_platform.detection.resolve.cross_note import Mentioned
from deid_platform.detection.resolve.merge import merge
from deid_platform.notes import Note, Span
from deid_platform.text import readable


class CrossNoteSearch:
    """Looks again at notes that a detector has read, with what the others of their patient tell.

    Args:
        stages: Makes, of what notes tell, the stages that seek it in another.
    """

    def __init__(self, stages: Callable[[Mentioned], Mapping[str, Stage]]) -> None:
        self._stages = stages

    def __repr__(self) -> str:
        return "<CrossNoteSearch>"

    def __call__(self, note: Note, spans: Sequence[Span], told: Mentioned) -> tuple[Span, ...]:
        """A note's spans, with the mentions of what only other notes tell.

        Args:
            note: The note.
            spans: What the first pass found in it.
            told: What the patient's other notes tell, and this one does not.

        Raises:
            DeidError: `detector-failed` if the note could not be searched to its end.
        """
        if not told or not told.may_occur_in(readable(note.text).text):
            return tuple(spans)
        (further,) = Pipeline(self._stages(told)).candidates([note])
        return tuple(c.span() for c in merge([*map(Candidate.of_span, spans), *further])) if further else tuple(spans)

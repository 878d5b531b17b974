"""The second pass over a note: searches it for the mentions of its patient's other notes.

Belongs here: one note. Does not belong here: which mentions count (`resolve/cross_note.py`), or the order of notes
(`detection/two_pass.py`).
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
    """The second pass over notes, with the mentions of their patients' other notes.

    Args:
        stages: Makes the stages that search a note for given mentions.
    """

    def __init__(self, stages: Callable[[Mentioned], Mapping[str, Stage]]) -> None:
        self._stages = stages

    def __repr__(self) -> str:
        return "<CrossNoteSearch>"

    def __call__(self, note: Note, spans: Sequence[Span], told: Mentioned) -> tuple[Span, ...]:
        """A note's spans, with the mentions that only other notes have.

        Args:
            note: The note.
            spans: What the first pass found in it.
            told: The mentions of the patient's other notes that this note does not have.

        Raises:
            DeidError: `detector-failed` if the note could not be searched to its end.
        """
        if not told or not told.may_occur_in(readable(note.text).text):
            return tuple(spans)
        (further,) = Pipeline(self._stages(told)).candidates([note])
        return tuple(c.span() for c in merge([*map(Candidate.of_span, spans), *further])) if further else tuple(spans)

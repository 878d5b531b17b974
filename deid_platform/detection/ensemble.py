"""The union of components, less what is clinical: one detector out of several sources of spans.

Belongs here: how spans of several sources become one answer. Does not belong here: finding them.

The rule for overlaps: spans that share a code point are merged to their common extent, so that nothing
that any source found is ever uncovered. The label is that of the longest member; between equally long
ones, the roster's, then the gazetteer's, then the patterns'; then the higher score.
"""

from __future__ import annotations

from collections.abc import Sequence

from deid_platform.detection.detector import Component
from deid_platform.detection.reading import Reading
from deid_platform.detection.recovery import Recovery
from deid_platform.detection.spans import merge
from deid_platform.notes import Note, Span

SOURCES = ("patterns", "gazetteer", "roster")
"""Sources in the order of how well they know what they found; a recognizer adds its name after a colon."""


def rank(span: Span) -> tuple[int, int, float, str]:
    """Which of two overlapping spans lends its label: the longer, the better informed, the surer."""
    source = span.source.partition(":")[0]
    return (
        span.end - span.start,
        SOURCES.index(source) if source in SOURCES else -1,
        span.score,
        span.label.value,
    )


class Ensemble:
    """Unites components, then recovers clinical terms, then merges overlaps.

    Args:
        components: Sources of spans.
        recovery: What to give back; None keeps everything.
    """

    def __init__(self, components: Sequence[Component], *, recovery: Recovery | None = None) -> None:
        self.components = tuple(components)
        self.recovery = recovery

    def detect(self, notes: Sequence[Note]) -> list[tuple[Span, ...]]:
        """Spans of each note; see `Detector`."""
        return [self._detect(note) for note in notes]

    def _detect(self, note: Note) -> tuple[Span, ...]:
        if not note.text:
            return ()
        reading = Reading(note)
        spans = [span for component in self.components for span in component.find(reading)]
        if self.recovery is not None and spans:
            spans = self.recovery.keep(reading, spans)
        return merge(spans, rank=rank)

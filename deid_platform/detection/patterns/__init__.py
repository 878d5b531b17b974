"""Patterns: what the writing itself gives away, without any dictionary of the institution.

Belongs here: the component that runs the recognizers and the pass over capitalised words. Does not
belong here: the tables themselves (`data/*.yaml`) or what the topics know (`gazetteer.py`, `roster.py`).
"""

from __future__ import annotations

from deid_platform.detection.patterns.mentions import name_mentions
from deid_platform.detection.patterns.recognizer import TIMEOUT_S, load_recognizers
from deid_platform.detection.reading import Reading
from deid_platform.notes import Span

__all__ = ["Patterns"]


class Patterns:
    """Runs every recognizer, then marks other mentions of the names that they found.

    Args:
        timeout_s: Seconds of processor time that one pattern may take on one note.
    """

    def __init__(self, *, timeout_s: float = TIMEOUT_S) -> None:
        self.timeout_s = timeout_s

    def find(self, reading: Reading) -> list[Span]:
        """Spans of one note, possibly overlapping; see `Component`.

        Raises:
            DeidError: `detector-failed`, naming the recognizer, if a pattern ran out of time.
        """
        spans = [s for recognizer in load_recognizers() for s in recognizer.find(reading, timeout_s=self.timeout_s)]
        spans.extend(name_mentions(reading.text, spans))
        return spans

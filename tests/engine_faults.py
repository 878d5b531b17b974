"""A detector with faults on demand; a module of its own, since worker processes import it by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from deid_platform.detection import Detector, DetectorSpec
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

SECRET = "Zebulon Quarmby"


class Faulty:
    """Finds the first word; raises, lies or dies where the text says so."""

    def detect(self, notes: Sequence[Note]) -> list[tuple[Span, ...]]:
        for note in notes:
            if note.text.startswith("raise"):
                raise ValueError(note.text)
            if note.text.startswith("die"):
                os._exit(9)
        if any(note.text.startswith("short") for note in notes):
            return []
        return [self._spans(note.text) for note in notes]

    def _spans(self, text: str) -> tuple[Span, ...]:
        if text.startswith("outside"):
            return (Span(0, len(text) + 1, Label.PATIENT),)
        if text.startswith("overlap"):
            return (Span(0, 5, Label.PATIENT), Span(3, 7, Label.PATIENT))
        return (Span(0, text.index(" "), Label.PATIENT),)


@dataclass(frozen=True)
class FaultySpec(DetectorSpec):
    def build(self) -> Detector:
        if self.name == "unbuildable":
            raise ValueError(SECRET)
        return Faulty()

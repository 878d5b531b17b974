"""What the laboratory reads and what it writes: gold notes with what was found in them, and figures.

Belongs here: the sealed notes as its measures take them, and estimates as figures of `quality`. Does not belong here:
which measures (`bench/lab/detection.py`, `bench/lab/release.py`, `bench/lab/on_request.py`), or when
(`bench/lab/measures.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deid_platform.bench.gate.consistency import current_detections
from deid_platform.evaluation.disclosure.adversary import Exact
from deid_platform.evaluation.scores.bootstrap import Estimate, Ratio
from deid_platform.evaluation.scores.missed_by_risk import ReadNote
from deid_platform.notes import Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.warehouse.quality.lab import LabScore


@dataclass(frozen=True, repr=False)
class GoldNote:
    """A note with its gold, and what was found in it.

    Attributes:
        note: The note.
        gold: Its identifiers.
        found: What was found.
        condition: What the note is mostly about; None where the gold does not say.
    """

    note: Note
    gold: tuple[Span, ...]
    found: tuple[Span, ...]
    condition: str | None = None

    def __repr__(self) -> str:
        return "<GoldNote>"

    @property
    def read(self) -> ReadNote:
        """As the measures of detection take it."""
        return ReadNote(self.note.text, self.gold, self.found, self.note.patient_id)


def gold_notes(site: Site, inputs: str) -> Iterator[GoldNote]:
    """The sealed gold notes with what was found in them, given topics or the text alone.

    Raises:
        DeidError: `not-materialized`, also for detections in other gold than today's.
    """
    current_detections(site.store)
    found = {
        row["note_id"]: tables.spans_of(row["spans"])
        for row in site.store.stream(tables.DETECTIONS, tables.ALL)
        if row["inputs"] == inputs
    }
    for row in site.store.stream(tables.GOLD_NOTES, tables.ALL):
        note = tables.from_row(Note, row)
        yield GoldNote(note, tables.spans_of(row["gold"]), found[note.note_id], row.get("condition"))


def of_share(family: str, measure: str, it: Estimate, subject: str = "ALL") -> LabScore:
    """A share as a figure."""
    return LabScore(family, measure, it.value, it.low, it.high, it.total, subject)


def of_ratio(family: str, measure: str, it: Ratio) -> LabScore:
    """A mean or a weighted share as a figure."""
    return LabScore(family, measure, it.value, it.low, it.high, it.n)


def of_exact(family: str, measure: str, it: Exact) -> LabScore:
    """An exact share as a figure."""
    return LabScore(family, measure, it.value, it.low, it.high, it.total)

"""Notes that a round is drawn from, with what was hidden in them: the bench's gold, a delivery, a file, or a release.

Belongs here: reading such notes, and which of them a rate takes. Does not belong here: drawing removals and keeping the
round (`rounds.py`).

Only gold tells which removals are wrong. Where there is none every removal may be drawn, and the readers' category
"rightly removed" says which were right. A release of another system is a file of texts beside the originals
(`evaluation/released/released.py`): what it has not is removed, whatever the site's policy hides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from deid_platform.corpora import Rejection
from deid_platform.corpora.refusals import Refusals
from deid_platform.corpora.released_texts import ReleasedTexts
from deid_platform.corpora.single_files import read_notes
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.comparison import notes_read
from deid_platform.evaluation.released.released import hidden_places
from deid_platform.keys import file_digest
from deid_platform.notes import Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.delivery import CLEAN

GOLD, NOTES = "gold", "notes"
RELEASED, RELEASED_GOLD = "released", "released_gold"
WITH_GOLD = (GOLD, RELEASED_GOLD)
"""Sources of which gold says which removals may be drawn."""
READ = "read_notes"
"""What figures of a delivery's notes are said to be measured on: not gold, but what people say of a sample."""
_STEPS = 1 << 32


@dataclass(frozen=True, slots=True, repr=False)
class Searched:
    """A note, what detection found in it, and what of that is gold.

    Attributes:
        gold: None of it may be drawn; empty where the note has no gold.
    """

    note: Note
    found: tuple[Span, ...]
    gold: tuple[Span, ...] = ()

    def __repr__(self) -> str:
        return "<Searched>"


@dataclass(slots=True)
class Source:
    """Where a round's notes come from.

    Attributes:
        delivery: Its key; None unless the notes are of a delivery.
        path: A file of notes; None unless they are of a file. Without either they are the bench's gold notes.
        released: A file or folder of what any system released of `path`, which may then have gold; None for our
            detector.
        rate: The share of notes that is taken, above 0 and up to 1: each note by itself, by a keyed digest.
        refusals: Rows of the file that were refused.
        failed: Notes of the file on which detection failed, or that were not released.
        marked: Whether the notes of a release have gold; known when they were read.
    """

    delivery: str | None = None
    path: Path | None = None
    rate: float = 1.0
    released: Path | None = None
    refusals: Refusals = field(default_factory=Refusals)
    failed: int = 0
    marked: bool = False

    @property
    def name(self) -> str:
        """What the round says that it was drawn from: no file's name, which may name a patient."""
        if self.released is not None:
            return RELEASED_GOLD if self.marked else RELEASED
        return self.delivery or (NOTES if self.path else GOLD)

    def notes(self, site: Site, number: int) -> Iterator[Searched]:
        """The notes, with what was found in them.

        Args:
            site: The installation.
            number: Of the round: each takes other notes.

        Raises:
            DeidError: `not-materialized` if the bench has not run or the delivery was not redacted.
        """
        if self.path is not None and self.released is not None:
            return self._of_release(site, number, self.path, self.released)
        if self.path is not None:
            return self._of_file(site, number, self.path)
        return self._of_gold(site, number) if self.delivery is None else self._of_delivery(site, number, self.delivery)

    def digest(self, site: Site) -> str:
        """The detector's that found the spans, or the release's."""
        if self.released is not None:
            files = sorted(self.released.glob("*.txt")) if self.released.is_dir() else [self.released]
            return site.keyring.digest("released texts", *map(file_digest, files))
        if self.delivery is not None:
            return str(site.store.required(tables.REDACTED_NOTES, self.delivery).meta["detector_digest"])
        return site.spec(None).detector_digest

    def _taken(self, site: Site, number: int, note_id: str) -> bool:
        return int(site.keyring.digest("review notes", str(number), note_id)[:8], 16) < self.rate * _STEPS

    def _of_gold(self, site: Site, number: int) -> Iterator[Searched]:
        detected = {
            row["note_id"]: tables.spans_of(row["spans"])
            for row in site.store.stream(tables.DETECTIONS, tables.ALL)
            if row["inputs"] == "topics"
        }
        for row in site.store.stream(tables.GOLD_NOTES, tables.ALL):
            if self._taken(site, number, row["note_id"]):
                note = tables.from_row(Note, row)
                yield Searched(note, detected.get(note.note_id, ()), tables.spans_of(row["gold"]))

    def _of_delivery(self, site: Site, number: int, delivery: str) -> Iterator[Searched]:
        redacted = {
            row["note_id"]: tables.spans_of(row["spans"])
            for row in site.store.stream(tables.REDACTED_NOTES, delivery)
            if row["status"] == CLEAN and self._taken(site, number, row["note_id"])
        }
        for row in site.store.stream(tables.RAW_NOTES, delivery):
            if (spans := redacted.pop(row["note_id"], None)) is not None:
                yield Searched(tables.from_row(Note, row), spans)

    def _of_file(self, site: Site, number: int, path: Path) -> Iterator[Searched]:
        def taken() -> Iterator[Note]:
            self.refusals.clear()  # read twice, counted once
            for item in read_notes(path, strict=False):
                if isinstance(item, Rejection):
                    self.refusals.add(item)
                elif self._taken(site, number, item.note_id):
                    yield item

        for note, detection in site.engine.detect_in_two_passes(site.spec(None), taken):
            if detection.spans is None:
                self.failed += 1
            elif site.exclusions.reason(note) is None:
                yield Searched(note, detection.spans)

    def _of_release(self, site: Site, number: int, path: Path, released: Path) -> Iterator[Searched]:
        read = notes_read.read(path)
        texts = ReleasedTexts.read(released, {note.note_id for note in read.notes})
        self.refusals, self.marked = read.refusals, read.gold is not None
        for at, note in enumerate(read.notes):
            spans = () if read.gold is None else read.gold[at].spans
            text = texts.of(note)
            if text is None:
                self.failed += 1
            elif self._taken(site, number, note.note_id) and site.exclusions.reason(note) is None:
                yield Searched(note, tuple(place.span(spans) for place in hidden_places(note.text, text)), spans)


def checked(source: Source) -> Source:
    """The same source, if it can be one.

    Raises:
        DeidError: `input-invalid`.
    """
    if not 0 < source.rate <= 1:
        raise DeidError(Code.INPUT_INVALID, "the rate")
    if source.released is not None and source.path is None:
        raise DeidError(Code.INPUT_INVALID, "released texts without the notes that they are of")
    return source

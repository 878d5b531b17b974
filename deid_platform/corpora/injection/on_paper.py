"""Surrogate notes that went over paper: printed, worn, read by Tesseract, gold carried over.

Belongs here: one note's way over paper and back, and counting those that did not come back as gold. Does not belong
here: printing, wear, recognition and alignment (`corpora/scans`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import islice

from deid_platform.corpora import Reason
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.injection.corpus import Injected
from deid_platform.corpora.injection.edits import SOURCE
from deid_platform.corpora.scans.carry_over import carry_over
from deid_platform.corpora.scans.degrade import WEAR, Level, degrade
from deid_platform.corpora.scans.pages import Document, Limits, Page, RefusedPageError
from deid_platform.corpora.scans.recognition import DPI, Engine, languages_read, recognised
from deid_platform.corpora.scans.render import Face, render
from deid_platform.errors import Code, DeidError
from deid_platform.surrogates.dice import Dice

WITHOUT_GOLD = "without gold"
_LIMITS = Limits()
_AHEAD = 4  # notes a worker


def on_paper(
    notes: Iterable[Injected], level: Level, *, lost: Counter[str], workers: int = 1, limits: Limits = _LIMITS
) -> Iterator[Injected]:
    """Notes as they are read from worn pages, in their order, streamed.

    Args:
        notes: With exact gold.
        level: How worn the pages are.
        lost: Counts the notes that do not come back: `WITHOUT_GOLD`, if an identifier found no place in what was read,
            or the reason for which a page is refused. Scored all the same, they would blame a detector for what is not
            there.
        workers: Pages that are read at once.
        limits: What one letter may take.

    Raises:
        DeidError: `scan-reader-missing` with the package that is not installed: Pillow, Tesseract, or its data of a
            note's language.
    """
    try:
        import_module("PIL.Image")
    except ImportError:
        raise DeidError(Code.SCAN_READER_MISSING, "pillow") from None
    if not languages_read():
        raise DeidError(Code.SCAN_READER_MISSING, "tesseract-ocr")
    items = iter(notes)
    # Threads: recognition is a program of its own.
    with ThreadPoolExecutor(workers) as pool:
        while batch := list(islice(items, _AHEAD * workers)):
            for found in pool.map(partial(_over_paper, level=level, limits=limits), batch):
                if isinstance(found, Injected):
                    yield found
                else:
                    lost[found] += 1


def _over_paper(made: Injected, *, level: Level, limits: Limits) -> Injected | str:
    """The note as it was read, or what became of it."""
    note = made.note
    try:
        text = Document.of(_pages(made, level, limits)).text
    except RefusedPageError as refused:
        return refused.reason.value
    if not text.strip():
        return Reason.EMPTY_TEXT.value
    # Its source says which way of writing a span is an example of, whatever order the lines were read in.
    marked = tuple(replace(span, source=str(at)) for at, span in enumerate(made.gold))
    carried = carry_over(Gold(note.note_id, marked, note=note), text).gold
    if carried is None:
        return WITHOUT_GOLD
    return Injected(
        replace(note, text=text),
        tuple(replace(span, source=SOURCE) for span in carried.spans),
        tuple(made.ways[int(span.source)] for span in carried.spans),
        made.patient,
    )


def _pages(made: Injected, level: Level, limits: Limits) -> Iterator[Page]:
    note = made.note
    face = Dice("face", note.note_id).pick(tuple(Face))
    for number, page in enumerate(render(note.text, face=face), start=1):
        worn = degrade(page, f"{note.note_id}/{number}", WEAR[level])
        read = recognised(worn, note.language, engine=Engine.TESSERACT, seconds=limits.seconds, dpi=DPI)
        if read.confidence < limits.confidence:
            raise RefusedPageError(Reason.ILLEGIBLE, number)
        yield read

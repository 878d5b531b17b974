"""Notes as their author handed them in: counts, what is refused, and what a second reader should look at first.

Belongs here: what can be told of a note from its text and marks alone. Does not belong here: the notation, and what it
refuses (`formats/marked.py`); whether a mark is right, which takes a reader.

A place is the file's, by its place in the order of names from 0, and a line of it. Nothing quotes a note.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from deid_platform.corpora import Rejection
from deid_platform.corpora.formats.marked import MarkedNote, marked_notes
from deid_platform.corpora.gold import SCHEME
from deid_platform.corpora.library.authors import authors
from deid_platform.labels import Label
from deid_platform.languages import released_language
from deid_platform.notes import Span

FEWEST_WORDS, MOST_WORDS = 250, 600
_NAMES = (Label.PATIENT, Label.DOCTOR)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SHORTEST_NAME = 3  # letters; of initials every word could be one
_TITLE = re.compile(
    r"(?:dr|dra|doctor|mr|mrs|ms|miss|mx|prof|professor|sr|sra|srta|dott|dott\.ssa|dottor|dottoressa|sig|sig\.ra"
    r"|sig\.na|signor|signora|mme|mlle|monsieur|madame|docteur|herr|frau|fr|hr|sister|nurse)\b\.?\s+\w",
    re.IGNORECASE,
)
_CREDENTIAL = re.compile(r"\w[,\s]+(?:MD|DO|RN|LPN|NP|PA-C|PharmD|PhD|MBBS|FRCP|FRCS|BSN|MSW|LCSW|DDS)\.?")


class Doubt(StrEnum):
    """What a second reader should look at."""

    UNMARKED = "a marked name stands unmarked elsewhere in the note"
    TITLE = "a title or credential inside a mark"
    LENGTH = f"not {FEWEST_WORDS} to {MOST_WORDS} words"


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, and what is said of it: a refusal's reason, or a doubt."""

    file: int
    line: int
    what: str


@dataclass(frozen=True)
class Checked:
    """A folder of marked notes.

    Attributes:
        notes: That can be read.
        words: In them, between blanks.
        marks: Label -> marks.
        kinds: How many kinds of note.
        languages: Language -> notes.
        refused: Files that cannot be read, each with its first fault.
        doubts: What else should be looked at.
    """

    notes: int
    words: int
    marks: Mapping[str, int]
    kinds: int
    languages: Mapping[str, int]
    refused: tuple[Place, ...]
    doubts: tuple[Place, ...]


def check(folder: Path) -> Checked:
    """Reads the marked notes of a folder, or of one file.

    Raises:
        DeidError: `gold-missing` if there is nothing at that path.
    """
    marks: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    kinds: set[str] = set()
    refused: list[Place] = []
    doubts: list[Place] = []
    words = 0
    for number, item in enumerate(marked_notes(folder, scheme=SCHEME)):
        if isinstance(item, Rejection):
            refused.append(Place(number, item.row, item.reason.value))
            continue
        note = item.gold.note
        if note is None:
            continue
        words += len(note.text.split())
        marks.update(span.label.value for span in item.gold.spans)
        languages[released_language(note.language)] += 1
        kinds.add((note.note_type or "").casefold())
        doubts += sorted((Place(number, line, what.value) for line, what in set(_doubts(item))), key=_order)
    return Checked(sum(languages.values()), words, marks, len(kinds - {""}), languages, tuple(refused), tuple(doubts))


def statistics() -> Iterator[tuple[str, str, str, str, int, int, int]]:
    """Each author with notes in the library: name, language, use, institution, notes, words, marks."""
    for one in authors():
        if one.folder.is_dir():
            found = check(one.folder)
            counts = found.notes, found.words, sum(found.marks.values())
            yield one.name, one.language, one.use.value, one.institution, *counts


def _order(place: Place) -> tuple[int, str]:
    return place.line, place.what


def _doubts(item: MarkedNote) -> Iterator[tuple[int, Doubt]]:
    """Lines of the file, and what should be looked at there."""
    text = item.gold.note.text if item.gold.note else ""
    if not FEWEST_WORDS <= len(text.split()) <= MOST_WORDS:
        yield item.begins, Doubt.LENGTH
    names = [span for span in item.gold.spans if span.label in _NAMES]
    for span in names:
        surface = text[span.start : span.end]
        if _TITLE.match(surface) or _CREDENTIAL.search(surface):
            yield _line(item, text, span.start), Doubt.TITLE
    for start in _unmarked(text, names, item.gold.spans):
        yield _line(item, text, start), Doubt.UNMARKED


def _unmarked(text: str, names: list[Span], marked: tuple[Span, ...]) -> Iterator[int]:
    """Where a word of a marked name begins with a capital as it does there, outside every mark."""
    sought = {
        word[0].casefold()
        for span in names
        for word in _WORD.finditer(text[span.start : span.end])
        if len(word[0]) >= _SHORTEST_NAME and word[0][0].isupper()
    }
    for word in _WORD.finditer(text):
        if (
            word[0][0].isupper()
            and word[0].casefold() in sought
            and not any(span.start < word.end() and word.start() < span.end for span in marked)
        ):
            yield word.start()


def _line(item: MarkedNote, text: str, place: int) -> int:
    return item.begins + text.count("\n", 0, place)

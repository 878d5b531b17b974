"""Writing sentences with a known indirect identifier into notes.

Belongs here: reading `data/<language>.txt`, and planting. Does not belong here: the notes.

A file has a section for each part: whoever writes rules or prompts looks at `[tuning]` alone, and figures are of
`[test]`. A line is a category, a tab, and a sentence in which the indirect identifier stands in braces, with
alternatives parted by `|`. A sentence is a line of its own after a line of the note, where it cuts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files
from random import Random
from typing import NamedTuple

from deid_platform.keys import plain_digest
from deid_platform.labels import Indirect
from deid_platform.notes import Note, Span

LANGUAGES = ("en", "it")
_PLACE = re.compile(r"\{([^{}]+)\}")


class Ways(StrEnum):
    """Which sentences are planted."""

    TUNING = "tuning"
    TEST = "test"


class Planted(NamedTuple):
    """An indirect identifier's place: code points, end exclusive."""

    start: int
    end: int
    category: Indirect


class Sentence(NamedTuple):
    """A sentence around an indirect identifier, of which there are alternatives."""

    category: Indirect
    before: str
    alternatives: tuple[str, ...]
    after: str


@dataclass(frozen=True, slots=True, repr=False)
class PlantedNote:
    """A note with what was planted in it.

    Attributes:
        note: The note as it reads now.
        gold: Its direct identifiers, where they stand now.
        planted: Its indirect ones.
    """

    note: Note
    gold: tuple[Span, ...]
    planted: tuple[Planted, ...]

    def __repr__(self) -> str:
        return "<PlantedNote>"


@cache
def sentences(language: str, ways: Ways) -> tuple[Sentence, ...]:
    """The sentences of a part; none in other languages than `LANGUAGES`."""
    if language not in LANGUAGES:
        return ()
    found, section = [], ""
    for line in (files(__package__) / "data" / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif section == ways and line.strip():
            category, _, written = line.partition("\t")
            before, alternatives, after = _PLACE.split(written)
            found.append(Sentence(Indirect(category), before, tuple(alternatives.split("|")), after))
    return tuple(found)


def plant(note: Note, gold: Sequence[Span], ways: Ways, *, each: int = 2, seed: int = 0) -> PlantedNote:
    """A note with some sentences planted, of different categories; the same for the same id and seed.

    Args:
        note: In English or Italian; another is left as it is.
        gold: Its direct identifiers, of which none is cut.
        ways: Which sentences.
        each: How many.
        seed: Of what is drawn.
    """
    known = sentences(note.language, ways)
    dice = Random(plain_digest(str(seed), ways, note.note_id))  # noqa: S311 - no secret of anybody's
    ends = [at.end() for at in re.finditer(r"\n", note.text)] or [len(note.text)]
    free = [at for at in ends if not any(span.start < at < span.end for span in gold)] or [len(note.text)]
    categories = dice.sample(sorted({it.category for it in known}), min(each, len({it.category for it in known})))
    chosen = [dice.choice([it for it in known if it.category is category]) for category in categories]
    places = sorted(dice.choice(free) for _ in chosen)
    text, moves, planted, done = "", [], [], 0
    for at, sentence in zip(places, chosen, strict=True):
        text += note.text[done:at]
        opened = "" if not text or text.endswith("\n") else "\n"
        words = dice.choice(sentence.alternatives)
        start = len(text) + len(opened) + len(sentence.before)
        line = f"{opened}{sentence.before}{words}{sentence.after}\n"
        planted.append(Planted(start, start + len(words), sentence.category))
        moves.append((at, len(line)))
        text, done = text + line, at
    text += note.text[done:]
    shifted = []
    for span in gold:
        by = sum(length for at, length in moves if at <= span.start)
        shifted.append(replace(span, start=span.start + by, end=span.end + by))
    return PlantedNote(replace(note, text=text), tuple(shifted), tuple(planted))

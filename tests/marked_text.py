"""Texts whose identifiers are marked [[value|LABEL]], and the same marks around what the rules find."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

from deid_platform.detection import DetectorSpec, NoteDetector
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

MARK = regex.compile(r"\[\[(.+?)\|([A-Z\-]+)\]\]", regex.DOTALL)
PEOPLE_AND_PLACES = frozenset(
    {
        *(Label.PATIENT, Label.DOCTOR, Label.PROFESSION, Label.HOSPITAL, Label.ORGANIZATION, Label.STREET),
        *(Label.CITY, Label.STATE, Label.COUNTRY, Label.ZIP, Label.LOCATION_OTHER),
    }
)
NUMBERS = frozenset(Label) - PEOPLE_AND_PLACES
"""Dates, ages, contacts and identifiers."""


@cache
def _rules() -> NoteDetector:
    return DetectorSpec(professions=True).build()


def lines(*tables: str) -> list[str]:
    """The lines of some tables."""
    return [line for table in tables for line in table.strip().splitlines()]


def plain(line: str) -> str:
    """A marked text without its marks."""
    return MARK.sub(r"\1", line)


def marked(text: str, spans: Sequence[Span]) -> str:
    """A text with marks around some spans."""
    for span in reversed(spans):
        text = f"{text[: span.start]}[[{text[span.start : span.end]}|{span.label.value}]]{text[span.end :]}"
    return text


def found_in(text: str, labels: frozenset[Label] = NUMBERS) -> str:
    """A text with marks around what the rules find in it alone, of some labels."""
    return marked(text, [span for span in _rules().detect([Note("n", text)])[0] if span.label in labels])

"""Carriers: published notes that take surrogates.

Belongs here: a carrier and where its own identifiers stand. Does not belong here: reading files (`formats/`), what is
put in their place (`filling.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from deid_platform.corpora.gold import Gold
from deid_platform.corpora.injection.readings import Reading
from deid_platform.corpora.placeholders import Placeholder
from deid_platform.labels import Label
from deid_platform.notes import Note, Span


@dataclass(frozen=True, slots=True, repr=False)
class Slot:
    """An identifier of the carrier's own, which a surrogate replaces.

    Attributes:
        start: First code point.
        end: One past the last.
        label: What it is; None for what is no identifier in the brackets of a placeholder: a year, an origin.
        person: Who of several it is, where a placeholder says so by a number; empty otherwise.
        part: Which part of a name it is, where a placeholder says so: `first`, `last`, `initials` or `full`.
        said: What stands in the brackets of a placeholder; empty where the text itself says it.
        known: Whether the source's types have it.
    """

    start: int
    end: int
    label: Label | None
    person: str = ""
    part: str = ""
    said: str = ""
    known: bool = True


@dataclass(frozen=True, slots=True, repr=False)
class Carrier:
    """A note whose own identifiers are all known, so that its gold is exact once they are replaced."""

    note: Note
    slots: tuple[Slot, ...]

    def __repr__(self) -> str:
        return "<Carrier>"


def with_gold(notes: Iterable[Gold], *, territories: bool = False) -> Iterator[Carrier]:
    """Carriers whose gold people have annotated, or whose placeholders a format tells.

    Args:
        notes: With their spans.
        territories: Whether its `LOCATION-OTHER` are towns and post codes, which the scheme does not tell apart: a
            number is then filled by a post code and words by a town, and labelled so.
    """
    for gold in notes:
        if gold.note is not None:
            text = gold.note.text
            slots = (Slot(s.start, s.end, s.label) for s in gold.spans)
            yield Carrier(gold.note, tuple(_told_apart(slot, text) if territories else slot for slot in slots))


def completed(notes: Iterable[Gold], reading: Reading) -> Iterator[Gold]:
    """Gold with what its publisher left unlabelled, as people have listed it by reading; notes left out are missing.

    A listed place takes the place of published spans that it overlaps: it may be a name with the kind of institution
    before it.

    Raises:
        DeidError: `gold-invalid` if a text is another than the one that was read.
    """
    for gold in notes:
        places = reading.places_in(gold.note) if gold.note is not None else None
        if places is not None:
            kept = [s for s in gold.spans if not any(start < s.end and s.start < end for start, end, _ in places)]
            listed = [Span(start, end, label) for start, end, label in places]
            yield replace(gold, spans=tuple(sorted([*kept, *listed], key=lambda span: span.start)))


def _told_apart(slot: Slot, text: str) -> Slot:
    if slot.label is not Label.LOCATION_OTHER:
        return slot
    number = any(c.isdigit() for c in text[slot.start : slot.end])
    return replace(slot, label=Label.ZIP if number else Label.CITY)


def with_placeholders(notes: Iterable[Gold], find: Callable[[str], Iterable[Placeholder]]) -> Iterator[Carrier]:
    """Carriers whose identifiers a source has replaced by placeholders. One that nothing tells stays a blank."""
    for gold in notes:
        if gold.note is not None:
            found = [place for place in find(gold.note.text) if place.label is not None or place.inside]
            slots = [Slot(p.start, p.end, p.label, _person(p), p.part, p.inside or p.kind, p.known) for p in found]
            # Numbers tell strings apart: a first name and the surname behind it are one person's.
            for i in range(len(slots) - 2, -1, -1):
                one, other = slots[i : i + 2]
                apart = gold.note.text[one.end : other.start]
                if one.label is other.label and one.part and other.part and not apart.strip(" .,"):
                    slots[i] = replace(one, person=other.person)
            yield Carrier(gold.note, tuple(slots))


def _person(place: Placeholder) -> str:
    """Who of several it is; empty for the note's own patient, whose name the source knew."""
    return "" if place.kind.startswith("known") else place.ident


def with_reading(notes: Iterable[Note], reading: Reading) -> Iterator[Carrier]:
    """Carriers whose identifiers people have listed by reading; a note that nobody has read, or that is left out, is
    none.

    Raises:
        DeidError: `gold-invalid` if a text is another than the one that was read.
    """
    for note in notes:
        places = reading.places_in(note)
        if places is not None:
            yield Carrier(note, tuple(Slot(*place) for place in places))

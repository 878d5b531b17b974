"""A comparison as one HTML file: its tables, and places where detectors differ in context. It holds text of notes.

Belongs here: which places are shown, cutting them out of their notes, and filling the template. Does not belong here:
the tables (`tables.py`), or writing the file.

Whatever a note holds is shown as text: markup is escaped, and characters that would not be seen or would move others
(controls, direction, broken code points) stand as the replacement character.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from deid_platform.evaluation.comparison.comparison import ALL, Comparison, Group, Place
from deid_platform.labels import Label
from deid_platform.notes import Note
from deid_platform.reports.comparison.tables import comparison_tables
from deid_platform.reports.pages import template

CONTEXT = 80
"""Code points before and after."""
_LONGEST, _END = 300, 60
"""Code points of a place that are shown, and how many of these are its end."""
_CUT_WORD, _CUT_WORD_AT_END = re.compile(r"^\S{1,20}(?=\s)"), re.compile(r"(?<=\s)\S{1,20}$")
_LINE_BREAK = re.compile(r"\s*[\n\r\v\f\x85\u2028\u2029]\s*")
_JOINERS = "\u200c\u200d"  # without them, words of some scripts look otherwise


@dataclass(frozen=True, slots=True, repr=False)
class _Example:
    note_id: str
    labels: str
    before: str
    text: str
    after: str

    def __repr__(self) -> str:
        return "<_Example>"


@dataclass(frozen=True, slots=True, repr=False)
class _ShownGroup:
    title: str
    marks: tuple[bool, ...]
    gold: bool | None
    words: int
    places: int
    examples: tuple[_Example, ...]

    def __repr__(self) -> str:
        return "<_ShownGroup>"


def comparison_html(found: Comparison, notes: Sequence[Note], *, examples: int) -> str:
    """The page.

    Args:
        found: The comparison.
        notes: Those that were compared, in the same order.
        examples: The most places of each group, taken evenly from all of them.
    """
    names = [row.detector.name for row in found.rows]
    return template("comparison/comparison.html.j2").render(
        found=found,
        names=names,
        tables=comparison_tables(found),
        groups=[_shown_group(group, names, notes, examples) for group in found.groups],
        peers=any(row.detector.labels != ALL for row in found.rows),
        words=sum(group.words for group in found.groups),
        version=version("deid-platform"),
    )


def _shown_group(group: Group, names: Sequence[str], notes: Sequence[Note], most: int) -> _ShownGroup:
    places = group.places
    if len(places) > most:
        places = tuple(places[i * len(places) // most] for i in range(most))
    return _ShownGroup(
        _title(group, names),
        group.hides,
        group.gold,
        group.words,
        len(group.places),
        tuple(_example(place, names, notes[place.note]) for place in places),
    )


def _title(group: Group, names: Sequence[str]) -> str:
    hide, keep = ([name for name, it in zip(names, group.hides, strict=True) if it is which] for which in (True, False))
    if not hide:  # only gold marks it
        return "Identifiers missed by all"
    by = f"idden by {_joined(hide) if keep else 'all'}"
    if group.gold:
        return f"Identifiers h{by}, missed by {_joined(keep)}"
    return ("H" if group.gold is None else "No identifiers, yet h") + by + (f", not by {_joined(keep)}" if keep else "")


def _joined(names: Sequence[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _example(place: Place, names: Sequence[str], note: Note) -> _Example:
    labels: list[tuple[str, Label | None]] = [*zip(names, place.labels, strict=True), ("gold", place.gold)]
    before, after = note.text[: place.start], note.text[place.end :]
    return _Example(
        shown(note.note_id),
        "; ".join(f"{name}: {label.value}" for name, label in labels if label is not None),
        shown(before) if len(before) <= CONTEXT else f"…{shown(_CUT_WORD.sub('', before[-CONTEXT:]))}",
        shown(_shortened(note.text[place.start : place.end])),
        shown(after) if len(after) <= CONTEXT else f"{shown(_CUT_WORD_AT_END.sub('', after[:CONTEXT]))}…",
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - _END]} […] {text[-_END:]}"


def shown(text: str) -> str:
    """A piece of a note on one line: line breaks as ⏎, what cannot be seen as the replacement character."""
    line = re.sub(r"[^\S\n]+", " ", _LINE_BREAK.sub(" ⏎ ", text))
    return "".join(sign if sign.isprintable() or sign in _JOINERS else "\N{REPLACEMENT CHARACTER}" for sign in line)

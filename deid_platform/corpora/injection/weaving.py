"""Weaves identifiers into a carrier's prose.

Belongs here: how many ways a note gets, and where. Does not belong here: what they say (`ways.py`), places of a text
(`anchors.py`) or the carrier's own slots (`filling.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deid_platform.corpora.injection.anchors import anchors, paragraphs, sentences
from deid_platform.corpora.injection.chart import Chart
from deid_platform.corpora.injection.edits import Edit, Piece
from deid_platform.corpora.injection.slots import Written
from deid_platform.corpora.injection.ways import Choice, Op, Way, Ways

_TRIES = 6
_SHORT = 900  # code points of a note that gets no more than one section
_PRONOUNS = frozenset({"He", "She"})


@dataclass(frozen=True)
class Density:
    """Shares of the places of a note that are woven into; the defaults give about one identifier in 15 words.

    Attributes:
        header: Of notes that get a header.
        signature: Of notes that get a signature.
        sections: The most sections a note gets.
        opening: Of notes that begin with an opening.
        sentence: Of ends of sentences after which another sentence is put.
        lead: Of sentences that get words in front.
        tail: Of sentences that get words behind.
        date: Of events that get a date.
        named: Of notes that name their patient where the carrier says "the patient".
        again: Of later such places in those notes.
    """

    header: float = 0.75
    signature: float = 0.65
    sections: int = 2
    opening: float = 0.35
    sentence: float = 0.12
    lead: float = 0.07
    tail: float = 0.09
    date: float = 0.45
    named: float = 0.8
    again: float = 0.5


def woven(text: str, chart: Chart, ways: Ways, density: Density) -> list[Edit]:
    """The edits that weave a note's identifiers into a text, in no particular order."""
    return [
        *_around(text, chart, ways, density),
        *_in_sentences(text, chart, ways, density),
        *_subjects(text, chart, ways, density),
        *_dates(text, chart, ways, density),
    ]


def _around(text: str, chart: Chart, ways: Ways, density: Density) -> Iterator[Edit]:
    """Header, opening, sections and signature."""
    dice = chart.dice
    places = paragraphs(text)
    if dice.chance(density.header):
        yield from _block(chart, ways, "header", 0, "", "\n\n")
    if dice.chance(density.opening):
        first = places[0] if places and places[0] < len(text) // 4 else 0
        yield from _block(chart, ways, "opening", first, "", " ")
    most = density.sections if len(text) > _SHORT else 1
    for place in dice.some(places, dice.between(0, most)) if places else ():
        yield from _block(chart, ways, "section", place, "", "\n")
    if dice.chance(density.signature):
        yield from _block(chart, ways, "signature", len(text), "\n\n", "")


def _block(chart: Chart, ways: Ways, section: str, at: int, before: str, after: str) -> Iterator[Edit]:
    if pieces := _written(chart, ways, section):
        yield Edit(at, at, (Piece(before), *pieces, Piece(after)))


def _in_sentences(text: str, chart: Chart, ways: Ways, density: Density) -> Iterator[Edit]:
    dice = chart.dice
    for stop, opening in sentences(text, chart.language):
        if dice.chance(density.tail) and (pieces := _written(chart, ways, "tail")):
            yield Edit(stop, stop, pieces)
        if dice.chance(density.sentence) and (pieces := _written(chart, ways, "sentence")):
            yield Edit(stop + 1, stop + 1, (Piece(" "), *pieces))
        if opening >= 0 and dice.chance(density.lead) and (pieces := _written(chart, ways, "lead")):
            yield Edit(opening, opening + 1, (*pieces, Piece(text[opening].lower())))


def _subjects(text: str, chart: Chart, ways: Ways, density: Density) -> Iterator[Edit]:
    """Names in place of "the patient": one way at first, other ways later."""
    dice, it = chart.dice, anchors(chart.language)
    if not dice.chance(density.named):
        return
    first = True
    for match in it.subject.finditer(text):
        if not first and not dice.chance(density.again):
            continue
        pieces = _written(chart, ways, "subject" if first else "subject_again")
        first = False
        if pieces:
            if match[0][0].islower() and pieces[0].text in _PRONOUNS:
                pieces = (Piece(pieces[0].text.lower()), *pieces[1:])
            yield Edit(match.start(), match.end(), pieces)
    if it.possessive is not None:
        for match in it.possessive.finditer(text):
            if dice.chance(density.again) and (pieces := _written(chart, ways, "possessive")):
                yield Edit(match.start(), match.end(), pieces)


def _dates(text: str, chart: Chart, ways: Ways, density: Density) -> Iterator[Edit]:
    it = anchors(chart.language)
    for match in it.event.finditer(text):
        free = not it.taken.match(text, match.end())
        if free and chart.dice.chance(density.date) and (pieces := _written(chart, ways, "date")):
            yield Edit(match.end(), match.end(), pieces)


def _written(chart: Chart, ways: Ways, section: str) -> tuple[Piece, ...]:
    """One way of a section, written for this note; empty where none fits it."""
    listed = ways[section]
    for _ in range(_TRIES if listed else 0):
        way = chart.dice.pick(listed)
        if chart.holds(way.guards) and (pieces := write(way, chart)) is not None:
            return pieces
    return ()


def write(way: Way, chart: Chart) -> tuple[Piece, ...] | None:
    """A way as this note writes it; None if the note has no value for one of its slots."""
    pieces: list[Piece] = []
    for op in way.ops:
        piece = _piece(op, way, chart)
        if piece is None:
            return None
        pieces.append(piece)
    return tuple(pieces)


def _piece(op: Op, way: Way, chart: Chart) -> Piece | None:
    if isinstance(op, str):
        return Piece(op)
    if isinstance(op, Written):
        text = op.write(chart)
        label = op.label if op.labelled is None else op.labelled(chart)
        return Piece(text, label, way.key) if text else None
    if isinstance(op, Choice):
        return Piece(chart.dice.pick(op.words))
    return Piece(str(chart.dice.between(op.low, op.high)))

"""Which letters of a note are a staff member's initials: their other meanings, their owners and their position.

Belongs here: how the three are weighed. Does not belong here: any one of them (`lexicon/abbreviations.py`,
`colleagues.py`, `positions.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from deid_platform.detection.api import Candidate, Source, SourceKind
from deid_platform.detection.topics.staff.colleagues import Known, Who
from deid_platform.detection.topics.staff.columns import LAST_HEADINGS, in_columns, in_fields, last_cell
from deid_platform.detection.topics.staff.pairs import small_pair, typist
from deid_platform.detection.topics.staff.positions import Certainty, Position
from deid_platform.labels import Label
from deid_platform.lexicon.abbreviations import (
    AbbreviationKind,
    abbreviation_kind,
    is_consulted,
    is_dotted_term,
    stands_apart,
)
from deid_platform.text.fold import fold_term

_SURE = 0.95  # what means something else as well and yet stands there: no clinical abbreviation
_LIKELY = 0.8
_SOURCE = Source(SourceKind.RULES, "staff-initials")
_SHORTEST_PAIR, _LONGEST_PAIR = 5, 12  # code points of a line that is a pair
_TAIL = 10
_HEADING = 16
_LEAST_ROWS = 2
_NEVER = Certainty.SURE + 1
# How surely letters must stand as initials, by what they mean and by who has such initials.
_NEEDED: dict[tuple[AbbreviationKind, Who], int] = {
    (AbbreviationKind.FREE, Who.OWN): Certainty.NONE,
    (AbbreviationKind.FREE, Who.COLLEAGUE): Certainty.NONE,
    (AbbreviationKind.FREE, Who.PERHAPS_OWN): Certainty.ALONE,
    (AbbreviationKind.FREE, Who.NOBODY): Certainty.ALONE,
    (AbbreviationKind.CLINICAL, Who.OWN): Certainty.ALONE,
    (AbbreviationKind.CLINICAL, Who.COLLEAGUE): Certainty.ALONE,
    (AbbreviationKind.CLINICAL, Who.PERHAPS_OWN): Certainty.SURE,
    (AbbreviationKind.CLINICAL, Who.NOBODY): Certainty.SURE,
    (AbbreviationKind.WORD, Who.OWN): Certainty.SIGNED,
    (AbbreviationKind.WORD, Who.COLLEAGUE): Certainty.SURE,
    (AbbreviationKind.OFFICE, Who.OWN): Certainty.SIGNED,
    (AbbreviationKind.OFFICE, Who.COLLEAGUE): Certainty.SURE,
}

_LETTERS = regex.compile(
    r"(?<![\p{L}\p{M}\p{N}.])\p{Lu}(?:\p{Lu}{1,2}(?![\p{L}\p{M}\p{N}])"
    r"|\.(?:[ ]?\p{Lu}\.){1,2}(?![\p{L}\p{N}]|[ ]\p{Lu}\p{Ll})"
    r"|(?:[ ]\p{Lu}){2}(?![\p{L}\p{M}\p{N}]|[ ]\p{Lu}))"
)
_ANOTHER_BEFORE = regex.compile(r"(?<![\p{L}\p{N}])(?P<other>\p{Lu}{2,3})(?:[ ]?[/&+,][ ]?|[ ]and[ ])$")
_ANOTHER_AFTER = regex.compile(r"(?:[ ]?[/&+,][ ]?|[ ]and[ ])(?P<other>\p{Lu}{2,3})(?![\p{L}\p{N}])")
_SIGNS = frozenset("-–—~/([")
_SIGNED_SMALL = regex.compile(r"(?:^|[ \t.!?])[-–—~/(\[]{1,2}[ ]?(?P<letters>\p{Ll}{2,3})[)\]/]?[ \t\r]*$")


def staff_initials(text: str, known: Known) -> Iterator[Candidate]:
    """Initials of staff in a whole note.

    Args:
        text: The note.
        known: Who may be meant.
    """
    for match in _LETTERS.finditer(text):
        start, end = match.span()
        place = Position.of(text, start, end)
        if others := typist(place, known) if end - start <= 3 else []:
            for first, last in ((start, end), *others):
                yield Candidate.by_rule(first, last, Label.DOCTOR, _SURE, _SOURCE)
        elif score := _score(place, known):
            yield Candidate.by_rule(start, end, Label.DOCTOR, score, _SOURCE)
    for start, end in (*in_fields(text), *in_columns(text)):
        if _may_stand_alone(fold_term(text[start:end]), known):
            yield Candidate.by_rule(start, end, Label.DOCTOR, _SURE, _SOURCE)
    for start, end in _by_line(text, known):
        yield Candidate.by_rule(start, end, Label.DOCTOR, _SURE, _SOURCE)


def _score(place: Position, known: Known) -> float:
    """How sure it is that capitals are a staff member's initials; 0 if not at all."""
    surface = place.text[place.start : place.end]
    letters = fold_term(surface).replace(".", "").replace(" ", "")
    dotted = "." in surface
    kind = abbreviation_kind(letters)
    if dotted and is_dotted_term(letters):
        return 0.0
    if " " in surface or dotted:
        kind = min(kind, AbbreviationKind.CLINICAL)
    who = known.who(letters)
    if dotted and who >= Who.COLLEAGUE and abbreviation_kind(letters) >= AbbreviationKind.CLINICAL:
        kind = AbbreviationKind.FREE
    needed = _NEEDED.get((kind, who), _NEVER)
    if who is Who.NOBODY and (
        (kind is AbbreviationKind.FREE and len(letters) == 3)
        or (
            kind is AbbreviationKind.CLINICAL
            and (len(surface) > len(letters) or (len(letters) == 2 and place.after_sentence))
        )
    ):
        needed = Certainty.SIGNED  # there are too many abbreviations of three letters for any list
    elif is_consulted(letters):
        needed = max(needed, Certainty.SIGNED)
    if needed < Certainty.SIGNED and place.in_capitals:
        needed = max(needed, Certainty.ALONE if who >= Who.COLLEAGUE else Certainty.SIGNED)
    if needed == _NEVER:
        return 0.0
    means_else = kind is not AbbreviationKind.FREE and who is not Who.OWN
    stands = (
        place.reaches(Certainty(needed), means_else=means_else)
        if needed
        else stands_apart(place.text, place.start, place.end)
    )
    if not stands and not (who >= Who.COLLEAGUE and _is_beside_another(place, known)):
        return 0.0
    return _LIKELY if kind is AbbreviationKind.FREE else _SURE


def _is_beside_another(place: Position, known: Known) -> bool:
    """Whether initials stand beside others that mean nothing else: "AM/KR", "KR and AM"."""
    text, start, end = place.text, place.start, place.end
    others = (
        _ANOTHER_BEFORE.search(text, max(place.left, start - 12), start),
        _ANOTHER_AFTER.match(text, end, place.right),
    )
    return any(other is not None and _is_colleagues(other["other"], known) for other in others)


def _may_stand_alone(letters: str, known: Known) -> bool:
    """Whether folded letters may be initials in a field or a column of initials."""
    letters = letters.replace(".", "").replace(" ", "")
    return abbreviation_kind(letters) >= AbbreviationKind.CLINICAL or known.who(letters) >= Who.COLLEAGUE


def _by_line(text: str, known: Known) -> Iterator[tuple[int, int]]:
    """What a whole line shows: a last column of initials, pairs that are all of it, signatures in small letters."""

    rows: list[list[tuple[int, int]]] = []
    start = 0
    headed = False
    for line in text.split("\n"):
        end = start + len(line)
        # Most lines end in no capitals, and in no small letters behind a sign.
        cells = last_cell(text, start, end) if line.rstrip(" \t\r|;")[-2:].isupper() else []
        if cells:
            rows.append(cells)
            if headed:
                yield from (cell for cell in cells if _may_stand_alone(fold_term(text[slice(*cell)]), known))
        elif rows:
            yield from _column(text, rows, known)
            rows = []
        if not cells:
            headed = "  " in line and line[-_HEADING:].rstrip().lower().endswith(LAST_HEADINGS)
        if _SHORTEST_PAIR <= len(line) <= _LONGEST_PAIR and (":" in line or "/" in line or ";" in line):
            yield from small_pair(text, start, end, known)
        tail = line[-_TAIL:]
        signs = not _SIGNS.isdisjoint(tail) and tail.rstrip(" \t\r)]/")[-1:].islower()
        if signs and (signed := _SIGNED_SMALL.search(tail)):
            place = (end - len(tail) + signed.start("letters"), end - len(tail) + signed.end("letters"))
            if _is_colleagues(text[slice(*place)], known):
                yield place
        start = end + 1
    yield from _column(text, rows, known)


def _column(text: str, rows: list[list[tuple[int, int]]], known: Known) -> list[tuple[int, int]]:
    """The last cells of successive rows, if all are known initials and some of them mean nothing else."""
    cells = [cell for row in rows for cell in row]
    letters = [fold_term(text[slice(*cell)]) for cell in cells]
    all_known = len(rows) >= _LEAST_ROWS and all(known.who(each) >= Who.COLLEAGUE for each in letters)
    return cells if all_known and any(abbreviation_kind(each) is AbbreviationKind.FREE for each in letters) else []


def _is_colleagues(surface: str, known: Known) -> bool:
    """Whether letters are the initials of somebody known, and mean nothing else."""
    letters = fold_term(surface)
    return known.who(letters) >= Who.COLLEAGUE and abbreviation_kind(letters) is AbbreviationKind.FREE

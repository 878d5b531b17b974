"""Coordinated names: names that a comma or "and" joins to a name that was found, and the day after a place.

Belongs here: further names, and days, beside the found ones. Does not belong here: how those were found
(`context_names.py` and the tables), and repetitions of the same name (`resolve/propagate/names.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import regex

from deid_platform.detection.api import Candidate, Source, SourceKind
from deid_platform.detection.rules.en.people import ORIGIN
from deid_platform.detection.rules.en.unlisted_persons import GOES_ON
from deid_platform.detection.rules.names.context_names import (
    DRUG_NEXT,
    OF_MEDICINE,
    SCORE,
    SOURCE,
    TRADE_MARK,
    is_strange,
)
from deid_platform.detection.rules.names.eponyms import names_a_thing
from deid_platform.labels import PERSONS, Label
from deid_platform.lexicon.classes import word_class
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

_DAY_SOURCE = Source(SourceKind.RULES, "day-beside-place")
_REACH = 40
_NEAR = 20
_NAME = r"\p{Lu}\p{Ll}[\p{L}\p{M}]*(?:[-‐’']\p{L}[\p{L}\p{M}]+)?"
_NAMES = rf"(?P<name>{_NAME}(?:[ ]{_NAME})?)"
_JOINED_BEHIND = regex.compile(
    r"(?:['’]s)?(?:[ ]\([^()\r\n]{1,16}\))?(?:[ ]of[ ]|,[ ](?:(?:and|&)[ ])?|[ ](?:and|&)[ ]|[ ]?/[ ]?)"
    rf"{_NAMES}(?![\p{{L}}\p{{N}}])"
)
_JOINED_BEFORE = regex.compile(
    rf"(?<=[\p{{Ll}}:(][ ]?){_NAMES}(?:,[ ](?:(?:and|&)[ ])?|[ ](?:and|&)[ ]|[ ]?/[ ]?)",
    regex.REVERSE,
)
# When somebody was at a place: "Pelican Bay 10/1".
_DAY_BEHIND = regex.compile(
    r"[ ]\(?(?!2/2\b)(?P<day>(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01]))"
    r"(?![\d/]|[.\-]\d|[ ]?(?i:%|mm|cm|mg|ml|days?|points?|strength)\b)"
)
_JOINS_BEHIND = (", ", " and ", " & ", " of ", "/", " /", "'s", "’s", " (")
_JOINS = (", ", "and ", "& ", "/", "/ ")
_MOST_JOINED = 6
_JOINING = (*PERSONS, Label.HOSPITAL, Label.CITY, Label.ORGANIZATION)


def coordinated_names(text: str, found: Iterable[Candidate]) -> Iterator[Candidate]:
    """Names that a comma or "and" joins to a person's that was found: "(Tobi, Kemi, Femi)".

    Args:
        text: A paragraph.
        found: What was found in it.
    """
    for span in found:
        if span.label in _JOINING:
            yield from _joined_behind(text, span)
            day = _DAY_BEHIND.match(text, span.end) if span.label not in PERSONS else None
            if day is not None:
                yield Candidate.by_rule(day.start("day"), day.end("day"), Label.DATE, SCORE, _DAY_SOURCE)
            yield from _joined_before(text, span)


def _joined_behind(text: str, span: Candidate) -> Iterator[Candidate]:
    end = span.end
    for _ in range(_MOST_JOINED):
        match = _JOINED_BEHIND.match(text, end) if text.startswith(_JOINS_BEHIND, end) else None
        if match is None or not _may_stand_beside(match["name"]) or not GOES_ON.match(text, match.end("name")):
            return
        start, end = match.span("name")
        if names_a_thing(text, end) or TRADE_MARK.match(text, end) or DRUG_NEXT.match(text, end):
            return
        yield Candidate.by_rule(start, end, span.label, SCORE, SOURCE)


def _joined_before(text: str, span: Candidate) -> Iterator[Candidate]:
    start = span.start
    for _ in range(_MOST_JOINED):
        joined = text.endswith(_JOINS, max(0, start - _NEAR), start)
        match = _JOINED_BEFORE.match(text, max(0, start - _REACH), start) if joined else None
        if match is None or not _may_stand_beside(match["name"]):
            return
        start = match.start("name")
        yield Candidate.by_rule(start, match.end("name"), span.label, SCORE, SOURCE)


def _may_stand_beside(name: str) -> bool:
    words = name.split()
    kinds = [word_class(word) for word in words]
    if fold_term(name) in word_list("countries") or any(
        fold_term(word) in word_list("italian_words") for word in words
    ):
        return False
    if OF_MEDICINE.fullmatch(words[-1].lower()):
        return False
    return all(map(is_strange, words, kinds)) and not any(map(ORIGIN.fullmatch, words))

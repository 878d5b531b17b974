"""Validators of Italian towns, provinces, postcodes and streets: where one ends, and whether it is one."""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.people import bare, stops_a_name
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.detection.rules.it.words import (
    LINKS,
    LONGEST_ABBREVIATION,
    SITUATIONS,
    WORD,
    is_called_after,
    is_italian_word,
    written_in_capitals,
)
from deid_platform.detection.rules.names.eponyms import names_a_thing
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.lexicon.lists import word_list

_TOWN_NEXT = regex.compile(r"(?:[ ]?[\-–][ ]?|,?[ ]{1,2})(\p{Lu}[\p{L}\p{M}'’.\-]*(?:[ ][\p{L}\p{M}'’.\-]+){0,4})")
_ROMAN = regex.compile(r"[ivx]+")


def italian_town(text: str, start: int, end: int) -> Interval | None:
    """A town after a word of birth, residence or origin: up to the first word that is no part of its name."""
    tokens = list(WORD.finditer(text, start, end))
    capitals = written_in_capitals(text, start, end)
    stop = start
    for token in tokens:
        word = bare(token[0])
        if word in LINKS:
            continue
        short = token[0].isupper() and not capitals and 1 < len(word) <= LONGEST_ABBREVIATION
        clinical = word_class(word) & WordClass.CLINICAL and word not in word_list("cities")
        if stop > start and word in SITUATIONS:
            stop = token.end()
            continue
        if short or is_italian_word(word) or (clinical and not word_class(word) & WordClass.SURNAME):
            break
        if len(word) > 1:
            stop = token.end()
    stop -= text[start:stop].endswith(".")
    thing = names_a_thing(text, stop) or is_called_after(text, start)
    return (start, stop) if stop > start and not thing else None


@validator
def italian_town_or_code(text: str, start: int, end: int) -> Interval | None:
    """As `italian_town`, or the code of a province after one."""
    code = end - start == 2 and text[start:end].isupper() and text[:start].rstrip()[-1:] in "(,-–/"
    return (start, end) if code else italian_town(text, start, end)


@validator
def italian_postcode(text: str, start: int, end: int) -> Interval | None:
    """A postcode before a town, or the town after it, or the code of its province."""
    town = _TOWN_NEXT.match(text, end) if text[start].isdigit() else None
    if town is not None:
        return (start, end) if italian_place(text, *town.span(1)) else None
    if end - start > 2:
        return italian_place(text, start, end)
    return (start, end) if text[:start].rstrip(" (,")[-1:].isalpha() else None


@validator
def italian_place(text: str, start: int, end: int) -> Interval | None:
    """As `italian_town`, after a word that other things follow as well: no common English word alone."""
    place = italian_town(text, start, end)
    if place is None:
        return None
    words = [w for t in WORD.findall(text, *place) if (w := bare(t)) not in LINKS]
    known = any(w in word_list("cities") or w in word_list("italian_cities") for w in words)
    plain = all(stops_a_name(w) or word_class(w) & (WordClass.CLINICAL | WordClass.ORDINARY) for w in words)
    return place if known or not plain else None


@validator
def italian_city(text: str, start: int, end: int) -> Interval | None:
    """A city of the shipped list, unless criteria, a score or the like are called after it."""
    return None if is_called_after(text, start) or names_a_thing(text, end) else (start, end)


@validator
def italian_street(text: str, start: int, end: int) -> Interval | None:
    """A street whose name has a word of its own, a day or a numeral: not "via Endovenosa 2"."""
    for token in list(WORD.finditer(text, start, end))[1:]:
        word = bare(token[0])
        if word in LINKS or not token[0][0].isupper() or len(word) == 1:
            continue
        if word in word_list("months") or _ROMAN.fullmatch(word):
            return start, end
        short = token[0].isupper() and not text[start:end].isupper() and len(word) <= LONGEST_ABBREVIATION
        clinical = word_class(word) & WordClass.CLINICAL and not word_class(word) & (
            WordClass.SURNAME | WordClass.GIVEN
        )
        return None if short or clinical or is_italian_word(word) else (start, end)
    return None

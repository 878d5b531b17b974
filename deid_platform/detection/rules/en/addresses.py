"""Validators of addresses: where the name of a town, a state or a street ends, and whether it is one.

Belongs here: the validators that `addresses.yaml` names. Does not belong here: institutions (`organizations.py`), names
of people (`people.py`), ZIP codes (`zip_codes.py`).
"""

from __future__ import annotations

from functools import cache

import regex

from deid_platform.detection.rules.en.people import NAME_TOKEN, bare, stops_a_name
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.detection.rules.names.eponyms import names_a_thing
from deid_platform.lexicon.classes import WordClass, bears_a_name, is_common, word_class
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

_STATES = frozenset(
    """
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois
    indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri
    montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia wisconsin wyoming
    """.split()  # noqa: SIM905 - a list literal would take forty lines
)
_AUSTRALIAN_STATES = frozenset({"NSW", "VIC", "QLD", "ACT", "TAS", "SA", "NT"})
_CITY_BEFORE = regex.compile(r"(\p{Lu}[\p{L}'’.\-]+(?:[ ]\p{Lu}[\p{L}'’.\-]+){0,2})[ \t]*,[ \t]*$")
_TITLE_WORDS = regex.compile(r"(?:[ ]\p{Lu}?[\p{L}\-]+){1,4}")
# What one lives in that is no town.
_DWELLINGS = frozenset(
    {
        *("apartment", "assisted", "condo", "facility", "group", "home", "homeless", "house", "independent", "nursing"),
        *("public", "rehab", "section", "senior", "shelter", "subsidized", "supervised", "supportive", "trailer"),
    }
)
# Generic words that stand before a name's own ("Main Street Drug").
_SITUATIONS = frozenset({"main", "new", "north", "old", "south", "east", "west"})
_OF_HEADINGS = frozenset({"course", "return", "summary"})
# State codes that are credentials after a name ("Tyler, MD").
_CREDENTIAL_CODES = frozenset({"MD", "PA", "MA", "MS", "DO", "DC"})
_NAMED_BEFORE = regex.compile(r"(?i:\bby|\bfor|\bdr\.?|:|\)|\||;)[ \t]*$")
_SURNAME_BEFORE = regex.compile(r"\p{Lu}[\p{L}'’\-]+,[ \t]*$")
_STANDS_ALONE = regex.compile(
    r"(?i:[ \t]*(?:[.,;)|\r\n]|$|[ \t]{2}|(?:with|for|and|since|who|but|where|on|as|is|to)\b))"
)
_SENTENCE_INSIDE = regex.compile(r"(?<!\b(?i:ave|blvd|pkwy|hwy|apt|ste|bldg|rte|unit))(?<=\p{L}{3})\.[ \t]")


@validator
def named_after(text: str, start: int, end: int) -> Interval | None:
    """A place that begins with its kind, "Camp Tamarack": the next word is not common, and no scale has the name."""
    later = [bare(t) for t in NAME_TOKEN.findall(text, start, end)[1:]]
    plain = stops_a_name(later[0]) or word_class(later[0]) & (WordClass.CLINICAL | WordClass.ORDINARY)
    return None if plain or names_a_thing(text, end) else (start, end)


def reads_as_place(words: list[str]) -> bool:
    """Whether a noun of nature or settlement follows another word, as in "Old Mill"."""
    return any(word in word_list("place_nouns") for word in words[1:])


@validator
def city(text: str, start: int, end: int) -> Interval | None:
    """A place's name that is not made of common or clinical words alone, or that is a known city's."""
    words = [fold_term(t).strip(".'-") for t in NAME_TOKEN.findall(text, start, end)]
    known = fold_term(text[start:end]) in word_list("cities")
    return (start, end) if known or (words and not all(map(is_common, words))) else None


@validator
def town(text: str, start: int, end: int) -> Interval | None:
    """A place after a word that other things follow as well: up to the first word that is no part of its name."""
    if text[start:end].isupper() and end - start <= 3:
        return (start, end) if text[start:end] in _AUSTRALIAN_STATES else None
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    if not tokens or any(c.isdigit() for c in text[start:end]):
        return start, end  # a postcode
    stop = start
    capitals = text[start:end].isupper()
    for token in tokens:
        word = bare(token[0])
        clinical = word_class(token[0]) & WordClass.CLINICAL and word not in word_list("cities")
        code = token[0].isupper() and len(word) <= 3 and not capitals
        apart = stop > start and token.start() - stop > 1
        if word in word_list("title_stopwords") or clinical or code or apart or (stop > start and word in _STATES):
            break
        stop = token.end()
    surface = fold_term(text[start:stop])
    if surface in word_list("countries"):
        return None  # left to the recognizer that calls it a country
    known = surface in word_list("cities")
    rare = any(not stops_a_name(bare(t[0])) for t in tokens if t.end() <= stop)
    return (start, stop) if stop > start and (known or rare) and not names_a_thing(text, stop) else None


@validator
def home_town(text: str, start: int, end: int) -> Interval | None:
    """As `town`, after a word that only places follow ("lives in"): a common word is one as well ("Round Top")."""
    if text[start - 1 : start] == "(" and text[start:end].isupper() and not text[max(0, start - 3) : start].isupper():
        return None  # an abbreviation of what stands before the bracket
    place = town(text, start, end)
    if place is not None:
        return place
    gap = text.find("  ", start, end)
    end = gap if gap > 0 else end
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    words = [bare(t[0]) for t in tokens]
    excluded = _no_towns()
    plain = any(w in excluded or t[0].isupper() or w.endswith("ed") for w, t in zip(words, tokens, strict=True))
    whole = _STANDS_ALONE.match(text, end) is not None
    country_named = fold_term(text[start:end]) in word_list("countries")
    return None if plain or not words or not whole or country_named else (start, end)


@cache
def _no_towns() -> frozenset[str]:
    """Words that are in no town's name, unless a list has the town."""
    return word_list("title_stopwords") | kinds_of_institution() | word_list("months") | _DWELLINGS


@cache
def kinds_of_institution() -> frozenset[str]:
    """Generic words that an institution's name may end in."""
    return word_list("generic_institution_words") - _SITUATIONS - _OF_HEADINGS


@validator
def city_or_code(text: str, start: int, end: int) -> Interval | None:
    """A city before a state's code, or the code after such a city, but not a credential after a person's name."""
    if end - start > 2:
        code = text[end : end + 8].lstrip(" \t,")[:2]
        return None if code in _CREDENTIAL_CODES and not _is_town_before(text, end, code) else city(text, start, end)
    return (start, end) if _is_town_before(text, start, text[start:end]) else None


def _is_town_before(text: str, stop: int, code: str) -> bool:
    """Whether the words before a state's code are a town's."""
    line = max(text.rfind("\n", 0, stop), stop - 60, 0)
    before = _CITY_BEFORE.search(text[line:stop].rstrip(" \t,") + ", ")
    if before is None:
        return False
    words = [fold_term(w) for w in before[1].split()]
    known = any(" ".join(words[i:]) in word_list("cities") for i in range(len(words)))
    if code not in _CREDENTIAL_CODES:
        return known or not all(map(is_common, words))
    given = any(word_class(w) & WordClass.GIVEN for w in words)
    listed = " ".join(words) in word_list("cities")
    person = given and (not listed or _SURNAME_BEFORE.search(text, line, line + before.start()))
    named = _NAMED_BEFORE.search(text, line, line + before.start())
    return known and not person and not named


@validator
def known_city(text: str, start: int, end: int) -> Interval | None:
    """A city of the shipped list, unless a thing bears its name ("the Jackson table")."""
    known = fold_term(text[start:end]) in word_list("cities") and not names_a_thing(text, end)
    return (start, end) if known else None


@validator
def state(text: str, start: int, end: int) -> Interval | None:
    """A state's name, unless a thing or a word of medicine bears it ("Minnesota tube", "California Verbal")."""
    return None if names_a_thing(text, end) or _borne_by_a_title(text, end) else (start, end)


@validator
def country(text: str, start: int, end: int) -> Interval | None:
    """A country's name, unless a thing bears it ("India ink", "Japan Coma Scale")."""
    return state(text, start, end)


def _borne_by_a_title(text: str, end: int) -> bool:
    """Whether capitalised words after a place's name end in what a test or a scale is called."""
    following = _TITLE_WORDS.match(text, end)
    return following is not None and any(map(bears_a_name, following[0].lower().split()))


@validator
def street(text: str, start: int, end: int) -> Interval | None:
    """A street whose name has a word of its own, if it is written without capitals."""
    surface = text[start:end]
    words = [w for t in NAME_TOKEN.findall(surface) if len(w := fold_term(t).strip(".'-")) > 1]
    if words[0] in {"am", "pm", "mg", "ml", "cc", "mm", "cm"} or _SENTENCE_INSIDE.search(surface):
        return None
    return (start, end) if any(c.isupper() for c in surface) or not all(map(is_common, words[:-1])) else None

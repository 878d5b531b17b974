"""Validators of landmarks: whether a park, a lake, a station or a road has a name of its own.

Belongs here: the validators that `landmarks.yaml` names. Does not belong here: towns and streets (`addresses.py`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.addresses import reads_as_place
from deid_platform.detection.rules.en.organizations import is_rare
from deid_platform.detection.rules.en.people import NAME_TOKEN, bare, stops_a_name
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.lexicon.lists import word_list

_OLD = frozenset(("old", "abandoned", "former", "burned", "derelict", "vacant"))
# What stands in the country by itself, so that "the old mill" says which.
_BUILT = frozenset((
    "mill", "cannery", "tannery", "foundry", "depot", "quarry", "sawmill", "brickyard", "schoolhouse", "firehouse",
    "lighthouse", "elevator", "tower", "bridge", "dam", "plant", "store", "courthouse", "station", "cemetery",
    "railyard", "boatyard", "drive-in", "church",
))  # fmt: skip
# Isotopes of iodine, which no road has for a number.
_ISOTOPE = regex.compile(r"I[ \-](?:123|124|125|131)\b")
_CONTRACTIONS = ("'s", "’s")


@validator
def landmark(text: str, start: int, end: int) -> Interval | None:
    """A place by what it is, "Birch Point Marina": one of its own words must not be common, or must look like a place.

    The article belongs to it ("the Hollins Ferry exit").
    """
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    article = tokens[0] if bare(tokens[0][0]) == "the" else None
    while tokens and bare(tokens[0][0]) in word_list("title_stopwords"):
        tokens.pop(0)
    words = [bare(t[0]) for t in tokens]
    own = any(
        (not stops_a_name(w) or t[0].endswith(_CONTRACTIONS)) and not word_class(w) & WordClass.CLINICAL
        for w, t in zip(words[:-1], tokens, strict=False)
    )
    if not own and not (len(words) > 2 and reads_as_place(words[:-1])):
        return None
    adjoining = article is not None and text[article.end() : tokens[0].start()].isspace()
    return (article.start() if article is not None and adjoining else tokens[0].start()), end


@validator
def small_landmark(text: str, start: int, end: int) -> Interval | None:
    """A landmark in small letters, "halfmoon lake" or "the old mill": from the first word that may name it."""
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    words = [bare(t[0]) for t in tokens]
    if len(words) > 1 and words[-2] in _OLD and words[-1] in _BUILT:
        return start, end
    first = 1 if words[0] == "the" else 0
    own = words[first:-1]
    if any(word in word_list("title_stopwords") or word_class(word) & WordClass.CLINICAL for word in own):
        return None
    scenic = len(own) > 1 and reads_as_place(own)
    return (start, end) if any(is_rare(word) for word in own) or scenic else None


@validator
def highway(text: str, start: int, end: int) -> Interval | None:
    """A road or an exit by its number: no isotope ("I-131")."""
    return None if _ISOTOPE.match(text, start, end) else (start, end)

"""Validators of hastily typed text: names and institutions in small letters, words with spaces between the letters.

Belongs here: the validators that `lowercase_names.yaml` names. Does not belong here: names in small letters after full
words for roles and actions (`care_team.py`).
"""

from __future__ import annotations

from deid_platform.detection.rules.en.people import NAME_TOKEN, bare
from deid_platform.detection.rules.en.unlisted_persons import OTHERS, SHORTEST, is_built
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.detection.rules.it.words import is_italian_word
from deid_platform.lexicon.classes import (
    WordClass,
    ends_as_a_word,
    is_clinics_word,
    is_institutions_word,
    is_town,
    word_class,
)
from deid_platform.lexicon.lists import word_list

_LISTED = WordClass.GIVEN | WordClass.SURNAME
# Words without their apostrophe, which are surnames as well.
_CONTRACTED = frozenset(
    {"cant", "dont", "wont", "didnt", "isnt", "wasnt", "doesnt", "hasnt", "shes", "hes", "ive", "ill", "youll"}
)
# What stands before "pines", "court" or "rehab" that is no house's own name.
_COMMON_BEFORE = frozenset(
    {"district", "family", "superior", "supreme", "tennis", "county", "federal", "traffic", "juvenile", "food"}
)


@validator
def lowercase_name(text: str, start: int, end: int) -> Interval | None:
    """A name in small letters after a word that things follow as well: as far as lists know its words."""
    return _known_part(text, start, end, unlisted=False)


@validator
def lowercase_officer(text: str, start: int, end: int) -> Interval | None:
    """A name in small letters after the word for an office ("pcp okonkwo"), on a list or not."""
    return _known_part(text, start, end, unlisted=True)


def _known_part(text: str, start: int, end: int, *, unlisted: bool) -> Interval | None:
    """The first word, if it is a name, and the second one with it."""
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    first = _is_small_name(tokens[0][0], unlisted=unlisted)
    pair = len(tokens) > 1 and _may_be_second(tokens[-1][0])
    given = pair and word_class(tokens[0][0]) & WordClass.GIVEN and not is_italian_word(bare(tokens[0][0]))
    if not first and not given:
        return None
    stop = tokens[-1 if pair else 0].end()
    return start, stop - 2 * text[start:stop].endswith(("'s", "’s"))


def _is_small_name(word: str, *, unlisted: bool) -> bool:
    kind, folded = word_class(word), bare(word)
    if (
        kind & (WordClass.ORDINARY | WordClass.CLINICAL)
        or is_clinics_word(word)
        or any(folded in word_list(n) for n in OTHERS)
    ):
        return False
    if folded in _CONTRACTED or is_italian_word(folded):
        return False
    return bool(kind & _LISTED) or (unlisted and not kind and len(folded) >= SHORTEST and not is_built(folded))


def _may_be_second(word: str) -> bool:
    kind = word_class(word)
    return bool(kind & _LISTED) and not kind & WordClass.ORDINARY and not is_clinics_word(word)


@validator
def small_house(text: str, start: int, end: int) -> Interval | None:
    """A nursing home or hospital in small letters: "shady pines", "paducah general"; not "acute rehab"."""
    first, *kind = (bare(word) for word in text[start:end].split())
    if first in _COMMON_BEFORE or is_clinics_word(first) or word_class(first) & WordClass.CLINICAL:
        return None
    if kind[0] in word_list("place_nouns") or kind[0] in ("court", "manor", "terrace", "village", "gardens", "pines"):
        return start, end
    own = is_town(first) or not (word_class(first) & WordClass.ORDINARY or ends_as_a_word(first))
    return (start, end) if own and not is_institutions_word(first) else None


@validator
def letters_apart(text: str, start: int, end: int) -> Interval | None:
    """Letters with spaces between them that make a listed name: "J A N E", not "D I E T"."""
    kind = word_class(text[start:end].replace(" ", "").capitalize())
    return (start, end) if kind & _LISTED and not kind & (WordClass.ORDINARY | WordClass.CLINICAL) else None

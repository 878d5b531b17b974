"""Validators of places in prose: whether a capitalised word is the name of a street, a town or an institution.

Belongs here: the validators that `prose_places.yaml` names. Does not belong here: addresses (`addresses.py`),
institutions with a word for their kind (`organizations.py`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.addresses import street
from deid_platform.detection.rules.en.people import NAME_TOKEN, bare
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.detection.rules.names.eponyms import names_a_thing
from deid_platform.lexicon.classes import WordClass, ends_as_a_word, word_class
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

# Street names are made of such words, and so are headings: one of its words must be none of the clinic's.
_PERSON_BEFORE = regex.compile(r"\b(?:[Dd]r|[Mm]rs?|[Mm]s)\.?[ ]$")
_THING_WORDS = ("clinical_words", "title_stopwords", "months", "services", "ward_words")


@validator
def street_spoken(text: str, start: int, end: int) -> Interval | None:
    """A street without a number: none that has only words of the clinic ("Recovery Road"), and no person's "Drive"."""
    if _PERSON_BEFORE.search(text, max(0, start - 6), start):
        return None
    words = [bare(token) for token in NAME_TOKEN.findall(text, start, end)]
    named = [w for w in words[:-1] if w not in ("north", "south", "east", "west", "ne", "nw", "se", "sw", "the")]
    if not named or all(w in word_list("clinical_words") or w in word_list("title_stopwords") for w in named):
        return None
    return street(text, start, end)


@validator
def unlisted_place(text: str, start: int, end: int) -> Interval | None:
    """A place where a person was, or from which records come: a listed city, or words on no list of things or wards.

    A country is left to its own recognizer, unless its name is a person's as well ("Jordan") and needs what leads here.
    """
    surface = text[start:end]
    country = fold_term(surface) in word_list("countries") and not word_class(surface) & (
        WordClass.GIVEN | WordClass.SURNAME
    )
    return (start, end) if not country and _is_proper(text, start, end) else None


def _is_proper(text: str, start: int, end: int) -> bool:
    if names_a_thing(text, end):
        return False
    if fold_term(text[start:end]) in word_list("cities"):
        return True
    tokens = NAME_TOKEN.findall(text, start, end)
    kinds = [word_class(token) for token in tokens]
    if not tokens or any(bare(token) in word_list(name) for token in tokens for name in _THING_WORDS):
        return False
    if any(kind & WordClass.CLINICAL for kind in kinds):
        return False
    unknown = [not kind & WordClass.ORDINARY for kind in kinds]
    return unknown[0] and all(unknown[:2]) and not (len(tokens) == 1 and not kinds[0] and ends_as_a_word(tokens[0]))

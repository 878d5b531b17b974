"""Whether neighbouring words are given name and surname, by the word lists and by what follows them.

Belongs here: the judgement of two words or three. Does not belong here: which words of a text stand together
(`vocabulary.py`), or the class of each word (`lexicon/classes.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

from deid_platform.detection.rules.names.eponyms import stands_for_its_thing
from deid_platform.detection.rules.names.person_subject import is_person_subject
from deid_platform.lexicon.classes import WordClass, is_clinics_word, is_institutions_word, is_unknown
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

_INSIDE_SENTENCE = regex.compile(r"(?<=\p{Ll}[ \t]{1,2})")
_STATES_OF_CITIES = frozenset({"virginia", "georgia", "carolina", "dakota"})

Words = Sequence[regex.Match[str]]


def is_pair(words: Words, kinds: Sequence[int], i: int) -> bool:
    """Whether two words that act as a person does are given name and surname, one of them perhaps a common word."""
    first, second = kinds[i], kinds[i + 1]
    if (first | second) & WordClass.CLINICAL or is_place(words, i, i + 1):
        return False
    if not first & WordClass.GIVEN:
        return bool(second & WordClass.SURNAME) and is_unknown(words[i][0], first) and not second & WordClass.ORDINARY
    if is_unknown(words[i + 1][0], second):
        return True
    if first & WordClass.ORDINARY or second & WordClass.SURNAME:
        return bool(second & WordClass.SURNAME) and not is_clinics_word(words[i + 1][0])
    return bool(first & WordClass.LONE) and not is_institutions_word(words[i + 1][0])


def is_reversed_pair(words: Words, kinds: Sequence[int], i: int) -> bool:
    """As `is_pair`, of two words with a comma between them."""
    surname, given = kinds[i], kinds[i + 1]
    if (surname | given) & WordClass.CLINICAL or is_place(words, i, i + 1):
        return False
    if not surname & WordClass.SURNAME and fold_term(words[i][0]) in word_list("cities"):
        return False  # "In Boston, April was seen"
    if not given & WordClass.GIVEN:
        listed = surname & WordClass.SURNAME and not surname & WordClass.ORDINARY
        may_be_given = given & WordClass.SURNAME and not is_clinics_word(words[i + 1][0])
        unknown = is_unknown(words[i][0], surname), is_unknown(words[i + 1][0], given)
        return bool((listed and unknown[1]) or (may_be_given and unknown[0]))
    if surname & WordClass.SURNAME:
        return not is_clinics_word(words[i][0])
    if is_unknown(words[i][0], surname):
        return True
    # "However, Mary denies": a common word counts only where no sentence begins, or in capitals.
    emphasised = (len(words[i][0]) > 1 and words[i][0].isupper()) or _INSIDE_SENTENCE.match(
        words[i].string, words[i].start()
    )
    return bool(given & WordClass.LONE and emphasised) and not is_institutions_word(words[i][0])


def is_nobody_else(given: int, surname: int) -> bool:
    """Whether given name and surname are not an eponym, so what follows is the person's: "Zoe Lopez line placed"."""
    other = WordClass.ORDINARY | WordClass.CLINICAL
    return given & (WordClass.LONE | other) == WordClass.LONE and not surname & other


def is_somebody(text: str, words: Words, kinds: Sequence[int], first: int, last: int) -> bool:
    """Whether an eponym that looks like a full name may be a person's name, and nothing shows the thing."""
    start, end = words[first].start(), words[last].end()
    inside = kinds[first : last + 1]
    named = [bool(kind & (WordClass.GIVEN | WordClass.SURNAME)) for kind in inside]
    given = any(kind & WordClass.GIVEN for kind in inside)
    full = (all(named) and given) or (inside[0] & WordClass.GIVEN and not any(inside[1:]))
    if not full and not (
        any(named) and is_person_subject(text, start, end) and not any(kind & WordClass.CLINICAL for kind in inside)
    ):
        return False
    return not stands_for_its_thing(text, start, end)


def is_place(words: Words, first: int, last: int) -> bool:
    """Whether the words are a known city or country, or a city and the state after it."""
    folded = [fold_term(w[0]) for w in words[first : last + 1]]
    whole = " ".join(folded)
    return whole in _places() or (folded[0] in _places() and folded[-1] in _STATES_OF_CITIES)


@cache
def _places() -> frozenset[str]:
    return word_list("cities") | word_list("countries")

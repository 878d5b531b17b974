"""Validators of names in the headers, closings and fields of messages, forms and lists.

Belongs here: the validators that `messages.yaml` names. Does not belong here: where a name ends (`people.py`).

They judge places where a name needs no title, and where notes also have services, drugs and findings ("Thanks,
Pharmacy").
"""

from __future__ import annotations

from functools import lru_cache

import regex

from deid_platform.detection.rules.en.people import NAME_TOKEN, bare, labelled
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.detection.rules.names.clinical_words import is_substance
from deid_platform.detection.rules.names.eponyms import names_a_thing
from deid_platform.lexicon.abbreviations import is_consulted
from deid_platform.lexicon.classes import WordClass, ends_as_a_word, is_unknown, word_class
from deid_platform.lexicon.lists import word_list
from deid_platform.text.names import PARTICLES, is_street_word

_NAME = WordClass.GIVEN | WordClass.SURNAME
_SENSE = WordClass.ORDINARY | WordClass.CLINICAL
_LONGEST_ABBREVIATION = 4
_SHORTEST_UNKNOWN = 3
_LONG_FOR_A_WORD = 10
_SHORTEST_NAME = 2  # "Ly", "Ng"
# How words end that name a service, a role or a deed, though no list knows them.
_OFFICE_ENDING = regex.compile(
    r".*(?:ing|ings|tions?|ology|ologists?|iatry|iatrics|therapy|therapists?|ment|ness|ity|ics|ly|desk|staff|line|team"
    r"|osis|itis|oma|emia|uria|pathy|ectomy|otomy|ostomy|plasty|scopy|graphy|gram)"
)
_VOWEL = regex.compile("[aeiouy]")
# After the last word of a name that stands for itself.
_BOUND = regex.compile(r"['’]s\b|[ \t]*(?:[\r\n,;<\[\"”/]|$|\.[ \t]*(?:[\r\n]|$))")
_ADDRESS = regex.compile(r"[ \t]*[<(\[][ \t]*(?:mailto:)?[^<>()\[\]\s@]{1,64}@")


@lru_cache(maxsize=16384)
def is_a_name(token: str, *, loose: bool = False) -> bool:
    """Whether a word can be nothing but a name: a listed one that means nothing else, or one that nothing knows.

    Args:
        token: The word as it is written.
        loose: Whether a listed name may be a common word as well ("Early", "Rusty"), and one that nothing knows may end
            as English words do ("Lazaar").
    """
    word = bare(token)
    kind = word_class(token)
    if len(word) <= 1 or is_no_person(word) or (_is_place(word) and not kind & WordClass.GIVEN):
        return False
    if word in word_list("services") and not kind & _NAME:
        return False
    if loose and kind & WordClass.CLINICAL:
        return word in word_list("eponym_names") and not is_substance(token)
    if kind & _NAME:
        return loose or not kind & _SENSE
    if len(word) == _SHORTEST_NAME:
        return not kind and token[1].islower() and word not in word_list("short_abbreviations")
    if token.isupper() and len(word) <= _LONGEST_ABBREVIATION:
        return False
    if is_substance(token) or kind:
        return False
    return _OFFICE_ENDING.fullmatch(word) is None if loose else is_unknown(word, kind)


def is_no_person(word: str) -> bool:
    """Whether a folded word is never a person, whatever precedes it: a service, or a word that never begins a name."""
    return word in word_list("title_stopwords") or word in word_list("ward_words")


def _is_place(word: str) -> bool:
    return word in word_list("cities") or word in word_list("countries")


def _first(text: str, start: int, end: int) -> str:
    """The first word of a name that is no particle and no initial."""
    words: list[str] = NAME_TOKEN.findall(text, start, end)
    return next((word for word in words if len(bare(word)) > 1 and bare(word) not in PARTICLES), "")


@validator
def addressee(text: str, start: int, end: int) -> Interval | None:
    """A person who is greeted, mentioned or signs: a given name even if it is a word, or a word on no list."""
    place = labelled(text, start, end)
    if place is None:
        return (start, end) if is_short_name(text[start:end]) else None
    token = _first(text, *place)
    word, kind = bare(token), word_class(token)
    if not word or is_no_person(word):
        return None
    if kind & WordClass.GIVEN or kind & (_NAME | _SENSE) == WordClass.SURNAME:
        return _whole(text, place, end)
    if is_short_name(token):
        return place
    if kind or word in word_list("services") or _OFFICE_ENDING.fullmatch(word):
        return None
    if token.isupper() and len(word) <= _LONGEST_ABBREVIATION:
        return None
    return place if len(word) >= _SHORTEST_UNKNOWN else None


def is_short_name(token: str) -> bool:
    """Whether a short word is written as a name and not as the abbreviation that it is in capitals: "Tia", "Ed"."""
    word = bare(token)
    if is_no_person(word):
        return False
    known = word in word_list("short_abbreviations") or word in word_list("abbreviations")
    spoken = len(word) <= _SHORTEST_UNKNOWN and token[1:].islower() and _VOWEL.search(word) is not None
    return known and spoken and word not in word_list("common_words") and not is_consulted(word)


def _whole(text: str, place: Interval, end: int) -> Interval:
    """A name with the one further word that its match holds, if nothing but a surname stands so: "Rosa Penny, RN"."""
    rest = list(NAME_TOKEN.finditer(text, place[1], end))
    if len(rest) != 1 or text[place[1] : rest[0].start()].strip(" ") or not _BOUND.match(text, end):
        return place
    word = bare(rest[0][0])
    if len(word) <= _SHORTEST_NAME or rest[0][0].isupper() or word_class(word) & WordClass.CLINICAL or _is_office(word):
        return place
    return place[0], place[0] + len(text[place[0] : end].rstrip(" .'’-"))


@validator
def handed(text: str, start: int, end: int) -> Interval | None:
    """A name where a service or a finding is possible too: its first word can only be a name."""
    place = labelled(text, start, end)
    if place is None or names_a_thing(text, place[1]) or not is_a_name(_first(text, *place)):
        return None
    return place


@validator
def correspondent(text: str, start: int, end: int) -> Interval | None:
    """A name in the header of a message or beside an address, where offices write too ("Front Desk")."""
    place = labelled(text, start, end)
    if place is None:
        return None
    tokens = [token[0] for token in NAME_TOKEN.finditer(text, *place) if len(bare(token[0])) > 1]
    if not tokens or is_no_person(bare(tokens[0])):
        return None
    known = any(word_class(token) & _NAME for token in tokens)
    if not known and not is_a_name(tokens[0], loose=True):
        return None
    return (place[0], end) if _ADDRESS.match(text, end) else _whole(text, place, end)


@validator
def staffed(text: str, start: int, end: int) -> Interval | None:
    """A name where a column or a row names who did something: anything but a service, an office or a team."""
    place = labelled(text, start, end)
    if place is None:
        return None
    tokens = [token[0] for token in NAME_TOKEN.finditer(text, *place) if len(bare(token[0])) > 1]
    return None if tokens and all(map(_is_office, tokens)) else place


def _is_office(token: str) -> bool:
    word = bare(token)
    if word_class(token) & _NAME and not token.isupper():
        return False
    lists = ("generic_institution_words", "clinical_words", "ward_words", "services")
    if token.isupper() and (word in word_list("short_abbreviations") or word in word_list("abbreviations")):
        return True
    if any(word in word_list(name) for name in lists) or _OFFICE_ENDING.fullmatch(word):
        return True
    return bool(word_class(token) & WordClass.ORDINARY) and ends_as_a_word(word)


@validator
def roomed(text: str, start: int, end: int) -> Interval | None:
    """ "Last, First" or "Last, F", no street: neither is a word alone, and one of them can be nothing but a name."""
    tokens = [token[0] for token in NAME_TOKEN.finditer(text, start, end)]
    full = [token for token in tokens if len(bare(token)) > 1 and bare(token) not in PARTICLES]
    if not full or not all(is_a_name(token, loose=True) for token in full) or any(map(is_street_word, tokens)):
        return None
    sure = any(is_a_name(token) for token in full) or (len(full) > 1 and bool(word_class(full[1]) & WordClass.GIVEN))
    if not sure:
        return None
    while text[end - 1] in ".'’- \t":
        end -= 1
    return start, end


def run_together(text: str, start: int, end: int) -> Interval | None:
    """Surname and given name in capitals without a space between them, before a number: "QUARMBYJANE 0098812"."""
    word = bare(text[start:end])
    if word_class(word) or ends_as_a_word(word) or is_no_person(word) or word in word_list("services"):
        return None
    if len(word) >= _LONG_FOR_A_WORD:
        return start, end
    for cut in range(_SHORTEST_UNKNOWN, len(word) - _SHORTEST_UNKNOWN + 1):
        surname, given = word[:cut], word[cut:]
        if word_class(given) & WordClass.GIVEN and (word_class(surname) & WordClass.SURNAME or not word_class(surname)):
            return start, end
    return None

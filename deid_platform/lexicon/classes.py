"""What kind of word a capitalised word is: a name of the shipped lists, a word of every clinic, or unknown.

Belongs here: what the lists and the build of one word say of it. Does not belong here: which words make a name
together (`detection/rules/names/vocabulary.py`), or what an eponym names (`detection/rules/names/eponyms.py`).
"""

from __future__ import annotations

from functools import lru_cache

import regex

from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term
from deid_platform.text.tokens import blanked

_ORDINARY = (
    "common_words", "clinical_words", "ordinary_words", "eponyms", "drugs", "devices", "tests_and_scores",
    "clinical_names", "title_stopwords", "generic_institution_words", "months",
)  # fmt: skip
POSSESSIVE = regex.compile(r"['’][sS]?$")
_SHORTEST_UNKNOWN = 3
# Endings of English and medical words; a word that no list knows and that ends so is hardly a given name.
_WORD_ENDING = regex.compile(
    r".*(?:ly|ing|ings|ed|tion|tions|sion|ment|ments|ness|ous|ive|able|ible|ity|ities|ism|ists?|ful|less|ship|ance"
    r"|ence|ies|ical|ial|ology|ologist|itis|osis|emia|ectomy|otomy|ostomy|oma|pathy|scopy|scopic|gram|grams|graphy|plasty"
    r"|mycin|cillin|olol|pril|sartan|statin|azole|idine|amine|ide|oxin|mab|nib|zepam|zolam|cycline|floxacin|ase|ic|ics"
    r"|tic|al|ar|ary|ory|ular|oid|ward|wards|where|night|self|selves|thing|body|day|time)"
)


class WordClass:
    """What the lists know of a word, as bits (plain integers: an enum's flags take most of the pass's time)."""

    GIVEN = 1
    LONE = 2
    SURNAME = 4
    ORDINARY = 8
    CLINICAL = 16
    SENSES = 31
    # Of ordinary words alone: nouns of nature and settlement, and the article.
    SETTLEMENT = 32
    ARTICLE = 64


@lru_cache(maxsize=65536)
def word_class(word: str) -> int:
    """The kinds of a capitalised word, possessive or not; hyphenated ones by their parts as well."""
    folded = fold_term(POSSESSIVE.sub("", word)).strip(".'-")
    kind = 0
    parts = [folded, *(folded.split("-") if "-" in folded else ())]
    run_together = folded.replace("'", "") if "'" in folded[:3] else folded  # the census writes "Omalley"
    if any(p in word_list("given_names") for p in parts[:2]):
        kind |= WordClass.GIVEN
    if folded in word_list("lone_given_names"):
        kind |= WordClass.LONE
    if (
        folded in word_list("surnames")
        or run_together in word_list("surnames")
        or (len(parts) > 2 and all(p in word_list("surnames") for p in parts[1:]))
    ):
        kind |= WordClass.SURNAME
    if is_ordinary(folded) or (len(parts) > 2 and any(is_ordinary(p) for p in parts[1:])):
        kind |= WordClass.ORDINARY | (WordClass.SETTLEMENT if folded in word_list("place_nouns") else 0)
        kind |= WordClass.ARTICLE if folded == "the" else 0
    if folded in _clinical_words():
        kind |= WordClass.CLINICAL
    return kind


def is_ordinary(folded: str) -> bool:
    """Whether a folded word is one of common English, of clinics, or one that never begins a name."""
    lists = ("ordinary_words", "title_stopwords", "generic_institution_words")
    return is_common(folded) or any(folded in word_list(name) for name in lists)


def is_clinics_word(word: str) -> bool:
    """Whether a word is one of every clinic's notes."""
    return fold_term(word) in word_list("clinical_words")


def is_institutions_word(word: str) -> bool:
    """Whether a word stands for no person whatever precedes it: a place, a title, a thing."""
    lists = ("title_stopwords", "generic_institution_words", "ordinary_words")
    return any(fold_term(word) in word_list(name) for name in lists)


def bears_a_name(noun: str) -> bool:
    """Whether a folded noun is one that things called after somebody have: a sign, a catheter."""
    return noun in word_list("eponym_nouns") or noun in word_list("eponym_things")


def is_unknown(word: str, kind: int) -> bool:
    """Whether no list knows a word of that kind, and it is built like no English or medical one."""
    return not kind and len(word) >= _SHORTEST_UNKNOWN and not ends_as_a_word(word) and not is_rare_word(word)


def is_town(folded: str) -> bool:
    """Whether a folded name is a city's or a town's."""
    return folded in word_list("cities") or folded in word_list("towns")


def is_rare_word(word: str) -> bool:
    """Whether a word is one of English or of anatomy that no other list has, or its plural."""
    folded = fold_term(word)
    return folded in word_list("rare_words") or folded.removesuffix("s") in word_list("rare_words")


def ends_as_a_word(word: str) -> bool:
    """Whether a word ends as English and medical words do."""
    return _WORD_ENDING.fullmatch(word.lower()) is not None


@lru_cache(maxsize=1)
def _clinical_words() -> frozenset[str]:
    """Single words of the shipped clinical lists: eponyms, drugs, devices, scores, and whatever else is clinical."""
    lists = ("eponyms", "substances", "drugs", "devices", "tests_and_scores", "clinical_names")
    return frozenset(term for name in lists for term in word_list(name) if " " not in term)


def is_common(word: str) -> bool:
    """Whether a folded word is one of common English or of every clinic's vocabulary."""
    return word in word_list("common_words") or word in word_list("clinical_words")


@lru_cache(maxsize=1)
def ordinary_words() -> frozenset[str]:
    """Every word of the shipped lists of common, clinical and ordinary words and of clinical names."""
    return frozenset(word for name in _ORDINARY for term in word_list(name) for word in blanked(term).split())

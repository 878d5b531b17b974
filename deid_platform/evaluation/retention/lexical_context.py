"""What a word of a chunk is by its neighbours: somebody's name, an institution's, a disease called after somebody.

Belongs here: a word among the words of its chunk. Does not belong here: two chunks beside one another
(`lexical_judge.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

from deid_platform.evaluation.retention.lexical_shapes import words_of_class
from deid_platform.evaluation.retention.lexical_text import Word
from deid_platform.lexicon.lists import word_list

OCR = str.maketrans("0135|8!", "oleslbl")
_LISTS = (
    "drugs",
    "substances",
    "clinical_words",
    "devices",
    "tests_and_scores",
    "procedures",
    "clinical_names",
    "eponyms",
)
_NAMES = ("given_names", "lone_given_names", "surnames", "cities", "towns")
_INSTITUTIONS = ("generic_institution_words", "services", "place_nouns", "firm_nouns")
_MEDICAL = regex.compile(
    r".{3,}(?:itis|osis|emia|aemia|oma|omas|pathy|ectomy|otomy|ostomy|scopy|plasty|algia|plegia|uria|rrhea|cillin|mycin"
    r"|olol|pril|sartan|statin|azole|pine|zepam|cycline|floxacin|mab|nib|ite|osi|oma|patia|ectomia|algia|uria|cilina"
    r"|prazolo|prazol|formina|xabano|xaban|arina|ostomia|scopia)"
)
_ORDINARY_LISTS = ("common_words", "landmark_nouns", "place_nouns", "firm_nouns", "months")
_CONTEXT = 3  # words before a name within which "allergic to" and "returned from" say that it is history
_NOUNS = ("eponym_nouns", "eponym_things", "eponym_conditions")
LISTS = (*_LISTS, *_INSTITUTIONS, *_ORDINARY_LISTS, *_NAMES, *_NOUNS, "abbreviations", "eponym_names", "ordinary_words")
"""The shipped word lists that decide."""
_JOINING = frozenset(("of", "and", "de", "di", "la", "el", "los", "las", "the", "on"))


@cache
def is_clinical(written: str) -> bool:
    """Whether a folded word is one of the clinical lists, or ends as medical words do."""
    base = written.removesuffix("'s").removesuffix("s")
    ordinary = written in word_list("common_words") and written not in word_list("drugs")
    return not ordinary and (
        written in _clinical() or base in _clinical() or _MEDICAL.fullmatch(written.translate(OCR)) is not None
    )


@cache
def is_ordinary(written: str) -> bool:
    """Whether a folded word is one of every text, a title or a role."""
    return (
        len(written) < 2
        or any(written in words_of_class(name) for name in ("function", "title", "lone"))
        or any(written in word_list(name) for name in _ORDINARY_LISTS)
    )


def after_title(found: Sequence[Word], at: int) -> bool:
    """Whether a title stands before a word, or before the names before it."""
    while at > 0 and found[at - 1].capital and not _is_title(found[at - 1]):
        at -= 1
    return at > 0 and _is_title(found[at - 1])


def is_name(found: Sequence[Word], at: int) -> bool:
    """Whether a capitalised word names a person or a place: no list has it as clinical, or its neighbours are names."""
    word = found[at]
    if not word.capital or word.is_number or word.is_code:
        return False
    if _is_title(word) or after_title(found, at):
        return True
    if not is_clinical(word.written):
        return not (word.upper and len(word.written) > 2 and word.written in word_list("abbreviations"))
    if word.written in word_list("drugs"):
        return False
    return is_surrounded_by_names(found, at) or _is_institutions(found, at)


@cache
def is_of_the_names(written: str) -> bool:
    """Whether a folded word is a name of the lists and nothing clinical."""
    return not is_clinical(written) and any(written in word_list(name) for name in _NAMES)


def is_small_name(found: Sequence[Word], at: int) -> bool:
    """Whether a word in small letters is a name of the lists, or stands beside one."""
    near = [word.written for word in _near(found, at)]
    return is_of_the_names(found[at].written) or (
        any(found[at].written in word_list(name) for name in _NAMES) and any(map(is_of_the_names, near))
    )


def is_surrounded_by_names(found: Sequence[Word], at: int) -> bool:
    """Whether a neighbour of a word is a name that nothing clinical is called by: "Rose R", "Eastgate Maternal"."""
    return any(
        is_of_the_names(w.written) or (not w.upper and w.written not in word_list("ordinary_words"))
        for w in _near(found, at)
        if w.capital and not w.is_number and len(w.written) > 2
        if not is_clinical(w.written) and not is_ordinary(w.written)
    )


def _near(found: Sequence[Word], at: int) -> list[Word]:
    """The words before and after one in its sentence."""
    before = found[at - 1 : at] if at and not found[at].opens else ()
    after = found[at + 1 : at + 2]
    return [*before, *(word for word in after if not word.opens)]


def is_eponym(found: Sequence[Word], at: int) -> bool:
    """Whether a name is what something clinical is called by: before its noun, or alone as diseases are."""
    if after_title(found, at):
        return False
    after = found[at + 1 : at + 3]
    base = found[at].written.removesuffix("'s")
    if any(w.written in words_of_class("eponym") and not w.capital for w in after):
        return True
    if any(_is_joined(found, k) for k in (at, at + 1)):
        return True
    if base not in word_list("eponym_names"):
        return False
    if any(w.written in word_list(name) and not w.capital for w in after for name in _NOUNS):
        return True
    if any(w.capital for w in after[:1]):
        return False
    before = [w.written for w in found[max(0, at - 2) : at]]
    return (
        (bool(after) and after[0].written in words_of_class("lone"))
        or base != found[at].written
        or before[-1:] in (["for"], ["post"], ["longstanding"])
        or (before[-1:] in (["di"], ["de"]) and before[0] in words_of_class("eponym"))
    )


def _is_joined(found: Sequence[Word], at: int) -> bool:
    """Whether a word and the one before it are two names of eponyms with a dash between: "Tay-Sachs"."""
    if not 0 < at < len(found) or found[at].start != found[at - 1].end + 1 or not found[at].dashed:
        return False
    both = [w.written.removesuffix("'s") for w in found[at - 1 : at + 1]]
    known = [it in word_list("eponym_names") for it in both]
    return all(known) or (any(known) and not any(map(is_of_the_names, both)))


def tells_history(found: Sequence[Word], at: int) -> bool:
    """Whether a name stands after an allergy, an exposure or a journey."""
    before = found[max(0, at - _CONTEXT) : at]
    return not after_title(found, at) and any(w.written in words_of_class("context") for w in before)


def is_of_a_record(found: Sequence[Word], at: int) -> bool:
    """Whether a number stands after what a record's, a room's or a telephone's number is called by."""
    return any(w.written in words_of_class("id") for w in found[max(0, at - 2) : at])


def _is_title(word: Word) -> bool:
    return word.written in words_of_class("title")


def _is_institutions(found: Sequence[Word], at: int) -> bool:
    """Whether a capitalised word is one of several, with one between them that names no part of medicine."""
    first = last = at
    while first > 0 and not found[first].opens and (found[first - 1].capital or found[first - 1].written in _JOINING):
        first -= 1
    while (
        last + 1 < len(found)
        and not found[last + 1].opens
        and (found[last + 1].capital or found[last + 1].written in _JOINING)
    ):
        last += 1
    others = [w.written for k, w in enumerate(found[first : last + 1], start=first) if w.capital and k != at]
    return any(not is_clinical(it) for it in others) or any(
        it in word_list(name) for it in others for name in _INSTITUTIONS
    )


@cache
def _clinical() -> frozenset[str]:
    terms = frozenset[str]().union(*map(word_list, _LISTS))
    return frozenset(term for term in terms if " " not in term)

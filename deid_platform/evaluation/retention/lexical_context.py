"""What a word of a chunk is by its neighbours: somebody's name, an institution's, a disease called after somebody.

Belongs here: a word among the words of its chunk. Does not belong here: two chunks beside one another
(`lexical_judge.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

from deid_platform.evaluation.retention.lexical_text import Word, words_of_class
from deid_platform.lexicon.lists import word_list

OCR = str.maketrans("0135|8!", "oleslbl")
_LISTS = ("drugs", "substances", "clinical_words", "devices", "tests_and_scores", "procedures", "clinical_names")
_INSTITUTIONS = ("generic_institution_words", "services", "place_nouns", "firm_nouns")
_MEDICAL = regex.compile(
    r".{3,}(?:itis|osis|emia|aemia|oma|omas|pathy|ectomy|otomy|ostomy|scopy|plasty|algia|plegia|uria|rrhea|cillin|mycin"
    r"|olol|pril|sartan|statin|azole|pine|zepam|cycline|floxacin|mab|nib|ite|osi|oma|patia|ectomia|algia|uria|cilina"
    r"|prazolo|prazol|formina|xabano|xaban|arina|ostomia|scopia)"
)
_ORDINARY_LISTS = ("common_words", "care_team_roles")
_CONTEXT = 3  # words before a name within which "allergic to" and "returned from" say that it is history
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
    if not word.capital or word.is_number:
        return False
    if _is_title(word) or after_title(found, at) or not is_clinical(word.written):
        return True
    if word.written in word_list("drugs"):
        return False
    near = [found[k] for k in (at - 1, at + 1) if 0 <= k < len(found)]
    beside_a_name = any(
        w.capital and w.written in word_list("given_names") and not is_clinical(w.written) for w in near
    )
    return beside_a_name or _is_institutions(found, at)


def is_eponym(found: Sequence[Word], at: int) -> bool:
    """Whether a name is what something clinical is called by: before its noun, or alone as diseases are."""
    if after_title(found, at):
        return False
    after = found[at + 1 : at + 3]
    if any(w.written in words_of_class("eponym") and not w.capital for w in after):
        return True
    base = found[at].written.removesuffix("'s")
    if base not in word_list("eponym_names") or any(w.capital for w in after[:1]):
        return False
    before = [w.written for w in found[max(0, at - 2) : at]]
    return (
        (bool(after) and after[0].written in words_of_class("lone"))
        or base != found[at].written
        or before[-1:] in (["for"], ["post"], ["longstanding"])
        or (before[-1:] in (["di"], ["de"]) and before[0] in words_of_class("eponym"))
    )


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
    while first > 0 and (found[first - 1].capital or found[first - 1].written in _JOINING):
        first -= 1
    while last + 1 < len(found) and (found[last + 1].capital or found[last + 1].written in _JOINING):
        last += 1
    others = [w.written for k, w in enumerate(found[first : last + 1], start=first) if w.capital and k != at]
    return any(not is_clinical(it) for it in others) or any(
        it in word_list(name) for it in others for name in _INSTITUTIONS
    )


@cache
def _clinical() -> frozenset[str]:
    terms = frozenset[str]().union(*map(word_list, _LISTS))
    return frozenset(term for term in terms if " " not in term)

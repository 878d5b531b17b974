"""Whether a word in the place of a name is a disease or a substance: "Mother Alzheimer's", "Name: Lisinopril".

Belongs here: that decision. Does not belong here: eponyms that look like a full name (`eponyms.py`), and recovery
of what was found (`resolve/recovery/`).
"""

from __future__ import annotations

from functools import cache

import regex

from deid_platform.lexicon.classes import is_common
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

_WORD = regex.compile(r"\p{L}+")
_LONGEST_ABBREVIATION = 4
# What follows a possessive to which nothing belongs.
_OWNS_NOTHING = regex.compile(
    r"(?P<own>['’][sS]?)(?=[ \t]*(?:[,.;:)/&\r\n]|$)|[ \t]+(?:[-–—(+]|\d|(?i:and|or|at|aged?|since|in|with|on|but|plus"
    r"|vs|dx|dx'd|diagnosed|died|deceased|onset|who|which|x)\b))"
)
_BRANDS_AND_NAMES = frozenset(("alesse", "allegra", "camila", "jalyn", "lyza", "mirena", "skyla", "soma", "sonata"))
_DISEASES = ("", " disease", " syndrome", " lymphoma", " thyroiditis", " palsy", " dementia", " chorea")
# The syllables by which generic names tell what a drug does.
_STEM = regex.compile(
    r"\p{L}{3,}(?:pril|prilat|sartan|statin|prazole|conazole|cillin|mycin|floxacin|cycline|gliptin|gliflozin|glutide|tinib"
    r"|ciclib|zumab|ximab|mumab|dipine|triptan|setron|xaban|parib|oxetine|olol|azepam|azolam|thiazide|semide|barbital|caine"
    r"|profen|coxib|lukast|dronate|virine|tegravir|buvir|asvir)"
)


def is_a_disease(text: str, start: int, end: int) -> bool:
    """Whether a name is that of a disease: by the possessive to which nothing belongs, or by its plural ("Crohns").

    Args:
        text: The note.
        start: Where the name begins.
        end: Where it ends, without its possessive.
    """
    name = fold_term(text[start:end])
    owning = _OWNS_NOTHING.match(text, end)
    if owning is not None:
        return any(f"{name}{fold_term(owning['own'])}{kind}" in word_list("eponyms") for kind in _DISEASES)
    return name.endswith("s") and name in word_list("eponyms") and not _is_name(name)


def is_substance(surface: str) -> bool:
    """Whether what a field called "Name" holds is a drug, a device or a test and nothing else.

    Every word must be one of every clinic and at least one of those; a listed name, an eponym's or a word that no
    list knows leaves it a name. Capitals as short as initials are initials.
    """
    words = [fold_term(word) for word in _WORD.findall(surface)]
    if len(surface) <= _LONGEST_ABBREVIATION and surface.isupper():
        return False
    known = [word in _substances() or _STEM.fullmatch(word) is not None for word in words]
    plain = all(sure or is_common(word) for sure, word in zip(known, words, strict=True))
    return any(known) and plain and not any(map(_is_name, words))


def _is_name(word: str) -> bool:
    lists = ("given_names", "surnames", "eponym_names")
    return word in _BRANDS_AND_NAMES or any(word in word_list(name) for name in lists)


@cache
def _substances() -> frozenset[str]:
    """Single words of the shipped lists of substances, drugs, devices and tests."""
    lists = ("substances", "drugs", "devices", "tests_and_scores")
    return frozenset(term for name in lists for term in word_list(name) if " " not in term and len(term) > 1)

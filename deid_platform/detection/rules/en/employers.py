"""Validators of employers, schools and other bodies: whether words after a word for work name one, and where it ends.

Belongs here: the validators that `employers.yaml` names. Does not belong here: hospitals, practices and pharmacies
(`organizations.py`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.organizations import is_rare, organization, own_organization
from deid_platform.detection.rules.en.people import NAME_TOKEN, bare, stops_a_name
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

# Who pays, and what one works with or is referred to, is nobody's employer.
_NO_EMPLOYERS = frozenset((
    "medicare", "medicaid", "tricare", "ssi", "ssdi", "cobra", "aetna", "cigna", "humana", "anthem", "bcbs", "blue",
    "uhc", "marketplace", "obamacare", "hmo", "ppo", "hospice", "palliative", "home", "self", "none", "retired",
    "disabled", "unemployed", "full", "part", "yes", "no", "unknown", "er", "ed", "icu", "or", "pt", "ot", "st", "rn",
    "wnl", "na", "night", "day", "evening", "weekend", "english", "spanish", "covid", "who", "bls", "als", "life",
    "medic", "squad", "other", "self-employed", "student", "homemaker",
))  # fmt: skip
# What begins with these is a place ("Camp Tamarack"), left to the recognizers of landmarks.
_LANDSCAPES = frozenset(("camp", "lake", "fort", "cape", "mount"))
_GENERIC = frozenset(("united states", "college", "university", "school", "church", "high school", "middle school"))
_LAST_WORD = regex.compile(r"[ ](?:and|the|of|&)$")
_LOWER = regex.compile(r"\p{Ll}")


@validator
def employer(text: str, start: int, end: int) -> Interval | None:
    """What one works at or for, in capitals: an institution with a word of its own that is no payer's or ward's."""
    place = organization(text, start, end)
    if place is None:
        return None
    first, last = place
    words = [bare(token) for token in NAME_TOKEN.findall(text, first, last)]
    if words[0] in _NO_EMPLOYERS or all(word_class(word) & WordClass.CLINICAL or len(word) == 1 for word in words):
        return None
    surface = fold_term(text[first:last])
    if surface in word_list("countries") or surface in _GENERIC or surface in word_list("professions"):
        return None
    ending = _LAST_WORD.search(text[first:last])
    return first, first + ending.start() if ending else last


@validator
def named_employer(text: str, start: int, end: int) -> Interval | None:
    """As `employer`, after words that other things follow as well: a word must be no common one, or name a firm."""
    place = employer(text, start, end)
    if place is None:
        return None
    words = [bare(token) for token in NAME_TOKEN.findall(text, *place)]
    if words[0] in _LANDSCAPES:
        return None
    rare = any(not (stops_a_name(w) or word_class(w) & (WordClass.CLINICAL | WordClass.ORDINARY)) for w in words)
    return (
        place if rare or (len(words) > 1 and _ends_as_a_firm(text, *place)) or own_organization(text, *place) else None
    )


@validator
def firm(text: str, start: int, end: int) -> Interval | None:
    """A firm by what it is called; in a line of capitals alone, or as a heading, everything looks like one."""
    place = own_organization(text, start, end)
    if place is None or not text[slice(*place)].isupper():
        return place
    left = max(text.rfind("\n", 0, start) + 1, start - 40)
    line = text[left:start] + text[end : end + 40].partition("\n")[0]
    heading = text[end : end + 2].lstrip(" ").startswith(":")
    words = [bare(token) for token in NAME_TOKEN.findall(text, *place)]
    own = is_rare(words[0]) or words[0] in word_list("place_nouns")
    return place if own and _LOWER.search(line) and not heading else None


def _ends_as_a_firm(text: str, start: int, end: int) -> bool:
    words = fold_term(text[start:end]).split()
    nouns = word_list("firm_nouns")
    return len(words) > 1 and (words[-1] in nouns or " ".join(words[-2:]) in nouns or " ".join(words[-3:]) in nouns)

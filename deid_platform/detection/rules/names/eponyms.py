"""Whether a name is part of an eponym: what follows eponyms, and eponyms that look like a person's full name.

Belongs here: distinguishing "Robert Jones bandage" from Robert Jones. Does not belong here: which words are names
(`lexicon/classes.py`), and what recovery removes (`resolve/recovery/`).
"""

from __future__ import annotations

from functools import cache

import regex

from deid_platform.detection.context.names import REACH, after_label, after_title, speaks
from deid_platform.lexicon.classes import POSSESSIVE, bears_a_name
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term
from deid_platform.text.lookbehind import Lookbehind

_AFTER = regex.compile(r"['’]?s?[ \t]+(?P<noun>\p{L}+)")
# Before the thing of an eponym of two names: "Robert Jones compression dressing", "Ivor Lewis minimally invasive ...".
_QUALIFIED = regex.compile(
    r"(?P<own>['’][sS]?)?"
    r"(?:[ \t]+(?i:modified|bulky|padded|compressi(?:on|ve)|posterior|anterior|soft|short|long|leg|arm|closed|suction"
    r"|surgical|total|hip|minimally|invasive|robotic|laparoscopic|thoracoscopic|hybrid|open|two-stage))*+"
    r"(?:[ \t]+(?P<noun>\p{L}+)|[ \t]*\r?\n[ \t]*(?P<noun>\p{Ll}+))"
)
# The thing before its eponym: "hemiarthroplasty (Austin Moore)".
_THING_BEFORE = regex.compile(r"(?<!\p{L})(?P<noun>\p{L}{1,30})[ \t]*[(\[]$")
# How a thing is counted and where it is, after its eponym alone: "Jackson Pratt x2", "Jackson Pratt to bulb suction".
_PLACED = regex.compile(
    r"[ \t]*(?:x[ ]?\d|\#[ ]?\d)|[ \t]+(?i:to[ ](?:bulb|gravity|wall|suction)|in[ ]place|intact|patent)\b"
)
# What one has or undergoes: a thing, unless the words speak as a person does.
_UNDERGONE = Lookbehind(
    r"\b(?:an?|two|both|flat|round|\d+[ ]?(?:fr(?:ench)?|mm)|s/p|status[ -]post|underwent|h/o|c/w|planned|elective"
    r"|prior|previous|modified|open|hybrid|robotic|laparoscopic|thoracoscopic|invasive"
    r"|(?:dx|diagnosed|consistent)[ ]with|(?:procedures?|operations?|drains?|dressings?):)[ \t]+\n?",
    REACH,
)
_CALLS = regex.compile(r"[ \t]+(?:called|came|comes|calls|who)\b")
_WORD_BEFORE = regex.compile(r"(?<![\p{L}\p{M}])\p{Lu}[\p{L}\p{M}]+[ \t]{1,2}$")
_WORD_AFTER = regex.compile(r"[ \t]{1,2}\p{Lu}[\p{L}\p{M}]+")
_LONGEST = 30
_SISTER = Lookbehind(r"\bsister[ \t]+\n?", REACH)


def names_a_thing(text: str, end: int) -> bool:
    """Whether the word after a name makes it an eponym: a sign, a test, an instrument."""
    following = _AFTER.match(text, end)
    return following is not None and bears_a_name(following["noun"].lower())


def names_surely_a_thing(text: str, end: int) -> bool:
    """Whether the word after a name is a noun that eponyms precede: a syndrome, a retractor."""
    following = _AFTER.match(text, end)
    return following is not None and following["noun"].lower() in word_list("eponym_sure_nouns")


def is_in_an_eponym(given: str, surname: str) -> bool:
    """Whether a word is the name in an eponym, as "Glasgow" in "Violet Glasgow", and both together are none."""
    bare = fold_term(POSSESSIVE.sub("", surname))
    return bare in word_list("eponyms") and fold_term(f"{given} {bare}") not in word_list("eponyms")


def is_eponym_s_name(names: str) -> bool:
    """Whether folded words are an eponym that looks like a person's full name."""
    return names in word_list("eponym_persons")


def stands_for_its_thing(text: str, start: int, end: int) -> bool:
    """Whether an eponym that looks like a full name stands for a thing: before it, counted, or undergone.

    Args:
        text: The note.
        start: Where the names begin.
        end: Where they end, perhaps with a possessive.
    """
    if after_label(text, start) or (after_title(text, start) and not _SISTER(text, start)):
        return False
    names = fold_term(POSSESSIVE.sub("", text[start:end]))
    following, before = _QUALIFIED.match(text, end), _THING_BEFORE.search(text, max(0, start - REACH), start)
    if following is not None:
        owned = following["own"] or POSSESSIVE.search(text, start, end)
        if _is_thing_of(names, following["noun"], sure=bool(owned)):
            return True
    if _PLACED.match(text, end) or (before is not None and _is_thing_of(names, before["noun"])):
        return True
    if speaks(text, end) or _CALLS.match(text, end):
        return False
    return _UNDERGONE(text, start)


def lies_in_an_eponym(text: str, start: int, end: int) -> bool:
    """Whether a word is one half of an eponym that looks like a full name and means a thing there."""
    if fold_term(POSSESSIVE.sub("", text[start:end])) not in _words_of_full_names():
        return False
    before, after = _WORD_BEFORE.search(text, max(0, start - _LONGEST), start), _WORD_AFTER.match(text, end)
    places = [(start, after.end())] if after is not None else []
    if before is not None:
        places.append((before.start(), end))
    return any(
        is_eponym_s_name(fold_term(POSSESSIVE.sub("", text[first:last]))) and stands_for_its_thing(text, first, last)
        for first, last in places
    )


@cache
def _words_of_full_names() -> frozenset[str]:
    return frozenset(word for term in word_list("eponym_persons") for word in term.split())


def _is_thing_of(names: str, noun: str, *, sure: bool = False) -> bool:
    """Whether a noun is what an eponym names; a sure one is nobody's own either."""
    word = noun.lower()
    return word in word_list("eponym_sure_nouns") or (not sure and f"{names} {word}" in word_list("eponym_persons"))

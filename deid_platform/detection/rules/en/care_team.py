"""Validators of names after a role, a verb or a preposition, including names on no list.

Belongs here: the validators that `care_team.yaml` names. Does not belong here: whether words are a person's name at all
(`unlisted_persons.py`).

A capitalised word on no list is a person after a cue that only persons follow. After a cue that things follow too, it
is one if the sentence continues as it does after a person: it ends, gives a time or a place, or somebody acts.
"""

from __future__ import annotations

from functools import lru_cache

import regex

from deid_platform.detection.rules.en.people import NAME_TOKEN, bare, person_last_first, relative
from deid_platform.detection.rules.en.unlisted_persons import (
    DOES,
    GOES_ON,
    LONGEST_ABBREVIATION,
    NAMED,
    OTHERS,
    REACH,
    SHORTEST,
    SPECIALTY,
    at_once,
    behind_a_word,
    common_name,
    is_built,
    is_city_or_country,
    is_clinical,
    is_known,
    is_nobody,
    is_service,
    is_thing,
    may_be_somebody,
    name_at_start,
    short,
    with_common_surname,
)
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.classes import WordClass, ends_as_a_word, is_common, word_class
from deid_platform.lexicon.lists import word_list, written_terms
from deid_platform.text.fold import fold_term

# Before "by": what follows it is a thing, a drug, a number, another event.
_OF_THINGS = regex.compile(
    r"\b(?:followed|replaced|covered|complicated|caused|controlled|supplied|manufactured|marketed|supported|suppressed"
    r"|alleviated|improved|worsened|exacerbated|precipitated|induced|reversed|divided|multiplied|secured|relieved"
    r"|preceded|surrounded|powered|produced|made|backed|joined|affected|helped|aggravated|provoked|triggered|indicated)"
    r"[ \t]+(?:\p{Ll}+[ \t]+)?by[ \t\r\n:]*$",
    regex.IGNORECASE,
)
_FOLLOWS_A_PATIENT = regex.compile(
    r"\b(?:s?he|they|who|pt|patient|client|infant|baby|child|mother|family|wound|closely|currently|routinely|regularly"
    r"|also|still|be|being|been)[ \t]+(?:(?:is|was|has|have|being|been|be|will)[ \t]+){0,3}(?:\p{Ll}+ly[ \t]+)?followed"
    r"[ \t]+(?:\p{Ll}+[ \t]+)?by[ \t\r\n:]*$",
    regex.IGNORECASE,
)
# "Per" is "for" in Italian.
_PER = regex.compile(r"\b[Pp]er[ \t]+$")
_ITALIAN = regex.compile(
    r"(?<!\p{L})(?:il|di|del|della|dei|delle|con|che|una|un|si|è|dal|dalla|nel|nella|alla|gli|e|per|al)(?!\p{L})"
)
_RELIEVED = regex.compile(r"\brelieved\b[^.;\r\n]{0,30}\bby[ \t]*$", regex.IGNORECASE)
_CREDENTIAL = alternatives(written_terms("credentials.sure") + written_terms("credentials.role"), any_writing=False)
_AT_A_TIME = regex.compile(rf"[ \t]*(?:,?[ \t]*\b{_CREDENTIAL}\b|[ \t](?:at|@)[ \t]?\d)|[ \t]*\(?@")
_TIME_BEFORE = regex.compile(r"(?:\bat|@)[ \t]?\d{1,2}:?\d\d\b[^.;\r\n]{0,12}$")
_WORD_BY = regex.compile(r"\b(?P<word>\p{L}+)[ \t]+by[ \t]*$", regex.IGNORECASE)
_JOINED = regex.compile(r"(?:,|\band\b|&|(?<![wW])/|\+)[ \t\r\n]*$", regex.IGNORECASE)
_APPOSED = regex.compile(r"[,\-–—][ \t]*$")
# Between a role and the name of whoever has it: "'s name is", "on call (", ", ".
_LINKS = frozenset((
    "is", "was", "be", "will", "named", "name", "called", "on", "call", "on-call", "duty", "of", "record", "covering",
    "assigned", "today", "tonight", "this", "shift",
))  # fmt: skip
_PARTING = ',:(-–—"“'
_LONGEST_LINK = 4
_CAPITALISED_LAST = regex.compile(r"[ \t]*(?<=[ \t,:(])\p{Lu}[\p{L}\p{M}'’.\-]*[ \t]*$")
_OPENING = "([{\"“'‘*-–—.,;:/"
_LONGEST_TERM = 5
_LONGEST_NAME = 3
_NO_INITIALS = frozenset(
    ("PT", "OT", "ST", "ED", "ER", "OR", "ICU", "MD", "DO", "PA", "NP", "EMS", "IV", "GI", "IR", "OB", "ENT", "TPN")
)
_ACTED_ON = regex.compile(
    r"[ \t]+(?i:notified|called|updated|informed|aware|at[ ]bedside|here|present|contacted|left)\b"
)


@validator
def care_role(text: str, start: int, end: int) -> Interval | None:
    """A name after the noun of a role ("case worker", "the on-call resident")."""
    return care_named(text, start, end) if _stands_after(text, start, "care_team_roles") else None


@validator
def care_role_initials(text: str, start: int, end: int) -> Interval | None:
    """Initials of a person who is told something, after the noun of a role."""
    return care_initials(text, start, end) if _stands_after(text, start, "care_team_roles") else None


@validator
def care_initials(text: str, start: int, end: int) -> Interval | None:
    """Initials where a staff member stands, whatever else the letters mean, but not a role or a service."""
    return None if _is_role(text[start:end]) else (start, end)


@validator
def care_short_role(text: str, start: int, end: int) -> Interval | None:
    """A name after a role shortened to capitals ("HV", "CPN")."""
    return care_named(text, start, end) if _stands_after(text, start, "care_team_short_roles", exact=True) else None


@validator
def care_named(text: str, start: int, end: int) -> Interval | None:
    """A name after a role, where a given name or surname is one even if it is a common word."""
    if _APPOSED.search(text, max(0, start - 4), start):
        return care_doer(text, start, end)
    return _only_persons(text, start, end, role=True)


@validator
def care_partner(text: str, start: int, end: int) -> Interval | None:
    """A name after a verb whose object is a person or a service: "spoke with", "report from", "ask for"."""
    return _only_persons(text, start, end, role=False)


@validator
def care_doer(text: str, start: int, end: int) -> Interval | None:
    """A name after "by" or "with", which things follow as well."""
    place = name_at_start(text, start, end)
    if place is None or is_nobody(text, *place) or is_clinical(text, *place) or not GOES_ON.match(text, place[1]):
        return None
    before = max(0, start - REACH)
    if _PER.search(text, before, start) and len(_ITALIAN.findall(text, before, place[1] + REACH)) > 1:
        return place if is_known(text, *place) else None
    if _OF_THINGS.search(text, before, start) and not _FOLLOWS_A_PATIENT.search(text, before, start):
        return place if is_known(text, *place) or _is_relieved(text, start, place[1]) else None
    twice = _WORD_BY.search(text, before, start)
    if twice is not None and fold_term(twice["word"]) == fold_term(text[place[0] : place[1]]):
        return None  # "Day by Day"
    return place if may_be_somebody(text, *place) else None


@validator
def care_kin(text: str, start: int, end: int) -> Interval | None:
    """A name after a word for a relative or a visitor ("dtr", "foster mother")."""
    return care_family(text, start, end) if _stands_after(text, start, "kin.weak") else None


@validator
def care_family(text: str, start: int, end: int) -> Interval | None:
    """A relative's name; in capitals, a given name may be a common word if the person tells or is told something."""
    first = NAME_TOKEN.match(text, start, end)
    if first is not None and first[0].isupper() and _ACTED_ON.match(text, first.end()) and _is_given(first[0]):
        return start, first.end()
    place = name_at_start(text, start, end)
    if (
        place is None
        or is_nobody(text, *place)
        or is_clinical(text, *place)
        or not (GOES_ON.match(text, place[1]) or DOES.match(text, place[1]))
    ):
        return None
    return place if may_be_somebody(text, *place) else None


@validator
def care_actor(text: str, start: int, end: int) -> Interval | None:
    """A name before what only persons do or have: it fills all that was matched."""
    place = person_last_first(text, start, end) or relative(text, start, end)
    if place is None or place[1] != end or is_nobody(text, *place) or is_clinical(text, *place):
        return None
    surface = text[place[0] : place[1]]
    if bare(surface) in word_list("months") or (surface.isupper() and len(surface) < LONGEST_ABBREVIATION):
        return None
    return place if may_be_somebody(text, *place) else None


@validator
def care_small(text: str, start: int, end: int) -> Interval | None:
    """A name in small letters: one or two words of which none is common, ordinary or clinical, unless a listed name."""
    words = [bare(token) for token in NAME_TOKEN.findall(text, start, end)]
    named = False
    for word in words:
        kind = word_class(word)
        if len(word) < SHORTEST or kind & WordClass.CLINICAL or any(word in word_list(name) for name in OTHERS):
            return None
        if kind & WordClass.ORDINARY:
            if is_common(word) or not kind & NAMED:
                return None
            continue
        if not kind and (ends_as_a_word(word) if len(words) == 1 else is_built(word)):
            return None
        named = True
    return (start, end) if named else None


@validator
def care_small_listed(text: str, start: int, end: int) -> Interval | None:
    """A name in small letters of which a list knows a word."""
    words = NAME_TOKEN.findall(text, start, end)
    known = any(word_class(word) & NAMED and not word_class(word) & WordClass.ORDINARY for word in words)
    return care_small(text, start, end) if known else None


def _stands_after(text: str, start: int, name: str, *, exact: bool = False) -> bool:
    """Whether a term of a list stands before a position, or before the name that continues at it."""
    before = text[max(0, start - REACH) : start]
    if _ends_with_term(before, name, exact=exact):
        return True
    joined = _JOINED.search(before)
    if joined is None:
        return False
    end = joined.start()
    for _ in range(_LONGEST_NAME):
        named = _CAPITALISED_LAST.search(before, 0, end)
        if named is None:
            return False
        end = named.start()
        if _ends_with_term(before[:end], name, exact=exact):
            return True
    return False


def _ends_with_term(before: str, name: str, *, exact: bool) -> bool:
    """Whether a term of a list ends a stretch of text, but for what links a role to a name: "is", "on call (", ", "."""
    words = before.split()[-(_LONGEST_TERM + _LONGEST_LINK) :]
    for _ in range(_LONGEST_LINK):
        if words and (not (bare_last := words[-1].strip(_PARTING)) or bare_last.lower() in _LINKS):
            words.pop()
    words = words[-_LONGEST_TERM:]
    if not words:
        return False
    words[-1] = words[-1].rstrip(_PARTING).removesuffix("'s").removesuffix("’s")
    terms, endings = _terms(name, exact=exact)
    if (words[-1] if exact else fold_term(words[-1])).lstrip(_OPENING) not in endings:
        return False
    phrases = (" ".join(words[first:]).lstrip(_OPENING) for first in range(len(words)))
    return any((phrase if exact else fold_term(phrase)) in terms for phrase in phrases)


@lru_cache
def _terms(name: str, *, exact: bool) -> tuple[frozenset[str], frozenset[str]]:
    """The terms of a list, folded or as they are written and in capitals, and the last words of them."""
    terms = (
        frozenset(form for term in written_terms(name) for form in (term, term.upper())) if exact else word_list(name)
    )
    return terms, frozenset(term.rpartition(" ")[2] for term in terms)


def _only_persons(text: str, start: int, end: int, *, role: bool) -> Interval | None:
    """A name where a person or a service stands; with a role before it, a short or common one too."""
    if _JOINED.search(text, max(0, start - 8), start):
        return _joined(text, start, end)
    place = at_once(text, start, end)
    if place is None:
        place = common_name(text, start, end) or behind_a_word(text, start, end)
        place = place or (short(text, start, end) if role else None)
        if place is None or not GOES_ON.match(text, place[1]):
            return None
    place = with_common_surname(text, *place)
    if is_nobody(text, *place):
        return None
    surface = text[place[0] : place[1]]
    if " " in surface:
        return None if is_clinical(text, *place) else place
    kind, folded = word_class(surface), fold_term(surface)
    if kind & WordClass.CLINICAL:
        # Alone, an eponym is somebody's name as well ("notified Weber of"), a drug or a device is not.
        eponym = folded in word_list("eponym_names") and not is_thing(folded)
        return place if (eponym or kind & NAMED) and GOES_ON.match(text, place[1]) else None
    if not kind & NAMED:
        if SPECIALTY.fullmatch(folded) or (surface.isupper() and ends_as_a_word(surface)):
            return None
        if not role and is_city_or_country(folded):
            return None
        if not GOES_ON.match(text, place[1]) and (ends_as_a_word(surface) or not DOES.match(text, place[1])):
            return None
    return place


def _joined(text: str, start: int, end: int) -> Interval | None:
    """The second of two names after a cue, where a service or a thing may stand beside a person."""
    place = name_at_start(text, start, end)
    if place is None or is_nobody(text, *place) or is_clinical(text, *place):
        return None
    goes_on = GOES_ON.match(text, place[1]) or DOES.match(text, place[1])
    return place if goes_on and may_be_somebody(text, *place) else None


def _is_given(word: str) -> bool:
    return bool(word_class(word) & WordClass.GIVEN) and bare(word) not in word_list("title_stopwords")


def _is_role(letters: str) -> bool:
    """Whether capitals stand for a role, a service or a credential."""
    short = _terms("care_team_short_roles", exact=True)[0]
    return letters in short or is_service(letters.lower()) or letters in _NO_INITIALS


def _is_relieved(text: str, start: int, end: int) -> bool:
    """Whether a person is relieved by a person, not a pain by a drug: at a time, or by a staff member."""
    before = max(0, start - REACH)
    if _RELIEVED.search(text, before, start) is None:
        return False
    return bool(_AT_A_TIME.match(text, end) or _TIME_BEFORE.search(text, before, start))

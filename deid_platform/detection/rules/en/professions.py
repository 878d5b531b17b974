"""Validators of professions: where one ends, and whether it is one and not a condition or a role of the care team.

Belongs here: the validators that `professions.yaml` names. Does not belong here: employers (`employers.py`).
"""

from __future__ import annotations

from functools import cache

import regex

from deid_platform.detection.rules.en.people import bare
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.lexicon.lists import word_list

_WORD = regex.compile(r"[\p{L}\p{M}'’\-]+")
# With which nothing that somebody is by trade goes on.
_ENDS = frozenset(
    """
    at for with in from of since who and or but x now then until till works working worked retired currently previously
    formerly full part fulltime parttime on by to as is was has had lives living married single presso per da dal nel
    nella con e in di ora attualmente ditta
    """.split()  # noqa: SIM905 - a list literal would take twenty lines
)
_JOINS = frozenset(("of", "and", "di", "del", "d'"))
# States, and what is written where no profession is.
_STATES = frozenset(
    """
    retired unemployed disabled disability student none na n/a unknown nil no not other unable deceased homemaker
    housewife self employed self-employed employment fulltime parttime full part currently minor child infant toddler
    applicable available asked reported provided documented file declined refused deferred see same significant yes
    homeless incarcerated inmate prisoner veteran military volunteer working works works as job status history
    exposure exposures hazard hazards active patient the he she pensionato pensionata disoccupato disoccupata studente
    studentessa casalinga invalido invalida nessuna nessuno ignota non nd inabile occupato occupata the a an his her
    """.split()  # noqa: SIM905
)
# The roles of a care team, which tell of nobody: a nurse who is a patient is one of many.
_CARE = regex.compile(
    r"nurs(?:e|es|ing)|physicians?|doctors?|surgeons?|residents?|fellows?|interns?|attendings?|hospitalists?|dentists?"
    r"|midwi(?:fe|ves)|pharmac\p{L}*|paramedics?|emt|aides?|caregivers?|carers?|technicians?|techs?|therap\p{L}*|clinicians?"
    r"|practitioners?|phlebotomists?|chaplains?|dieti(?:t|c)ians?|\p{L}{3,}(?:ologist|iatrist|ician|opath|practor)s?"
    r"|psicolog[oa]|infermier[ei]a?|medic[oi]|dottor(?:e|essa)|chirurg[oa]|farmacist[ai]|ostetric[oa]|fisioterapist[ai]|oss|badante"
    r"|md|rn|np|pa|lpn|cna|pcp|social|case|provider",
    regex.IGNORECASE,
)
_NOT_CARE = frozenset(("electrician", "musician", "politician", "technician", "beautician", "mortician", "optician"))


@validator
def profession(text: str, start: int, end: int) -> Interval | None:
    """A profession, up to the first word that is not part of it."""
    last = None
    for token in _WORD.finditer(text, start, end):
        word = bare(token[0])
        if last is None:
            if word in _STATES or word in _ENDS or len(word) <= 2:
                return None
        elif word in _STATES or (word in _ENDS and not _joins(text, start, end, word)) or _is_name(token[0]):
            break
        if word not in _NOT_CARE and _CARE.fullmatch(word):
            return None
        last = token
    return None if last is None else (start, last.end())


def _joins(text: str, start: int, end: int, word: str) -> bool:
    """Whether a small word is inside a listed profession ("tool and die maker")."""
    return word in _JOINS and " ".join(map(bare, _WORD.findall(text, start, end))) in word_list("professions")


def _is_name(token: str) -> bool:
    known = word_class(token) & WordClass.ORDINARY or bare(token) in _words_of_trades()
    return token[0].isupper() and not known


@cache
def _words_of_trades() -> frozenset[str]:
    return frozenset(word for term in word_list("professions") for word in term.split())

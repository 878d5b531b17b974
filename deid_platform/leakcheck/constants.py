"""Shifted dates that stand in print elsewhere, true: each tells the shift of its note's patient.

Belongs here: the plainest words for such a date, and whether it was moved. Does not belong here: true dates that were
left (`shapes.py`, `shifts.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from deid_platform.labels import Label
from deid_platform.leakcheck.comparable import fold
from deid_platform.notes import Span

_REACH = 48
_ON = r"(?: (?:on|of|as of|in))?[ :,(-]{0,3}\Z"
_BEFORE = re.compile(
    r"(?<![^\W_])(?:(?:vis|vaccine information (?:statement|sheet)) (?:edition|version|publication|revision)(?: date)?"
    r"|edition date|(?:form|template|leaflet|handout|fact sheet) (?:revised|updated|dated|version|edition|revision)"
    r"(?: date)?"
    r"|\(rev\.?|(?:eua|emergency use authorization) (?:was )?(?:issued|granted|revised|dated)|approved by the fda"
    r"|(?:pandemic|lockdown)(?: (?:began|started|was declared))?"
    rf"|world trade center|terrorist attacks?|lot [a-z0-9-]{{2,12}},? exp(?:iration|ires|iry)?\.?(?: date)?){_ON}"
    r"|©[^\d\n.]{0,20}\Z"
)
_BEHIND = re.compile(r" (?:terrorist attacks?|edition of the (?:vis|form)|lockdown)(?![^\W_])")
_SEPTEMBER = re.compile(r"(?:0?9/11/(?:20)?01|sept(?:ember|\.)? 11(?:th)?,? 2001|2001-09-11|11 september 2001)")


def constants_moved(text: str, applied: Sequence[Span], put_in: Sequence[str]) -> bool:
    """Whether a date that is the same for everybody was moved as if it were a patient's.

    Args:
        text: The original.
        applied: The spans that were replaced.
        put_in: What stands in the place of each, without tags.
    """
    return any(
        _is_constant(text, span) for span, new in zip(applied, put_in, strict=True) if span.label is Label.DATE and new
    )


def _is_constant(text: str, span: Span) -> bool:
    if _SEPTEMBER.fullmatch(fold(text[span.start : span.end]).strip()):
        return True
    before = fold(text[max(0, span.start - _REACH) : span.start]).replace("\n", " ")
    return _BEFORE.search(before) is not None or (_BEHIND.match(fold(text[span.end : span.end + _REACH])) is not None)

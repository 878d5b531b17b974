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
from deid_platform.text.table_heads import head_of

_REACH, _CLAUSE_REACH = 48, 90
_ON = r"(?: (?:on|of|as of|in|dal?|del?|du|le|vom|desde el|ab))?[ :,(-]{0,3}\Z"
_SHEET = r"(?:VISs?|(?i:vaccine information (?:statement|sheet)s?))"
# Only the text as written tells the sheet from "vis" for a visit.
_ON_A_SHEET = re.compile(
    rf"(?<![^\W_])(?:{_SHEET}(?: \([^()\d]{{1,24}}\))?"
    rf"|{_SHEET} (?:(?!(?i:given|provid|hand|discuss|review))[^\d(.]){{1,24}}(?=\()){_ON}"
)
_BEFORE = re.compile(
    r"(?<![^\W_])(?:(?:vis|vaccine information (?:statement|sheet)) (?:edition|version|publication|revision)(?: date)?"
    r"|edition date|(?:form|template|leaflet|handout|fact sheet) (?:revised|updated|dated|version|edition|revision)"
    r"(?: date)?"
    r"|(?:form|modelo|modello|formulaire) (?=[a-z0-9-]{0,10}\d)[a-z0-9-]{1,12} ?(?=\()"
    r"|(?:revisione|versione|version|edizione|edicion) \d{1,3}(?:\.\d)?|edizione|edicion|(?<!not )published"
    r"|privacy practices,? \(?effective|vaccine (?:was )?authori[sz]ed|(?:cpap|device|ventilator) (?:was )?recalled"
    r"|ndc [\d-]{8,14},? exp(?:iration|ires|iry)?\.?(?: date)?|invaded ukraine|estado de alarma|atentados"
    r"|confinement(?= du )"
    r"|\(rev\.?|(?:eua|emergency use authorization) (?:was )?(?:issued|granted|revised|dated)|approved by the fda"
    r"|(?:pandemic|lockdown)(?:,? (?:which )?(?:began|started|was declared))?"
    rf"|world trade center|terrorist attacks?|lot [a-z0-9-]{{2,12}},? exp(?:iration|ires|iry)?\.?(?: date)?){_ON}"
    r"|©[^\d\n.]{0,20}\Z"
)
_BEHIND = re.compile(r" (?:terrorist attacks?|edition of the (?:vis|form)|lockdown)(?![^\W_])")
_EUA = re.compile(rf"(?<![^\W_])eua{_ON}")
_EXAMINED = re.compile(
    r"exam|ana?esth|motion|manipulat|operat|findings|stable|laxity|cervix|uter|rect|pelvi|biops|surg|scheduled|underw|knee"
    r"|shoulder|(?<![^\W_])(?:rom|or|hip|d&c)(?![^\W_])|consent|drain|fistul|abscess|tolerat"
)
# A year that everybody knows is told by who stands beside it.
_NO_YEAR = re.compile(r"(?:0?9[/-]11|sept(?:ember|\.)? 11(?:th)?)")
_OF_THAT_YEAR = re.compile(
    r"terror|attack|responder|veteran|fire ?fighter|firem[ae]n|survivor|enlist|fdny|nypd|ground zero"
)
_HEAD = re.compile(r"\bVIS\b(?!\s(?:given|provid|hand|discuss|review))|\bEUA\b")
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
    surface = fold(text[span.start : span.end]).strip()
    if _SEPTEMBER.fullmatch(surface):
        return True
    written = text[max(0, span.start - _CLAUSE_REACH) : span.start].replace("\n", " ")
    before, behind = fold(written), fold(text[span.end : span.end + _REACH]).replace("\n", " ")
    clause = (re.split("[.;]", before)[-1], re.split("[.;]", behind)[0])
    if _NO_YEAR.fullmatch(surface) and any(map(_OF_THAT_YEAR.search, clause)):
        return True
    if _EUA.search(before) and not any(map(_EXAMINED.search, clause)):
        return True
    if (heads := head_of(text, span.start)) is not None and _HEAD.search(heads[0]):
        return True
    return any(map(re.Pattern.search, (_BEFORE, _ON_A_SHEET), (before, written))) or _BEHIND.match(behind) is not None

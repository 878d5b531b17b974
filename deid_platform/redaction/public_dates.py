"""Dates that stand in print elsewhere, which would tell the shift of everybody in whose notes they stand.

Belongs here: telling them from a patient's dates, by the words around them and by a list of days that everybody knows.
Does not belong here: dates that the notes of many patients share (`refresh/evidence/repeated_dates.py`), or what
becomes of them (`redact.py`).

"VIS edition date: 08/06/2021" is the same in every chart and on the sheet's own page, so that the shifted date beside
it is the shift. A tag takes its place. A wrong tag costs a date, a missed one all dates of a patient, so that the words
are many; but those that as often stand before a patient's own date ("VIS given", "EUA" for an examination under
anaesthesia, "revision") count only with another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta

from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.surrogates.date_order import EITHER
from deid_platform.surrogates.date_shapes import read_date
from deid_platform.text.table_heads import head_of

_BEFORE, _BEHIND = 90, 50
_FAR = timedelta(days=180)
_PUBLISHED = r"(?:edition|version|publi(?:shed|cation)|revis(?:ed|ion)|reissued|issued|effective|updated|dated)"
# Between the words and the date: nothing that tells of anything else.
_JOIN = (
    r"(?:[\s:;,(#=-]|(?<![^\W_])(?:on|of|as\sof|from|since|is|was|in|date|dated|no|the|del?|du|vom|el|le|dal|desde"
    r"|depuis|ab|seit)(?![^\W_])){0,8}\Z"
)
_NUMBER = r"\s(?:n[.°º]{1,2}\s?)?[0-9]{1,3}(?:\.[0-9]{1,2})?"
_SHEET = r"(?-i:VISs?)|vaccine\sinformation\s(?:statement|sheet)s?"
_WORDS = (
    # Sheets on vaccines, and what else is handed out.
    rf"(?:{_SHEET})(?:\s?\([^()\n0-9]{{1,30}}\))?",
    rf"(?:{_SHEET})(?:(?!given|provid|hand|discuss|review)[^.\n0-9(]){{1,30}}\(",
    rf"(?:{_SHEET})(?:(?!given|provid|hand|discuss|review)[^.\n0-9]){{0,40}}?"
    rf"(?:{_PUBLISHED}|date)",
    rf"(?:form|template|leaflet|pamphlet|handout|brochure|fact\ssheet|package\sinsert|labell?ing|guidelines?|criteria"
    rf"|polic(?:y|ies)|protocol|manual|classification|consensus|questionnaire|modulo|modello|formulario|formulaire"
    rf"|Formular|Merkblatt|Aufklärungsbogen|Leitlinie|linee\sguida|guía|recommandations?|modelo"
    rf"|mod\.|impreso|folleto|opuscolo|brochure|notice|dépliant|privacy\spractices|HIPAA)[^.;\n]{{0,30}}?(?<![^\W_])"
    rf"(?:{_PUBLISHED}|(?:last|next)\sreviewed|approved|ver\.?|v\.?|rev\.?|Stand|Fassung|revisione|versione|versión"
    rf"|revisión|édition|edizione|edición)(?:{_NUMBER})?",
    r"(?:form|modelo|modello|mod\.|formulaire|formulario|Formular)\s(?=[A-Z0-9-]{0,10}[0-9])[A-Z0-9-]{1,12}\s?\(",
    rf"(?:revisione|versione|versi[oó]n|revisi[oó]n|version|révision|edizione|edici[oó]n|édition|Auflage|Ausgabe|Fassung)(?:{_NUMBER})",
    r"edizione|edici[oó]n|édition|Auflage|Ausgabe",
    r"published",
    r"(?:edition|version|publication|form|template)\s(?:date|dated)",
    r"(?<!hip\s)(?<!knee\s)(?<!plasty\s)(?<!stent\s)(?<!shunt\s)(?<!scar\s)(?<!stump\s)(?<!surgical\s)(?<!surgery\s)"
    r"revision\sdate",
    r"(?-i:Rev|REV|rev)\s?(?:\.|\sdate|:|(?=\s?\Z))",
    r"\((?:revised|rev\.?|version|ver\.?|v\.?|edition|ed\.?|Stand)",
    # Authorities.
    r"EUA\s(?:[^.\n0-9]{0,30}?)(?:issued|granted|authori[sz]ed|dated|reissued|revised|letter|fact\ssheet|effective)",
    r"emergency\suse\sauthori[sz]ation[^.\n0-9]{0,40}?",
    r"(?:FDA|EMA)[\s-](?:approv\w{1,4}|clear\w{1,4}|authori[sz]\w{1,6}|licens\w{1,4}|recall\w{0,3}|alert|safety\salert)",
    r"(?:approved|cleared|authori[sz]ed|licensed|recalled)\sby\s(?:the\s)?(?:FDA|EMA)",
    r"vaccines?\s(?:was\s|were\s)?(?:first\s)?(?:authori[sz]ed|approved|licensed)",
    r"(?:CPAPs?|BiPAPs?|ventilators?|devices?|pumps?|implants?|mesh(?:es)?|leads?|pacemakers?|ICDs?|valves?|inhalers?|lots?"
    r"|products?|monitors?|manufacturer|drugs?|tablets?)\s(?:was\s|were\s|has\sbeen\s|is\s)?(?:voluntarily\s)?recalled"
    r"(?:\sby\s[^.\n0-9]{1,20})?",
    r"(?:device|drug|product|manufacturer'?s?|class\sI{1,3})\srecall(?:\s(?:notice|letter))?",
    r"ICD-?10(?:-CM)?\s(?:effective|since|as\sof|implemented|transition)",
)
_EVENTS = (
    r"(?:pandemic|lockdowns?|public\shealth\semergency|stay[\s-]at[\s-]home\sorders?|shelter[\s-]in[\s-]place|quarantine"
    r"\sorder|pandemia|pandémie|Pandemie|(?:le|du)\sconfinement|confinamiento|estado\sde\salarma|stato\sd['’]emergenza"
    r"|zona\srossa|état\sd['’]urgence)"
    r"(?:,?\s(?:which|that))?(?:\s(?:began|begins?|start(?:ed|s|ing)?|(?:was\s)?"
    r"declared|hit|order|effective|beginning|onset|ended|end))*",
    r"(?:World\sTrade\sCenter|terror(?:ist)?\sattacks?|twin\stowers)(?:\s(?:attacks?|collapse|disaster))*",
    r"(?:atentados?|attentats?|attentati|attentato|Anschl[aä]ge?)(?:\s(?:terroristas?|terroristic[io]))?",
    r"(?:(?:presidential|general|midterm|federal)\s)?elections?(?!\sof\s[^\W\d_])|invaded\sUkraine|invasion\sof\sUkraine"
    r"|Capitol\s(?:riots?|attack)",
    # In English of a birth.
    r"confinement(?=\s(?:du|le)\s)",
)
_CUE = re.compile(
    rf"(?<![^\W_])(?:{'|'.join(_WORDS)}){_JOIN}|(?:©|\(c\)|copyright)[^.\n0-9]{{0,20}}\Z"
    # "during the pandemic, seen on" tells of the patient.
    rf"|(?<![^\W_])(?:{'|'.join(_EVENTS)})[\s(]{{1,3}}(?:(?:in|on|of|from|since|around|about|del?|du|le|el|dal|al"
    r"|desde\sel|depuis\sle|vom|ab|seit)\s{1,2})?\Z",
    re.IGNORECASE,
)
# An examination under anaesthesia is the patient's own.
_EUA = re.compile(rf"(?<![^\W_])(?-i:EUA)(?:\s?\([^()\n0-9]{{1,30}}\))?{_JOIN}", re.IGNORECASE)
_EXAMINED = re.compile(
    r"exam|an(?:ae|e)sth|motion|manipulat|operat|findings|stable|unstable|laxity|cervix|uter|rect|pelvi|biops|\bROM\b"
    r"|surg|consent|scheduled|knee|shoulder|hip\b|underw|\bOR\b|\bD&C\b|drain|fistul|abscess|tolerat",
    re.IGNORECASE,
)
_HEAD = re.compile(r"(?<![^\W_])(?:(?-i:VIS|EUA)|vaccine information|edition|publication)(?![^\W_])", re.IGNORECASE)
_HANDED = re.compile(r"given|provid|hand|discuss|review", re.IGNORECASE)
_HEAD_OF_EXPIRY = re.compile(r"(?<![^\W_])exp(?:\.|iry|ires?|iration)?(?![^\W_])", re.IGNORECASE)
_EXPIRY = re.compile(
    r"(?<![^\W_])(?:exp(?:\.|iry|ires?|iration)?|scad(?:\.|enza)?|cad(?:\.|ucidad)?|pér(?:\.|emption)?|verw(?:\.|endbar\sbis))(?:\sdate)?[\s.:]{0,3}(?:on\s)?\Z",
    re.IGNORECASE,
)
# Makers and authorities publish until when each lot may be used.
_LOT = re.compile(r"(?<![^\W_])(?:lot|batch|NDC|lotto|lote|Charge|Ch\.-B\.)(?![^\W_])", re.IGNORECASE)
_CUE_BEHIND = re.compile(
    r"[\s)]{1,2}(?:VIS(?![^\W_])(?!\s(?:given|provid|hand|discuss|review))|edition|version|(?:terror(?:ist)?\s)?attacks?(?![^\W_])|(?:clinical\s)?guidelines?|criteria"
    r"|EUA|lockdowns?|pandemic|(?:capitol\s)?riots?|insurrection|invasion\sof|(?:presidential|general|midterm)\selections?)",
    re.IGNORECASE,
)
# A day and a month that everybody reads with its year.
_SEPTEMBER = re.compile(r"(?:0?9|sept?(?:ember|\.)?)[\s/.-]?\s?11(?:th)?", re.IGNORECASE)
_ATTACKS = re.compile(
    r"terror|attacks?(?![^\W_])|world\strade|(?<![^\W_])WTC|towers|ground\szero|responder|pentagon|veteran|fire\s?fighter"
    r"|fireman|firemen|survivor|enlist|PTSD|FDNY|NYPD|manhattan|rescue\sworker|police|military|deploy|(?<![^\W_])dust",
    re.IGNORECASE,
)
_AS_OF_A_YEAR = re.compile(
    r"(?<![^\W_])(?:since|after|in|post|pre|on|before|during|from|following)[\s-](?:the\s)?\Z", re.IGNORECASE
)
_OWN_DAY = re.compile(
    r"(?<![^\W_])(?:seen|visit|appt|appointment|follow|f/?u|admi|discharg|d/c|lab|labs|surg|schedul|due|clinic|ct|mri|echo"
    r"|x-?ray|drawn|dose|cycle|start|stop|call|refill|return|repeat|culture|biops|scan|note|fever|transfer|extubat|intubat"
    r"|remov|plac|given|until|through|next|last)",
    re.IGNORECASE,
)
# What is done on one day of each year.
_FESTIVE = re.compile(r"fire\s?works?(?![^\W_])|ball\sdrop|trick[\s-]or[\s-]treat", re.IGNORECASE)
_DAY_OF_FIREWORKS = re.compile(
    r"(?:0?7[/-]0?4|0?4[/.-]0?7|12[/-]31|31[/.-]12|0?1[/.-]0?1)(?:[/.-](?:\d\d){1,2})?|(?:Jul(?:y|\.)?\s0?4|Dec(?:ember|\.)?\s31|Jan(?:uary|\.)?"
    r"\s0?1)(?:st|th)?(?:,?\s\d{4})?",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.;\n]")
KNOWN_DAYS = frozenset(
    date.fromisoformat(day)
    for day in """
    1941-12-07 1945-05-08 1963-11-22 1969-07-20 1986-04-26 1989-11-09 1995-04-19 2001-09-11 2004-03-11
    2004-12-26 2005-08-29 2011-03-11 2012-10-29 2015-10-01 2015-11-13 2020-01-30 2020-03-11 2020-03-13
    2021-01-06 2022-02-24 2023-05-05 2023-05-11
    """.split()  # noqa: SIM905 - a call a day would fill a screen
)
"""Days that everybody knows: of wars and attacks, disasters, the pandemic, and ICD-10 in the United States."""


def public_dates(text: str, dates: Iterable[Span], note_date: date | None, language: str) -> frozenset[Span]:
    """Those of a note's dates that stand in print elsewhere.

    Args:
        text: The note's text.
        dates: Its dates; other spans are passed over.
        note_date: When the note was written: a known day near it is as likely the patient's own.
        language: The note's.
    """
    return frozenset(
        span for span in dates if span.label is Label.DATE and _is_public(text, span, note_date, language.casefold())
    )


def _is_public(text: str, span: Span, note_date: date | None, language: str) -> bool:
    before = text[max(0, span.start - _BEFORE) : span.start]
    behind = text[span.end : span.end + _BEHIND]
    clause = (_CLAUSE.split(before)[-1], _CLAUSE.split(behind)[0])
    if _CUE.search(before) or _CUE_BEHIND.match(behind):
        return True
    if _EUA.search(before) and not any(map(_EXAMINED.search, clause)):
        return True
    if _EXPIRY.search(before) and (_LOT.search(before) or _LOT.search(behind.partition("\n")[0])):
        return True
    if _heads_public(text, span.start):
        return True
    surface = text[span.start : span.end].strip()
    if _SEPTEMBER.fullmatch(surface) and (
        any(map(_ATTACKS.search, clause)) or (_AS_OF_A_YEAR.search(before) and not any(map(_OWN_DAY.search, clause)))
    ):
        return True
    if _DAY_OF_FIREWORKS.fullmatch(surface) and any(map(_FESTIVE.search, clause)):
        return True
    for order in EITHER:
        try:
            found = read_date(surface, language, note_date, order)
        except ValueError:  # no such day
            continue
        if found is not None and found.full and found.day in KNOWN_DAYS:
            return note_date is None or abs(found.day - note_date) > _FAR
    return False


def _heads_public(text: str, start: int) -> bool:
    """Whether a date stands in a table's column of such dates."""
    if (heads := head_of(text, start)) is None:
        return False
    head, row = heads
    if _HEAD_OF_EXPIRY.search(head) and _LOT.search(row):
        return True
    return _HEAD.search(head) is not None and _HANDED.search(head) is None

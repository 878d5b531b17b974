"""Dates that stand in print elsewhere, which would tell the shift of everybody in whose notes they stand.

Belongs here: telling them from a patient's dates, by the words around them and by a list of days that everybody knows.
Does not belong here: dates that the notes of many patients share (`refresh/repeated_dates.py`), or what becomes of them
(`redact.py`).

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

_BEFORE, _BEHIND = 90, 50
_FAR = timedelta(days=180)
_PUBLISHED = r"(?:edition|version|publi(?:shed|cation)|revis(?:ed|ion)|reissued|issued|effective|updated|dated)"
# Between the words and the date: nothing that tells of anything else.
_JOIN = (
    r"(?:[\s:;,(#=-]|(?<![^\W_])(?:on|of|as\sof|from|since|is|was|in|date|dated|no|the|del?|du|vom|el|le)(?![^\W_]))"
    r"{0,8}\Z"
)
_WORDS = (
    # Sheets on vaccines, and what else is handed out.
    rf"(?:VIS|vaccine\sinformation\s(?:statement|sheet)s?)(?:(?!given|provid|hand|discuss|review)[^.\n0-9]){{0,40}}?"
    rf"(?:{_PUBLISHED}|date)",
    rf"(?:form|template|leaflet|pamphlet|handout|brochure|fact\ssheet|package\sinsert|labell?ing|guidelines?|criteria"
    rf"|polic(?:y|ies)|protocol|manual|classification|consensus|questionnaire|modulo|modello|formulario|formulaire"
    rf"|Formular|Merkblatt|Aufklärungsbogen|Leitlinie|linee\sguida|guía|recommandations?)[^.\n]{{0,30}}?"
    rf"(?:{_PUBLISHED}|approved|ver\.?|v\.?|rev\.?|Stand|Fassung|revisione|versione|versión|revisión|édition)",
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
    r"ICD-?10(?:-CM)?\s(?:effective|since|as\sof|implemented|transition)",
)
_EVENTS = (
    r"(?:pandemic|lockdowns?|public\shealth\semergency|stay[\s-]at[\s-]home\sorders?|shelter[\s-]in[\s-]place|quarantine"
    r"\sorder|pandemia|pandémie|Pandemie|(?:le|du)\sconfinement|confinamiento)(?:\s(?:began|begins?|start(?:ed|s|ing)?|(?:was\s)?"
    r"declared|hit|order|effective|beginning|onset|ended|end))*",
    r"(?:World\sTrade\sCenter|terror(?:ist)?\sattacks?|twin\stowers)(?:\s(?:attacks?|collapse|disaster))*",
)
_CUE = re.compile(
    rf"(?<![^\W_])(?:{'|'.join(_WORDS)}){_JOIN}|(?:©|\(c\)|copyright)[^.\n0-9]{{0,20}}\Z"
    # "during the pandemic, seen on" tells of the patient.
    rf"|(?<![^\W_])(?:{'|'.join(_EVENTS)})[\s(]{{1,3}}(?:(?:in|on|of|from|since|around|about)\s{{1,2}})?\Z",
    re.IGNORECASE,
)
_EXPIRY = re.compile(r"(?<![^\W_])exp(?:\.|iry|ires?|iration)?(?:\sdate)?[\s.:]{0,3}(?:on\s)?\Z", re.IGNORECASE)
# Makers and authorities publish until when each lot may be used.
_LOT = re.compile(r"(?<![^\W_])(?:lot|batch)(?![^\W_])", re.IGNORECASE)
_CUE_BEHIND = re.compile(
    r"[\s)]{1,2}(?:VIS(?![^\W_])(?!\s(?:given|provid|hand|discuss|review))|edition|version|(?:terror(?:ist)?\s)?attacks?(?![^\W_])|(?:clinical\s)?guidelines?|criteria"
    r"|EUA|lockdowns?|pandemic)",
    re.IGNORECASE,
)
# A day and a month that everybody reads with its year.
_SEPTEMBER = re.compile(r"(?:0?9|sept?(?:ember|\.)?)[\s/.-]?\s?11(?:th)?", re.IGNORECASE)
_ATTACKS = re.compile(
    r"terror|attacks?(?![^\W_])|world\strade|(?<![^\W_])WTC|towers|ground\szero|first\sresponder|pentagon",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.;\n]")
KNOWN_DAYS = frozenset(
    (
        *(date(1941, 12, 7), date(1945, 5, 8), date(1963, 11, 22), date(1969, 7, 20), date(1986, 4, 26)),
        *(date(1989, 11, 9), date(1995, 4, 19), date(2001, 9, 11), date(2004, 12, 26), date(2005, 8, 29)),
        *(date(2011, 3, 11), date(2012, 10, 29), date(2015, 10, 1), date(2015, 11, 13), date(2020, 1, 30)),
        *(date(2020, 3, 11), date(2020, 3, 13), date(2021, 1, 6), date(2023, 5, 5), date(2023, 5, 11)),
    )
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
    if _CUE.search(before) or _CUE_BEHIND.match(behind):
        return True
    if _EXPIRY.search(before) and (_LOT.search(before) or _LOT.search(behind.partition("\n")[0])):
        return True
    surface = text[span.start : span.end].strip()
    clause = (_CLAUSE.split(before)[-1], _CLAUSE.split(behind)[0])
    if _SEPTEMBER.fullmatch(surface) and any(map(_ATTACKS.search, clause)):
        return True
    for order in EITHER:
        try:
            found = read_date(surface, language, note_date, order)
        except ValueError:  # no such day
            continue
        if found is not None and found.full and found.day in KNOWN_DAYS:
            return note_date is None or abs(found.day - note_date) > _FAR
    return False

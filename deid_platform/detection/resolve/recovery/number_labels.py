"""Whether what stands before a place calls it somebody's number: "Case no. ", "Accession: ", "<mrn>", "N.º de".

Belongs here: the labels behind which the shape of a code proves nothing. Does not belong here: the codes (`codes.py`,
`expressions.yaml`), or finding labelled numbers (`detection/rules`).

A label may stand on the line before, in a cell of a table, in a tag or a key, where nothing but a number follows it.
"""

from __future__ import annotations

import regex

from deid_platform.text.compiled import compiled

_BEFORE = 90  # code points
_END = r"[ \t]{0,2}[#:.=]{0,2}[ \t]{0,3}[\"'(\[]?\#?\Z"
# The end of a cell, a tag, a key or the line.
_APART = (
    r"[ \t]{0,3}(?:[#:;=|>\"'(\[*_\-–]|\t|</?\w{1,12}(?:[ ][^<>\r\n]{0,30})?>)[#:=|>\"'(\[*_\-– \t]{0,8}"
    r"(?:</?\w{1,12}(?:[ ][^<>\r\n]{0,30})?>[ \t]{0,3}){0,3}[\"']?\Z"
)
_BELOW = r"[ \t]{0,3}[#:.=*_]{0,4}[ \t]{0,3}(?:\r\n?|\n)[ \t|>*\-]{0,6}[\"'(\[]?\#?\Z"
_FILLED = r"(?:[ ](?:is|was|on|file|of|record|records|listed|given|shown|now|today|here|the|as|under)){0,4}"
_COUNTED = r"(?:[ _\-]?(?:id|no\.?|num(?:ber)?|code|\#|is|was)){0,2}"
_SURE = (
    r"[cefup]{0,2}mrn|med(?:ical)?\.?[ _]?rec(?:ord)?|patient[ _]?id|pt[ _]id|acc(?:oun)?t|accession|accn"
    r"|csn|policy|member|subscriber|requisition|ticket|tracking|confirmation|invoice|serial|licen[cs]e(?:[ ]plate)?"
    r"|passport|vin|badge|locker|pagers?|beeper|phone|tel(?:ephone)?|fax|dea|npi|nhc|ipp|fallnummer|patientennummer"
    r"|cartella|dossier|expediente|nosologico|cod(?:ice|\.)?[ ]paziente|id[ ]paziente"
)
_SHORT = r"mr|har|fin|claim|s/?n|ext(?:ension)?|access|encounter|id"  # words of other meanings at the end of a cell
# What is a number of somebody or of some thing whatever follows.
_NUMBERED = compiled(
    rf"(?<!\p{{L}})(?:(?:{_SURE}|{_SHORT}){_COUNTED}{_FILLED}{_END}"
    rf"|(?:{_SURE}|(?:{_SHORT})[ _\-]?(?:id|no\.?|num(?:ber)?)|id){_COUNTED}{_APART})",
    regex.IGNORECASE,
)
_NUMBER = r"(?:no\.|(?:nr|num|n[úu]m)\b\.?|(?:numbers?|nummer|numero|número|numéro)\b|n\.?[ ]?[º°]\.?)"
_CAN_HAVE = r"(?<!\p{L})(?P<noun>\p{L}[\p{L}/\-]{0,24}\.?)?[ \t_]{0,2}"
# What can have a number, and a code or a size as well.
_WITH_NUMBER = (
    compiled(rf"{_CAN_HAVE}(?:\b{_NUMBER}|\b(?:no|id)\b|\#)(?:[ ](?:is|was))?{_END}", regex.IGNORECASE),
    compiled(rf"{_CAN_HAVE}\b{_NUMBER}(?:{_FILLED}{_END}|{_APART}|{_BELOW})", regex.IGNORECASE),
    compiled(
        rf"(?<!\p{{L}}){_NUMBER}[ ]?(?:de(?:[ ]l[ao])?[ ]|d['’]|d[iu][ ]|del(?:la)?[ ]|dell['’]|of[ ])"
        rf"(?P<noun>\p{{L}}[\p{{L}}\-]{{2,24}})(?:[ ]\p{{L}}{{2,14}})?(?:[ ](?:es|est|è|is))?"
        rf"(?:{_END}|{_APART}|{_BELOW})",
        regex.IGNORECASE,
    ),
)
_ON_THE_LINE_BEFORE = compiled(rf"(?<!\p{{L}})(?:{_SURE}){_COUNTED}{_BELOW}", regex.IGNORECASE)
_OF_CODES = frozenset(
    """
    code codes cod dx diagnosis diagnoses diagnostic icd cpt hcpcs loinc snomed ct rxnorm rxcui ndc atc umls drg omim
    problem variant mutation marker grade stage level type class suture size needle gauge exon day dose cycle course
    week session chromosome clone antibody say says código códigos codice diagnóstico diagnosi diagnostics
    """.split()  # noqa: SIM905 - a list literal would fill a screen
)


def is_labelled(text: str, start: int) -> bool:
    """Whether a label of somebody's number ends right before a place."""
    before = max(0, start - _BEFORE)
    if _NUMBERED.search(text, before, start) or _ON_THE_LINE_BEFORE.search(text, before, start):
        return True
    matches = (label.search(text, before, start) for label in _WITH_NUMBER)
    return any(m is not None and (m["noun"] or "").rstrip(".").casefold() not in _OF_CODES for m in matches)

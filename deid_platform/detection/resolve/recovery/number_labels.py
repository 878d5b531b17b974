"""Whether what stands before a place calls it somebody's number: "Case no. ", "Accession: ", "ext. ".

Belongs here: the labels behind which the shape of a code proves nothing. Does not belong here: the codes (`codes.py`,
`expressions.yaml`), or finding labelled numbers (`detection/rules`).
"""

from __future__ import annotations

import regex

_BEFORE = 60  # code points
_END = r"[ \t]{0,2}[#:.=]{0,2}[ \t]{0,3}[\"'(\[]?\#?\Z"
# What is a number of somebody or of some thing whatever follows.
_NUMBERED = regex.compile(
    r"(?<!\p{L})(?:[cep]?mrn|mr|med(?:ical)?\.?[ ]rec(?:ord)?|patient[ ]id|pt[ ]id|acc(?:oun)?t|accession|accn|csn|har"
    r"|fin|policy|member|subscriber|claim|requisition|ticket|tracking|confirmation|invoice|serial|s/?n|licen[cs]e|passport"
    r"|plate|vin|badge|locker|pagers?|beeper|ext(?:ension)?|phone|tel(?:ephone)?|fax|door|access|encounter|dea|npi"
    r"|nhc|ipp|fallnummer|patientennummer|cartella|dossier|expediente|id)"
    r"(?:[ ](?:id|no\.?|num(?:ber)?|code|is|was)){0,2}" + _END,
    regex.IGNORECASE,
)
# What can have a number, and a code or a size as well.
_WITH_NUMBER = regex.compile(
    r"(?<!\p{L})(?P<noun>\p{L}[\p{L}/\-]{0,24}\.?)?[ \t]{0,2}"
    r"(?:\b(?:no|nr|num|núm)\.|\b(?:no|nr|num|numbers?|n[º°]|nummer|numero|número|numéro|id)\b|\#|n[º°])"
    r"(?:[ ](?:is|was))?" + _END,
    regex.IGNORECASE,
)
_OF_CODES = frozenset(
    """
    code codes cod dx diagnosis diagnoses diagnostic icd cpt hcpcs loinc snomed ct rxnorm rxcui ndc atc umls drg omim
    problem item procedure variant mutation marker grade stage level type class suture size needle gauge exon day dose
    cycle course week visit session chromosome clone antibody say says
    """.split()  # noqa: SIM905 - a list literal would fill a screen
)


def is_labelled(text: str, start: int) -> bool:
    """Whether a label of somebody's number ends right before a place."""
    before = max(0, start - _BEFORE)
    if _NUMBERED.search(text, before, start):
        return True
    match = _WITH_NUMBER.search(text, before, start)
    return match is not None and (match["noun"] or "").rstrip(".").casefold() not in _OF_CODES

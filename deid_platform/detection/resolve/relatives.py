"""Relabels relatives and patients who were found as clinicians: "her father, Dr. Alan Reed", "Patient: Dr. Alan Reed".

Belongs here: the label of a name that has a clinician's title or credential and belongs to the patient or a relative
all the same. Does not belong here: finding names (`rules/`, `topics/`), or names that follow a word for kin without a
title (`rules/en/people.yaml`).

A policy may keep the names of clinicians, so the stricter of two labels counts: the roster's, or that of a name right
beside a word for kin or after a label for the patient. A person whom a relative saw, called or was told of is not a
relative: "mother saw Dr. Reed", "her father's doctor, Dr. Reed", "told mom Dr. Reed will call". In a list ("mother,
Dr. Reed, RN at bedside") a comma shows nothing; "my partner, Dr. Reed," is another clinician.
"""

from __future__ import annotations

from collections.abc import Iterable

import regex

from deid_platform.detection.api import Candidate, Document, SourceKind
from deid_platform.labels import Label
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.lists import written_terms
from deid_platform.text.compiled import compiled
from deid_platform.text.lookbehind import Lookbehind
from deid_platform.text.names import name_words

_REACH = 80
_SHORTEST = 3  # letters of a name; initials behind "mother" are those of whoever wrote the line

_PARENTS_AND_CHILDREN = alternatives(written_terms("kin.en.close"), any_writing=True, behind=True)
_FAMILY = [
    term
    for marks in ("family.sure", "family.weak", "it.family.one", "es", "fr", "de")
    for term in written_terms(f"kin.{marks}")
]
_KIN = (
    rf"(?:(?:step|god|grand|(?:great|half|foster|adoptive)[ -]?(?:grand)?)?(?:{_PARENTS_AND_CHILDREN})"
    r"(?:[ -]in[ -]law)?"
    rf"|{alternatives(_FAMILY, any_writing=True, behind=True)}|girlfriend|boyfriend|(?:life|domestic)[ ]partner"
    r"|legal[ ]guardian|ex-?(?:wife|husband))"
)
_WHOSE = (
    r"(?:his|her|their|my|our|(?:the[ ])?(?:patient|pt)['’]?s|\p{L}+['’]s|(?:il|la)[ ](?:suo|sua|loro)|suo|sua|su"
    r"|seine?r?|ihre?r?|votre|leur)"
)
_RELATIVE = rf"{_WHOSE}[ \t]+(?:\p{{L}}+[ \t]+)?{_KIN}"
_LABEL = (
    r"(?:(?:patient|pt|member|decedent)(?:['’]s)?(?:[ ]name)?|emergency[ ]contact|nok|subscriber|insured|guarantor"
    r"|paziente|paciente|assistito)"
)
_TITLES = (
    r"(?:(?:the|il|lo|la|el|der|die|le)[ \t]+)?(?:(?:drs?|doctora?|professore?|profesora?|professoressa|prof"
    r"|dott(?:\.?ssa)?|dottor(?:e|essa)?|dra|docteur|herrn?|frau|nurse)\b\.?[ \t]*)"
)
_TITLE = rf"(?:{_TITLES}{{1,3}})?"
_SENTENCE = r"(?:^|(?<=[.!?:])[ \t]+|(?<=\n)[ \t]*)"
_LINE = r"(?:^|(?<=[\n\t|;(])|(?<=[ ]{2}))[ \t>*•\-]*"
_TOLD = (
    r"(?:told|tell(?:s|ing)?|inform(?:s|ed|ing)?|advis(?:es?|ed|ing)|notif(?:y|ies|ied|ying)|updat(?:es?|ed|ing)"
    r"|remind(?:s|ed)?|(?:re)?assur(?:es?|ed)|let|explain(?:s|ed)?[ ]to|instruct(?:s|ed)?)"
)
_VERB = (
    r"(?:will|would|is|was|has|had|can|could|may|might|wants?|wanted|recommend(?:s|ed)|says?|said|asked|called|ordered"
    r"|prescribed|plans?)"
)
_CREDENTIAL = rf"(?:[ \t]*,?[ \t]*{alternatives(written_terms('credentials.sure'), any_writing=False)}\b\.?){{0,3}}"


def _compiled(pattern: str) -> regex.Pattern[str]:
    return compiled(pattern, regex.IGNORECASE)


# Right before the name: what is enough, and what is so unless the name owns something ("mother is Dr. Reed's patient").
_BESIDE = Lookbehind(rf"(?<![\p{{L}}'’\-])(?:{_RELATIVE}[ \t]+|{_KIN}[ \t]*\([ \t]*){_TITLE}", _REACH)
_SAID = Lookbehind(
    rf"(?<![\p{{L}}'’\-])(?:{_KIN}(?:[ \t]+(?:named|(?:is|was)(?:[ ](?:named|called))?)|['’]s[ ]name[ ](?:is|was))?"
    rf"[ \t]+{_TITLE}"
    rf"|{_SENTENCE}(?:patient|pt)[ \t]+{_TITLES})",
    _REACH,
)
_LABELLED = Lookbehind(rf"{_LINE}(?:{_KIN}|{_LABEL})[ \t]*[:=][ \t]*(?:\r?\n[ \t]*)?{_TITLE}", _REACH)
# What is so if the name is set off behind as well: appositions, the head of a letter.
_APPOSED = Lookbehind(rf"(?<![\p{{L}}'’\-]){_RELATIVE}[ \t]*,[ \t]*(?:\r?\n[ \t]*)?{_TITLE}", _REACH)
_PATIENT = Lookbehind(rf"{_SENTENCE}(?:(?:the|our|this)[ ])?(?:patient|pt)[ \t]*,[ \t]*{_TITLE}", _REACH)
_HEADED = Lookbehind(rf"{_LINE}(?:re|regarding|oggetto)[ \t]*:[ \t]*{_TITLE}", _REACH)
_TO_WHOM = Lookbehind(
    rf"(?<!\p{{L}}){_TOLD}[ \t]+(?:(?:{_WHOSE}|the)[ \t]+)?(?:\p{{L}}+[ \t]+)?{_KIN}[ \t]+{_TITLE}", _REACH
)
# Right behind it.
_OWNS = _compiled(rf"{_CREDENTIAL}['’]s?(?!\p{{L}})")
_DOES = _compiled(rf"{_CREDENTIAL}(?:[ \t]+{_VERB}\b|['’]s)")
_SET_OFF = _compiled(rf"{_CREDENTIAL}[ \t]*(?:[,;.)\]]|\r?\n|\Z)")
_SET_OFF_ALONE = _compiled(rf"{_CREDENTIAL}[ \t]*,(?![ \t]*(?:and|&)\b)")
_BEFORE_NUMBERS = _compiled(rf"{_CREDENTIAL}[ \t]*(?:\r?\n|\Z|[,;(][ \t]*(?:dob|mrn|born|d\.o\.b))")
_OF_WHOM = _compiled(
    rf"{_CREDENTIAL}[ \t]*(?:\([ \t]*(?:{_WHOSE}[ \t]+)?(?:\p{{L}}+[ \t]+)?{_KIN}[ \t]*[),;]"
    rf"|,[ \t]*{_RELATIVE}(?![\p{{L}}'’\-])(?![ \t]*,?[ \t]*(?:and|&|or|e|y|et|und)\b))"
)


def relabel_relatives(document: Document, spans: list[Candidate]) -> list[Candidate]:
    """Candidates in which no name of the family is labelled a clinician's.

    Args:
        document: What they were found in.
        spans: In any order, possibly overlapping.

    Returns:
        The same candidates, some of them labelled PATIENT instead of DOCTOR.
    """
    text = document.text
    clinicians = [span for span in spans if span.label is Label.DOCTOR]
    if not clinicians:
        return spans
    family = [span for span in clinicians if _is_family(text, span.start, span.end)]
    known = [span for span in spans if span.label is Label.PATIENT and span.source.kind is SourceKind.ROSTER]
    if not family and not known:
        return spans
    # Further mentions of whom the note has told once: "Dr. Reed" behind "her father, Dr. Alan Reed,".
    names = {word for span in family for word in _words(text, span)}
    theirs = {
        span
        for span in clinicians
        if any(map(span.overlaps, (*family, *known))) or names.issuperset(_words(text, span) or [""])
    }
    return [span._replace(label=Label.PATIENT) if span in theirs else span for span in spans]


def _words(text: str, span: Candidate) -> Iterable[str]:
    return [word for word in name_words(text[span.start : span.end]) if len(word) > 1]


def _is_family(text: str, start: int, end: int) -> bool:
    """Whether the words beside a name say that it is the patient's or a relative's."""
    if sum(map(str.isalpha, text[start:end])) < _SHORTEST:
        return False

    def behind(pattern: regex.Pattern[str]) -> bool:
        return pattern.match(text, end, end + _REACH) is not None

    if behind(_OF_WHOM):
        return True
    if _BESIDE(text, start) or ((_SAID(text, start) or _LABELLED(text, start)) and not behind(_OWNS)):
        return not (_TO_WHOM(text, start) and behind(_DOES))
    if _APPOSED(text, start):
        return behind(_SET_OFF)
    return (_PATIENT(text, start) and behind(_SET_OFF_ALONE)) or (_HEADED(text, start) and behind(_BEFORE_NUMBERS))

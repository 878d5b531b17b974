"""Placeholders of published notes: what MIMIC put where an identifier stood.

Belongs here: finding them in a text and what each stands for. Does not belong here: files (`formats/mimic3.py`,
`formats/mimic4.py`), or what fills them (`injection/`).

MIMIC-III writes the kind and often a number, `[**Known lastname 202**]`, or a shifted date, `[**2151-7-16**]`; MIMIC-IV
writes `___` for everything, and only the words around it can tell. One that nothing tells stays a blank in a filled
note, and is no identifier there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from deid_platform.labels import CROSSWALKS, PERSONS, Label

MIMIC3, MIMIC4 = "mimic-iii", "mimic-iv"
_BRACKETS = re.compile(r"\[\*\*(.*?)\*\*\]", re.DOTALL)
_NUMBERED = re.compile(r"\s*(?:\b(?P<ident>\d+)|NNN)?\s*\Z")
_DATE = re.compile(r"\d{1,4}(?:[-/]\d{1,4}){1,2}")
_YEAR = re.compile(r"(?:19|20|21|22)\d\d")
# Words before the name of a clinician; a first name may stand between them and a surname.
_STAFF = re.compile(
    r"\b(?:dr|drs|doctor|attending|md|dictated by|signed by)\b"
    r"(?:[^\n\[]{0,12}|[^\n\[]{0,3}\[\*\*[^\]]*\*\*\][ .]*)\Z",
    re.IGNORECASE,
)
_BLANK = re.compile(r"(?<!_)___(?!_)")
# What a blank of MIMIC-IV is, by the words right before it: kind, label, part of a name.
_BEFORE = (
    ("name", Label.PATIENT, "full", re.compile(r"(?:^|\n)\s*(?:patient )?name:\s*\Z", re.I)),
    ("unit number", Label.MEDICALRECORD, "", re.compile(r"(?:unit no|mrn|medical record number)[.:#]*\s*\Z", re.I)),
    ("date", Label.DATE, "", re.compile(r"(?:admission|discharge|procedure|exam(?:ination)?) date:\s*\Z", re.I)),
    ("date of birth", Label.DATE, "", re.compile(r"(?:date of birth|dob):\s*\Z", re.I)),
    ("attending", Label.DOCTOR, "full", re.compile(r"(?:attending|dictated by|signed by):\s*\Z", re.I)),
    ("doctor", Label.DOCTOR, "last", re.compile(r"\b(?:dr|doctor)\.?\s\Z", re.I)),
    ("patient", Label.PATIENT, "last", re.compile(r"\b(?:mr|mrs|ms|miss)\.?\s\Z", re.I)),
    ("telephone", Label.PHONE, "", re.compile(r"(?:phone|pager|cell|tel)(?: number)?[.:#]*\s\Z", re.I)),
    ("fax", Label.FAX, "", re.compile(r"\bfax(?: number)?[.:#]*\s\Z", re.I)),
)
_CONTEXT = 80


class Placeholder(NamedTuple):
    """One placeholder.

    Attributes:
        start: First code point.
        end: One past the last.
        kind: What the source calls it: a type of MIMIC-III, `date`, `year`, or the words that told it.
        label: What it stands for; None if that is no identifier, or if nothing tells.
        ident: Its number: one number is one person in a note; empty where it has none.
        part: Of a name: `first`, `last`, `initials` or `full`; empty for what is no name.
        inside: What stands within the brackets.
        known: Whether the source's types have it.
    """

    start: int
    end: int
    kind: str
    label: Label | None
    ident: str = ""
    part: str = ""
    inside: str = ""
    known: bool = True


def mimic3_placeholders(text: str) -> Iterator[Placeholder]:
    """The bracketed placeholders of a note of MIMIC-III, in order."""
    for match in _BRACKETS.finditer(text):
        inside = " ".join(match[1].split())
        if _YEAR.fullmatch(inside):
            yield Placeholder(*match.span(), "year", None, inside=inside)
        elif _DATE.fullmatch(inside):
            yield Placeholder(*match.span(), "date", Label.DATE, inside=inside)
        else:
            yield _typed(match.start(), match.end(), inside, text[max(0, match.start() - _CONTEXT) : match.start()])


def _typed(start: int, end: int, inside: str, before: str) -> Placeholder:
    types = CROSSWALKS[MIMIC3]
    kind, ident = inside, ""
    # A type may end in a number of its own, before that of the placeholder: "Month/Year 1 404".
    while kind not in types and (numbered := _NUMBERED.search(kind)) and numbered[0].strip():
        kind, ident = kind[: numbered.start()].strip(), ident or numbered["ident"] or ""
    if kind not in types:
        return Placeholder(start, end, kind, None, known=False)
    label = types[kind]
    if label is Label.PATIENT and _STAFF.search(before):
        label = Label.DOCTOR
    return Placeholder(start, end, kind, label, ident, _part(kind) if label in PERSONS else "", inside)


def _part(kind: str) -> str:
    said = kind.casefold()
    if "initial" in said:
        return "initials"
    if "first" in said:
        return "first"
    return "last" if "last" in said or "stitle" in said or "titles" in said else "full"


def mimic4_placeholders(text: str) -> Iterator[Placeholder]:
    """The blanks of a note of MIMIC-IV, in order; without a label where the words before do not tell what it was."""
    for match in _BLANK.finditer(text):
        before = text[max(0, match.start() - _CONTEXT) : match.start()]
        told = next(((kind, label, part) for kind, label, part, cue in _BEFORE if cue.search(before)), None)
        kind, label, part = told or ("blank", None, "")
        yield Placeholder(*match.span(), kind, label, part=part)

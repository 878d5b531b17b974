"""Placeholders of published notes: what MIMIC put where an identifier stood.

Belongs here: finding them in a text and what each stands for. Does not belong here: files (`formats/mimic3.py`,
`formats/mimic4.py`), or what fills them (`injection/`).

MIMIC-III writes the type and often a number, `[**Known lastname 202**]`, or a shifted date, `[**2151-7-16**]`. Its
readers list 126 types, which are 65 kinds: a kind is a type in small letters, without what stands in
brackets and without numbers. A type that nobody knows is an identifier of some kind. MIMIC-IV writes `___` for
everything, and only the words around it can tell; one that nothing tells stays a blank in a filled note, and is no
identifier there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from deid_platform.labels import CROSSWALKS, PERSONS, Label

MIMIC3, MIMIC4 = "mimic-iii", "mimic-iv"
_BRACKETS = re.compile(r"\[\*\*(.*?)\*\*\]", re.DOTALL)
_ASIDE, _DIGITS = re.compile(r"\([^)]*\)"), re.compile(r"\d+|\bNNN\b")
_NUMBER = re.compile(r"(?<!\S)(?<!over )(?P<ident>\d+)\Z")
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
        kind: Of a type of MIMIC-III, else `date`, `year`, or the words that told it.
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
    kind, number = kind_of(inside), _NUMBER.search(inside)
    ident = number["ident"] if number else ""
    if kind not in CROSSWALKS[MIMIC3]:
        return Placeholder(start, end, kind, Label.IDNUM, ident, inside=inside, known=False)
    label = CROSSWALKS[MIMIC3][kind]
    if label is Label.PATIENT and ("(MD)" in inside or _STAFF.search(before)):
        label = Label.DOCTOR
    return Placeholder(start, end, kind, label, ident, _part(inside) if label in PERSONS else "", inside)


def is_placeholder(surface: str) -> bool:
    """Whether a marked place is a placeholder, of either release, and no identifier."""
    return bool(_BRACKETS.fullmatch(surface) or _BLANK.fullmatch(surface))


def has_brackets(text: str) -> bool:
    """Whether a text has placeholders as MIMIC-III writes them; a blank of MIMIC-IV may be a line to write on."""
    return "[**" in text and _BRACKETS.search(text) is not None


def kind_of(inside: str) -> str:
    """The kind of a type: `first name` of "First Name7 (NamePattern1) 202"."""
    return " ".join(_DIGITS.sub(" ", _ASIDE.sub(" ", inside)).split()).casefold()


def _part(inside: str) -> str:
    said = inside.casefold()
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

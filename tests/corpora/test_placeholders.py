"""Placeholders of MIMIC: what each stands for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deid_platform.corpora.placeholders import MIMIC3, mimic3_placeholders, mimic4_placeholders
from deid_platform.labels import CROSSWALKS, Label

# Types of MIMIC-II and MIMIC-III that public readers of them list; NNN is a number of its own.
TYPES = """
Age over 90|Apartment Address(1)|Attending Info|CC Contact Info|Clip Number (Radiology)|Company|Country|Date range (1)
Date range (10)|Date range (2)|Date range (3)|Date range (4)|Date range (6)|Day Month|Day Month Year|Dictator Info
Doctor First Name|Doctor Last Name|Doctor Last Name (ambig)|E-mail address|Female First Name (ambig)
Female First Name (un)|First Name|First Name (STitle)|First Name (Titles)|First Name11 (Name Pattern1)|First Name3 (LF)
First Name4 (NamePattern1)|First Name5 (NamePattern1)|First Name7 (NamePattern1)|First Name8 (NamePattern2)
First Name9 (NamePattern2)|Holiday|Hospital|Hospital Unit Name|Hospital Unit Number|Hospital Ward Name|Hospital1
Hospital2|Hospital3|Hospital4|Hospital5|Hospital6|Initial (NamePattern1)|Initials (NamePattern4)
Initials (NamePattern5)|Job Number|Known firstname|Known lastname|Last Name|Last Name (LF)|Last Name (NamePattern1)
Last Name (NamePattern4)|Last Name (NamePattern5)|Last Name (Prefixes)|Last Name (STitle)|Last Name (Titles)
Last Name (ambig)|Last Name (un)|Location|Location (Universities)|Location (un) NNN|MD Number|MD Number(1)|MD Number(2)
MD Number(3)|MD Number(4)|Male First Name (un)|Medical Record Number|Month (only)|Month Day|Month Day Year (2)
Month Year|Month/Day (1)|Month/Day (2)|Month/Day (3)|Month/Day (4)|Month/Day/Year|Month/Year (2)|Month/Year 1
Name (NI) NNN|Name (STitle)|Name Initial (MD)|Name Initial (NameIs)|Name Initial (PRE)|Name Prefix (Prefixes)
Name10 (NameIs)|Name11 (NameIs)|Name12 (NameIs)|Name13 (STitle)|Name14 (STitle)|Name2 (NI) NNN|Name5 (PTitle)
Name6 (MD)|Name7 (MD)|Name8 (MD)|Name9 (PRE)|Numeric Identifier NNN|PO Box|PT ID Number (Radiology)|Pager number
Provider Number|Serial Number|Signature|Social Security Number|State|State/Zipcode|Street Address|Street Address(1)
Street Address(2)|Telephone/Fax (1)|Telephone/Fax (2)|Telephone/Fax (3)|Telephone/Fax (4)|Telephone/Fax (5)|URL
Unit Number|University/College|Wardname|Year/Month|Year/Month/Day|firstname|lastname
"""
NO_IDENTIFIERS = ("Year (4 digits)", "Year (2 digits)", "Ethnicity")


def test_all_types_are_known_with_a_number_and_without() -> None:
    types = [kind for line in TYPES.strip().splitlines() for kind in line.split("|")]
    assert len(types) == len(set(types)) == 123
    said = (Path(__file__).parents[2] / "docs" / "feeds.md").read_text(encoding="utf-8")
    assert f"the {len(types) + len(NO_IDENTIFIERS)} types of placeholders" in said
    assert f"are of {len(CROSSWALKS[MIMIC3])} kinds" in said
    for kind in types:
        for written in (kind.replace("NNN", "4711"), re.sub(r" NNN$", "", kind) + " 4711", kind + " "):
            (found,) = mimic3_placeholders(f"x [**{written}**] y")
            assert found.known, kind
            assert found.label is not None, kind


@pytest.mark.parametrize("kind", NO_IDENTIFIERS)
def test_a_type_may_be_no_identifier(kind: str) -> None:
    (found,) = mimic3_placeholders(f"x [**{kind} 4**] y")
    assert found.known
    assert found.label is None


@pytest.mark.parametrize(
    ("text", "label", "ident", "part"),
    [
        ("Ms. [**Known lastname 202**] is", Label.PATIENT, "202", "last"),
        ("seen by [**Name6 (MD) 17**]", Label.DOCTOR, "17", "full"),
        ("in [**Year (4 digits) 3**] at", None, "3", ""),
        ("Dr. [**Last Name (STitle) 303**] saw", Label.DOCTOR, "303", "last"),
        ("Attending:[**First Name3 (LF) 101**]", Label.DOCTOR, "101", "first"),
        ("her daughter [**Name (NI) 707**]", Label.PATIENT, "707", "full"),
        ("on [**2151-7-16**] at", Label.DATE, "", ""),
        ("on [**7-16**] at", Label.DATE, "", ""),
        ("in [**7/2151**] at", Label.DATE, "", ""),
        ("in [**2151**] at", None, "", ""),
        ("from [**Hospital1 **] with", Label.HOSPITAL, "", ""),
        ("[**Age over 90 **] yo", Label.AGE, "", ""),
        ("call [**Telephone/Fax\n(1) 505**]", Label.PHONE, "505", ""),
    ],
)
def test_a_bracket_says_what_it_stands_for(text: str, label: Label | None, ident: str, part: str) -> None:
    (found,) = mimic3_placeholders(text)
    assert text[found.start : found.end].startswith("[**")
    assert (found.label, found.ident, found.part, found.known) == (label, ident, part, True)


def test_a_type_that_nobody_knows_says_so() -> None:
    (found,) = mimic3_placeholders("[**Shoe Size 7**]")
    assert not found.known
    assert found.label is Label.IDNUM


@pytest.mark.parametrize(
    ("text", "label", "part"),
    [
        ("Name:  ___", Label.PATIENT, "full"),
        ("Unit No:   ___", Label.MEDICALRECORD, ""),
        ("Date of Birth:  ___", Label.DATE, ""),
        ("Attending: ___.", Label.DOCTOR, "full"),
        ("saw Dr. ___ today", Label.DOCTOR, "last"),
        ("Ms. ___ is a", Label.PATIENT, "last"),
        ("Phone: ___", Label.PHONE, ""),
        ("moved from ___ last", None, ""),
    ],
)
def test_a_blank_is_told_by_the_words_before_it(text: str, label: Label | None, part: str) -> None:
    (found,) = mimic4_placeholders(text)
    assert text[found.start : found.end] == "___"
    assert (found.label, found.part) == (label, part)


def test_a_longer_line_is_no_blank() -> None:
    assert list(mimic4_placeholders("Signed ______")) == []

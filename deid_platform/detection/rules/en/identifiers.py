"""Checks of identifiers: check digits, and what a labelled or long number must not be.

Belongs here: functions (text, start, end) -> the interval to tag, narrowed if need be, or None; check
digits by python-stdnum where it has them. Does not belong here: patterns (`../data/identifiers.yaml`).
"""

from __future__ import annotations

from importlib import import_module

import regex

from deid_platform.detection.rules.engine.validator import Validator, Interval

_SEPARATORS = regex.compile(r"[\s.\-/]")
# What stands after "exam:" or "report #" and identifies nobody: vital signs, doses, decimals, fractions, dates.
_MEASURE = regex.compile(
    r"(?:bp|hr|rr|pr|t|p|r|wt|ht|bmi|spo2|o2|sats?|temp)[:=]?\d{1,3}(?:[./]\d{1,3})?[a-z]?"
    r"|\d+(?:\.\d+)?(?:mg|mcg|ug|g|ml|l|mm|cm|kg|lbs?|bpm|rpm|mmhg|meq|units?|hz|khz|mhz|th|st|nd|rd|x)"
    r"|\d{2,3}(?:\.\d)?[cf]|\d{1,3}-[a-z]{3,}|\d{1,3}\.\d{1,3}|\d{1,3}/\d{1,3}(?:/\d{2,4})?",
    regex.IGNORECASE,
)
_PUBLIC_PREFIX = regex.compile(r"(?:NCT|PMC|GSE|GSM|SRR|ISRCTN|RCV|VCV|SCV|HGNC|EUCTR|CHEMBL)\d")
_PUBLIC_CODE = regex.compile(
    r"\b(?:snomed(?:[ -]?ct)?|sct(?:id)?|rx(?:norm|cui)|loinc|cpt|hcpcs|icd(?:-?\d{1,2}(?:-?cm)?)?|ndc|pmc?id|pubmed"
    r"|doi|nct|isrctn|clinicaltrials\.gov|cui|umls|mesh|omim|clinvar|dbsnp|unii|gtin|isbn|issn|chr(?:\d{1,2}|[xym]))\b"
    r"\W{0,3}(?:(?:code|concept|id|identifier|number|no)s?\b\W{0,3}){0,2}$",
    regex.IGNORECASE,
)
_COUNTED = regex.compile(
    r"[ \t]*(?:copies|cfus?|cells?|iu\b|units?|/|per\b|x\b|rbcs?\b|wbcs?\b|organisms|colonies)", regex.I
)
_AU_MEDICARE = (1, 3, 7, 9, 1, 3, 7, 9)
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_NOT_IN_VIN = frozenset("IOQ")
_VIN_LETTERS = dict(
    zip("ABCDEFGHJKLMNPRSTUVWXYZ", (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, *range(2, 10)), strict=True)
)


def proven(module: str) -> Validator:
    """A check by one module of python-stdnum, imported when first a number asks for it."""

    def check(text: str, start: int, end: int) -> Interval | None:
        return (start, end) if import_module(f"stdnum.{module}").is_valid(text[start:end]) else None

    return check


PROVEN: dict[str, Validator] = {
    "sin": proven("ca.sin"),
    "nhs_number": proven("gb.nhs"),
    "tfn": proven("au.tfn"),
    "nir": proven("fr.nir"),
    "dni": proven("es.dni"),
    "nie": proven("es.nie"),
    "codice_fiscale": proven("it.codicefiscale"),
    "aadhaar": proven("in_.aadhaar"),
    "pan": proven("in_.pan"),
    "iban": proven("iban"),
    "imei": proven("imei"),
}
"""Checks of which python-stdnum is the whole, by the name that tables call them by."""


def card(text: str, start: int, end: int) -> Interval | None:
    """Thirteen to nineteen digits with the check digit of payment cards (Luhn), not one digit over and over."""
    from stdnum import luhn

    digits = _SEPARATORS.sub("", text[start:end])
    return (start, end) if 13 <= len(digits) <= 19 and len(set(digits)) > 1 and luhn.is_valid(digits) else None


def npi(text: str, start: int, end: int) -> Interval | None:
    """Ten digits with the check digit of a National Provider Identifier (Luhn over 80840 and the number)."""
    from stdnum import luhn

    return (start, end) if luhn.is_valid("80840" + text[start:end]) else None


def dea(text: str, start: int, end: int) -> Interval | None:
    """Two letters and seven digits with the check digit of a DEA registration."""
    d = [int(c) for c in text[start:end][-7:]]
    return (start, end) if (d[0] + d[2] + d[4] + 2 * (d[1] + d[3] + d[5])) % 10 == d[6] else None


def vin(text: str, start: int, end: int) -> Interval | None:
    """Seventeen characters with the check digit of a vehicle identification number (49 CFR 565.15)."""
    number = text[start:end].upper()
    if not _NOT_IN_VIN.isdisjoint(number):
        return None
    total = sum(w * (int(c) if c.isdigit() else _VIN_LETTERS[c]) for w, c in zip(_VIN_WEIGHTS, number, strict=True))
    return (start, end) if number[8] == "0123456789X"[total % 11] else None


def au_medicare(text: str, start: int, end: int) -> Interval | None:
    """Ten or eleven digits with the check digit of an Australian Medicare card (weights 1, 3, 7, 9 over eight)."""
    d = [int(c) for c in _SEPARATORS.sub("", text[start:end])]
    proven = 2 <= d[0] <= 6 and sum(w * n for w, n in zip(_AU_MEDICARE, d[:8], strict=True)) % 10 == d[8]
    return (start, end) if proven else None


def code(text: str, start: int, end: int) -> Interval | None:
    """A value of four or more characters with three digits, less the punctuation after it; no vital sign or dose."""
    while end > start and text[end - 1] in ".,;:)]-/":
        end -= 1
    surface = text[start:end]
    if len(surface) < 4 or sum(c.isdigit() for c in surface) < 3 or _MEASURE.fullmatch(surface):
        return None
    return None if _PUBLIC_PREFIX.match(surface.upper()) else (start, end)


def long_number(text: str, start: int, end: int) -> Interval | None:
    """A long number without a label: no public code of a study, an article or a terminology, and no count."""
    surface = text[start:end]
    counted = surface.endswith("0000") or _COUNTED.match(text, end)
    public = _PUBLIC_PREFIX.match(surface) or _PUBLIC_CODE.search(text, max(0, start - 40), start)
    return None if counted or public else (start, end)

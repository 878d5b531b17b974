"""Validators of identifiers: check digits, and what a labelled or long number must not be.

Belongs here: what `identifiers.yaml` names. Does not belong here: the arithmetic (`text/check_digits.py`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.engine.validator import Interval, has_check_digit, register, validator
from deid_platform.text.check_digits import CHECK_DIGITS

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

register({name: has_check_digit(check) for name, check in CHECK_DIGITS.items()})


@validator
def code(text: str, start: int, end: int) -> Interval | None:
    """A value of four or more characters with three digits, less the punctuation after it; no vital sign or dose."""
    while end > start and text[end - 1] in ".,;:)]-/":
        end -= 1
    surface = text[start:end]
    if len(surface) < 4 or sum(c.isdigit() for c in surface) < 3 or _MEASURE.fullmatch(surface):
        return None
    return None if _PUBLIC_PREFIX.match(surface.upper()) else (start, end)


@validator
def long_number(text: str, start: int, end: int) -> Interval | None:
    """A long number without a label: no public code of a study, an article or a terminology, and no count."""
    surface = text[start:end]
    counted = surface.endswith("0000") or _COUNTED.match(text, end)
    public = _PUBLIC_PREFIX.match(surface) or _PUBLIC_CODE.search(text, max(0, start - 40), start)
    return None if counted or public else (start, end)

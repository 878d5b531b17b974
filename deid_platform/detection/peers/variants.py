"""The variants of peers that Aghakasiri 2025 measured, on notes that are not American.

Belongs here: what is taken from a peer's spans and what is added to them. Does not belong here: calling a peer.

Their section 5.6 says: patterns are added for what is not American (addresses, postal codes, health numbers), ages and
the year of a birth date stay, and Presidio hides only some entities, such as persons and phone numbers. It gives
neither the patterns nor the whole list: both are of this project, and figures of theirs are not reproduced by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import regex

from deid_platform.detection.peers.claims import Claims
from deid_platform.detection.peers.spans import PeerSpan
from deid_platform.labels import Label

ADDED: Claims = {
    "Added address": (Label.STREET,),
    "Added postal code": (Label.ZIP,),
    "Added health number": (Label.HEALTHPLAN,),
}
"""Kinds of what the added patterns find."""

_KEPT_OF: Mapping[str, frozenset[str]] = {"presidio": frozenset(("PERSON", "PHONE_NUMBER", "DATE_TIME"))}
"""What is still hidden of a peer's own kinds; all kinds of a peer that is not named."""
_AGES = frozenset(("AGE", "Age"))
_DATES = frozenset(("DATE_TIME", "Date", "DATE"))

_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Drive|Dr|Lane|Ln|Boulevard|Blvd|Court|Ct|Crescent|Cres|Place|Pl|Way|Close|Terrace"
    r"|Square|Trail|Highway|Hwy)"
)
_PATTERNS: Mapping[str, Sequence[regex.Pattern[str]]] = {
    "Added address": [
        regex.compile(
            rf"\b\d{{1,5}}[A-Za-z]?,? (?:\p{{Lu}}[\p{{L}}'’-]{{1,20}} ){{1,3}}{_STREET}\b(?: (?:NW|NE|SW|SE)\b)?"
        ),
        regex.compile(r"\bP\.?O\.? Box \d{1,6}\b", regex.IGNORECASE),
    ],
    "Added postal code": [
        regex.compile(r"\b[ABCEGHJ-NPR-TVXY]\d[A-Z][ -]?\d[A-Z]\d\b"),  # Canada
        regex.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b"),  # United Kingdom
    ],
    "Added health number": [
        regex.compile(
            r"\b(?:PHN|ULI|OHIP|NHS|RAMQ|Medicare|health (?:card|care|insurance|number|no))\b[^\n\d]{0,20}"
            r"(?P<value>(?:[A-Z]{2,4} ?)?\d(?:[ -]?\d){8,11}(?:[ -]?[A-Z]{2})?)\b",
            regex.IGNORECASE,
        ),
    ],
}
_AGE = regex.compile(
    r"\b\d{1,3}(?:[ -]?(?:years?|yrs?|y|months?|mos?|weeks?|wks?|days?))[ -]?(?:/ ?|of )?(?:olds?|o|age)\b"
    r"|\baged? (?:of )?\d{1,3}\b(?: (?:years?|months?|weeks?|days?)\b)?",
    regex.IGNORECASE,
)
_BIRTH = regex.compile(r"\b(?:d\.?o\.?b\b\.?|born|birth ?date|date of birth|birthday)[^\n\d]{0,20}$", regex.IGNORECASE)
_YEAR = regex.compile(r"(?<!\d)(?:18|19|20)\d\d(?!\d)")


def claims_of_variant(peer: str, claims: Claims) -> Claims:
    """What a variant claims: no ages, of Presidio only some kinds, and the added kinds."""
    kept = _KEPT_OF.get(peer, claims.keys())
    return {**{kind: labels for kind, labels in claims.items() if kind in kept and kind not in _AGES}, **ADDED}


def varied(text: str, found: Sequence[PeerSpan], peer: str | None) -> list[PeerSpan]:
    """The spans of the variant of a peer, from the peer's own.

    Args:
        text: What the peer read.
        found: What it found there.
        peer: Which one (`claims.CLAIMS`); None for a model of ours, all of whose kinds but ages are kept.

    Returns:
        The spans in no order; they may overlap.
    """
    kept = None if peer is None else _KEPT_OF.get(peer)
    ages = [match.span() for match in _AGE.finditer(text)]
    spans = [
        part
        for span in found
        if (kept is None or span.kind in kept) and span.kind not in _AGES
        for part in (_of_date(text, span, ages) if span.kind in _DATES else (span,))
    ]
    return [*spans, *_added(text)]


def varied_model(text: str, found: Iterable[tuple[int, int, Label]]) -> list[tuple[int, int, Label]]:
    """The same of what a model of ours found: start, end and label of each place."""
    spans = varied(text, [PeerSpan(start, end, label.value) for start, end, label in found], None)
    return [(it.start, it.end, ADDED[it.kind][0] if it.kind in ADDED else Label(it.kind)) for it in spans]


def _of_date(text: str, span: PeerSpan, ages: Sequence[tuple[int, int]]) -> Iterator[PeerSpan]:
    """Nothing of an age; of a birth date what stands before and after the year; else the span."""
    if any(start < span.end and span.start < end for start, end in ages):
        return
    year = _YEAR.search(text, span.start, span.end) if _BIRTH.search(text, 0, span.start) else None
    pieces = ((span.start, year.start()), (year.end(), span.end)) if year else ((span.start, span.end),)
    for start, end in pieces:
        if any(sign.isalnum() for sign in text[start:end]):
            yield PeerSpan(start, end, span.kind)


def _added(text: str) -> Iterator[PeerSpan]:
    for kind, patterns in _PATTERNS.items():
        for pattern in patterns:
            for match in pattern.finditer(text):
                start, end = match.span("value" if "value" in pattern.groupindex else 0)
                yield PeerSpan(start, end, kind)

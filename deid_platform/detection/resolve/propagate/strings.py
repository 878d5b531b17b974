"""Propagates strings: further copies of numbers, addresses and institutions that were found once in the note.

Belongs here: strings that mean the same wherever they stand. Does not belong here: names of people, of which any part
may be repeated (`resolve/propagate/names.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import regex

from deid_platform.detection.api import Candidate, Evidence, Source, SourceKind
from deid_platform.labels import Label
from deid_platform.lexicon.classes import is_ordinary
from deid_platform.text.fold import fold_term
from deid_platform.text.offsets import bounded

_NUMBERS = frozenset((
    Label.PHONE, Label.FAX, Label.SSN, Label.MEDICALRECORD, Label.HEALTHPLAN, Label.ACCOUNT, Label.LICENSE,
    Label.VEHICLE, Label.DEVICE, Label.BIOID, Label.IDNUM, Label.USERNAME,
))  # fmt: skip
_PLACES = frozenset((Label.HOSPITAL, Label.ORGANIZATION, Label.LOCATION_OTHER, Label.STREET))
_LEAST_DIGITS = 6
"""Digits of the shortest number that is looked for again: a shorter one may be a value."""
_LONGEST = 80
_MANY = 40
"""Strings that are sought one by one; so many of a text of that length cost more than a pass over its words."""
_LETTERS_OR_DIGITS = regex.compile(r"[^\W_]+")
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}'’]+")
_CONFIDENCE = 0.7
_REPEATED = Source(SourceKind.RULES, "string-repeated")


def repeated_strings(text: str, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Further copies in a whole note of what stands there once with something that says what it is.

    Args:
        text: The note.
        found: Spans found so far, of any label.
    """
    known = {(span.start, span.end) for span in found}
    for start, end, label in copies_of(telling_strings(text, found), text):
        if (start, end) not in known:
            yield Candidate.by_rule(start, end, label, _CONFIDENCE, _REPEATED)


def telling_strings(text: str, found: Sequence[Candidate]) -> dict[str, Label]:
    """The strings among `found` that mean the same wherever they stand, with their label.

    Numbers of six digits and more, and institutions and places of two words and more that are not all ordinary.
    """
    strings: dict[str, Label] = {}
    for span in found:
        if span.evidence < Evidence.CONTEXT or span.end - span.start > _LONGEST:
            continue
        surface = text[span.start : span.end]
        if span.label in _NUMBERS:
            telling = sum(map(str.isdigit, surface)) >= _LEAST_DIGITS
        else:
            telling = span.label in _PLACES and _names_one(surface)
        if telling:
            strings.setdefault(surface, span.label)
    return strings


def copies_of(strings: Mapping[str, Label], text: str) -> Iterator[tuple[int, int, Label]]:
    """Where strings stand in a text, not inside a word or a number."""
    if len(strings) > _MANY:
        yield from _copies_of_many(strings, text)
        return
    for string, label in strings.items():
        start = text.find(string)
        while start >= 0:
            end = start + len(string)
            if bounded(text, start, end):
                yield start, end, label
            start = text.find(string, end)


def _copies_of_many(strings: Mapping[str, Label], text: str) -> Iterator[tuple[int, int, Label]]:
    """As `copies_of`, in one pass over the text: by the first word or number of each string."""
    by_first: dict[str, list[tuple[str, int, Label]]] = {}
    for string, label in strings.items():
        first = _LETTERS_OR_DIGITS.search(string)
        if first is not None:
            by_first.setdefault(first[0], []).append((string, first.start(), label))
    for word in _LETTERS_OR_DIGITS.finditer(text):
        for string, offset, label in by_first.get(word[0], ()):
            start = word.start() - offset
            end = start + len(string)
            if start >= 0 and text.startswith(string, start) and bounded(text, start, end):
                yield start, end, label


def _names_one(surface: str) -> bool:
    words = _WORD.findall(surface)
    return len(words) > 1 and words[0][0].isupper() and not all(is_ordinary(fold_term(word)) for word in words)

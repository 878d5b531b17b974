"""Validators of Italian institutions and firms: whether one has a word of its own, and where its name ends."""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.people import bare
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.detection.rules.it.words import (
    LINKS,
    LONGEST_ABBREVIATION,
    SITUATIONS,
    WORD,
    is_italian_word,
    written_in_capitals,
)
from deid_platform.lexicon.classes import WordClass, word_class

_MOST_GENERIC = 6  # words before the first of an institution's own
_NUMERAL = regex.compile(r"[ ](?:[IVX]{1,5}|\d{1,2})\b(?![.,/]\d)")
_LEGAL_ENDINGS = (".l.", ".a.", ".c.", ".s.")


@validator
def italian_institution(text: str, start: int, end: int) -> Interval | None:
    """An institution, a firm or an office with a word of its own: not "Clinica Chirurgica", "Presidio Ospedaliero"."""
    capitals = written_in_capitals(text, start, end)
    generic, last = 0, None
    for token in WORD.finditer(text, start, end):
        word = bare(token[0])
        if word in LINKS or not token[0][0].isupper():
            continue
        short = token[0].isupper() and not capitals and len(word) <= LONGEST_ABBREVIATION and "." not in token[0]
        if last is not None and word in SITUATIONS:
            last = token
            continue
        if (
            is_italian_word(word)
            or (short and not word_class(word) & WordClass.SURNAME and last is None)
            or "." in word
        ):
            if last is not None:
                break
            generic += 1
            if generic > _MOST_GENERIC:
                return None
            continue
        if last is not None and short:
            break
        if len(word) > 1:
            last = token
    if last is None:
        return None
    stop = last.end()
    numeral = _NUMERAL.match(text, stop, end)
    stop = numeral.end() if numeral else stop
    if stop < end and text[stop] in '"”»':
        stop += 1
    dotted = text[stop - 1] == "." and not text[start:stop].lower().endswith(_LEGAL_ENDINGS)
    return start, stop - dotted


@validator
def italian_firm(text: str, start: int, end: int) -> Interval | None:
    """As `italian_institution`, where common words follow as well: a word of its own must be no clinical one."""
    place = italian_institution(text, start, end)
    if place is None:
        return None
    words = [bare(t) for t in WORD.findall(text, *place) if t[0].isupper()]
    own = [w for w in words if not is_italian_word(w) and w not in LINKS]
    listed = WordClass.GIVEN | WordClass.SURNAME
    return None if all(word_class(w) & WordClass.CLINICAL and not word_class(w) & listed for w in own) else place

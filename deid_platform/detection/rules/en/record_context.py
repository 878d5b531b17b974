"""Validators of the context of record numbers.

Belongs here: the validators that `record_context.yaml` names. Does not belong here: the numbers themselves
(`identifiers.py`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.messages import run_together
from deid_platform.detection.rules.en.people import NAME_TOKEN, bare
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.lexicon.classes import WordClass, is_clinics_word, is_institutions_word, word_class

# The words of a line before its number.
_NAME_BEFORE = regex.compile(r"(?<![^\r\n])[ \t]*([\p{L}\p{M}'’.\-]+(?:,?[ ]?[\p{L}\p{M}'’.\-]+){0,2})[ \t,(\#\-–|]*\Z")
_REACH = 80
_LISTED = WordClass.GIVEN | WordClass.SURNAME


@validator
def numbered(text: str, start: int, end: int) -> Interval | None:
    """A name before a record's number, or that number: a word of two is a given name, or a surname and nothing else."""
    if not text[start].isdigit():
        return (start, end) if _names(text, start, end) else None
    name = _NAME_BEFORE.search(text, max(0, start - _REACH), start)
    return (start, end) if name is not None and _names(text, *name.span(1)) else None


def _names(text: str, start: int, end: int) -> bool:
    words = [token[0] for token in NAME_TOKEN.finditer(text, start, end) if len(bare(token[0])) > 1]
    if len(words) == 1:
        return run_together(text, start, end) is not None
    kinds = [word_class(word) for word in words]
    if any(is_institutions_word(word) and not k & _LISTED for word, k in zip(words, kinds, strict=True)):
        return False
    if any(k & WordClass.GIVEN for k in kinds):
        return True
    clinical = any(k & WordClass.CLINICAL or is_clinics_word(word) for word, k in zip(words, kinds, strict=True))
    return not clinical and any(k & WordClass.SURNAME and not k & WordClass.ORDINARY for k in kinds)

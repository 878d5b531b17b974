"""Checks of what stands beside the numbers of records.

Belongs here: functions (text, start, end) -> the interval to tag, or None, for the patterns of
`../data/registers.yaml`. Does not belong here: patterns, and numbers themselves (`numbers.py`).
"""

from __future__ import annotations

from deid_platform.detection.patterns.checks.names import NAME_TOKEN, bare
from deid_platform.detection.patterns.checks.place import Place
from deid_platform.detection.patterns.kinds import Kind, is_clinics_word, is_institutions_word, kind_of

_LISTED = Kind.GIVEN | Kind.SURNAME


def numbered(text: str, start: int, end: int) -> Place | None:
    """A name of two words or more before a record's number: one is a given name, or a surname and nothing else."""
    words = [token[0] for token in NAME_TOKEN.finditer(text, start, end) if len(bare(token[0])) > 1]
    kinds = [kind_of(word) for word in words]
    if len(words) < 2 or any(
        is_institutions_word(word) and not k & _LISTED for word, k in zip(words, kinds, strict=True)
    ):
        return None
    if any(k & Kind.GIVEN for k in kinds):
        return start, end
    clinical = any(k & Kind.CLINICAL or is_clinics_word(word) for word, k in zip(words, kinds, strict=True))
    sure = any(k & Kind.SURNAME and not k & Kind.ORDINARY for k in kinds)
    return (start, end) if sure and not clinical else None

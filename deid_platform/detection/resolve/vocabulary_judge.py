"""A judge that knows the words of clinical notes, and nothing of the sentence that they stand in.

Belongs here: the weight of a stretch by its words. Does not belong here: what is weighed (`judgement.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from deid_platform.detection.resolve.judgement import ToWeigh
from deid_platform.detection.resolve.recovery.terms import words_of_clinics
from deid_platform.text.fold import fold_term

_WORD = regex.compile(r"[\p{L}\p{N}]+")


class VocabularyJudge:
    """Weighs a stretch by the share of its words that all clinics' notes have and no list of names (`Judge`)."""

    def weigh(self, asked: Sequence[ToWeigh]) -> list[list[float]]:
        """See `Judge`."""
        return [[_share(document.text[it.start : it.end]) for it in removals] for document, removals in asked]


def _share(surface: str) -> float:
    words = _WORD.findall(fold_term(surface))
    return sum(word in words_of_clinics() for word in words) / len(words) if words else 0.0

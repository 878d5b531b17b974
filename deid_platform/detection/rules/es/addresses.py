"""Validators of Spanish addresses.

Belongs here: the validators that `addresses.yaml` names. Does not belong here: patterns (`addresses.yaml`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.people import NAME_TOKEN, bare
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.detection.rules.it.words import is_italian_word
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.lexicon.lists import word_list

_BEHIND = regex.compile(r"[ ]?[.,\-–]?[ ](?P<word>\p{L}+)")


@validator
def spanish_postcode(text: str, start: int, end: int) -> Interval | None:
    """A postcode before a town of several words, that town, or its province: nothing that is counted, no finding."""
    if text[start].isdigit():
        following = _BEHIND.match(text, end)
        return None if following is None or is_italian_word(bare(following["word"])) else (start, end)
    words = [bare(t) for t in NAME_TOKEN.findall(text, start, end)]
    if is_italian_word(words[0]) or any(
        word_class(w) & WordClass.CLINICAL and w not in word_list("cities") for w in words if len(w) > 3
    ):
        return None
    return start, end

"""Validators of user names and initials: what is no word and no abbreviation of medicine.

Belongs here: the validators that `signers.yaml` names. Does not belong here: which labels there are.
"""

from __future__ import annotations

from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.lexicon.classes import is_ordinary
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

_LISTS = (
    "given_names",
    "surnames",
    "ordinary_words",
    "italian_words",
    "clinical_words",
    "common_words",
    "drugs",
    "seam_words.role",
    "seam_words.function",
    "abbreviations",
)
_CLINICAL_LETTERS = ("abbreviations", "short_abbreviations", "initials_stopwords")


@validator
def name_of_user(text: str, start: int, end: int) -> Interval | None:
    """A user name: with a digit or a sign inside, or a word that no list knows."""
    surface = text[start:end]
    if any(not c.isalpha() for c in surface):
        return start, end
    folded = fold_term(surface)
    known = is_ordinary(folded) or any(folded in word_list(name) for name in _LISTS)
    return None if known or _looks_like_a_word(folded) else (start, end)


def _looks_like_a_word(folded: str) -> bool:
    """Whether a word ends as words of the five languages do that labels stand before."""
    return folded.endswith(
        (
            "ly",
            "ed",
            "ing",
            "tion",
            "mente",
            "ment",
            "cion",
            "zione",
            "ada",
            "ado",
            "ato",
            "ata",
            "ente",
            "able",
            "isch",
            "lich",
            "ale",
            "ile",
            "al",
        )
    )


@validator
def writers_initials(text: str, start: int, end: int) -> Interval | None:
    """Two or three letters that are no abbreviation of medicine and no word."""
    folded = fold_term(text[start:end])
    known = is_ordinary(folded) or any(folded in word_list(name) for name in _CLINICAL_LETTERS)
    return None if known else (start, end)

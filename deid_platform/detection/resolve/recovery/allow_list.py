"""A site's allow list: phrases that identify nobody there, such as the name of a ward.

Belongs here: reading the list and refusing a phrase that is too general. Does not belong here: where a phrase is found
(`finder.py`), or which spans it may recover (`decision.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import regex

from deid_platform.detection.resolve.recovery.terms import names_of_people_and_places
from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

LONGEST = 60
"""Code points of a phrase: recovery looks no further around a span."""
_SHORTEST = 3  # letters of a phrase of one word
_BESIDE_NAMES = frozenset(
    {
        *(
            "mrs",
            "miss",
            "doctor",
            "prof",
            "professor",
            "nurse",
            "rev",
            "patient",
            "patients",
            "name",
            "named",
            "called",
        ),
        *(
            "wife",
            "husband",
            "son",
            "daughter",
            "mother",
            "father",
            "brother",
            "sister",
            "family",
            "the",
            "and",
            "his",
            "her",
        ),
        *("van", "von", "der", "den", "del", "della", "dos", "das", "ibn", "bin", "san", "santa", "saint"),
    }
)
_DIGIT = regex.compile(r"\p{N}")
_WORD = regex.compile(r"\p{L}+")


@dataclass(frozen=True)
class AllowList:
    """Phrases to keep.

    Attributes:
        phrases: Folded, each once, sorted.
        digest: Names them; empty without phrases.
    """

    phrases: tuple[str, ...] = ()
    digest: str = ""


def read_allow_list(path: Path | str) -> AllowList:
    """The phrases of a file: one a line, `#` begins a comment, blank lines are skipped.

    Raises:
        DeidError: `allow-list-invalid`, naming the file, the line and the reason.
    """
    path = Path(path)
    try:
        stat = path.stat()
        return _read(path, stat.st_mtime_ns, stat.st_size)
    except (OSError, UnicodeDecodeError):
        raise DeidError(Code.ALLOW_LIST_INVALID, f"{path.name}: it cannot be read") from None


@lru_cache(maxsize=4)
def _read(path: Path, mtime_ns: int, size: int) -> AllowList:  # noqa: ARG001 - a changed file is read anew
    phrases = set()
    for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), 1):
        if phrase := fold_term(line.split("#", 1)[0]):
            if wrong := _fault(phrase):
                raise DeidError(Code.ALLOW_LIST_INVALID, f"{path.name}, line {number}: {wrong}")
            phrases.add(phrase)
    if not phrases:
        raise DeidError(Code.ALLOW_LIST_INVALID, f"{path.name}: it holds no phrase")
    return AllowList(tuple(sorted(phrases)), plain_digest(*sorted(phrases)))


def _fault(phrase: str) -> str | None:
    words = _WORD.findall(phrase)
    if _DIGIT.search(phrase):
        return "a phrase with a digit"
    if len(phrase) > LONGEST:
        return f"a phrase of more than {LONGEST} characters"
    if not words or (len(words) == 1 and len(words[0]) < _SHORTEST):
        return f"a word of fewer than {_SHORTEST} letters"
    if _only_names(words):
        return "a name of people or places alone: write the phrase that it stands in"
    return None


def _only_names(words: Sequence[str]) -> bool:
    """Whether words tell no more than whom or which place is meant, with what stands before and in names."""
    telling = [word for word in words if len(word) >= _SHORTEST and word not in _BESIDE_NAMES]
    nouns = _nouns().intersection(telling) if len(telling) > 1 else ()
    return not nouns and names_of_people_and_places().issuperset(telling)


@cache
def _nouns() -> frozenset[str]:
    """Words that make another thing of a name: "Ward" is a surname too."""
    return word_list("clinical_words") | word_list("common_words")

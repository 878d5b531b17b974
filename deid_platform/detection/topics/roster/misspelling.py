"""Names with one letter wrong: inserted, left out, taken for another, or two of them exchanged.

Belongs here: which words of a note are one edit away from a word of the patient's name. Does not belong here:
whether they stand as names (`mentions.py`).

Only words that are on no shipped list are compared, so that a Mr. Colan's colon remains his colon. Digits that
look like letters (0 for O, 1 for l and I, 5 for S) count as one edit together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind
from rapidfuzz import process
from rapidfuzz.distance import OSA

from deid_platform.detection.topics.roster.variants import How, Variants
from deid_platform.labels import Label
from deid_platform.lexicon.classes import ordinary_words
from deid_platform.text.names import PARTICLES
from deid_platform.text.tokens import Words

_SURE_FROM = 5
"""Letters from which a misspelt word counts by itself."""
_MOST_PARTICLES = 3
_LETTERS = str.maketrans("015", "ols")
_DIGITS = "0123456789"
_SHORTEST, _LONGEST = 3, 40  # letters of a word that may be a name


class Hit(NamedTuple):
    """A place in the line of words that may be the patient's, its label, and how it must stand to be."""

    start: int
    end: int
    label: Label
    how: How


def misspelt(words: Words, variants: Variants) -> Iterator[Hit]:
    """Where words of the note stand that are one edit away from the patient's name."""
    found: dict[str, tuple[Label, How]] = {}
    rare = _rare_words(words)
    for part in variants.spelt:
        for word, distance, _ in process.extract(part, rare, scorer=OSA.distance, score_cutoff=1, limit=None):
            if distance and word not in variants.terms and word.isalpha():
                _keep(found, word, part)
    mixed = [word for word in rare if not word.isalpha() and not word.isdigit()]
    if mixed:
        shapes = {_shape(part): part for part in variants.spelt}
        for word in mixed:
            if word.rstrip(_DIGITS) in variants.handles:
                found[word] = (Label.USERNAME, How.SURE)
            elif (part := shapes.get(_shape(word), "")) and word not in variants.terms:
                _keep(found, word, part)
    if found:
        yield from _places(words, found)


def _rare_words(words: Words) -> list[str]:
    """The words of three letters and more that are on none of the shipped lists of words."""
    found = set[str]().union(*words.each())
    return [word for word in found - ordinary_words() if _SHORTEST <= len(word) <= _LONGEST]


def _keep(found: dict[str, tuple[Label, How]], word: str, part: str) -> None:
    long = len(part) >= _SURE_FROM
    if long or word not in found:
        found[word] = (Label.PATIENT, How.SPELT if long else How.BESIDE)


def _shape(word: str) -> str:
    """A word as it looks: letters that digits are taken for, and i as l."""
    return word.translate(_LETTERS).replace("i", "l")


def _places(words: Words, found: dict[str, tuple[Label, How]]) -> Iterator[Hit]:
    automaton = AhoCorasick(
        [f" {word} " for word in found], matchkind=MatchKind.Standard, implementation=Implementation.NoncontiguousNFA
    )
    kinds = tuple(found.values())
    for term, start, end in automaton.find_matches_as_indexes(words.text, overlapping=True):
        first = start + 1
        for _ in range(_MOST_PARTICLES):
            # "de la" belongs to a misspelt Cruz as it does to a Cruz, and "O'" to a misspelt Brien.
            before = words.before(first)
            apostrophe = first - before == 2 and words.gap(first - 1, first) in ("'", "’")
            particle = apostrophe or words.text[before : first - 1] in PARTICLES
            if not particle or kinds[term][0] is not Label.PATIENT:
                break
            first = before
        yield Hit(first, end - 1, *kinds[term])

"""Regular nicknames of a given name that no list has: names made of its beginning or its end.

Belongs here: how English, Spanish, Italian and Slavic usage shortens a name and lengthens what is left. Does not belong
here: irregular nicknames (`lexicon/data/nicknames.tsv`, `lexicon/nicknames.py`).

Sources: the project's own. Only what the shipped lists have as a given name is one: of "Margarita", "Margo" and "Rita",
not "Marg-ie's" every possible spelling.
"""

from __future__ import annotations

from functools import lru_cache

from deid_platform.lexicon.lists import word_list

_SHORTEST = 3
_LONGEST_STEM = 6
_SHORTEST_END = 4
_ENDINGS = ("", "y", "ie", "i", "ey", "e", "o", "a", "s", "ito", "ita", "in", "ina", "ino", "etta", "ette", "ka", "ik")
_DOUBLING = ("y", "ie", "i", "ey", "o", "a")


@lru_cache(maxsize=4096)
def pet_names(name: str) -> frozenset[str]:
    """The given names that a folded given name is shortened to: "gertrude" gives "gert", "gerty" and "trude"."""
    return _given_names().intersection(_forms(name)) - {name}


@lru_cache(maxsize=1)
def _given_names() -> frozenset[str]:
    return word_list("given_names") | word_list("lone_given_names")


def _forms(name: str) -> list[str]:
    forms = [name[start:] for start in range(2, len(name) - _SHORTEST_END + 1)]
    for cut in range(_SHORTEST, min(len(name), _LONGEST_STEM) + 1):
        stem = name[:cut]
        forms += [stem + ending for ending in _ENDINGS]
        doubled = stem + stem[-1]
        forms += [doubled + ending for ending in _DOUBLING]
    return forms

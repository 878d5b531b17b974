"""What somebody of a given name is called, and what a nickname may stand for.

Belongs here: the list `nicknames.tsv` read both ways. Does not belong here: nicknames that no list has
(`detection/topics/roster/nicknames.py`).
"""

from __future__ import annotations

from functools import lru_cache

from deid_platform.lexicon.lists import rows
from deid_platform.text.fold import fold_term


@lru_cache(maxsize=1)
def _nicknames() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Nicknames of each given name, and given names of each nickname, from `data/nicknames.tsv`; folded."""
    by_given: dict[str, set[str]] = {}
    by_nickname: dict[str, set[str]] = {}
    for row in rows("nicknames"):
        given, nickname = map(fold_term, row)
        by_given.setdefault(given, set()).add(nickname)
        by_nickname.setdefault(nickname, set()).add(given)
    return by_given, by_nickname


@lru_cache(maxsize=4096)
def nicknames_of(name: str) -> frozenset[str]:
    """What else somebody of a folded given name is called: nicknames, and the names of which it is one.

    Somebody known by a nickname of one name alone ("Bobby") may also go by that name's other nicknames.
    """
    by_given, by_nickname = _nicknames()
    formal = by_nickname.get(name, set())
    siblings = by_given[next(iter(formal))] if len(formal) == 1 else set()
    return frozenset(by_given.get(name, set()) | formal | siblings) - {name}

"""Which note types research may see by name.

Belongs here: whether a feed's settings name a type. Does not belong here: types that never enter
(`corpora/exclusions.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from deid_platform.warehouse.gate.measures import OTHER_TYPE


def released_type(note_type: str | None, named: Sequence[str]) -> str:
    """A note's type as it may be shown: the name that the site's settings have for it, else `other`.

    At its source a type is free text, and the same one is written in capitals or not: case and spaces make no
    difference.

    Args:
        note_type: As the source writes it.
        named: `note_types` of the feed.
    """
    return OTHER_TYPE if note_type is None else _by_folded(tuple(named)).get(_folded(note_type), OTHER_TYPE)


@lru_cache(maxsize=32)
def _by_folded(named: tuple[str, ...]) -> Mapping[str, str]:
    return {_folded(name): name for name in reversed(named)}


def _folded(note_type: str) -> str:
    return " ".join(note_type.casefold().split())

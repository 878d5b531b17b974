"""How staff shorten the name of an institution.

Belongs here: initials. Does not belong here: the names (`words.py`).
"""

from __future__ import annotations

from functools import lru_cache

import regex

_APART = regex.compile(r"[\s\-’'.]+")
_SHORT = frozenset({"CHU", "CH", "CHR", "AOU", "RSA", "VA", "NHS", "AIIMS"})


@lru_cache(maxsize=4096)
def abbreviation(name: str) -> str:
    """The capitals of a name as staff write them: "Alderbrook Memorial Hospital" is AMH, "CHU Saint-Brice" CHU SB."""
    words = [word for word in _APART.split(name) if word]
    head = words[0] if words and words[0] in _SHORT else ""
    initials = "".join(word[0] for word in words[bool(head) :] if word[0].isupper() or word[0].isdigit())
    return f"{head} {initials}".strip() if head else initials

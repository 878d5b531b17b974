"""Whether the reason of a decision quotes the note: it stands in the ledger, outside the PHI zone.

Belongs here: comparing somebody's words with what a note hides. Does not belong here: what that is (`quarantine.py`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import regex

from deid_platform.refresh.redact.whole_words import runs

_PART = regex.compile(r"[\p{L}\p{N}]+")


def quotes(text: str, hidden: Sequence[tuple[int, int]], names: Sequence[str], said: str) -> bool:
    """Whether somebody's words hold a word that a note hides, a number of it, or a name of its patient."""
    told = _words(said)
    numbers = {word for word in _words(text) if any(map(str.isdigit, word))}
    secret = {word for start, end in hidden for word in _words(text[start:end])}
    return not told.isdisjoint(numbers | secret | _words(" ".join(names)))


def _words(text: str) -> set[str]:
    """Words of two signs or more without accents; numbers and double names in parts, and whole without what joins."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(sign for sign in decomposed if unicodedata.category(sign) not in ("Mn", "Cf"))
    whole = ("".join(_PART.findall(run)) for run in runs(plain))
    return {word for word in (*_PART.findall(plain), *whole) if len(word) > 1}

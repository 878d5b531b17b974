"""A text in the form in which it is compared: case, accents, quotes, dashes and white space do not count.

Belongs here: folding. Does not belong here: what is looked up in a folded text.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import regex

from deid_platform.text.deobfuscate import INVISIBLE, has_controls, latinised
from deid_platform.text.offsets import Rewritten, without

# Deleted by folding: the rest of a run of spaces, combining accents, soft hyphens and invisible characters.
_DROPPED = regex.compile(rf"(?<= ) +|[\u0300-\u036f\u00ad{INVISIBLE}]+")
_SPACES = regex.compile("  +")
_WHITE_SPACE = "\t\n\v\f\r"


@lru_cache(maxsize=1)
def _fold_table() -> dict[int, str]:
    """Code point to one folded character: lower case, no Latin accent, plain quotes, dashes and spaces."""
    table = dict.fromkeys(map(ord, _WHITE_SPACE), " ")
    for point in (*range(0x41, 0x5B), *range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        base = unicodedata.normalize("NFKD", chr(point))[0].lower()
        if len(base) == 1:
            table[point] = base
    table |= {ord(a): b for a, b in zip("ØøŁłĐđÞþıİ", "oollddttii", strict=True)}
    table |= dict.fromkeys(map(ord, "‘’ʼ´"), "'")
    table |= dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
    table |= dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000\u2028\u2029\u0085"), " ")
    # A lone surrogate cannot be encoded, and the automaton takes UTF-8.
    table |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
    return table


def _lower(text: str) -> str:
    """Lower case of the same length: "İ".lower() has two code points, and a few others grow as well."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)


def fold(text: str) -> Rewritten:
    """Folds a text for comparison: case, Latin accents, quotes, dashes, disguises and white space do not count."""
    if not text.isascii() or has_controls(text):
        shown = _lower(latinised(text).translate(_fold_table()))
        return without(shown, (match.span() for match in _DROPPED.finditer(shown)))
    shown = text.lower()
    for white in _WHITE_SPACE:  # faster than a translation, by far
        shown = shown.replace(white, " ")
    return without(shown, ((m.start() + 1, m.end()) for m in _SPACES.finditer(shown)))


@lru_cache(maxsize=65536)
def fold_term(term: str) -> str:
    """A dictionary's term in the same form as a folded text, without space around it."""
    if term.isascii() and term.isprintable():
        return " ".join(term.lower().split())
    return fold(term).text.strip()

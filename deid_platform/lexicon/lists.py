"""Word lists: one a file of `data/`, one term a line.

Belongs here: reading them. Does not belong here: what a list says of a word (`classes.py`).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from deid_platform.text.fold import fold_term


def read_terms(text: str) -> tuple[str, ...]:
    """The terms of a word list: one a line, `#` begins a comment, blank lines are skipped."""
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return tuple(line for line in lines if line)


def written_terms(name: str) -> tuple[str, ...]:
    """The terms of a word list of this package (`data/<name>.txt`), as they are written there."""
    return read_terms((files("deid_platform.lexicon") / "data" / f"{name}.txt").read_text("utf-8"))


@cache
def word_list(name: str) -> frozenset[str]:
    """A word list of this package, folded."""
    return frozenset(
        term.lower() if term.isascii() and term.isalpha() else fold_term(term) for term in written_terms(name)
    )

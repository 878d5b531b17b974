"""What figures on a corpus are called in the warehouse.

Belongs here: the word of a corpus in a locale, and the words that a site's own corpora add. Does not belong here: the
list of all words (`warehouse/quality/lab.py`), or the corpora (`catalogue.py`).

Analysts read no text that one role wrote, so a corpus of deid.toml has a word that `deid db bootstrap` puts on the
list: its name, which is of small letters, digits and underscores (`settings.Identifier`), behind `own-`.
"""

from __future__ import annotations

from collections.abc import Iterator

from deid_platform.settings import Settings

AS_WRITTEN = "as-written"
"""In place of a locale: a corpus with the identifiers that its notes have, as they are."""
OWN = "own-"
LICENSED = {"i2b2": "i2b2-2014", "conll": "conll-2003", "mimic": "mimic-iii"}
"""Corpora that a site has under a licence, by the beginning of their schemes: their gold has their name, by which
tables of the papers are set beside it (Murugadoss 2024, table 5; Aghakasiri 2025; Zambare 2026)."""
_FILLED = ("mimic",)
"""Of these the papers measure what they wrote into placeholders, of the others the notes as they are."""


def word_of_corpus(name: str, locale: str, *, own: bool, scheme: str) -> str:
    """The word of the gold of a corpus.

    Args:
        name: As `deid corpora` lists it.
        locale: Whose surrogates were written in, or `AS_WRITTEN`.
        own: Whether it is a corpus of deid.toml.
        scheme: Whose label names it has.
    """
    measured = name in LICENSED and (locale == AS_WRITTEN) is (name not in _FILLED)
    if measured and scheme.startswith(LICENSED[name]):
        return name
    if not own and name not in LICENSED:
        return name
    return f"{OWN}{name}-{AS_WRITTEN}" if locale == AS_WRITTEN else f"{OWN}{name}"


def words_of_own(settings: Settings | None) -> Iterator[str]:
    """The words of the corpora of deid.toml and of those under a licence, filled and as they are written."""
    names = {*LICENSED, *(settings.corpora.sets if settings is not None else ())}
    for name in sorted(names):
        yield from (f"{OWN}{name}", f"{OWN}{name}-{AS_WRITTEN}")

"""Names by vocabulary and by repetition: given names, and other mentions of names already found.

Belongs here: the one pass over a note's capitalised words. Does not belong here: names that their
surroundings give away (`data/people.yaml`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from deid_platform.detection.detector import word_list
from deid_platform.detection.naming import PARTICLES, is_common
from deid_platform.detection.reading import bounded, fold_term
from deid_platform.labels import Label
from deid_platform.notes import Span

_PERSONS = (Label.PATIENT, Label.DOCTOR)
_WORD = regex.compile(r"\b\p{Lu}[\p{L}\p{M}]+(?:['’\-]\p{L}[\p{L}\p{M}]+)*")
_INNER = regex.compile(r"\p{L}[\p{L}\p{M}]+")
_REPEATED = "patterns:name-repeated"
_GIVEN = "patterns:given-name"
_SURNAME = regex.compile(r"[ \t]+(?:\p{Lu}\.?[ \t]+)?(?P<surname>\p{Lu}[\p{L}\p{M}'’\-]+)")
_INITIAL = regex.compile(r"[ \t]+\p{Lu}(?=\.|[ \t]*[,;:)\r\n])")


def name_mentions(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Further mentions of people in a note.

    A capitalised word that is part of a name found elsewhere in the note is that name again, unless it is
    a common word; a capitalised given name of the shipped list is a name, with the surname after it.

    Args:
        text: The note.
        found: Spans found so far, of any label.
    """
    names: dict[str, Label] = {}
    for span in found:
        if span.label in _PERSONS:
            for part in _INNER.findall(text, span.start, span.end):
                folded = fold_term(part)
                if len(folded) >= 3 and folded not in PARTICLES and not is_common(folded):
                    names.setdefault(folded, span.label)
    given_names = word_list("given_names")
    for match in _WORD.finditer(text):
        word = match[0].removesuffix("'s").removesuffix("’s")
        start, end = match.start(), match.start() + len(word)
        folded = fold_term(word)
        if folded in names and not _also_a_word(text, folded):
            yield Span(start, end, names[folded], 0.7, _REPEATED)
        elif folded in given_names and not is_common(folded) and not (len(word) <= 3 and word.isupper()):
            yield Span(start, _with_surname(text, end), Label.PATIENT, 0.6, _GIVEN)


def _with_surname(text: str, end: int) -> int:
    following = _SURNAME.match(text, end)
    surname = fold_term(following["surname"]).removesuffix("'s") if following else ""
    if following is None or (is_common(surname) and surname not in word_list("surnames")):
        initial = _INITIAL.match(text, end)
        return initial.end() if initial else end
    return end + len(following[0].removesuffix("'s").removesuffix("’s"))


def _also_a_word(text: str, folded: str) -> bool:
    """Whether the same word stands in the note in small letters, as an ordinary word does."""
    start = text.find(folded)
    while start >= 0:
        if bounded(text, start, start + len(folded)):
            return True
        start = text.find(folded, start + 1)
    return False

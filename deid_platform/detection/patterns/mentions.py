"""Other mentions of people whom a note has named once.

Belongs here: the pass over a whole note that marks again what was found elsewhere in it. Does not belong
here: names that the lists know (`vocabulary.py`), that the layout shows (`structure.py`) or that their
surroundings give away (`data/people.yaml`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from deid_platform.detection.naming import PARTICLES, is_common
from deid_platform.detection.patterns.vocabulary import is_ordinary, names_a_thing
from deid_platform.detection.reading import bounded, fold_term
from deid_platform.labels import Label
from deid_platform.notes import Span

_PERSONS = (Label.PATIENT, Label.DOCTOR)
_WORD = regex.compile(r"\b\p{Lu}[\p{L}\p{M}]+(?:['’\-]\p{L}[\p{L}\p{M}]+)*")
_INNER = regex.compile(r"\p{L}[\p{L}\p{M}]+")
_INITIALS_BEFORE = regex.compile(r"(?<![\p{L}.\-])(?:\p{Lu}\.[ \t]?){1,2}\Z")
_REPEATED = "patterns:name-repeated"
_SHORTEST = 3
_SURE = 0.7
_SCORE = 0.75  # above that of the cues which know a name but not whose it is


def repeated_names(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Further mentions in a whole note of the people among what was found in it.

    A capitalised word that is part of a name found elsewhere in the note is that name again, with the
    initials before it, unless it is a common word, stands in small letters elsewhere in the note, or is
    followed by what an eponym names ("Foley catheter" in the note of a Mr. Foley).

    Args:
        text: The note.
        found: Spans found so far, of any label.
    """
    names = _names(text, found)
    if not names:
        return
    words: dict[str, bool] = {}
    for match in _WORD.finditer(text):
        word = match[0].removesuffix("'s").removesuffix("’s").removesuffix("'S").removesuffix("’S")
        folded = fold_term(word)
        label = names.get(folded)
        if label is None and "-" in folded:
            label = next((names[part] for part in folded.split("-") if part in names), None)
        if label is None or names_a_thing(text, match.end()):
            continue
        if folded not in words:
            words[folded] = _also_a_word(text, folded)
        if not words[folded]:
            start = match.start()
            initials = _INITIALS_BEFORE.search(text, max(0, start - 7), start)
            yield Span(initials.start() if initials else start, start + len(word), label, _SCORE, _REPEATED)


def _names(text: str, found: Sequence[Span]) -> dict[str, Label]:
    """The folded words of the people among `found` that name nobody else's thing, with their label."""
    names: dict[str, Label] = {}
    for span in sorted(found, key=lambda s: -s.score):
        if span.label not in _PERSONS:
            continue
        for part in _INNER.findall(text, span.start, span.end):
            folded = fold_term(part)
            if len(folded) < _SHORTEST or folded in PARTICLES or is_common(folded):
                continue
            if span.score >= _SURE or not is_ordinary(folded):
                names.setdefault(folded, span.label)
    return names


def _also_a_word(text: str, folded: str) -> bool:
    """Whether the same word stands in the note in small letters, as an ordinary word does."""
    start = text.find(folded)
    while start >= 0:
        if bounded(text, start, start + len(folded)):
            return True
        start = text.find(folded, start + 1)
    return False

"""Propagates names: further mentions of people whom the note has named once.

Belongs here: the search of a whole note for names that were found elsewhere in it. Does not belong here: names on the
word lists (`rules/names/vocabulary.py`), names that the layout shows (`rules/layout/`), or names that their context
shows (`rules/en/people.yaml`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import regex

from deid_platform.detection.api import Candidate, Evidence, Source, SourceKind
from deid_platform.detection.context.names import about_a_person, is_abbreviation
from deid_platform.detection.rules.names.eponyms import is_eponym_s_name, lies_in_an_eponym, names_a_thing
from deid_platform.labels import PERSONS, Label
from deid_platform.lexicon.classes import is_common, is_ordinary
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term
from deid_platform.text.names import PARTICLES, name_words, single_names
from deid_platform.text.offsets import bounded

# O'Brien with what stands before the apostrophe; of d'Angelo that is sought for itself.
_WORD = regex.compile(r"\b\p{Lu}(?:[\p{L}\p{M}]+|['’]\p{L}[\p{L}\p{M}]+)(?:['’\-]\p{L}[\p{L}\p{M}]+)*")
_SMALL_BEFORE = regex.compile(r"\b\p{Ll}\p{L}{0,4}['’]", regex.REVERSE)
_INNER = regex.compile(r"\p{L}[\p{L}\p{M}]*")
_APOSTROPHES = ("'", "’")
_PARTS = regex.compile("['-]")
# Written apart: "O Brien", "van der Berg".
_OPENING_BEFORE = regex.compile(r"(?<![\p{L}\p{M}.'’\-])(?:\p{L}{1,4}[ \t]+){1,3}\Z")
_LONGEST_OPENING = 14
_INITIALS_BEFORE = regex.compile(r"(?<![\p{L}.\-])(?:\p{Lu}\.[ \t]?){1,2}\Z")
_REPEATED = Source(SourceKind.RULES, "name-repeated")
_SHORTEST = 3
_SCORE = 0.75  # above that of the cues which know a name but not whose it is


def repeated_names(text: str, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Further mentions in a whole note of the people among what was found in it.

    A capitalised word that is part of a name found elsewhere in the note is that name again, with the
    initials before it, unless it is a common word, stands in small letters elsewhere in the note, or is
    followed by what an eponym names ("Foley catheter" in the note of a Mr. Foley).

    Args:
        text: The note.
        found: Spans found so far, of any label.
    """
    names = _names(text, found)
    for start, end, label in mentions_of(names, text):
        yield Candidate.by_rule(start, end, label, _SCORE, _REPEATED)


def mentions_of(
    names: Mapping[str, Label], text: str, *, unless: Callable[[str, int, int], bool] | None = None
) -> Iterator[tuple[int, int, Label]]:
    """Where a text mentions people by words of their names; see `repeated_names`.

    Args:
        names: Folded words of names, with the label of whom they name.
        text: The note.
        unless: Whether a folded word at a place is not the name, beyond what is asked of every word.
    """
    if not names:
        return
    words: dict[str, bool] = {}
    known: dict[str, tuple[str, str, Label] | None] = {}  # of the words met so far, each of which recurs
    opened = {name[cut:] for name in names for cut in range(1, _LONGEST_OPENING) if cut < len(name)}
    for start, stop in _words(text):
        surface = text[start:stop]
        if surface not in known:
            known[surface] = _known(names, surface)
        if (mention := known[surface]) is None:
            continue
        word, folded, label = mention
        end = start + len(word)
        if names_a_thing(text, stop) or lies_in_an_eponym(text, start, stop):
            continue
        if is_abbreviation(text, start, end) and not about_a_person(text, start, end):
            continue
        if folded not in words:
            words[folded] = _also_a_word(text, folded)
        if words[folded] or (unless is not None and unless(folded, start, end)):
            continue
        initials = _INITIALS_BEFORE.search(text, max(0, start - 7), start)
        if initials is not None:
            start = initials.start()
        elif folded in opened:
            start = _opening(names, text, start, folded)
        yield start, end, label


def _words(text: str) -> Iterator[tuple[int, int]]:
    """The capitalised words of a text, each with what an apostrophe joins to it."""
    for match in _WORD.finditer(text):
        start, stop = match.span()
        if text[start - 1 : start] in _APOSTROPHES and (small := _SMALL_BEFORE.match(text, 0, start)):
            start = small.start()
        yield start, stop


def _known(names: Mapping[str, Label], surface: str) -> tuple[str, str, Label] | None:
    """A word without its possessive, the same folded, and whom it names; None if nobody of these names."""
    word, folded = _bare(surface)
    label = names.get(folded) or _label_of_parts(names, folded)
    return None if label is None else (word, folded, label)


@lru_cache(maxsize=65536)
def _bare(surface: str) -> tuple[str, str]:
    """A word without its possessive, and the same folded."""
    word = surface.removesuffix("'s").removesuffix("’s").removesuffix("'S").removesuffix("’S")
    return word, fold_term(word)


def _names(text: str, found: Sequence[Candidate]) -> dict[str, Label]:
    """The folded words of the people among `found` that name nobody else's thing, with their label."""
    names: dict[str, Label] = {}
    # What a site's recognizer calls a clinician may be the patient by all that the shipped patterns know.
    for span in sorted(found, key=lambda c: (c.source.of_site, -c.confidence)):
        if span.label not in PERSONS or span.evidence is Evidence.PREDICTED:
            continue
        for folded in standalone_words(text, span):
            if is_common(folded):
                continue
            if span.evidence >= Evidence.CONTEXT or not is_ordinary(folded):
                names.setdefault(folded, span.label)
    return names


def standalone_words(text: str, span: Candidate) -> Iterable[str]:
    """The folded words of a name that can stand for it alone; those of O'Brien and van der Berg also run together."""
    for single in single_names(text[span.start : span.end]):
        words = name_words(single)
        yield from (word for word in words if len(word) >= _SHORTEST and word not in PARTICLES)
        if len(words) > 1:
            yield "".join(words)


def _label_of_parts(names: Mapping[str, Label], folded: str) -> Label | None:
    """The label of a word by what stands between its hyphens and apostrophes, or by all of it without them."""
    if "-" not in folded and "'" not in folded:
        return None
    parts = _PARTS.split(folded)
    if "-" in folded and _is_eponym(folded) and not all(part in names for part in parts):
        return None
    written = (folded.replace("'", ""), *folded.replace("'", "").split("-"), *parts)
    return next((names[part] for part in written if part in names), None)


def _is_eponym(folded: str) -> bool:
    """Whether a word with hyphens is an eponym: "Wolff-Parkinson-White" in the notes of a Mr. White."""
    return folded in word_list("eponyms") or is_eponym_s_name(folded.replace("-", " "))


def _opening(names: Mapping[str, Label], text: str, start: int, folded: str) -> int:
    """Where a mention begins whose word begins there and is the end of a name: with the particles of that name."""
    opening = _OPENING_BEFORE.search(text, max(0, start - _LONGEST_OPENING), start)
    for word in _INNER.finditer(text, opening.start(), start) if opening is not None else ():
        if fold_term("".join(text[word.start() : start].split())) + folded in names:
            return int(word.start())
    return start


def _also_a_word(text: str, folded: str) -> bool:
    """Whether the same word stands in the note in small letters, as an ordinary word does."""
    start = text.find(folded)
    while start >= 0:
        if bounded(text, start, start + len(folded)):
            return True
        start = text.find(folded, start + 1)
    return False

"""Takes back what a model alone calls a name or a place, where its words are the institution's vocabulary.

Belongs here: which candidates vocabulary takes back. Does not belong here: which words are vocabulary
(`word_counts.py`), or clinical terms that are known as such (`recovery/`).

The model knows no institution's abbreviations and forms, and takes what it does not know for a name. A candidate is
taken back only if

- a model alone marks it: no rule, topic, roster, language model or other mention of the note marks any part of it, and
  nothing that stays is marked beside it ("Golden Reach National");
- it is called a person, an institution or a place, and has no digit;
- all of its words are vocabulary, and none is in the topics of staff and institutions, or their initials. A word of a
  list of names, or of a patient's name, is one only in small letters; a few letters in capitals only if they stand in
  capitals in the notes that were counted;
- none of its words is one of somebody whom the note names with more evidence than that;
- it does not stand where somebody signs with initials;
- as an institution or a place, it is written in small letters, or it is one word in capitals that notes of several
  institutions share: those of one institution share its name, and the town's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import regex

from deid_platform.detection.api import Candidate, Document, Evidence, SourceKind
from deid_platform.detection.resolve.word_counts import LONGEST_ABBREVIATION, is_signed, may_be_a_name
from deid_platform.labels import NAMES_AND_PLACES, PERSONS
from deid_platform.lexicon.lists import written_terms
from deid_platform.notes import Topics
from deid_platform.text.fold import fold, fold_term

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_CONTEXTUAL = regex.compile(r"[\p{Greek}\p{Cyrillic}]")
_APART = 3  # code points


@cache
def shared_words() -> frozenset[str]:
    """The shipped words that notes of several institutions share."""
    return frozenset(written_terms("shared_words"))


def words_at_stake(text: str, own: Iterable[str]) -> Iterator[str]:
    """Those of an institution's own words on which it may hang what `LocalWords` does with a text; rather too many.

    It asks of no word but those of the text and parts of them, folded, in small letters, capitals or capitalised.

    Args:
        text: A document's.
        own: The words.
    """
    folded = fold(text).text
    # Where folding hangs on the letters around, or capitals on more than one letter, a part may fold otherwise.
    if _CONTEXTUAL.search(text) or _CONTEXTUAL.search(folded) or folded.upper().lower() != folded:
        yield from own
        return
    yield from (word for word in own if word.lower() in folded)


class LocalWords:
    """A resolving stage.

    Args:
        shared: Words that the notes of several institutions share, as `word_counts.vocabulary` writes them.
        own: Those of the institution's own notes.
        topics: Whose staff's and institutions' words and initials are no vocabulary, and whose patients' and
            relatives' names are so in small letters alone.
    """

    def __init__(self, shared: Iterable[str], own: Iterable[str] = (), topics: Topics | None = None) -> None:
        topics = topics or Topics()
        staff = frozenset(_of_staff(topics))
        self._shared = frozenset(word for word in shared if word.lower() not in staff)
        self._every = self._shared.union(word for word in own if word.lower() not in staff)
        vocabulary = frozenset(map(str.lower, self._every))
        self._patients = frozenset(word for word in _of_patients(topics) if word in vocabulary)

    def __repr__(self) -> str:
        return "<LocalWords>"

    def __call__(self, document: Document, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates without what is vocabulary, in the order given."""
        text = document.text
        doubtful = [c for c in candidates if _may_be_vocabulary(c) and self._is_vocabulary(text, c)]
        if not doubtful:
            return list(candidates)
        places = {(c.start, c.end) for c in doubtful}
        others = [c for c in candidates if not _may_be_vocabulary(c) or (c.start, c.end) not in places]
        named = {word for c in others if c.label in PERSONS and _is_surer(c) for word in _folded(text, c)}
        taken = {
            (c.start, c.end)
            for c in doubtful
            if named.isdisjoint(_folded(text, c)) and not any(_touches(text, c, other) for other in others)
        }
        return [c for c in candidates if (c.start, c.end) not in taken]

    def _is_vocabulary(self, text: str, candidate: Candidate) -> bool:
        words = _WORD.findall(text, candidate.start, candidate.end)
        if not words or is_signed(text, candidate.start, candidate.end):
            return False
        if candidate.label in PERSONS or all(map(str.islower, words)):
            return all(self._is_one_of(self._every, word) for word in words)
        return len(words) == 1 and not words[0].istitle() and self._is_one_of(self._shared, words[0])

    def _is_one_of(self, vocabulary: frozenset[str], word: str) -> bool:
        folded = fold_term(word)
        if word.islower():
            return folded in vocabulary
        if folded in self._patients or may_be_a_name(folded):
            return False
        if word.isupper() and len(word) <= LONGEST_ABBREVIATION:
            return folded.upper() in vocabulary
        return folded in vocabulary or folded.capitalize() in vocabulary


def _of_staff(topics: Topics) -> Iterator[str]:
    """Folded words of the names of staff and institutions, user names, abbreviations, and the initials of staff."""
    for provider in topics.every_provider():
        names = [*_words(provider.first_name), *_words(provider.last_name)]
        yield from (*names, *_words(provider.user_id))
        initials = "".join(name[0] for name in names)
        yield from (initials, initials[:1] + initials[-1:])
    for facility in topics.every_facility():
        yield from (*_words(facility.name), *_words(facility.abbreviation), *_words(facility.city))


def _of_patients(topics: Topics) -> Iterator[str]:
    """Folded words of the names of patients and their relatives."""
    for patient in topics.every_patient():
        for name in (patient.first_name, patient.middle_name, patient.last_name, patient.relatives):
            yield from _words(name)


def _words(value: str | None) -> list[str]:
    return [] if value is None else _WORD.findall(fold_term(value))


def _may_be_vocabulary(candidate: Candidate) -> bool:
    source = candidate.source
    predicted = source.kind is SourceKind.MODEL and not source.asked and candidate.evidence is Evidence.PREDICTED
    return predicted and candidate.label in NAMES_AND_PLACES


def _is_surer(candidate: Candidate) -> bool:
    return candidate.evidence > Evidence.PREDICTED or candidate.source.kind is not SourceKind.MODEL


def _touches(text: str, candidate: Candidate, other: Candidate) -> bool:
    """Whether two overlap, or nothing but a space or a sign parts them: they may be one name."""
    first, second = sorted((candidate, other), key=lambda c: (c.start, c.end))
    return first.end >= second.start or (
        second.start - first.end <= _APART and not any(map(str.isalnum, text[first.end : second.start]))
    )


def _folded(text: str, candidate: Candidate) -> list[str]:
    return [fold_term(word) for word in _WORD.findall(text, candidate.start, candidate.end)]

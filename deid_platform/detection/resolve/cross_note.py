"""Mentions across notes: what was found in one note of a patient is searched for in the others.

Belongs here: which mentions of a note are searched for in its patient's other notes, and finding them there. Does not
belong here: mentions within one note (`resolve/propagate/`), or the order of the two passes (`detection/two_pass.py`).

A letter introduces "Mrs. Ostrowe, the patient's sister", and a line of the next shift says "Ostrowe at bedside". A name
that its context showed once is a name in all of the patient's notes; a word that is also an ordinary one counts there
only where its context shows a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from deid_platform.detection.api import Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.context.names import reads_as_name
from deid_platform.detection.resolve.propagate.names import mentions_of, standalone_words
from deid_platform.detection.resolve.propagate.strings import copies_of, telling_strings
from deid_platform.labels import PERSONS, Label
from deid_platform.lexicon.classes import is_ordinary
from deid_platform.lexicon.lists import word_list
from deid_platform.notes import Span
from deid_platform.text import readable
from deid_platform.text.fold import fold

_NAME, _STRING = (Source(SourceKind.CROSS_NOTE, name) for name in ("name", "string"))
_CONFIDENCE = 0.8  # as sure as a name that a title introduces: of a Mr. Foley's notes, "Foley" is no catheter


@dataclass(frozen=True)
class Mentioned:
    """What notes tell about the other notes of their patient. Its `repr` shows nothing of it.

    Attributes:
        names: Folded words of people's names, with the label of whom they name.
        strings: Numbers, institutions and places as they are written.
    """

    names: Mapping[str, Label] = field(default_factory=dict, repr=False)
    strings: Mapping[str, Label] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return bool(self.names or self.strings)

    def without(self, other: Mentioned) -> Mentioned:
        """What the other does not tell."""
        return Mentioned(
            {word: label for word, label in self.names.items() if word not in other.names},
            {string: label for string, label in self.strings.items() if string not in other.strings},
        )

    def may_occur_in(self, text: str) -> bool:
        """Whether a text holds any of it at all, words or not; quick, for most notes of a patient hold nothing new."""
        if any(string in text for string in self.strings):
            return True
        folded = fold(text).text if self.names else ""
        return any(name in folded for name in self.names)


def mentioned_in(text: str, spans: Iterable[Span]) -> Mentioned:
    """What a note tells about its patient's other notes, by the spans that a detector found in it."""
    return mentions_in(text, [Candidate.of_span(span) for span in spans])


def mentions_in(text: str, spans: Sequence[Candidate]) -> Mentioned:
    """What a note tells about its patient's other notes.

    Args:
        text: The note.
        spans: What the detector found in it. Only what is sure counts; of names that are ordinary words as well
            (Young, Grace), those that a list of names has.
    """
    text, spans = _as_read(text, spans)
    names: dict[str, Label] = {}
    for span in spans:
        if span.label in PERSONS and span.evidence >= Evidence.CONTEXT:
            for word in standalone_words(text, span):
                if not is_ordinary(word) or word in word_list("given_names") or word in word_list("surnames"):
                    _say(names, word, span.label)
    return Mentioned(names, telling_strings(text, spans))


def _as_read(text: str, spans: Sequence[Candidate]) -> tuple[str, Sequence[Candidate]]:
    """A note as its reader sees it, so that one note's "M&uuml;ller" is the other's "Müller"."""
    seen = readable(text)
    if not seen.layers:
        return text, spans
    places = ((seen.shown(span.start, span.end), span) for span in spans)
    return seen.text, [span._replace(start=place[0], end=place[1]) for place, span in places if place is not None]


def together(told: Iterable[Mentioned]) -> Mentioned:
    """What several notes tell, whatever their order."""
    names: dict[str, Label] = {}
    strings: dict[str, Label] = {}
    for each in told:
        for known, said in ((names, each.names), (strings, each.strings)):
            for form, label in said.items():
                _say(known, form, label)
    return Mentioned(names, strings)


def _say(known: dict[str, Label], form: str, label: Label) -> None:
    """Two notes may disagree: that it is the patient's or a relative's is the graver thing to miss."""
    known[form] = max(known.get(form, label), label, key=lambda each: (each is Label.PATIENT, each.value))


class CrossNoteMentions:
    """Marks in a note what other notes of its patient have named.

    Args:
        told: By them.
    """

    def __init__(self, told: Mentioned) -> None:
        self._told = told

    def __repr__(self) -> str:
        return "<CrossNoteMentions>"

    def detect(self, documents: Sequence[Document]) -> list[list[Candidate]]:
        """Mentions in each document; see `Detector`."""
        return [self._find(document) for document in documents]

    def _find(self, document: Document) -> list[Candidate]:
        text = document.text

        def is_none(word: str, start: int, end: int) -> bool:
            doubtful = is_ordinary(word) or word in word_list("eponym_names")
            return doubtful and not reads_as_name(text, start, end)

        names = mentions_of(self._told.names, text, unless=is_none)
        found = [Candidate.by_rule(start, end, label, _CONFIDENCE, _NAME) for start, end, label in names]
        strings = copies_of(self._told.strings, text)
        return found + [Candidate.by_rule(start, end, label, _CONFIDENCE, _STRING) for start, end, label in strings]

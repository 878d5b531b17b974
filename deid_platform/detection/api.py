"""The interface of detectors: documents in, candidates out.

Belongs here: the records and the contract that rules, topics, models and the pipeline share. Does not belong here: any
detector, or how candidates become spans (`pipeline.py`, `resolve/`).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import NamedTuple, Protocol

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.text.normalize import NormalizedText


class Likelihoods(NamedTuple):
    """What a model says of each word of a document, whether or not it makes a candidate of it.

    Attributes:
        starts: First code point of each word, in order.
        ends: One past its last.
        probabilities: That it is of an identifier, 0 to 1.
    """

    starts: Sequence[int]
    ends: Sequence[int]
    probabilities: Sequence[float]


class Document(NormalizedText):
    """A stretch of a note as detectors read it: decoded, without disguises, and bounded in length.

    Its `repr` shows nothing of the note. Offsets of candidates are code points of `text`, not of `note.text`.

    Attributes:
        note: The note, for its ids and its language.
        text: What detectors read.
        likelihoods: What models that have read it say of its words, one entry a model.
        failure: Why a stage could not read it, where that stage goes on with the others; its note fails.
    """

    def __init__(self, note: Note, text: str | None = None) -> None:
        super().__init__(note.text if text is None else text)
        self.note = note
        self.likelihoods: list[Likelihoods] = []
        self.failure: Code | None = None


class SourceKind(StrEnum):
    """Kinds of detectors, from the least to the best informed about what they find."""

    CROSS_NOTE = "cross-note"
    MODEL = "model"
    RULES = "rules"
    GAZETTEER = "gazetteer"
    ROSTER = "roster"

    @property
    def informed(self) -> int:
        """The rank of this kind, from 0; a higher one is better informed."""
        return _INFORMED[self]


_INFORMED = {kind: position for position, kind in enumerate(SourceKind)}


OF_SITE = "site-"
"""Prefix of the names of an institution's own recognizers."""
ASKED = "chat/"
"""Prefix of the names of language models; a prompt's name follows."""


class Source(NamedTuple):
    """What found a candidate.

    Attributes:
        kind: The kind of detector.
        name: The recognizer, the stage or the model; empty where the kind says enough.
        of_site: Whether an institution wrote it. It adds to what is hidden, and never decides what a label is.
    """

    kind: SourceKind
    name: str = ""
    of_site: bool = False

    @property
    def asked(self) -> bool:
        """Whether it is a language model."""
        return self.kind is SourceKind.MODEL and self.name.startswith(ASKED)

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else str(self.kind)

    @classmethod
    def parse(cls, written: str) -> Source:
        """The source of a span; any text that is not `str` of a source is the name of a model."""
        kind, _, name = written.partition(":")
        if kind not in tuple(SourceKind):
            return cls(SourceKind.MODEL, written)
        return cls(SourceKind(kind), name, of_site=name.startswith(OF_SITE))


class Evidence(IntEnum):
    """Why a candidate may be an identifier: what later stages decide by.

    PREDICTED: a model says so, whatever its probability. It is not propagated and may be recovered.
    LISTED: a word list knows the word, and its context says nothing. Only words without another meaning propagate.
    CONTEXT: its context suggests it: "saw ... today". It is propagated within the patient's notes.
    INTRODUCED: a title or the like introduces it: "Mrs. ...". A clinical term with the same name does not recover it.
    LABELLED: a label names it: "Dictated by: ...". A common clinical abbreviation does not recover it either.
    PROVEN: it cannot be anything else: a check digit, an e-mail address, the roster. It is never recovered.
    """

    PREDICTED = 0
    LISTED = 1
    CONTEXT = 2
    INTRODUCED = 3
    LABELLED = 4
    PROVEN = 5

    @classmethod
    def of_rule(cls, confidence: float) -> Evidence:
        """The evidence of a rule, from the confidence in its table.

        That number is set by hand and is not a probability. A model's confidence never becomes evidence.
        """
        return next((evidence for least, evidence in _OF_RULES if confidence >= least), cls.LISTED)


_OF_RULES = (
    (0.95, Evidence.PROVEN),
    (0.9, Evidence.LABELLED),
    (0.8, Evidence.INTRODUCED),
    (0.7, Evidence.CONTEXT),
)


class Candidate(NamedTuple):
    """A stretch of a document that may be an identifier.

    Attributes:
        start: First code point of the document, from 0.
        end: One past the last code point.
        label: What kind of identifier it would be.
        source: What found it.
        evidence: Why; what later stages decide by.
        confidence: From 0 to 1; ranks candidates of one kind of source, and decides nothing else.
    """

    start: int
    end: int
    label: Label
    source: Source
    evidence: Evidence
    confidence: float

    @classmethod
    def by_rule(cls, start: int, end: int, label: Label, confidence: float, source: Source) -> Candidate:
        """A candidate of a rule, whose confidence decides its evidence too."""
        return cls(start, end, label, source, Evidence.of_rule(confidence), confidence)

    @classmethod
    def of_span(cls, span: Span) -> Candidate:
        """The candidate that a span was made from."""
        source = Source.parse(span.source)
        predicted = source.kind is SourceKind.MODEL
        evidence = Evidence.PREDICTED if predicted else Evidence.of_rule(span.score)
        return cls(span.start, span.end, span.label, source, evidence, span.score)

    def span(self) -> Span:
        """The candidate as a span, as a detector of notes returns it.

        Raises:
            DeidError: `span-bounds` if it is empty or reversed.
        """
        return Span(self.start, self.end, self.label, self.confidence, str(self.source))

    def moved(self, by: int) -> Candidate:
        """The candidate shifted by a number of code points."""
        return self._replace(start=self.start + by, end=self.end + by)

    def overlaps(self, other: Candidate) -> bool:
        """Whether the two share at least one code point."""
        return self.start < other.end and other.start < self.end


class NotesFailedError(DeidError):
    """Some notes of a batch failed, each by itself; whoever does not look at the others has none of them.

    Args:
        outcomes: The spans of each note, or why there are none.
    """

    def __init__(self, outcomes: Sequence[tuple[Span, ...] | Code]) -> None:
        super().__init__(next(each for each in outcomes if isinstance(each, Code)))
        self.outcomes = outcomes


class Detector(Protocol):
    """Finds candidates in documents, batch in, batch out, since a model reads many at once."""

    def detect(self, documents: Sequence[Document]) -> list[list[Candidate]]:
        """The candidates of each document, in the order of the documents.

        Returns:
            One list per document: in any order, possibly overlapping, inside the text. What is found in a document does
            not depend on the others.

        Raises:
            DeidError: `detector-failed` if a document could not be searched to its end.
        """
        ...

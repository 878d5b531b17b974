r"""CoNLL-2003: a token a line, with the tag of its entity in the last column.

Belongs here: those columns, read as text with spans and written. Does not belong here: what the labels are
(`labels.py`).

    -DOCSTART- -X- -X- O
    (blank)
    Ann -X- -X- I-PATIENT
    came -X- -X- O

A line `-DOCSTART-` begins a note, a blank line ends a sentence. Tags are read in either form: IOB1, as published, where
B- stands only between two neighbouring entities of one kind, and IOB2, where every entity begins with it. Columns are
parted by spaces or tabs. MISC is no identifier.

The format holds neither spaces nor ids. **Reading** joins tokens by one space and sentences by a line break; offsets
are those of that text, and a note's id is its file's name and its place in it (`eng.testa-12`). **Writing** cuts tokens
at the borders of spans, so that every span is whole tokens, and never ends a sentence inside one: reading it back gives
the same spans in the same order, and the same text but for white space. A span of white space alone is not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import regex

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.annotations import Annotation, GoldFaultError, check_text, spans_of
from deid_platform.corpora.decoding import BrokenFileError, OverlongLine, chunks, lines
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.formats.gold_files import (
    gold_files,
    refused,
    unwritable,
    writable,
    written_file,
)
from deid_platform.corpora.gold import COMPRESSION, Gold
from deid_platform.corpora.schemes import Scheme, scheme_of
from deid_platform.notes import Note

_START = "-DOCSTART-"
_COLUMNS = re.compile(r"[ \t]+")
_TAG = re.compile(r"([IB])-(\S+)")
_RUN = re.compile(r"\S+")
# Numbers, times and hyphenated words are one token; any other sign is one by itself.
_TOKEN = regex.compile(r"[\w\p{M}]+(?:[.,'’/:\-][\w\p{M}]+)*|.", regex.DOTALL)
_LINE_END = re.compile(r"[\r\n]")
_LONGEST_LINE = 1 << 20  # bytes: a thousand times the longest word


@dataclass(frozen=True)
class Conll:
    """The format `conll`, of gold alone."""

    def read(self, path: Path, *, scheme: str) -> Iterator[Gold | Rejection]:
        """The notes of a file, or of all files of a folder, a note at a time in memory; rejections tell the line."""
        chosen = scheme_of(scheme)
        folder, names = gold_files(path, lambda name: (path / name).is_file())
        for ordinal, name in enumerate(names):
            for note in _documents(folder / name):
                try:
                    yield note.gold(chosen)
                except GoldFaultError as fault:
                    yield refused(ordinal, fault.place or note.line, fault.reason, note.note_id)

    def write(self, notes: Iterable[Gold], path: Path) -> int:
        """Writes one file with tags in IOB1. Ids, clinical terms and the fields of a note have no place in it."""
        count = 0
        with written_file(path) as stream:
            for count, gold, note in writable(notes):
                stream.write(f"{_START} -X- -X- O\n\n")
                for sentence in _sentences(gold, note.text, count):
                    stream.writelines(f"{token} -X- -X- {tag}\n" for token, tag in sentence)
                    stream.write("\n")
        return count


@dataclass(repr=False)
class _Document:
    """One note as its lines are read.

    Attributes:
        note_id: Its file's name and its place in the file.
        line: On which it begins.
        fault: The first thing that is wrong with it.
    """

    note_id: str
    line: int
    fault: GoldFaultError | None = None
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _entities: list[Annotation] = field(default_factory=list)
    _before: str = ""

    def __repr__(self) -> str:
        return "<_Document>"

    def end_sentence(self) -> None:
        """A blank line."""
        if self._parts and self._parts[-1] != "\n":
            self._add("\n")
        self._before = ""

    def add(self, columns: list[str], number: int) -> None:
        """The line of a token."""
        tag = columns[-1]
        match = _TAG.fullmatch(tag)
        if len(columns) < 2 or (match is None and tag != "O"):
            self.fault = GoldFaultError(Reason.MALFORMED_ROW, number)
            return
        if self._parts and self._parts[-1] != "\n":
            self._add(" ")
        start = self._length
        self._add(columns[0])
        if self._length > MAX_CHARS:
            self.fault = GoldFaultError(Reason.TEXT_TOO_LONG, number)
        if match is None:
            self._before = ""
            return
        kind = match[2]
        if match[1] == "I" and self._before == kind:
            entity = self._entities.pop()
            start, number = entity.pieces[0][0], entity.place
        self._entities.append(Annotation(((start, self._length),), kind, None, number))
        self._before = kind

    def gold(self, scheme: Scheme) -> Gold:
        """The note with its spans.

        Raises:
            GoldFaultError: What is wrong with it.
        """
        if self.fault is not None:
            raise self.fault
        text = "".join(self._parts).removesuffix("\n")
        check_text(text, MAX_CHARS)
        marked = spans_of(self._entities, text, scheme, exact=True)
        note = Note(self.note_id, text, language=scheme.language)
        return Gold(self.note_id, marked.spans, (), note, marked.no_identifiers, marked.known_errors)

    def _add(self, part: str) -> None:
        self._parts.append(part)
        self._length += len(part)


def _documents(file: Path) -> Iterator[_Document]:
    """The notes of a file; the one that a broken file cuts is at fault."""
    document: _Document | None = None
    count = number = 0
    try:
        stream = lines(chunks(file, COMPRESSION.get(file.suffix)), limit=_LONGEST_LINE, carriage_returns=False)
        for number, line in enumerate(stream, start=1):
            columns = _columns(line, first=number == 1)
            if columns == [""] and document is None:
                continue
            begins = isinstance(columns, list) and columns[0] == _START
            if begins or document is None:
                if document is not None:
                    yield document
                count += 1
                document = _Document(f"{file.name}-{count}", number)
            if begins or document.fault is not None:
                continue
            if isinstance(columns, Reason):
                document.fault = GoldFaultError(columns, number)
            elif columns == [""]:
                document.end_sentence()
            else:
                document.add(columns, number)
    except BrokenFileError as broken:
        if document is None:
            document = _Document(f"{file.name}-1", 1)
        document.fault = GoldFaultError(broken.reason, number + 1)
    if document is not None:
        yield document


def _columns(line: bytes | OverlongLine, *, first: bool) -> list[str] | Reason:
    if isinstance(line, OverlongLine):
        return Reason.TEXT_TOO_LONG
    try:
        text = line.decode("utf-8-sig" if first else "utf-8")
    except UnicodeDecodeError:
        return Reason.INVALID_UTF8
    return _COLUMNS.split(text.strip(" \t\r\n"))


def _sentences(gold: Gold, text: str, number: int) -> Iterator[list[tuple[str, str]]]:
    """The tokens of each sentence with their tags."""
    sentence: list[tuple[str, str]] = []
    done, last = 0, ""  # where the last token ended, and the label of the span that it ends
    for start, end, label in _stretches(gold, text):
        inside = False
        for token_start, token in _tokens(text, start, end):
            if not inside and sentence and _LINE_END.search(text, done, token_start):
                yield sentence
                sentence, last = [], ""
            prefix = "B" if not inside and last == label else "I"
            sentence.append((token, f"{prefix}-{label}" if label else "O"))
            done, last = token_start + len(token), label
            inside = bool(label)
        if label and not inside:
            raise unwritable(number)
    if sentence:
        yield sentence


def _stretches(gold: Gold, text: str) -> Iterator[tuple[int, int, str]]:
    """The text cut at the borders of spans: start, end, and the label of a span."""
    done = 0
    for span in sorted(gold.spans):
        yield done, span.start, ""
        yield span.start, span.end, span.label.value
        done = span.end
    yield done, len(text), ""


def _tokens(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    for run in _RUN.finditer(text, start, end):
        for token in _TOKEN.finditer(text, run.start(), run.end()):
            yield token.start(), token[0]


GOLD = Conll()

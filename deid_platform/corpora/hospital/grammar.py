r"""The notation in which prose is written down, and the page on which it is set.

Belongs here: parsing a template and writing text with its spans. Does not belong here: what a slot means
(`slots`) or where templates lie (`library`).

Notation, one template a line:

    {patient.last}          a slot; `{patient.last|caps}` and `{relative.full|lower}` change its case
    {n:60-100} {f:6.1-9.8}  a whole number; a number with one decimal
    {=stable|improving}     one of several plain words
    {@hpi/more}             one template of that pool, none twice in a note; `{@~x}` allows repeats
    {@hpi/more*2-4}         two to four of them, joined by a space, or as `;lines`, `;bullets`, `;numbered`,
                            `;commas` or `;semis` says
    {@hpi/more?30}          in 30 notes of 100
    [[Bruce protocol]]      a clinical term that must survive
    <adult female> ...      only if the note's patient is both
    \n                      a new line
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from deid_platform.corpora.hospital.spec import Document, Shape
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

_TOKEN = re.compile(r"\[\[|\]\]|\{[^{}]*\}")
_GUARD = re.compile(r"<([a-z0-9_ ]+)>\s*")
_DRAW = re.compile(
    r"@(~?)([a-z0-9_]+(?:[/.][a-z0-9_]+)*)(?:\*(\d+)(?:-(\d+))?)?(?:;(lines|bullets|numbered|commas|semis))?(?:\?(\d+))?"
)
_SLOT = re.compile(r"([A-Za-z0-9_.]+)(?:\|(caps|lower))?")
_NUMBER = re.compile(r"([nf]):([0-9.]+)-([0-9.]+)")
GOLD_SOURCE = "planted"


class Text(NamedTuple):
    """Plain words."""

    text: str


class Mark(NamedTuple):
    """The begin or the end of a clinical term."""

    begins: bool


class Slot(NamedTuple):
    """A value of the note's chart."""

    name: str
    case: str | None


class Number(NamedTuple):
    """A number within bounds, in units of 10**-decimals."""

    low: int
    high: int
    decimals: int


class Choice(NamedTuple):
    """One of several words."""

    words: tuple[str, ...]


class Draw(NamedTuple):
    """Templates from a pool."""

    pool: str
    repeats: bool
    low: int
    high: int
    join: str
    percent: int


Op = Text | Mark | Slot | Number | Choice | Draw


@dataclass(frozen=True)
class Template:
    """A parsed template: its steps, and what must be true of the patient."""

    ops: tuple[Op, ...]
    guard: frozenset[str]


def parse(line: str) -> Template:
    """Read one template.

    Raises:
        DeidError: `template-invalid` with the offending token.
    """
    guard: frozenset[str] = frozenset()
    if match := _GUARD.match(line):
        guard, line = frozenset(match[1].split()), line[match.end() :]
    ops: list[Op] = []
    line, at, depth = line.replace("\\n", "\n"), 0, 0
    for token in _TOKEN.finditer(line):
        if token.start() > at:
            ops.append(Text(line[at : token.start()]))
        at = token.end()
        op = _op(token[0])
        if isinstance(op, Mark):
            depth += 1 if op.begins else -1
            if depth not in (0, 1):
                raise DeidError(Code.TEMPLATE_INVALID, token[0])
        ops.append(op)
    if depth:
        raise DeidError(Code.TEMPLATE_INVALID, "[[")
    if at < len(line):
        ops.append(Text(line[at:]))
    return Template(tuple(ops), guard)


def _op(token: str) -> Op:
    if token in ("[[", "]]"):
        return Mark(token == "[[")  # noqa: S105 - a bracket
    inner = token[1:-1]
    if inner.startswith("="):
        return Choice(tuple(inner[1:].split("|")))
    if match := _DRAW.fullmatch(inner):
        repeats, pool, low, high, join, percent = match.groups()
        least = int(low or 1)
        return Draw(pool, bool(repeats), least, int(high or least), join or "spaces", int(percent or 100))
    if match := _NUMBER.fullmatch(inner):
        kind, low, high = match.groups()
        decimals = 1 if kind == "f" else 0
        return Number(round(float(low) * 10**decimals), round(float(high) * 10**decimals), decimals)
    if match := _SLOT.fullmatch(inner):
        return Slot(match[1], match[2])
    raise DeidError(Code.TEMPLATE_INVALID, token)


class Page:
    """Text under way, with the spans planted in it.

    Args:
        newline: What a line break is written as.
    """

    def __init__(self, newline: str = "\n") -> None:
        self._newline = newline
        self._parts: list[str] = []
        # What stands between the text so far and the next, if a next comes.
        self.gap = ""
        self._term: int | None = None
        self.length = 0
        self._gold: list[Span] = []
        self._shapes: list[Shape | None] = []
        self._clinical: list[tuple[int, int]] = []

    def put(self, text: str, label: Label | None = None, shape: Shape | None = None) -> None:
        """Write; with a label, plant. Spaces at the end of plain text wait: nothing may come after them."""
        if not text:
            return
        if label is not None:
            self._settle()
            start = self.length
            self._raw(text)
            self._gold.append(Span(start, self.length, label, 1.0, GOLD_SOURCE))
            self._shapes.append(shape)
            return
        body = text.rstrip(" ")
        if body:
            if self.gap:
                body = body.lstrip(" ")
            self._settle()
            self._raw(body)
        if len(body) < len(text) and not self.gap:
            self.gap = text[len(text.rstrip(" ")) :]

    def term(self, *, begins: bool) -> None:
        """Begin or end a clinical term."""
        if begins:
            self._settle()
            self._term = self.length
        elif self._term is not None:
            if self.length > self._term:
                self._clinical.append((self._term, self.length))
            self._term = None

    def _settle(self) -> None:
        gap, self.gap = self.gap, ""
        if self.length:
            self._raw(gap)
        elif gap.strip():
            self._raw(gap.lstrip("\n"))

    def _raw(self, text: str) -> None:
        if "\n" in text:
            text = text.replace("\n", self._newline)
        self._parts.append(text)
        self.length += len(text)

    def document(self, note: Note) -> Document:
        """The finished note: `note` with this page's text, and what was planted."""
        text = "".join(self._parts)
        written = Note(
            note_id=note.note_id,
            text=text,
            patient_id=note.patient_id,
            encounter_id=note.encounter_id,
            provider_id=note.provider_id,
            site=note.site,
            note_type=note.note_type,
            note_date=note.note_date,
            language=note.language,
        )
        return Document(written, tuple(self._gold), tuple(self._clinical), tuple(self._shapes))

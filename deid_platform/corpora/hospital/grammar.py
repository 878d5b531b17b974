r"""The notation in which prose is written down.

Belongs here: parsing a template. Does not belong here: setting one (`compose`, `page`), what a slot means (`slots`,
`forms`) or where templates lie (`library`).

Notation, one template a line:

    {patient.last}          a slot; `{patient.last|caps}` and `{relative.full|lower}` change its case
    {patient~L, F}          a person, a date or a number written by a pattern (`forms`), with or without a case
    {n:60-100} {f:6.1-9.8}  a whole number; a number with one decimal
    {=stable|improving}     one of several plain words
    {@hpi/more}             one template of that pool, none twice in a note; `{@~x}` allows repeats
    {@hpi/more*2-4}         two to four of them, joined by a space, or as `;lines`, `;bullets`, `;numbered`,
                            `;commas`, `;semis` or
                            `;sentences` (a full stop where an item has none) says
    {@hpi/more?30}          in 30 notes of 100
    [[Bruce protocol]]      a clinical term that must survive
    <adult female> ...      only if the note's patient is both
    <!holiday> ...          its identifiers are of that shape
    {<} ... {>} {<>}        remember what stands between the first two, and write it again (copied forward)
    \n \t                   a new line, a tab
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from deid_platform.corpora.hospital.spec import Shape
from deid_platform.errors import Code, DeidError

_TOKEN = re.compile(r"\[\[|\]\]|\{[^{}]*\}")
_GUARD = re.compile(r"<([a-z0-9_ !-]+)>\s*")
_DRAW = re.compile(
    r"@(~?)([a-z0-9_]+(?:[/.][a-z0-9_]+)*)(?:\*(\d+)(?:-(\d+))?)?(?:;(lines|bullets|numbered|commas|semis|sentences))?(?:\?(\d+))?"
)
_SLOT = re.compile(r"([A-Za-z0-9_.]+)(?:\|(caps|lower))?")
_FORM = re.compile(r"([A-Za-z0-9_.]+)~([^{}|]+)(?:\|(caps|lower))?")
_NUMBER = re.compile(r"([nf]):([0-9.]+)-([0-9.]+)")


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


class Form(NamedTuple):
    """A value of the note's chart, written by a pattern."""

    name: str
    pattern: str
    case: str | None


class Copy(NamedTuple):
    """What is copied begins (`<`), ends (`>`), or stands here again (`<>`)."""

    sign: str


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


Op = Text | Mark | Slot | Form | Copy | Number | Choice | Draw


@dataclass(frozen=True)
class Template:
    """A parsed template.

    Attributes:
        ops: Its steps.
        guard: What must be true of the patient.
        shape: The shape of its identifiers, if it has one to give.
        way: The way of writing that it is, if it is one.
        shown: Whether the held-out part never draws it.
    """

    ops: tuple[Op, ...]
    guard: frozenset[str]
    shape: Shape | None = None
    way: str | None = None
    shown: bool = False


def parse(line: str) -> Template:
    """Read one template.

    Raises:
        DeidError: `template-invalid` with the offending token.
    """
    guard: frozenset[str] = frozenset()
    shape: Shape | None = None
    if match := _GUARD.match(line):
        words = match[1].split()
        guard, line = frozenset(word for word in words if not word.startswith("!")), line[match.end() :]
        for word in words:
            shape = _shape(word) if word.startswith("!") else shape
    ops: list[Op] = []
    line, at, depth = line.replace("\\n", "\n").replace("\\t", "\t"), 0, 0
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
    return Template(tuple(ops), guard, shape)


def _shape(word: str) -> Shape:
    try:
        return Shape(word[1:])
    except ValueError:
        raise DeidError(Code.TEMPLATE_INVALID, word) from None


def _op(token: str) -> Op:
    if token in ("[[", "]]"):
        return Mark(token == "[[")  # noqa: S105 - a bracket
    inner = token[1:-1]
    if inner in ("<", ">", "<>"):
        return Copy(inner)
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
    if match := _FORM.fullmatch(inner):
        return Form(match[1], match[2], match[3])
    raise DeidError(Code.TEMPLATE_INVALID, token)

r"""Ways of naming identifiers, woven into notes that have none: the notation and the sets.

Belongs here: reading `data/ways/<set>/<language>.txt`. Does not belong here: what a slot writes (`slots.py`) or where a
way goes (`weaving.py`).

Each set has one author, who has seen neither the recognizers nor another set. `SEALED` is the set on which test corpora
are built: whoever writes rules or trains models does not read it, and its digest is fixed in the tests.

A file has sections `[header]`, `[sentence]` ...; in `BLOCKS` a way is a block of lines, blocks are separated by a blank
line, elsewhere it is one line. Lines that begin with `# ` are comments. Within a way:

    {patient~L, F}          a person by a pattern; {past~D Month YYYY} a date; {mrn~###-##} a number
    {clinic} {patient.city} any other slot; `|caps` and `|lower` change its case
    {=stable|unchanged}     one of several words;  {n:2-14} a whole number
    <female> ...            only for such a patient; also <male>, <rel-female>, <doc-male> ...
    \n \t                   a new line, a tab
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

from deid_platform.corpora.injection.slots import Written, writer
from deid_platform.errors import Code, DeidError

OPEN = ("valley", "island", "forest", "prairie")
"""Sets for training and for whoever writes rules."""
TUNING = "coast"
"""The set on which thresholds are chosen and models compared: no model is trained on it."""
SEALED = "summit"
"""The set of the test corpora."""
BLOCKS = ("header", "signature", "section")
LINES = ("opening", "sentence", "lead", "tail", "subject", "subject_again", "possessive", "date")
SECTIONS = (*BLOCKS, *LINES)
GUARDS = ("male", "female", "rel-male", "rel-female", "doc-male", "doc-female")

_SECTION = re.compile(r"\[(\w+)\]\s*")
_GUARD = re.compile(r"<([a-z -]+)> ?")
_TOKEN = re.compile(r"\{([^{}]*)\}")
_NUMBER = re.compile(r"n:(\d+)-(\d+)")


class Choice(NamedTuple):
    """One of several plain words."""

    words: tuple[str, ...]


class Number(NamedTuple):
    """A whole number within bounds."""

    low: int
    high: int


Op = str | Choice | Number | Written


@dataclass(frozen=True, slots=True)
class Way:
    """One way.

    Attributes:
        key: Set, language, section and ordinal: `valley/en/sentence/12`.
        ops: Plain text, and what writes each slot.
        guards: What must be true of the people in the note.
    """

    key: str
    ops: tuple[Op, ...]
    guards: frozenset[str]


Ways = Mapping[str, tuple[Way, ...]]
"""Section -> its ways."""


@cache
def ways_of(name: str, language: str) -> Ways:
    """The ways of one set in one language.

    Raises:
        DeidError: `template-invalid` with the set, the language and the line; `input-invalid` if the set has no such
            language.
    """
    return parse(_text(name, language), f"{name}/{language}", language)


@cache
def digest(name: str) -> str:
    """SHA-256 over a set's files, by which it is sealed."""
    total = hashlib.sha256()
    for language in languages(name):
        total.update(f"{language}\n{_text(name, language)}".encode())
    return total.hexdigest()


def languages(name: str) -> tuple[str, ...]:
    """The languages of a set.

    Raises:
        DeidError: `input-invalid` if there is no such set.
    """
    folder = resources.files("deid_platform.corpora.injection") / "data" / "ways" / name
    if not folder.is_dir():
        raise DeidError(Code.INPUT_INVALID, "ways")
    return tuple(sorted(file.name.removesuffix(".txt") for file in folder.iterdir() if file.name.endswith(".txt")))


def _text(name: str, language: str) -> str:
    path = resources.files("deid_platform.corpora.injection") / "data" / "ways" / name / f"{language}.txt"
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        raise DeidError(Code.INPUT_INVALID, "ways") from None


def parse(text: str, name: str, language: str) -> Ways:
    """The ways of one file's text; arguments and errors as for `ways_of`."""
    found: dict[str, list[Way]] = {section: [] for section in SECTIONS}
    section = ""
    block: list[str] = []

    def close(line: int) -> None:
        if block:
            key = f"{name}/{section}/{len(found[section]) + 1}"
            try:
                found[section].append(_way(key, "\n".join(block), language))
            except (KeyError, ValueError):
                raise DeidError(Code.TEMPLATE_INVALID, f"{name}, line {line}") from None
            block.clear()

    number = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("# "):
            continue
        if match := _SECTION.fullmatch(line):
            close(number)
            section = match[1]
            if section not in found:
                raise DeidError(Code.TEMPLATE_INVALID, f"{name}, line {number}")
        elif not line.strip():
            close(number)
        elif not section:
            raise DeidError(Code.TEMPLATE_INVALID, f"{name}, line {number}")
        else:
            block.append(line)
            if section in LINES:
                close(number)
    close(number)
    return {section: tuple(ways) for section, ways in found.items()}


def _way(key: str, text: str, language: str) -> Way:
    guards: set[str] = set()
    while match := _GUARD.match(text):
        guards.update(match[1].split())
        text = text[match.end() :]
    if not guards <= set(GUARDS):
        raise ValueError
    ops: list[Op] = []
    text = text.replace("\\n", "\n").replace("\\t", "\t")
    at = 0
    for token in _TOKEN.finditer(text):
        if token.start() > at:
            ops.append(text[at : token.start()])
        at = token.end()
        ops.append(_op(token[1], language))
    if at < len(text):
        ops.append(text[at:])
    if any(isinstance(op, str) and ("{" in op or "}" in op) for op in ops):
        raise ValueError
    return Way(key, tuple(ops), frozenset(guards))


def _op(inner: str, language: str) -> Op:
    if inner.startswith("="):
        return Choice(tuple(inner[1:].split("|")))
    if match := _NUMBER.fullmatch(inner):
        return Number(int(match[1]), int(match[2]))
    slot, _, case = inner.partition("|")
    name, tilde, pattern = slot.partition("~")
    written = writer(name, pattern if tilde else None, language)
    return written if not case else written.in_case(_CASES[case])


_CASES: Mapping[str, Callable[[str], str]] = {"caps": str.upper, "lower": str.lower}

"""Reads the files of cases: lines of text in which all that must be found is marked.

`detection/cases/README.md` explains their format. The marks are read by `marked_text.py`; the cases are run by
`detection/test_cases.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import regex
from marked_text import plain

from deid_platform.labels import Label

FOLDER = Path(__file__).parent / "detection" / "cases"
LINE_ENDS = {"LF": "\n", "CRLF": "\r\n", "CR": "\r"}
BREAK = "⏎"

# What an option may say; None: any word.
OPTIONS: dict[str, tuple[str, ...] | None] = {
    "detector": ("rules", "patterns", "gazetteer", "roster"),
    "professions": ("on", "off"),
    "ages": ("on", "off"),
    "topics": None,
    "line ends": tuple(LINE_ENDS),
    "ignored": tuple(label.value for label in Label),
}
DEFAULTS = {
    "detector": ("rules",),
    "professions": ("on",),
    "ages": ("off",),
    "topics": ("none",),
    "line ends": ("LF",),
    "ignored": (),
}
Options = dict[str, tuple[str, ...]]


class CaseFileError(ValueError):
    """A file of cases that cannot be read; the message names the line."""


@dataclass(frozen=True)
class Case:
    """One line of a file, and how it is tried."""

    file: str
    section: str
    number: int
    line: str
    detector: str
    professions: bool
    ages: bool
    topics: str
    line_end: str
    ignored: frozenset[Label]
    variant: str = ""
    """What tells apart the cases of one line."""

    @property
    def id(self) -> str:
        """Such as `dates/numeric-dates:12`."""
        section = regex.sub(r"[^a-z0-9]+", "-", self.section.lower()).strip("-")
        return f"{self.file}/{section}:{self.number}{self.variant}"

    @property
    def marked(self) -> str:
        """The line with its marks, and its breaks as the note has them."""
        return self.line.replace(BREAK, LINE_ENDS[self.line_end])

    @property
    def text(self) -> str:
        """The note's text."""
        return plain(self.marked)


def cases_of(*names: str) -> list[Case]:
    """The cases of the files of some names, or of all files."""
    paths = [FOLDER / f"{name}.txt" for name in names] or sorted(FOLDER.glob("*.txt"))
    return [case for path in paths for case in read(path)]


@cache
def read(path: Path) -> tuple[Case, ...]:
    """The cases of one file.

    Raises:
        CaseFileError: An option that there is not, a mark that is not whole, a line that stands there twice.
    """
    reader = _Reader(path.stem)
    # Not splitlines, which breaks a line at other characters too.
    for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
        try:
            reader.take(line, number)
        except ValueError as wrong:
            raise CaseFileError(f"{path.name}, line {number}: {wrong}") from None
    if empty := [section for section, count in reader.counts.items() if not count]:
        raise CaseFileError(f"{path.name}: no line in section {empty[0]}")
    return tuple(reader.cases)


class _Reader:
    """What was read of a file so far."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.cases: list[Case] = []
        self.counts: dict[str, int] = {}
        self._section = ""
        self._of_file: Options = DEFAULTS
        self._options: Options = DEFAULTS
        self._seen: dict[tuple[str, str], int] = {}

    def take(self, line: str, number: int) -> None:
        if line.startswith("## "):
            self._begin(line[3:].partition(":")[0].strip())
        elif line.startswith("#! "):
            self._set(line[3:])
        elif line and not line.startswith("#"):
            self._add(line, number)

    def _begin(self, section: str) -> None:
        if section in self.counts:
            raise ValueError("a section of this name stands above")
        self._section, self._options = section, self._of_file
        self.counts[section] = 0

    def _set(self, written: str) -> None:
        name, _, value = (part.strip() for part in written.partition(":"))
        words = tuple(value.split())
        if name not in OPTIONS:
            raise ValueError(f"no such option; there are {', '.join(OPTIONS)}")
        allowed = OPTIONS[name]
        if not words or (allowed is not None and not set(words) <= set(allowed)):
            raise ValueError(
                f"{name} is one or more of {', '.join(allowed or ('none', 'known', 'the id of a patient'))}"
            )
        if self.counts.get(self._section):
            raise ValueError("an option stands before the lines of its section")
        self._options = self._options | {name: words}
        if not self._section:
            self._of_file = self._options

    def _add(self, line: str, number: int) -> None:
        if not self._section:
            raise ValueError("a line before the first section")
        if line != line.strip():
            raise ValueError("a blank at an end of the line")
        if (before := self._seen.setdefault((line, str(self._options)), number)) != number:
            raise ValueError(f"stands in line {before} already")
        plain(line)
        self.counts[self._section] += 1
        self.cases.extend(self._tried(line, number))

    def _tried(self, line: str, number: int) -> Iterator[Case]:
        """A case for each way in which the options have a line tried."""
        options = self._options
        line_ends = options["line ends"] if BREAK in line else DEFAULTS["line ends"]
        choices = (options["detector"], options["professions"], options["ages"], options["topics"], line_ends)
        for words in itertools.product(*choices):
            detector, professions, ages, topics, line_end = words
            yield Case(
                *(self.file, self._section, number, line),
                detector=detector,
                professions=professions == "on",
                ages=ages == "on",
                topics=topics,
                line_end=line_end,
                ignored=frozenset(map(Label, options["ignored"])),
                variant="".join(f"-{word}" for word, some in zip(words, choices, strict=True) if len(some) > 1),
            )

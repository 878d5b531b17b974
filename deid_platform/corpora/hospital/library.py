"""The package data, read once a process: word lists, places, and the pools of templates.

Belongs here: reading `data/`. Does not belong here: choosing from it.

Pool files hold sections headed `[name]`, one template a line in the notation of `grammar`; `# ` begins a
comment. `layouts.txt` keeps blank lines, since a layout draws a whole note line by line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from deid_platform.corpora.hospital.grammar import Template, parse

_DATA = files("deid_platform.corpora.hospital") / "data"
_SECTION = re.compile(r"\[([a-z0-9_]+(?:[/.][a-z0-9_]+)*)\]")


@dataclass(frozen=True)
class City:
    """A place with its public codes."""

    name: str
    state: str
    zip: str
    area_code: str


@dataclass(frozen=True)
class Condition:
    """What a condition needs of a patient; its prose lies in pools named `<key>/...`.

    Attributes:
        key: Name of its pools.
        who: Facts that must be true of the patient (`adult female`).
        kinds: `chronic`, `acute`, `inpatient`, `situation`; and `rare`, or `mild` enough for a young mother.
        specialty: Whom one refers it to.
        organs: What its own examination describes, so that no other sentence contradicts it.
    """

    key: str
    who: frozenset[str]
    kinds: frozenset[str]
    specialty: str
    organs: tuple[str, ...]


@cache
def words(name: str) -> tuple[str, ...]:
    """The entries of a word list, in file order."""
    text = (_DATA / f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def pairs(name: str) -> tuple[tuple[str, str], ...]:
    """The entries `left/right` of a word list."""
    return tuple((left, right) for left, _, right in (entry.partition("/") for entry in words(name)))


@cache
def nicknames() -> Mapping[str, str]:
    """First name to nickname."""
    return dict(pairs("nicknames"))


@cache
def cities() -> tuple[City, ...]:
    """All places; those in the first one's state are the hospital's own region."""
    lines = (_DATA / "cities.tsv").read_text(encoding="utf-8").splitlines()
    return tuple(City(*line.split("\t")) for line in lines if line and not line.startswith("#"))


def _sections(name: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in (_DATA / name).read_text(encoding="utf-8").splitlines():
        if match := _SECTION.fullmatch(line):
            current = sections.setdefault(match[1], [])
        elif not line.startswith("# "):
            current.append(line)
    return sections


@cache
def pools() -> Mapping[str, tuple[Template, ...]]:
    """Every pool of templates by name, parsed."""
    found: dict[str, list[Template]] = {}
    for entry in sorted(path.name for path in _DATA.iterdir()):
        if entry.startswith("pool_"):
            for name, lines in _sections(entry).items():
                if not name.endswith("/about"):
                    found.setdefault(name, []).extend(parse(line) for line in lines if line)
    return {name: tuple(templates) for name, templates in found.items()}


@cache
def layouts() -> Mapping[str, tuple[tuple[Template, ...], ...]]:
    """Note type to its layouts, each a tuple of lines; a layout's section is `[type.style]`."""
    found: dict[str, list[tuple[Template, ...]]] = {}
    for name, lines in _sections("layouts.txt").items():
        while lines and not lines[-1]:
            lines.pop()
        found.setdefault(name.partition(".")[0], []).append(tuple(parse(line) for line in lines))
    return {name: tuple(styles) for name, styles in found.items()}


@cache
def conditions() -> tuple[Condition, ...]:
    """Every condition, in file order."""
    found = []
    for name, lines in _sections("pool_conditions.txt").items():
        key, _, section = name.partition("/")
        if section == "about":
            about = dict(line.split(": ", 1) for line in lines if line)
            organs = tuple(about.get("organs", "").split())
            found.append(
                Condition(
                    key, frozenset(about["who"].split()), frozenset(about["kind"].split()), about["specialty"], organs
                )
            )
    return tuple(found)


@cache
def specialties() -> tuple[str, ...]:
    """Every specialty that a condition may be referred to, in the order of the conditions."""
    return tuple(dict.fromkeys(c.specialty for c in conditions()))

"""The package data, read once a process: word lists, places, and the pools of templates.

Belongs here: reading `data/`. Does not belong here: choosing from it.

Pool files hold sections headed `[name]`, one template a line in the notation of `grammar`; `# ` begins a
comment. `ways/*.txt` are pools too, in which every line is a way of writing of its own. `layouts/<type>.txt` hold
a section a layout, `[style]` or `[style.variant]`, and keep blank lines, since a layout draws a whole note line by
line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from deid_platform.corpora.hospital.grammar import Template, parse
from deid_platform.corpora.hospital.spec import TYPE_NAMES, Style

_DATA = files("deid_platform.corpora.hospital") / "data"
_SECTION = re.compile(r"\[([a-z0-9_-]+(?:[/.][a-z0-9_]+)*)\]")
# The ending of a file of pools that the held-out part never draws from, so that what is added moves no figure of it.
_SHOWN = "_shown.txt"
WAY_FAMILIES = ("names", "dates", "places", "identifiers")


class Layout(NamedTuple):
    """How one note is set out: its house of style and its lines."""

    style: Style
    lines: tuple[Template, ...]


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


def _sections(file: Traversable) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if match := _SECTION.fullmatch(line):
            current = sections.setdefault(match[1], [])
        elif not line.startswith("# "):
            current.append(line)
    return sections


def state_name(code: str) -> str:
    """The name of an American state by its two letters; the letters themselves if it is not listed."""
    return dict(pairs("states")).get(code, code)


@cache
def pools() -> Mapping[str, tuple[Template, ...]]:
    """Every pool of templates by name, parsed; those of ways know which way each line is."""
    found: dict[str, list[Template]] = {}
    for entry in sorted((path for path in _DATA.iterdir() if path.name.startswith("pool_")), key=lambda e: e.name):
        for name, lines in _sections(entry).items():
            if not name.endswith("/about"):
                shown = entry.name.endswith(_SHOWN)
                found.setdefault(name, []).extend(replace(parse(line), shown=shown) for line in lines if line)
    for family in WAY_FAMILIES:
        for name, lines in _sections(_DATA / "ways" / f"{family}.txt").items():
            ways = (replace(parse(line), way=f"{family}: {line}") for line in lines if line)
            found.setdefault(name, []).extend(ways)
    return {name: tuple(templates) for name, templates in found.items()}


@cache
def ways() -> Mapping[str, tuple[str, ...]]:
    """Every way of writing, by family: names, dates, places, identifiers."""
    every = [template.way for pool in pools().values() for template in pool if template.way is not None]
    return {family: tuple(way for way in every if way.startswith(f"{family}: ")) for family in WAY_FAMILIES}


@cache
def layouts() -> Mapping[str, tuple[Layout, ...]]:
    """Note type to its layouts."""
    found: dict[str, list[Layout]] = {}
    for kind in TYPE_NAMES:
        for name, lines in _sections(_DATA / "layouts" / f"{kind}.txt").items():
            while lines and not lines[-1]:
                lines.pop()
            style = Style(name.partition(".")[0])
            found.setdefault(kind, []).append(Layout(style, tuple(parse(line) for line in lines)))
    return {kind: tuple(styles) for kind, styles in found.items()}


@cache
def conditions() -> tuple[Condition, ...]:
    """Every condition, in file order."""
    found = []
    for name, lines in _sections(_DATA / "pool_conditions.txt").items():
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

"""Word lists: one a file of `data/`, one term a line, and their index.

A list with columns is read by what they say: `credentials.nurse` are the terms of `credentials.tsv` with `nurse` in one
of their columns, `kin.it.sure` those of `kin.tsv` with both.

Belongs here: reading them. Does not belong here: what a list says of a word (`classes.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from deid_platform.text.fold import fold_term

CLASSES = ("person", "kin", "role", "place", "institution", "date", "clinical", "ordinary")
_DATA = files("deid_platform.lexicon") / "data"


@dataclass(frozen=True)
class ListEntry:
    """What the index says of a word list.

    Attributes:
        what: What stands in it, in one line.
        kind: What its terms are, one of `CLASSES`.
        languages: ISO 639-1 codes; `mul` for names of many languages.
        source: Where its terms come from.
        licences: Those of its sources; `own` is the project's.
    """

    what: str
    kind: str
    languages: tuple[str, ...]
    source: str
    licences: tuple[str, ...]


@cache
def index() -> Mapping[str, ListEntry]:
    """The entry of each word list, by name (`data/index.yaml`)."""
    text = (_DATA / "index.yaml").read_text("utf-8")
    content: dict[str, dict[str, Any]] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    return {
        name: ListEntry(
            said["what"], said["class"], _several(said["language"]), said["source"], _several(said["licence"])
        )
        for name, said in content.items()
    }


def read_terms(text: str) -> tuple[str, ...]:
    """The terms of a word list: one a line, `#` begins a comment, blank lines are skipped."""
    return tuple(
        term for line in text.splitlines() if (term := (line.partition("#")[0] if "#" in line else line).strip())
    )


def written_terms(name: str) -> tuple[str, ...]:
    """The terms of a word list of this package, as they are written there.

    Args:
        name: `data/<name>.txt`; `<name>.<mark>` takes of `data/<name>.tsv` the terms with that mark, and so on.

    Raises:
        LookupError: The index has no list of that name, or no term of it has these marks.
    """
    file, *marks = name.split(".")
    if not marks:
        return read_terms(_text(name, "txt"))
    found = tuple(term for term, *columns in rows(file) if set(marks) <= set(" ".join(columns).split()))
    if not found:
        raise LookupError(f"no term of a word list is marked {name}")
    return found


def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a list with columns (`data/<name>.tsv`).

    Raises:
        LookupError: The index has no list of that name.
    """
    return tuple(tuple(line.split("\t")) for line in read_terms(_text(name, "tsv")))


@cache
def word_list(name: str) -> frozenset[str]:
    """A word list of this package, folded; see `written_terms`.

    Raises:
        LookupError: The index has no list of that name.
    """
    return frozenset(
        term.lower() if term.isascii() and term.isalpha() else fold_term(term) for term in written_terms(name)
    )


def _text(name: str, ending: str) -> str:
    file = _DATA / f"{name}.{ending}"
    if name not in index() or not file.is_file():
        raise LookupError(f"no word list is called {name}.{ending}")
    return file.read_text("utf-8")


def _several(said: str | list[str]) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else tuple(said)

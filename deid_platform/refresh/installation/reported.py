"""Strings that readers reported as leaked, as the note store keeps them, so that no later run lets one through.

Belongs here: reading them. Does not belong here: how they get there (`refresh/staging/findings.py`), or looking for
them in a note (`leakcheck/`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deid_platform.refresh.datasets import tables
from deid_platform.store import NoteStore

NO_NUMBER = 0
"""The number of a string whose finding a restored warehouse has lost; findings are numbered from 1."""


def reported_strings(store: NoteStore) -> tuple[str, ...]:
    """Every string that is an identifier wherever it stands, each once, in order."""
    return tuple(sorted({row["string"] for row in known_findings(store) if row["everywhere"]}))


def reported_in_notes(store: NoteStore, feed: str) -> dict[str, tuple[str, ...]]:
    """Strings that are too common to be identifiers everywhere, by the id of the note in which each was reported."""
    found: dict[str, set[str]] = {}
    for row in known_findings(store):
        if row["feed"] == feed and is_of_note(row) and (note_id := row.get("note_id")) is not None:
            found.setdefault(note_id, set()).add(row["string"])
    return {note_id: tuple(sorted(strings)) for note_id, strings in found.items()}


def is_of_note(row: Mapping[str, Any]) -> bool:
    """Whether a row's string is sought in the reported note alone."""
    return bool(row["string"]) and not row["everywhere"]


def newest_known(store: NoteStore) -> int:
    """The newest finding whose string the note store holds; what is measured now is measured knowing of it."""
    return max((row["finding"] for row in known_findings(store)), default=NO_NUMBER)


def known_findings(store: NoteStore) -> list[dict[str, Any]]:
    """Every finding whose string is kept, oldest first, as rows of `tables.REPORTED_SCHEMA`."""
    if store.manifest(tables.REPORTED, tables.ALL) is None:
        return []
    return store.rows(tables.REPORTED, tables.ALL)

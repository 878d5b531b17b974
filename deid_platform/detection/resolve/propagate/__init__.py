"""Propagation: further mentions in a note of what was found in it once.

    names    people whom the note has named once
    strings  numbers, addresses and institutions

Belongs here: the search of a whole document, after the rules have searched all its paragraphs. Does not belong here:
the patient's other notes (`resolve/cross_note.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from deid_platform.detection.api import Candidate
from deid_platform.detection.resolve.propagate.names import repeated_names
from deid_platform.detection.resolve.propagate.strings import repeated_strings
from deid_platform.detection.rules.names.coordinated_names import coordinated_names


def propagated(text: str, found: Sequence[Candidate]) -> list[Candidate]:
    """Names word by word, numbers and places letter by letter, and what "and" joins to a name that came up again."""
    names = list(repeated_names(text, found))
    return [*names, *repeated_strings(text, found), *coordinated_names(text, names)]

"""One note that is shown, searched for what readers reported: what the worker processes of a search do.

Belongs here: the question to the leak check. Does not belong here: which notes are asked about (`search.py`); nothing
imported here is slow or starts a thread, since workers are forked from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from deid_platform.errors import Code
from deid_platform.leakcheck import LeakCheck
from deid_platform.notes import Span, Topics
from deid_platform.redaction.policy import Policy
from deid_platform.workers import Job, Task


class Shown(NamedTuple):
    """What of a note decides whether it shows a string: original, redacted text, replaced spans, type as released."""

    text: str
    redacted: str
    applied: tuple[Span, ...]
    note_type: str

    def __repr__(self) -> str:
        return "<Shown>"


@dataclass(frozen=True)
class SearchJob(Job[Shown | None, bool]):
    """Says of each note whether it may show one of some strings."""

    policy: Policy
    strings: tuple[str, ...] = field(repr=False)
    fault: ClassVar[Code] = Code.REDACTION_FAILED

    def build(self) -> Task[Shown | None, bool]:
        """A leak check that knows these strings and nobody."""
        return _Searching(LeakCheck.of(Topics(), self.policy, reported=self.strings))

    def failed(self, item: Shown | None) -> bool:  # noqa: ARG002 - nobody knows what is in it
        """It may."""
        return True


class _Searching(Task[Shown | None, bool]):
    def __init__(self, leak_check: LeakCheck) -> None:
        self._leak_check = leak_check

    def __call__(self, batch: Sequence[Shown | None]) -> list[bool]:
        return [note is None or self._leak_check.could_find_reported(*note) for note in batch]

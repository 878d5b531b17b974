"""One note that is shown, searched for what nobody knew of when it was released: what the workers of a search do.

Belongs here: the question to the leak check. Does not belong here: which notes are asked about (`search.py`,
`refresh/hiding/late_names.py`); nothing imported here is slow or starts a thread, since workers are forked from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

from deid_platform.engine.workers import Job, Task
from deid_platform.errors import Code
from deid_platform.leakcheck import LeakCheck, Released
from deid_platform.leakcheck.kin import Kin
from deid_platform.notes import Note, Span, Topics
from deid_platform.redaction.policy import Policy


class Shown(NamedTuple):
    """What decides whether a note shows something.

    Attributes:
        note: The original.
        redacted: Its redacted text; None where nobody can tell.
        applied: The spans that were replaced.
        released: The columns beside it.
    """

    note: Note
    redacted: str | None
    applied: tuple[Span, ...] = ()
    released: Released = Released()

    def __repr__(self) -> str:
        return "<Shown>"


@dataclass(frozen=True)
class SearchJob(Job[Shown, bool]):
    """Says of each note whether it may show one of some strings, or somebody whom rows of its patient name.

    Attributes:
        policy: By which the notes were redacted.
        strings: What was reported.
        topics: Rows of the notes' patients and of their mothers; each is sought in that patient's notes alone.
    """

    policy: Policy
    strings: tuple[str, ...] = field(default=(), repr=False)
    topics: Topics = field(default_factory=Topics, repr=False)
    fault: ClassVar[Code] = Code.REDACTION_FAILED

    def build(self) -> Task[Shown, bool]:
        """A leak check that knows these strings and these families, and nobody else."""
        leak_check = LeakCheck.of(Topics(), self.policy, reported=self.strings)
        return _Searching(replace(leak_check, kin=Kin(self.topics, spare_providers=False)), self.topics)

    def failed(self, item: Shown) -> bool:  # noqa: ARG002 - nobody knows what is in it
        """It may."""
        return True


class _Searching(Task[Shown, bool]):
    def __init__(self, leak_check: LeakCheck, topics: Topics) -> None:
        self._leak_check = leak_check
        self._topics = topics

    def __call__(self, batch: Sequence[Shown]) -> list[bool]:
        return [
            it.redacted is None
            or self._leak_check.could_find(
                it.note, self._topics.patients_known_as(it.note.patient_id), it.redacted, it.applied, it.released
            )
            for it in batch
        ]

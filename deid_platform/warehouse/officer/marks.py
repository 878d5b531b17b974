"""Marks of missed identifiers in notes that research sees: which are open, and why one is dismissed.

Belongs here: calling the functions of `migrations/code/e_marks.sql`. Does not belong here: what a mark is
(`review/missed.py`), which note it stands in (`refresh/staging/marks.py`), or hiding that note (`findings.py`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

from deid_platform.warehouse.server.connection import begin


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMark:
    """A mark that nobody has acted upon, of an identifier in a note of a release that is kept.

    Attributes:
        missed: Names the mark: a keyed digest of the note and the place.
        note_key: As research.notes shows it.
        label: What kind of identifier it is said to be.
        severity: `high` or `low`.
        round: Of review.
        role: Who marked it.
        who: The same as the operating system names them.
        at: When the ledger was told.
        releases: That hold the note.
        shown: Whether analysts read one of them now.
    """

    missed: str
    note_key: str
    label: str
    severity: str
    round: int
    role: str
    who: str
    at: datetime
    releases: tuple[str, ...]
    shown: bool


def open_marks(officer: Engine) -> tuple[OpenMark, ...]:
    """The marks that wait for an officer, oldest first.

    Raises:
        DeidError: `warehouse-not-ready`, `warehouse-unreachable`.
    """
    with begin(officer) as connection:
        rows = [dict(row._mapping) for row in connection.execute(text("SELECT * FROM ctl.open_marks()"))]
    return tuple(OpenMark(**{**row, "releases": tuple(row["releases"])}) for row in rows)


def dismiss_mark(officer: Engine, missed: str, note_key: str, *, who: str, reason: str) -> None:
    """Says why a note stays although an identifier was marked in it.

    Args:
        officer: The engine of the role `officer`.
        missed: Names the mark.
        note_key: The note, as research.notes shows it.
        who: The person who answers for it.
        reason: At least ten characters.

    Raises:
        DeidError: `mark-unknown` if no such mark is open in that note; `waiver-invalid` without a person or a reason.
    """
    with begin(officer) as connection:
        values = {"missed": missed, "key": note_key, "who": who, "reason": reason}
        connection.execute(text("SELECT ctl.dismiss_mark(:missed, :key, :who, :reason)"), values)


def name_marked(officer: Engine, named: Collection[tuple[str, str, str]]) -> None:
    """Says in which notes marks stand: mark, feed and note key of each; what is known already stays."""
    if named:
        missed, feed, note_key = (list(column) for column in zip(*named, strict=True))
        with begin(officer) as connection:
            values = {"missed": missed, "feed": feed, "note_key": note_key}
            connection.execute(text("SELECT ctl.name_marked(:missed, :feed, :note_key)"), values)

"""Leaks that a reader reported: hiding them in every release at once.

Belongs here: the call to the gate's `ctl.retract` and what it found. Does not belong here: keeping the string for
the next leak check (`refresh/findings.py`, in the PHI zone).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, text

from deid_platform.labels import Label
from deid_platform.warehouse.connection import begin

MOST_MATCHES = 1_000
"""With more notes than this holding the same string it is no identifier, and hiding them all would serve nobody."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a report led to.

    Attributes:
        number: Its number in `ctl.finding`.
        length: Characters of the string, whole words and no spaces around them.
        releases: In how many releases the string stands.
        matches: How many other notes hold it as words of its own.
        hidden: How many notes are hidden for it, the one reported among them.
    """

    number: int
    length: int
    releases: int
    matches: int
    hidden: int


@dataclass(frozen=True, slots=True, repr=False)
class ReportedString:
    """What a finding is about: PHI, for the note store alone.

    `everywhere` says whether it is an identifier wherever it stands, or was too common for that.
    """

    finding: int
    feed: str
    label: str
    string: str
    everywhere: bool

    def __repr__(self) -> str:
        return f"<ReportedString {self.finding}>"


def retract(
    officer: Engine,
    keys: Sequence[str],
    start: int,
    end: int,
    *,
    label: Label,
    who: str,
    most_matches: int = MOST_MATCHES,
) -> Finding:
    """Hides a note in all releases, and every other note in which the same string stands as words of its own.

    Until a new run that knows of it has measured them, no delivery passes the gate. The string is neither logged nor
    kept by the database.

    Args:
        officer: The engine of the role `officer`.
        keys: The note's key under each secret that is in use.
        start: Where the identifier begins in the redacted text, in code points.
        end: Where it ends, exclusive.
        label: What kind of identifier it is.
        who: Who reported it.
        most_matches: With more other notes than this, they are counted but not hidden.

    Raises:
        DeidError: `finding-invalid` with `no such note` or `span`; `waiver-invalid` with `who`.
    """
    values = {"keys": list(keys), "start": start, "end": end, "label": label.value, "who": who, "most": most_matches}
    statement = text("SELECT * FROM ctl.retract(:keys, :start, :end, :label, :who, :most)")
    with begin(officer) as connection:
        row = connection.execute(statement, values).one()
    return Finding(row.finding, row.length, row.releases, row.matches, row.hidden)


def reported_since(officer: Engine, newest: int) -> tuple[ReportedString, ...]:
    """What was reported after a finding, oldest first, for whoever keeps the strings.

    Raises:
        DeidError: `warehouse-not-ready`, `warehouse-unreachable`.
    """
    with begin(officer) as connection:
        rows = connection.execute(text("SELECT * FROM ctl.reported_since(:newest)"), {"newest": newest}).all()
    return tuple(ReportedString(row.finding, row.feed, row.label, row.string, row.everywhere) for row in rows)

"""Extracts: reading what a project may read in one transaction, recording it, and asking what still stands.

Belongs here: calling the functions of `migrations/code/g_extracts.sql`, and the stream of rows. Does not belong here:
who may read which row (`migrations/code/d_visibility.sql`), or the files (`oversight/extract.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Engine, text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.server.connection import begin

BATCH = 1000
"""Notes that are in memory at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What an extract is made of: its number, the release, the view that is read, and the project's grants."""

    number: int
    release: str
    relation: str
    grants: list[dict[str, str | None]]
    detector: str
    detector_digest: str
    policy: str
    policy_digest: str
    key_id: str
    at: datetime


class Reading:
    """An extract under way: its rows, batch by batch, each of which is recorded before the next one is read."""

    def __init__(self, connection: Connection, project: str, basis: Basis) -> None:
        self._connection = connection
        self._project = project
        self.basis = basis

    def batches(self, columns: Sequence[str]) -> Iterator[Sequence[Sequence[Any]]]:
        """Rows of these columns in the order of their keys; the first column is `note_key`."""
        statement = text(f"SELECT {', '.join(columns)} FROM {self.basis.relation}")  # noqa: S608 - the database's names
        # By a cursor of the server, where the rest stays; for this statement alone, or later ones would not be run.
        rows = self._connection.execute(statement.execution_options(stream_results=True, yield_per=BATCH))
        for batch in rows.partitions(BATCH):
            self._connection.execute(text("SELECT extracts.add_notes(:keys)"), {"keys": [row[0] for row in batch]})
            yield batch

    def close(self, notes: int, manifest_digest: str) -> None:
        """Records the extract. What is written counts only once the transaction has committed."""
        values = {"p": self._project, "n": notes, "digest": manifest_digest}
        self._connection.execute(text("SELECT extracts.close_extract(:p, :n, :digest)"), values)


@dataclass(frozen=True, slots=True)
class Extract:
    """One extract as it stands.

    Attributes:
        number: Its number.
        project: Whose it is.
        login: Who made it.
        at: When.
        release: Of which release.
        release_state: `active`, `left` (another one took its place), `withheld` or `expired`.
        notes: How many notes it holds.
        manifest_digest: SHA-256 of its manifest.
        hidden: Notes of it that are not shown any more as they were taken.
        granted: Whether its project may still read all that it could then.
        destroyed: Whether its owner has said that every copy is destroyed.
    """

    number: int
    project: str
    login: str
    at: datetime
    release: str
    release_state: str
    notes: int
    manifest_digest: str
    hidden: int
    granted: bool
    destroyed: bool

    @property
    def faults(self) -> tuple[str, ...]:
        """Why it may not be used as it is; empty where it stands."""
        if self.destroyed:
            return ("recorded as destroyed",)
        said = (
            (self.hidden, f"notes hidden since: {self.hidden:,} of {self.notes:,}"),
            (self.release_state in ("withheld", "expired"), f"release {self.release_state}"),
            (not self.granted, "the grant ended"),
        )
        return tuple(what for holds, what in said if holds)

    @property
    def state(self) -> str:
        """`stands`, `destroyed`, or `stale` and why."""
        if self.destroyed:
            return "destroyed"
        return f"stale: {', '.join(self.faults)}" if self.faults else "stands"


@contextmanager
def reading(login: Engine, project: str) -> Iterator[Reading]:
    """One transaction that reads what a project may read, and records it when the block ends well.

    Args:
        login: The engine of a reader's own login.
        project: For which of its projects; the others count for nothing.

    Raises:
        DeidError: `project-unknown` if the login belongs to no such project; `grant-ended`, `nothing-released`,
            `dossier-unsigned`.
    """
    with begin(login.execution_options(isolation_level="REPEATABLE READ")) as connection:
        row = connection.execute(text("SELECT * FROM extracts.begin_extract(:p)"), {"p": project}).one()
        yield Reading(connection, project, Basis(**row._mapping))


def standing(login: Engine, manifest_digest: str) -> Extract:
    """How the extract with this manifest stands.

    Raises:
        DeidError: `extract-unknown`.
    """
    with begin(login) as connection:
        row = connection.execute(text("SELECT * FROM extracts.standing(:d)"), {"d": manifest_digest}).one_or_none()
    if row is None:
        raise DeidError(Code.EXTRACT_UNKNOWN, "manifest.json")
    return Extract(**row._mapping)


def unrecorded(login: Engine, manifest_digest: str, rows: Iterable[tuple[Sequence[str], Sequence[bytes]]]) -> int:
    """How many of these notes are not recorded with this manifest's extract, or are unlike what is recorded.

    Args:
        login: Who asks.
        manifest_digest: Of which extract.
        rows: Batches of keys, and of `row_digest` of each.
    """
    statement = text("SELECT extracts.unrecorded(:d, :keys, :digests)")
    with begin(login) as connection:
        return sum(
            connection.execute(statement, {"d": manifest_digest, "keys": keys, "digests": digests}).scalar_one()
            for keys, digests in rows
        )


def row_digest(shown_date: date | None, shown_text: str) -> bytes:
    """What a note's date and text are compared by."""
    return hashlib.sha256(f"{shown_date or ''}\n{shown_text}".encode()).digest()


def extracts(officer: Engine) -> tuple[Extract, ...]:
    """Every extract as it stands, oldest first."""
    with begin(officer) as connection:
        rows = connection.execute(text("SELECT * FROM ctl.extract_standing()"))
        return tuple(Extract(**row._mapping) for row in rows)


def holders(officer: Engine, *, note_keys: Sequence[str] = (), finding: int | None = None) -> tuple[int, ...]:
    """The numbers of the extracts that hold one of these notes, or one that a finding hides, and are not destroyed."""
    statement = text("SELECT * FROM ctl.extracts_holding(:keys, :finding)")
    with begin(officer) as connection:
        return tuple(connection.execute(statement, {"keys": list(note_keys), "finding": finding}).scalars())


def name_extracts(role: Engine) -> tuple[int, ...]:
    """Enters into the ledger each extract of which more is hidden than it says already, and returns their numbers.

    Args:
        role: The engine of `officer` or `promoter`; to be called after anything was hidden.
    """
    with begin(role) as connection:
        return tuple(connection.execute(text("SELECT * FROM ctl.name_extracts()")).scalars())


def end_extract(officer: Engine, number: int, *, who: str, reason: str) -> None:
    """Records that every copy of an extract is destroyed.

    Raises:
        DeidError: `extract-unknown` if there is none of that number that is not destroyed already; `waiver-invalid`
            without a person or a reason.
    """
    with begin(officer) as connection:
        values = {"n": number, "who": who, "reason": reason}
        connection.execute(text("SELECT ctl.end_extract(:n, :who, :reason)"), values)

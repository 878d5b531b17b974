"""The reviewer's desk in the ledger: what people decide on removals and on quarantined notes.

Belongs here: calling the functions of `migrations/code/e_review.sql` and reading what they recorded. Does not belong
here: what a decision means (`review/`, `refresh/redact/decisions.py`), or any text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.officer.findings import person_of
from deid_platform.warehouse.server.connection import begin


@dataclass(frozen=True, slots=True)
class Ruled:
    """What one person decided about a quarantined note.

    `id` is in the order of the decisions.
    `ruling` is a keyed digest of note, detector and spans. `turn` is 2 where somebody else had decided the same before.
    """

    id: int
    note_key: str
    ruling: str
    action: str
    held_for: str
    turn: int
    who: str
    reason: str
    at: datetime


def enter_decisions(officer: Engine, number: int, role: str, rows: Sequence[Mapping[str, object]]) -> int:
    """Enters the decisions of one role in one round that the ledger lacks; all or none.

    Args:
        officer: The engine of the role `officer`.
        number: Of the round.
        role: Who decided.
        rows: All that this role said, in order, as `tables.DECISION_SCHEMA` has them.

    Returns:
        How many were entered.

    Raises:
        DeidError: `decisions-altered` if what the ledger has is not the beginning of the rows.
    """
    return _enter(officer, "removal_decision", "enter_decision", ("category", "severity"), number, role, rows)


def enter_missed(officer: Engine, number: int, role: str, rows: Sequence[Mapping[str, object]]) -> int:
    """The same of the identifiers that this role marked as missed, as `tables.MISSED_SCHEMA` has them."""
    return _enter(officer, "missed_identifier", "enter_missed", ("missed", "label", "severity"), number, role, rows)


def _enter(
    officer: Engine,
    table: str,
    function: str,
    said: Sequence[str],
    number: int,
    role: str,
    rows: Sequence[Mapping[str, object]],
) -> int:
    columns = ("removal", *said, "who")
    known = text(
        f"SELECT {', '.join(columns)}, decided_at AS at FROM ctl.{table}"  # noqa: S608 - names of this module
        " WHERE round = :round AND role = :role ORDER BY n"
    )
    values = ", ".join(f":{name}" for name in ("round", "role", "n", *columns))
    statement = text(f"SELECT ctl.{function}({values}, CAST(:at AS timestamptz))")
    place = {"round": number, "role": role}
    told = [{name: row[name] for name in (*columns, "at")} for row in rows]
    with begin(officer) as connection:
        stand = [dict(row._mapping) for row in connection.execute(known, place)]
        if stand != [{**row, "at": datetime.fromisoformat(str(row["at"]))} for row in told[: len(stand)]]:
            raise DeidError(Code.DECISIONS_ALTERED, f"round {number}, {role}")
        for n, row in enumerate(told[len(stand) :], start=len(stand) + 1):
            connection.execute(statement, {**row, **place, "n": n})
    return len(rows) - len(stand)


def rule(
    officer: Engine,
    promoter: Engine,
    *,
    feed: str,
    note_key: str,
    ruling: str,
    action: str,
    held_for: str,
    who: str,
    reason: str,
) -> int:
    """Enters what somebody decides about a quarantined note.

    The first who decides something does so as `officer`; who decides the very same after them does so as `promoter`.

    Returns:
        1, or 2 where somebody else had decided the same before.

    Raises:
        DeidError: `second-person` if that was the same person; `waiver-invalid` without a person or a reason.
    """
    last = text(
        "SELECT r.turn = 1 AND r.ruling = :ruling AND r.action = :action AND r.actor = session_user FROM ctl.ruling r"
        " WHERE r.feed = :feed AND r.note_key = :note_key ORDER BY r.id DESC LIMIT 1"
    )
    values = {"feed": feed, "note_key": note_key, "ruling": ruling, "action": action}
    with begin(officer) as connection:
        second: bool | None = connection.execute(last, values).scalar_one_or_none()
    statement = text("SELECT ctl.rule(:feed, :note_key, :ruling, :action, :held_for, :who, :person, :reason)")
    said = {**values, "held_for": held_for, "who": who, "person": person_of(who), "reason": reason}
    with begin(promoter if second else officer) as connection:
        return int(connection.execute(statement, said).scalar_one())


def rulings(reader: Engine, feed: str) -> list[Ruled]:
    """All that was decided about quarantined notes of a feed, oldest first.

    Args:
        reader: The engine of the role `officer` or `gatekeeper`.
        feed: Its name.
    """
    statement = text(
        "SELECT id, note_key, ruling, action, held_for, turn, who, reason, at"
        " FROM ctl.ruling WHERE feed = :feed ORDER BY id"
    )
    with begin(reader) as connection:
        return [Ruled(**row._mapping) for row in connection.execute(statement, {"feed": feed})]


def ruled_feeds(officer: Engine) -> list[str]:
    """Feeds of which people decided anything about a quarantined note."""
    with begin(officer) as connection:
        return list(connection.execute(text("SELECT DISTINCT feed FROM ctl.ruling ORDER BY feed")).scalars())


def ruled(officer: Engine, release: str) -> dict[str, int]:
    """Quarantined notes of a release's feeds about which people decided, by what was decided last."""
    statement = text(
        "SELECT l.action, count(*) AS notes FROM ("
        " SELECT DISTINCT ON (r.feed, r.note_key) r.action FROM ctl.ruling r"
        " WHERE r.feed IN (SELECT d.feed FROM ctl.publication p JOIN ctl.delivery d ON d.delivery = p.delivery"
        "                  WHERE p.release = :release)"
        " ORDER BY r.feed, r.note_key, r.id DESC) l GROUP BY l.action"
    )
    with begin(officer) as connection:
        return {row.action: row.notes for row in connection.execute(statement, {"release": release})}

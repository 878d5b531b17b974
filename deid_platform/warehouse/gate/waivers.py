"""Waivers: a person accepts a requirement that is not met, until a last day or until somebody ends it.

Belongs here: recording, listing and ending them. Does not belong here: what a waiver does at the gate, which is the
database's (`migrations/code/e_gate.sql`), or whether its delivery exists, which the feeds know
(`refresh/next_steps.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from sqlalchemy import Connection, Engine, text

from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.notes import Delivery
from deid_platform.warehouse.server.connection import begin


@dataclass(frozen=True, slots=True)
class Waiver:
    """One waiver as it was recorded, and who ended it, if anybody did.

    `delivery` is None where it covers all of `feed`.
    """

    number: int
    delivery: str | None
    feed: str | None
    requirement: str
    who: str
    reason: str
    until: date
    at: datetime
    ended_by: str | None
    ended_because: str | None
    ended_at: datetime | None

    @property
    def covers(self) -> str:
        """Its delivery, or all of its feed, in words."""
        return self.delivery or f"all of {self.feed}"

    @property
    def in_force(self) -> bool:
        """Whether the gate still goes by it."""
        return self.ended_at is None and self.until >= datetime.now(tz=UTC).date()

    @property
    def state(self) -> str:
        """`in force`, or `ended` and the day."""
        return "in force" if self.in_force else f"ended {(self.ended_at or self.until):%Y-%m-%d}"


def waive(
    officer: Engine,
    requirements: Sequence[str],
    *,
    who: str,
    reason: str,
    until: date,
    delivery: Delivery | None = None,
    feed: str | None = None,
) -> list[int]:
    """Records that a person answers for requirements that were measured and not met: for all of them, or for none.

    Args:
        officer: The engine of the role `officer`.
        requirements: Those that the active profile lets be waived.
        who: The person; the login role is recorded beside it.
        reason: At least ten characters.
        until: The last day on which it holds; after today.
        delivery: For this delivery alone ...
        feed: ... or for all of a feed; exactly one of the two.

    Returns:
        The number of each waiver.

    Raises:
        DeidError: `requirement-unknown`; `waiver-invalid`, naming what is wrong with it.
    """
    same = {"delivery": delivery.key if delivery else None, "feed": feed, "who": who, "reason": reason, "until": until}
    statement = text("SELECT ctl.waive(:delivery, :feed, :requirement, :who, :reason, :until)")
    with begin(officer) as connection:
        _refuse_unknown(connection, requirements)
        return [
            int(connection.execute(statement, {**same, "requirement": requirement}).scalar_one())
            for requirement in requirements
        ]


def _refuse_unknown(connection: Connection, requirements: Sequence[str]) -> None:
    """The database refuses what may not be waived; this says which, and what there is."""
    statement = text(
        "SELECT r.requirement, bool_or(p.active AND r.waivable) AS waivable FROM ctl.requirement r"
        " JOIN ctl.profile p ON p.name = r.profile GROUP BY r.requirement"
    )
    waivable = {row.requirement: row.waivable for row in connection.execute(statement)}
    for requirement in requirements:
        if requirement not in waivable:
            raise DeidError(Code.REQUIREMENT_UNKNOWN, did_you_mean(requirement, waivable))
    if refused := [requirement for requirement in requirements if not waivable[requirement]]:
        profile = connection.execute(text("SELECT name FROM ctl.profile WHERE active")).scalar()
        named = ", ".join(sorted(refused))
        raise DeidError(Code.WAIVER_INVALID, f"requirement {named}: nobody may waive it under the profile {profile}")


def end_waiver(officer: Engine, number: int, *, who: str, reason: str) -> Waiver:
    """Ends a waiver before its last day; from then on the gate does not go by it.

    What was promoted while it held stays in research: a release is taken away by `releases.switch_release`.

    Args:
        officer: The engine of the role `officer`.
        number: The waiver's.
        who: The person who answers for it.
        reason: At least ten characters.

    Returns:
        The waiver.

    Raises:
        DeidError: `waiver-unknown` if none of that number is in force; `waiver-invalid` without a person or a reason.
    """
    with begin(officer) as connection:
        connection.execute(
            text("SELECT ctl.end_waiver(:n, :who, :reason)"), {"n": number, "who": who, "reason": reason}
        )
        return _read(connection, number)[0]


def waivers(officer: Engine) -> tuple[Waiver, ...]:
    """Every waiver that was ever recorded, oldest first."""
    with begin(officer) as connection:
        return _read(connection)


def _read(connection: Connection, number: int | None = None) -> tuple[Waiver, ...]:
    statement = text(
        "SELECT w.id AS number, w.delivery, w.feed, w.requirement, w.who, w.reason, w.until, w.at,"
        " e.who AS ended_by, e.reason AS ended_because, e.at AS ended_at"
        " FROM ctl.waiver w LEFT JOIN ctl.waiver_end e ON e.waiver = w.id"
        " WHERE CAST(:n AS bigint) IS NULL OR w.id = :n ORDER BY w.id"
    )
    return tuple(Waiver(**row._mapping) for row in connection.execute(statement, {"n": number}))

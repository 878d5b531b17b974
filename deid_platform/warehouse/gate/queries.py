"""What a release summary and a dossier need to know, read as the privacy officer.

Belongs here: reading the control tables into records. Does not belong here: how they are laid out for a
reader (`reports/`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

from deid_platform.notes import Delivery
from deid_platform.warehouse.gate.staging import Counts
from deid_platform.warehouse.server.connection import begin


@dataclass(frozen=True, slots=True)
class DeliverySummary:
    """Where a delivery stands.

    Attributes:
        delivery: Its key.
        release: The release that it is staged for.
        state: `staging`, `staged`, `refused` or `promoted`.
        announced: Rows that its source announced.
        approved: Notes of it that are in that release.
        missing: Requirements of the active profile that failed, or were not measured, for the staged content.
        failed: Those of them that failed.
        waived: Requirements that a waiver stands in for.
        leaks: Notes in which the last leak check of the staged content found anything; None if there was none.
        staged_digest: Digest of what is staged.
        published: The same, if that is what the release holds; else None. None too where its files have
            come to withdraw something since.
        demonstration: Whether it is demonstration data.
        at: When its state last changed.
    """

    delivery: str
    release: str
    state: str
    announced: Counts
    approved: int
    missing: tuple[str, ...]
    failed: tuple[str, ...]
    waived: tuple[str, ...]
    leaks: int | None
    staged_digest: str | None
    published: str | None
    demonstration: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class WarehouseSummary:
    """The active profile and release, and every delivery in the order of its feed."""

    profile: str | None
    release: str | None
    deliveries: tuple[DeliverySummary, ...]


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One thing that happened: when, by which login, to what, and how many."""

    at: datetime
    actor: str
    event: str
    delivery: str | None
    release: str | None
    requirements: tuple[str, ...]
    counts: dict[str, object]
    who: str | None = None
    """The person who answers for it, where one does."""
    reason: str | None = None


def summary(officer: Engine) -> WarehouseSummary:
    """The state of the warehouse now.

    Args:
        officer: The engine of the role `officer` (the gatekeeper's works too).

    Raises:
        DeidError: `warehouse-not-ready` if it was never migrated; `warehouse-unreachable`.
    """
    with begin(officer) as connection:
        profile = connection.execute(text("SELECT name FROM ctl.profile WHERE active")).scalar()
        release = connection.execute(text("SELECT release FROM ctl.release WHERE active")).scalar()
        rows = connection.execute(
            text(
                """
                SELECT d.delivery, d.release, d.state, d.clean, d.quarantined, d.withdrawn, d.rejoined,
                       d.demonstration, d.at, coalesce(p.approved, 0) AS approved,
                       coalesce(g.missing, '{}') AS missing, coalesce(g.failed, '{}') AS failed,
                       coalesce(g.waived, '{}') AS waived, l.leaks, d.staged_digest,
                       CASE WHEN p.staged_digest = d.staged_digest AND a.delivery IS NULL
                            THEN p.staged_digest END AS published
                FROM ctl.delivery d
                LEFT JOIN ctl.publication p ON p.release = d.release AND p.delivery = d.delivery
                LEFT JOIN ctl.withdrawn_ahead() AS a (delivery) ON a.delivery = d.delivery
                LEFT JOIN LATERAL (
                    SELECT array_agg(s.requirement ORDER BY s.requirement)
                               FILTER (WHERE s.state IN ('missing', 'failed')) AS missing,
                           array_agg(s.requirement ORDER BY s.requirement)
                               FILTER (WHERE s.state = 'failed') AS failed,
                           array_agg(s.requirement ORDER BY s.requirement)
                               FILTER (WHERE s.state = 'waived') AS waived
                    FROM ctl.gate_state(d.delivery, d.staged_digest) s) g ON true
                LEFT JOIN LATERAL (
                    SELECT CAST(r.measured ->> 'leaks' AS integer) AS leaks
                    FROM ctl.gate r
                    WHERE r.delivery = d.delivery AND r.requirement = 'leaks' AND r.staged_digest = d.staged_digest
                    ORDER BY r.id DESC LIMIT 1) l ON true
                ORDER BY d.feed, d.delivery_seq
                """
            )
        ).all()
    deliveries = tuple(
        DeliverySummary(
            delivery=row.delivery,
            release=row.release,
            state=row.state,
            announced=Counts(row.clean, row.quarantined, row.withdrawn, row.rejoined),
            approved=row.approved,
            missing=tuple(row.missing),
            failed=tuple(row.failed),
            waived=tuple(row.waived),
            leaks=row.leaks,
            staged_digest=row.staged_digest,
            published=row.published,
            demonstration=row.demonstration,
            at=row.at,
        )
        for row in rows
    )
    return WarehouseSummary(profile, release, deliveries)


def known_deliveries(officer: Engine) -> frozenset[str]:
    """Every delivery of which something was ever staged, by its key.

    Raises:
        DeidError: `warehouse-not-ready`, `warehouse-unreachable`.
    """
    with begin(officer) as connection:
        return frozenset(connection.execute(text("SELECT delivery FROM ctl.delivery")).scalars())


def notes_shown(officer: Engine) -> int:
    """How many notes are shown now, whoever's projects they belong to: current versions of the active release."""
    with begin(officer) as connection:
        return int(connection.execute(text("SELECT ctl.notes_shown()")).scalar_one())


def ledger(officer: Engine, delivery: Delivery | None = None, *, release: str | None = None) -> tuple[LedgerEntry, ...]:
    """What happened, oldest first; all of it, or to one delivery, or to one release.

    Raises:
        DeidError: `warehouse-not-ready`, `warehouse-unreachable`.
    """
    statement = text(
        "SELECT at, actor, event, delivery, release, requirements, counts, who, reason FROM ctl.ledger"
        " WHERE (CAST(:d AS text) IS NULL OR delivery = :d) AND (CAST(:r AS text) IS NULL OR release = :r) ORDER BY id"
    )
    with begin(officer) as connection:
        rows = connection.execute(statement, {"d": delivery.key if delivery else None, "r": release}).all()
    return tuple(LedgerEntry(**{**row._mapping, "requirements": tuple(row.requirements)}) for row in rows)

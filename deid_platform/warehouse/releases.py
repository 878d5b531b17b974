"""Releases: which there are, which one analysts see, and how two of them differ.

Belongs here: listing, switching, comparing and expiring whole releases. Does not belong here: what goes into one
(`promotion`), or the conditions of a switch, which are the database's (`migrations/code/f_releases.sql`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.connection import begin


@dataclass(frozen=True, slots=True)
class Release:
    """One release as it stands.

    Attributes:
        release: Its name.
        detector: The detector's name.
        policy: The policy's name.
        key_id: Which secret keyed its identifiers.
        detector_digest: What found the identifiers.
        policy_digest: How they were replaced.
        state: `active`, `building` (never shown yet), `left` (another one took its place), `withheld` (a person
            took it away) or `expired`.
        deliveries: How many deliveries were promoted into it.
        notes: Notes that they brought, corrected versions included.
        created_at: When its first delivery was staged.
        activated_at: When analysts last began to see it.
    """

    release: str
    detector: str
    policy: str
    key_id: str
    detector_digest: str
    policy_digest: str
    state: str
    deliveries: int
    notes: int
    created_at: datetime
    activated_at: datetime | None


@dataclass(frozen=True, slots=True)
class DeliveryDifference:
    """How one delivery differs between two releases, in notes; None where they were made with different secrets."""

    delivery: str
    notes_old: int
    notes_new: int
    only_old: int | None
    only_new: int | None
    changed: int | None


_RELEASES = text(
    """
    SELECT r.release, r.detector, r.policy, r.key_id, r.detector_digest, r.policy_digest,
           CASE WHEN r.active THEN 'active'
                WHEN r.expired_at IS NOT NULL THEN 'expired'
                WHEN r.withheld_at IS NOT NULL THEN 'withheld'
                WHEN r.deactivated_at IS NOT NULL THEN 'left'
                ELSE 'building' END AS state,
           count(p.delivery) AS deliveries, coalesce(sum(p.approved), 0) AS notes, r.created_at, r.activated_at
    FROM ctl.release r LEFT JOIN ctl.publication p ON p.release = r.release
    GROUP BY r.release ORDER BY r.created_at, r.release
    """
)


def releases(officer: Engine) -> tuple[Release, ...]:
    """Every release, oldest first, expired ones included.

    Raises:
        DeidError: `warehouse-not-ready`, `warehouse-unreachable`.
    """
    with begin(officer) as connection:
        return tuple(Release(**row._mapping) for row in connection.execute(_RELEASES))


def release(officer: Engine, name: str) -> Release:
    """One release.

    Raises:
        DeidError: `release-unknown`.
    """
    for found in releases(officer):
        if found.release == name:
            return found
    raise DeidError(Code.RELEASE_UNKNOWN)


def activate_release(promoter: Engine, name: str) -> bool:
    """Lets analysts see a release instead of the one that they see now, if it holds all that that one holds.

    Returns:
        Whether it was switched; False if it was active already.

    Raises:
        DeidError: `release-conflict` with the deliveries that the new release still lacks, or because a person
            withheld it; `release-dates` where a release under the same key shows dates of another class.
    """
    with begin(promoter) as connection:
        return bool(connection.execute(text("SELECT ctl.activate_release(:r)"), {"r": name}).scalar_one())


def switch_release(officer: Engine, name: str, *, who: str, reason: str) -> None:
    """Lets analysts see a release because a person says so; the one that they saw is withheld.

    Withdrawals, corrections and retractions since then hold in it all the same.

    Args:
        officer: The engine of the role `officer`.
        name: Which release.
        who: The person who answers for it.
        reason: At least ten characters.

    Raises:
        DeidError: `release-conflict` if nothing stands in it or it is active already; `release-dates` as for
            `activate_release`; `waiver-invalid` naming `who` or `reason`.
    """
    values = {"r": name, "who": who, "reason": reason}
    with begin(officer) as connection:
        connection.execute(text("SELECT ctl.switch_release(:r, :who, :reason)"), values)


def previous_release(officer: Engine) -> str:
    """The release that analysts saw before the one that they see now.

    Raises:
        DeidError: `release-unknown` if there is none that still holds anything.
    """
    statement = text(
        "SELECT r.release FROM ctl.release r"
        " WHERE NOT r.active AND r.expired_at IS NULL AND r.deactivated_at IS NOT NULL AND r.withheld_at IS NULL"
        " ORDER BY r.deactivated_at DESC LIMIT 1"
    )
    with begin(officer) as connection:
        found = connection.execute(statement).scalar()
    if found is None:
        raise DeidError(Code.RELEASE_UNKNOWN, "previous")
    return str(found)


def diff_releases(officer: Engine, old: str, new: str) -> tuple[DeliveryDifference, ...]:
    """How two releases differ, delivery by delivery.

    Raises:
        DeidError: `release-unknown`.
    """
    for name in (old, new):
        release(officer, name)
    with begin(officer) as connection:
        rows = connection.execute(text("SELECT * FROM ctl.diff_releases(:old, :new)"), {"old": old, "new": new})
        return tuple(DeliveryDifference(**row._mapping) for row in rows)


def expire_releases(promoter: Engine, *, keep: int, days: int) -> tuple[str, ...]:
    """Forgets releases that analysts no longer see.

    Args:
        promoter: The engine of the role `promoter`.
        keep: How many of those that were left last stay whatever their age.
        days: Days that any other stays after it was left.

    Returns:
        The names of those that are gone now.
    """
    with begin(promoter) as connection:
        found = connection.execute(text("SELECT ctl.expire_releases(:k, :d)"), {"k": keep, "d": days})
        return tuple(found.scalar_one())

"""Releases: the list of them, the one that analysts see, and how two of them differ.

Belongs here: listing, switching, comparing and expiring whole releases. Does not belong here: what goes into one
(`promotion`), or the conditions of a switch, which are the database's (`migrations/code/f_releases.sql`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.server.connection import begin


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
        dates: The class of dates that it shows: `true`, `shift`, `season`, `year` or `none`; None where that is not
            known.
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
    dates: str | None


@dataclass(frozen=True, slots=True)
class NoteCounts:
    """Notes of one type in a release, and what became of those of the former one.

    Each count may be handed to analysts: those under 11 are None, others are rounded down to tens, site by site. What
    differs is None throughout where two releases cannot be compared.
    """

    note_type: str
    notes: int | None
    added: int | None
    changed: int | None
    withdrawn: int | None
    retracted: int | None
    gone: int | None
    """Not shown any more for another reason: quarantined, corrected and not yet approved, moved otherwise."""


@dataclass(frozen=True, slots=True)
class FeedExtent:
    """What a release holds of one feed: how many deliveries, and the newest of them."""

    feed: str
    deliveries: int
    newest: str


@dataclass(frozen=True, slots=True)
class PublishedScore:
    """One figure of the bench as analysts see it; None where it is withheld."""

    gold: str
    inputs: str
    notes_of: str
    marked_by: str
    measure: str
    value: float | None
    low: float | None
    high: float | None


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
           count(p.delivery) AS deliveries, coalesce(sum(p.approved), 0) AS notes, r.created_at, r.activated_at,
           r.dates
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


def former_release(officer: Engine, name: str) -> str | None:
    """The release that analysts saw before they saw this one first or again; None if there was none."""
    statement = text(
        "SELECT f.release FROM ctl.release r JOIN ctl.release f ON f.release <> r.release"
        " WHERE r.release = :r AND f.activated_at < coalesce(r.activated_at, clock_timestamp())"
        " ORDER BY f.activated_at DESC LIMIT 1"
    )
    with begin(officer) as connection:
        return connection.execute(statement, {"r": name}).scalar()


def note_counts(officer: Engine, former: str | None, name: str) -> tuple[NoteCounts, ...]:
    """What a release shows of each note type, and how that differs from the former release, in counts for analysts."""
    with begin(officer) as connection:
        rows = connection.execute(text("SELECT * FROM ctl.release_notes(:f, :r)"), {"f": former, "r": name})
        return tuple(NoteCounts(**row._mapping) for row in rows)


def extents(officer: Engine, name: str) -> tuple[FeedExtent, ...]:
    """How far a release reaches, feed by feed."""
    statement = text(
        "SELECT d.feed, count(*) AS deliveries,"
        " (array_agg(d.delivery ORDER BY d.delivery_seq DESC))[1] AS newest"
        " FROM ctl.publication p JOIN ctl.delivery d ON d.delivery = p.delivery"
        " WHERE p.release = :r GROUP BY d.feed ORDER BY d.feed"
    )
    with begin(officer) as connection:
        return tuple(FeedExtent(**row._mapping) for row in connection.execute(statement, {"r": name}))


def published_scores(officer: Engine, detector_digest: str) -> tuple[PublishedScore, ...]:
    """The newest figures over all labels of a detector, as analysts see them."""
    statement = text(
        "SELECT DISTINCT ON (gold, inputs, measure) gold, inputs, notes_of, marked_by, measure, value, low,"
        " high FROM quality.scores"
        " WHERE detector_digest = :d AND label = 'ALL' ORDER BY gold, inputs, measure, at DESC"
    )
    with begin(officer) as connection:
        return tuple(PublishedScore(**row._mapping) for row in connection.execute(statement, {"d": detector_digest}))


STEP = 20_000
"""Versions of notes that expiry removes in one transaction. A retraction and a promotion wait for one to end."""


def expire_releases(promoter: Engine, *, keep: int, days: int, step: int = STEP) -> tuple[str, ...]:
    """Forgets releases that analysts no longer see, and removes what they hold, step by step.

    Nobody can show a release from the first transaction on. Where the steps are stopped, the next call continues.

    Args:
        promoter: The engine of the role `promoter`.
        keep: How many of those that were left last stay whatever their age.
        days: Days that any other stays after it was left.
        step: How many versions of notes one transaction removes.

    Returns:
        The names of those that expired now.
    """
    with begin(promoter) as connection:
        found = connection.execute(text("SELECT ctl.expire_releases(:k, :d)"), {"k": keep, "d": days})
        expired: tuple[str, ...] = tuple(found.scalar_one())
    left = True
    while left:
        with begin(promoter) as connection:
            left = connection.execute(text("SELECT ctl.forget_expired(:s)"), {"s": step}).scalar_one()
    return expired

"""Hiding and promoting notes by the gate's functions.

Belongs here: calling the gate's functions and telling their outcome. Does not belong here: the decision
itself, which is the database's (`migrations/code/e_gate.sql`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from sqlalchemy import Engine, text

from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.warehouse.server.connection import begin


class Outcome(StrEnum):
    """What a promotion did."""

    PROMOTED = "promoted"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Promotion:
    """A promotion that the gate allowed.

    Attributes:
        outcome: Whether anything was copied.
        approved: Notes that were copied now; 0 if unchanged.
        hidden: Notes and patients that the delivery brought and that are not shown: quarantined, retracted,
            withdrawn.
        waived: Requirements that a waiver stood in for.
    """

    outcome: Outcome
    approved: int
    hidden: int
    waived: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a delivery's tombstones changed: notes newly hidden, patients newly withdrawn."""

    notes: int
    patients: int


def hide(promoter: Engine, delivery: Delivery) -> Hidden:
    """Lets a staged delivery's quarantines and withdrawals take effect, gate or no gate.

    Raises:
        DeidError: `gate-unknown-delivery` if nothing was staged under that name.
    """
    with begin(promoter) as connection:
        found = connection.execute(text("SELECT * FROM ctl.hide(:d)"), {"d": delivery.key}).one()
    return Hidden(found.notes, found.patients)


def hide_notes(promoter: Engine, delivery: Delivery, note_keys: Sequence[str], *, but: str | None = None) -> int:
    """Hides notes of a delivery in every release, until the delivery is staged and promoted anew.

    Args:
        promoter: The engine of the role `promoter`.
        delivery: Which delivery.
        note_keys: Of the notes, under each secret; those that no release holds are left out.
        but: The digest of staged rows that show nothing: a release that holds these goes on showing them.

    Returns:
        How many were not hidden this way before.
    """
    with begin(promoter) as connection:
        values = {"d": delivery.key, "keys": [*note_keys], "but": but}
        hidden = connection.execute(text("SELECT ctl.hide_notes(:d, :keys, :but)"), values)
        return int(hidden.scalar_one())


def promote(promoter: Engine, delivery: Delivery) -> Promotion:
    """Publishes a staged delivery into its release, all of it or none.

    Its quarantines and withdrawals take effect even if the gate refuses the rest, and the refusal is in the
    ledger. Promoting the same content again changes nothing; an older delivery never covers a newer one.

    Args:
        promoter: The engine of the role `promoter`.
        delivery: Which delivery.

    Raises:
        DeidError: `gate-refused` with the names of the requirements that are not met;
            `gate-unknown-delivery` if nothing was staged under that name.
    """
    with begin(promoter) as connection:
        found = connection.execute(text("SELECT * FROM ctl.promote(:d)"), {"d": delivery.key}).one()
    # Raised only after the transaction has ended well: the tombstones and the ledger's entry must stay.
    if found.outcome == "refused":
        raise DeidError(Code.GATE_REFUSED, f"{delivery.key}: {', '.join(found.missing)}")
    return Promotion(Outcome(found.outcome), found.approved, found.hidden, tuple(found.waived))


def set_opt_outs(loader: Engine, promoter: Engine, keys: Mapping[str, Sequence[str]]) -> int:
    """Makes these the patients who take no part in research, all of them; whoever is not named is shown again.

    Whoever is shown again is so by the word of both roles; either alone can only hide.

    Args:
        loader: The engine of the role `loader`.
        promoter: The engine of the role `promoter`.
        keys: The id of each secret that is in use, and under it each patient's key. What stands under another secret
            stays: nobody who lacks it can say that it should not.

    Returns:
        How many keys were added or removed.
    """
    pairs = [(key_id, key) for key_id, every in keys.items() for key in every]
    values = {"ids": list(keys), "key_ids": [key_id for key_id, _ in pairs], "keys": [key for _, key in pairs]}
    statement = text("SELECT * FROM ctl.set_opt_outs(:ids, :key_ids, :keys)")
    # Whoever leaves is hidden before the loader is asked; who is shown again, after it.
    with begin(promoter) as connection:
        hidden = connection.execute(statement, values).one()
    with begin(loader) as connection:
        connection.execute(text("SELECT ctl.announce_opt_outs(:ids, :key_ids, :keys)"), values)
    with begin(promoter) as connection:
        shown = connection.execute(statement, values).one()
    return int(hidden.added + hidden.removed + shown.added + shown.removed)


IDLE_READER = timedelta(minutes=5)
"""How long a reader's transaction may do nothing: what it sees goes on for as long."""
LONGEST_READER = timedelta(hours=1)
"""How long one may go on at all."""


def end_idle_readers(promoter: Engine) -> int | None:
    """Ends connections of readers whose transaction is idle for `IDLE_READER`, or goes on for `LONGEST_READER`.

    Returns:
        How many; None if the database may not end any (`deid doctor` tells).
    """
    values = {"idle": IDLE_READER, "open": LONGEST_READER}
    with begin(promoter) as connection:
        ended = connection.execute(text("SELECT ctl.end_idle_readers(:idle, :open)"), values)
        return ended.scalar_one()

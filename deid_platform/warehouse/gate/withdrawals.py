"""Withdrawals that take effect before their delivery's run: no staging, no gate, no lock that anyone else holds.

Belongs here: calling the functions of `migrations/code/e_withdrawals.sql`. Does not belong here: reading what
deliveries withdraw (`refresh/hiding/withdraw.py`), or withdrawals as a run stages them (`staging`).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Engine, text

from deid_platform.notes import Delivery
from deid_platform.warehouse.gate.staging import Kind
from deid_platform.warehouse.server.connection import begin


def withdraw(promoter: Engine, delivery: Delivery, gone: Sequence[tuple[Kind, str, str]], *, marker: str) -> int:
    """Hides notes and patients in every release, and keeps the mark of what said so.

    It only takes away. A promotion of the delivery, from files that were read later, says anew what is withdrawn.

    Args:
        promoter: The engine of the role `promoter`.
        delivery: Whose files withdraw them.
        gone: All that these files withdraw, each as its kind, its key and the id of the key's secret.
        marker: The mark of these files; see `marked_read`.

    Returns:
        How many keys were not hidden by this delivery before.

    Raises:
        DeidError: `warehouse-busy` if a migration holds the tables for more than five seconds.
    """
    kinds, keys, key_ids = (list(column) for column in zip(*gone, strict=True)) if gone else ([], [], [])
    values = {
        "delivery": delivery.key,
        "feed": delivery.feed,
        "seq": delivery.seq,
        "marker": marker,
        "kinds": kinds,
        "keys": keys,
        "key_ids": key_ids,
    }
    statement = text("SELECT ctl.withdraw(:delivery, :feed, :seq, :marker, :kinds, :keys, :key_ids)")
    with begin(promoter) as connection:
        return int(connection.execute(statement, values).scalar_one())


def marked_read(promoter: Engine) -> dict[str, str]:
    """Each place that says who leaves, with the mark of what was read there last.

    The warehouse keeps it, so that one that is restored from a backup is told again what it has forgotten.
    """
    with begin(promoter) as connection:
        return {row.source: row.marker for row in connection.execute(text("SELECT * FROM ctl.marked_read()"))}


def mark_read(promoter: Engine, source: str, marker: str) -> None:
    """Keeps the mark of what was read of a place."""
    with begin(promoter) as connection:
        connection.execute(text("SELECT ctl.mark_read(:source, :marker)"), {"source": source, "marker": marker})

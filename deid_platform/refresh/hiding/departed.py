"""Which notes and patients have left, by what the store sealed of every delivery.

Belongs here: the rule by which research hides them (`research.current_version`), for what people and measurements are
given of raw notes. Does not belong here: hiding them in the warehouse (`withdraw.py`, `refresh/staging/stage.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site


@dataclass(frozen=True)
class WhoLeft:
    """Who is not to be looked at.

    Attributes:
        patients: Those whom a feed withdrew and did not let back in, and those who opted out.
        notes: Feed -> note id -> `Delivery.seq` of the newest delivery that withdraws it: a later version is back.
    """

    patients: frozenset[str] = field(repr=False)
    notes: Mapping[str, Mapping[str, int]] = field(repr=False)

    def has(self, delivery: Delivery, note_id: str, patient_id: str | None) -> bool:
        """Whether a note of a delivery, or its patient, has left."""
        return patient_id in self.patients or delivery.seq <= self.notes.get(delivery.feed, {}).get(note_id, -1)


def who_left(site: Site) -> WhoLeft:
    """Who has left by now.

    Raises:
        DeidError: `opt-outs-unreadable`; `store-torn` or `store-rolled-back`.
    """
    store = site.store
    notes: defaultdict[str, dict[str, int]] = defaultdict(dict)
    out: dict[tuple[str, str], bool] = {}
    # Of one feed's statements about a patient the newest counts; no feed takes back what another one said.
    for delivery in sorted(map(Delivery.parse, store.partitions(tables.WITHDRAWALS)), key=lambda each: each.seq):
        if not store.required(tables.WITHDRAWALS, delivery.key).rows:  # most withdraw nothing
            continue
        for row in store.stream(tables.WITHDRAWALS, delivery.key):
            if row["note_id"] is not None:
                notes[delivery.feed][row["note_id"]] = delivery.seq
            else:
                out[delivery.feed, row["patient_id"]] = not row.get("rejoined")
    withdrawn = {patient_id for (_, patient_id), gone in out.items() if gone}
    return WhoLeft(frozenset(withdrawn.union(site.exclusions.opted_out())), dict(notes))

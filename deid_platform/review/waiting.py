"""Which notes wait in quarantine.

Belongs here: finding them in what the last refresh wrote. Does not belong here: what is shown of one (`held.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.departed import who_left
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.decisions import decided, kept
from deid_platform.refresh.redact.delivery import QUARANTINED

RELEASED = "released"
"""Takes the place of a reason where a note passed because of a decision, which people may take back."""


def quarantined(site: Site) -> Iterator[tuple[Delivery, dict[str, str]]]:
    """Deliveries with their quarantined notes and reasons; without notes that a later delivery holds anew.

    A note that passed because of a decision that stands is among them as `RELEASED`. One that was withdrawn, or whose
    patient was, waits no more.
    """
    store = site.store
    deliveries = sorted(map(Delivery.parse, store.partitions(tables.REDACTED_NOTES)), key=lambda d: (d.feed, d.seq))
    gone, opted_out = who_left(site), site.exclusions.opted_out()
    sealed: dict[str, set[str]] = {}
    for ruling in kept(store):
        sealed.setdefault(ruling.feed, set()).add(ruling.note_id)
    said = {feed: decided(site, feed) for feed in sealed}
    later: dict[str, set[str]] = {}
    for delivery in reversed(deliveries):
        superseded, here = later.setdefault(delivery.feed, set()), set[str]()
        found: dict[str, str] = {}
        for table in store.read(tables.REDACTED_NOTES, delivery.key):
            here.update(table["note_id"].to_pylist())
            ruled = pa.array(sorted(sealed.get(delivery.feed, ())), pa.string())
            held = table.filter(pc.or_(pc.equal(table["status"], QUARANTINED), pc.is_in(table["note_id"], ruled)))
            for row in held.select(["note_id", "patient_id", "reason", "status"]).to_pylist():
                if row["status"] != QUARANTINED:
                    keys = site.note_keys(delivery.feed, row["note_id"])
                    if said[delivery.feed].of(keys).in_force is None:
                        continue
                    row["reason"] = RELEASED
                ids = row["note_id"], row["patient_id"]
                left = gone.has(delivery, *ids) or (opted_out and row["patient_id"] is None)
                if row["note_id"] not in superseded and not left:
                    found[row["note_id"]] = row["reason"]
        superseded |= here
        if found:
            yield delivery, found

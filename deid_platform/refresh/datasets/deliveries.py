"""The deliveries of a feed that a dataset of the note store holds.

Belongs here: which they are, in order. Does not belong here: what is in them, or which have arrived (`corpora/`).
"""

from __future__ import annotations

from deid_platform.notes import Delivery
from deid_platform.store import NoteStore


def deliveries_of(store: NoteStore, dataset: str, feed: str) -> list[Delivery]:
    """The feed's deliveries in a dataset, in the order of their watermarks."""
    found = (Delivery.parse(key) for key in store.partitions(dataset))
    return sorted((each for each in found if each.feed == feed), key=lambda each: each.seq)


def deliveries_until(store: NoteStore, dataset: str, delivery: Delivery) -> list[Delivery]:
    """Those up to and with the one given."""
    return [each for each in deliveries_of(store, dataset, delivery.feed) if each.seq <= delivery.seq]

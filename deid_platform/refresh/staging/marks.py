"""Tells the warehouse in which notes reviewers marked a missed identifier, by the keys that research knows them by.

Belongs here: from a mark to its note. Does not belong here: what a mark is (`review/missed.py`), or which marks wait
for an officer (`warehouse/officer/marks.py`).

A delivery names its feed. A round of the site's own gold or of a file does not: its notes may be those of any feed that
has such a number, and a mark is rather listed once too often than not at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.warehouse.officer.marks import name_marked
from deid_platform.warehouse.server.roles import Role


def name_marked_notes(site: Site) -> None:
    """Names the notes of all marks, under each secret in use.

    Raises:
        DeidError: `store-torn`, `store-rolled-back` or `not-materialized` if a round or its marks cannot be read;
            `warehouse-unreachable`, `warehouse-not-ready`.
    """
    name_marked(site.warehouse.engine(Role.OFFICER), sorted(set(_named(site))))


def _named(site: Site) -> Iterator[tuple[str, str, str]]:
    store = site.store
    known = {Delivery.parse(key).feed for key in store.partitions(tables.RAW_NOTES)}
    for partition in store.partitions(tables.REVIEW_MISSED):
        number = partition.partition(".")[0]
        feeds = _feeds(store.required(tables.REVIEW_ROUNDS, number).meta, known)
        notes = {row["removal"]: row["note_id"] for row in store.stream(tables.REVIEW_ROUNDS, number)} if feeds else {}
        for row in store.stream(tables.REVIEW_MISSED, partition) if feeds else ():
            for feed in feeds:
                for key in site.note_keys(feed, notes[row["removal"]]):
                    yield row["missed"], feed, key


def _feeds(drawn: Mapping[str, Any], known: Collection[str]) -> Collection[str]:
    """The feeds of which the notes of a round may be."""
    source = str(drawn.get("source", "gold"))
    if "@" in source:
        return (Delivery.parse(source).feed,)
    # The notes of the synthetic hospital, on which a bench without gold of its own measures, are nobody's.
    invented = source == "gold" and (drawn.get("drawn_with") or {"gold": "site"})["gold"] != "site"
    return () if invented else known

"""Leaks that a reader reported: kept in the PHI zone, so that no later run lets the same string through.

Belongs here: which strings were reported, and reporting one. Does not belong here: hiding notes, which is the
database's (`warehouse/findings.py`), or looking for the strings (`evaluation/leaks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from deid_platform.labels import Label
from deid_platform.notes import Delivery
from deid_platform.refresh import tables
from deid_platform.store import NoteStore
from deid_platform.warehouse.findings import MOST_MATCHES, Finding, retract
from deid_platform.warehouse.roles import Role

if TYPE_CHECKING:
    from deid_platform.refresh.site import Site


def reported_strings(store: NoteStore) -> tuple[str, ...]:
    """Every string that was reported, each once, in order."""
    if store.manifest(tables.REPORTED, tables.ALL) is None:
        return ()
    return tuple(sorted({row["string"] for row in store.rows(tables.REPORTED, tables.ALL)}))


def report(
    site: Site, note_key: str, start: int, end: int, *, label: Label, who: str, most_matches: int = MOST_MATCHES
) -> Finding:
    """Hides a note in every release, and whatever else holds the same string, and remembers the string.

    From then on a note that still holds it after redaction is quarantined, and no delivery passes the gate until a
    new run has looked.

    Args:
        site: The installation.
        note_key: As research.notes shows it.
        start: Where the identifier begins in the redacted text, in code points.
        end: Where it ends, exclusive.
        label: What kind of identifier it is.
        who: Who reported it.
        most_matches: With more other notes than this holding the string, they are counted and not hidden.

    Raises:
        DeidError: `finding-invalid` if no release holds the note or the span is not in its text.
    """
    officer = site.warehouse.engine(Role.OFFICER)
    found = retract(officer, _keys(site, note_key), start, end, label=label, who=who, most_matches=most_matches)
    known: Sequence[dict[str, object]] = ()
    if site.store.manifest(tables.REPORTED, tables.ALL) is not None:
        known = site.store.rows(tables.REPORTED, tables.ALL)
    row = {"finding": found.number, "feed": found.feed, "label": label.value, "string": found.string}
    table = pa.Table.from_pylist([*known, row], schema=tables.REPORTED_SCHEMA)
    site.store.write(tables.REPORTED, tables.ALL, [table], meta=lambda: {"findings": table.num_rows})
    return found


def _keys(site: Site, note_key: str) -> tuple[str, ...]:
    """A note's keys under each secret; the one given alone if there is one secret, or no source knows the note."""
    if len(site.keyrings) > 1:
        for partition in site.store.partitions(tables.RAW_NOTES):
            feed = Delivery.parse(partition).feed
            for row in site.store.stream(tables.RAW_NOTES, partition):
                keys = site.note_keys(feed, row["note_id"])
                if note_key in keys:
                    return keys
    return (note_key,)

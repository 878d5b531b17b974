"""Reporting a leak that a reader found, and learning what was reported.

Belongs here: the way of a report from the warehouse into the PHI zone. Does not belong here: hiding notes, which is
the database's (`warehouse/findings.py`), or what is kept of a report (`reported.py`).
"""

from __future__ import annotations

from dataclasses import asdict

import pyarrow as pa

from deid_platform.labels import Label
from deid_platform.notes import Delivery
from deid_platform.refresh import tables
from deid_platform.refresh.lock import file_lock
from deid_platform.refresh.reported import known_findings, newest_known
from deid_platform.refresh.site import Site
from deid_platform.warehouse.findings import MOST_MATCHES, Finding, reported_since, retract
from deid_platform.warehouse.roles import Role

_LOCK = "findings.lock"


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
    learn(site)
    return found


def learn(site: Site) -> int:
    """Seals the strings of the findings that the note store does not know yet, and says how many.

    Hiding comes first and this after, so a report may be interrupted in between: the gate then stays shut until the
    next run, whose first step is this.
    """
    with file_lock(site.settings.home_path, _LOCK, wait=True):
        new = reported_since(site.warehouse.engine(Role.OFFICER), newest_known(site.store))
        if new:
            rows = [*known_findings(site.store), *(asdict(item) for item in new)]
            table = pa.Table.from_pylist(rows, schema=tables.REPORTED_SCHEMA)
            site.store.write(tables.REPORTED, tables.ALL, [table], meta=lambda: {"findings": table.num_rows})
    return len(new)


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

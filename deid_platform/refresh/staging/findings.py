"""Reports a leak that a reader found, withdraws a finding, and takes both into the note store.

Belongs here: the way of a report from the warehouse into the PHI zone. Does not belong here: hiding notes, which is
the database's (`warehouse/officer/findings.py`), or what is kept of a report (`refresh/installation/reported.py`).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.derived import NOTE_IDS
from deid_platform.refresh.installation.lock import file_lock
from deid_platform.refresh.installation.reported import NO_NUMBER, is_of_note, known_findings
from deid_platform.refresh.installation.site import Site
from deid_platform.warehouse.officer.findings import (
    Reach,
    Retraction,
    WholeNote,
    Withdrawal,
    findings,
    reported_since,
    retract,
    retract_note,
    withdraw_finding,
    withdrawn_findings,
)
from deid_platform.warehouse.officer.findings import preview as preview_keys
from deid_platform.warehouse.readers.extracts import name_extracts
from deid_platform.warehouse.server.roles import Role

_LOCK = "findings.lock"


def preview(site: Site, note_key: str, start: int, end: int) -> Reach:
    """Counts what `report` would hide, and writes nothing.

    Raises:
        DeidError: `finding-invalid` if no release holds the note or the span is not in its text.
    """
    return preview_keys(site.warehouse.engine(Role.OFFICER), _keys(site, note_key), start, end)


def report(
    site: Site, note_key: str, start: int, end: int, *, label: Label, who: str, hide: int | None = None
) -> Retraction:
    """Hides a note in every release, and every other note with the same string, and stores the string.

    From then on a note that still holds it after redaction is quarantined, and no delivery passes the gate until a
    new run has looked.

    Args:
        site: The installation.
        note_key: As research.notes shows it.
        start: Where the identifier begins in the redacted text, in code points.
        end: Where it ends, exclusive.
        label: What kind of identifier it is.
        who: Who reported it.
        hide: Up to how many notes may be hidden; with more that hold the string, the reported note alone is, and a
            later run looks for the string in that note alone. By default `Reach.unasked`.

    Raises:
        DeidError: `finding-invalid` if no release holds the note or the span is not in its text.
    """
    officer = site.warehouse.engine(Role.OFFICER)
    # After a restore the warehouse may give a number anew that the store has a string for; hiding waits for neither.
    with suppress(DeidError):
        learn(site)
    found = retract(officer, _keys(site, note_key), start, end, label=label, who=who, hide=hide)
    _learn_if_possible(site)
    name_extracts(officer)
    return found


def report_note(site: Site, note_key: str, *, label: Label, who: str) -> WholeNote:
    """Hides a note in every release, whatever it says, until two people withdraw the finding.

    Raises:
        DeidError: `finding-invalid` if no release holds the note.
    """
    officer = site.warehouse.engine(Role.OFFICER)
    with suppress(DeidError):
        learn(site)
    found = retract_note(officer, _keys(site, note_key), label=label, who=who)
    _learn_if_possible(site)
    name_extracts(officer)
    return found


def _learn_if_possible(site: Site) -> None:
    """Seals what was reported, unless this machine has no login that reads it: then the next run does."""
    try:
        learn(site)
    except DeidError as error:
        if error.code is not Code.WAREHOUSE_LOGIN:
            raise


def withdraw(site: Site, number: int, *, who: str, reason: str) -> Withdrawal:
    """Withdraws a mistaken finding; once two people have done so, its notes are shown and its string is deleted.

    Raises:
        DeidError: as `withdraw_finding` does.
    """
    officer, promoter = (site.warehouse.engine(role) for role in (Role.OFFICER, Role.PROMOTER))
    done = withdraw_finding(officer, promoter, number, who=who, reason=reason)
    _learn_if_possible(site)
    return done


def learn(site: Site) -> int:
    """Seals the strings of the findings that the note store does not know yet, and says how many.

    The strings of those that are withdrawn are forgotten: what stays says that the finding is known. A string whose
    finding the warehouse does not know, since it was restored to an earlier day, is kept without a number: notes are
    still searched for it, and the number is free for the next finding.

    Hiding comes first and this after, so a report may be interrupted in between: the gate then stays shut until the
    next run, whose first step is this.
    """
    officer = site.warehouse.engine(Role.OFFICER)
    with file_lock(site.settings.home_path, _LOCK, wait=True):
        before = known_findings(site.store)
        recorded = {finding.number for finding in findings(officer)}
        known = [row if row["finding"] in recorded else {**row, "finding": NO_NUMBER} for row in before]
        newest = max((row["finding"] for row in known), default=NO_NUMBER)
        new = [asdict(item) for item in reported_since(site.warehouse.engine(Role.GATEKEEPER), newest)]
        withdrawn = withdrawn_findings(officer)
        rows = [
            {**row, "string": "", "everywhere": False} if row["finding"] in withdrawn else row for row in (*known, *new)
        ]
        rows = _with_note_ids(site, rows)
        if rows != before:
            table = pa.Table.from_pylist(rows, schema=tables.REPORTED_SCHEMA)
            site.store.write(tables.REPORTED, tables.ALL, [table], meta=lambda: {"findings": table.num_rows})
    return len(new)


def _with_note_ids(site: Site, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the id of the reported note, where the string is sought in that alone.

    By its key it would be found no more once the former secrets are forgotten.
    """
    lacking = {row["finding"] for row in rows if is_of_note(row) and row.get("note_id") is None} - {NO_NUMBER}
    if not lacking:
        return [{**row, "note_id": row.get("note_id")} for row in rows]
    keys = {it.number: it.note_key for it in findings(site.warehouse.engine(Role.OFFICER)) if it.number in lacking}
    feeds, wanted = {row["feed"] for row in rows if row["finding"] in lacking}, set(keys.values())
    ids: dict[str, str] = {}
    deliveries = map(Delivery.parse, site.store.partitions(tables.RAW_NOTES))
    for delivery in (each for each in deliveries if each.feed in feeds):
        # What cannot be read is looked at the next time: neither a report nor a withdrawal waits for it.
        with suppress(DeidError):
            for note_id in NOTE_IDS.of(site.store, delivery.key)["note_id"].to_pylist():
                ids.update(dict.fromkeys(wanted.intersection(site.note_keys(delivery.feed, note_id)), note_id))
    return [{**row, "note_id": row.get("note_id") or ids.get(keys.get(row["finding"], ""))} for row in rows]


def _keys(site: Site, note_key: str) -> tuple[str, ...]:
    """A note's keys under each secret; the one given alone if there is one secret, or no source knows the note."""
    if len(site.keyrings) > 1:
        for partition in site.store.partitions(tables.RAW_NOTES):
            feed = Delivery.parse(partition).feed
            for note_id in NOTE_IDS.of(site.store, partition)["note_id"].to_pylist():
                keys = site.note_keys(feed, note_id)
                if note_key in keys:
                    return keys
    return (note_key,)

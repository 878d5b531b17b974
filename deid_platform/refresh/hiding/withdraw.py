"""Withdrawals of every delivery that arrived, and the opt-outs of today, hidden before any of them is processed.

Belongs here: reading who leaves, and when that is read again. Does not belong here: withdrawals as a delivery's run
stages them (`refresh/staging/stage.py`); notes that a delivery corrects or that never enter, which only its run can
tell.

Nothing here takes the installation's lock, or any lock of the database that a run or a reader could hold: whoever wants
to leave waits neither for a refresh nor for an analyst.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deid_platform.corpora import Reader, Reason, Rejection, Role
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.sealing import STATEMENT_KEPT, withdrawals_marker
from deid_platform.refresh.staging.stage import hide_opted_out
from deid_platform.warehouse.gate.promotion import end_idle_readers
from deid_platform.warehouse.gate.staging import Kind
from deid_platform.warehouse.gate.withdrawals import mark_read, marked_read, withdraw
from deid_platform.warehouse.readers.extracts import name_extracts
from deid_platform.warehouse.server.roles import Role as Login

_OPT_OUTS = "opt-outs"
"""The list of opt-outs among the deliveries, whose names all have an @."""

_OF_FILE = (Reason.UNREADABLE_FILE, Reason.TRUNCATED_FILE)


@dataclass(frozen=True)
class Withdrawn:
    """What came of it. Counts and codes; nothing here identifies anyone.

    Attributes:
        keys: Keys of notes and patients that are hidden now and were not before.
        lost: Rows that could not be read, of the files that were read now: whom they name nobody knows.
        opted_out: Keys of patients that joined or left the list of opt-outs.
        failures: What could not be read or written at all; the rest took effect.
        extracts: The numbers of the extracts that hold any of it; the ledger names them too.
    """

    keys: int = 0
    lost: int = 0
    opted_out: int = 0
    failures: tuple[DeidError, ...] = ()
    extracts: tuple[int, ...] = ()


def withdraw_arrived(site: Site) -> Withdrawn:
    """Hides what the deliveries that arrived withdraw, and brings the list of opt-outs to what it says now.

    Then it sends away readers whose transaction has been idle for minutes: they would go on seeing what is hidden now.
    Files that have not changed since they were read are not read again.

    Raises:
        DeidError: `warehouse-not-ready`, `warehouse-unreachable`, `warehouse-login`; any other failure is among those
            returned, so that one feed or file holds up no other.
    """
    known = marked_read(site.warehouse.engine(Login.PROMOTER))
    keys = lost = opted_out = 0
    failures: list[DeidError] = []
    for feed in sorted(site.settings.feeds):
        try:
            reader = site.taking_in(feed)
            deliveries = reader.deliveries()
            marks = reader.markers(deliveries, Role.WITHDRAWN)
        except DeidError as error:
            failures.append(error)
            continue
        for delivery in deliveries:
            try:
                added, unread = _withdraw(site, delivery, known, marks.get(delivery))
            except DeidError as error:
                failures.append(error)
            else:
                keys, lost = keys + added, lost + unread
    try:
        opted_out = _hide_opted_out(site, known)
    except DeidError as error:
        failures.append(error)
    end_idle_readers(site.warehouse.engine(Login.PROMOTER))
    held: tuple[int, ...] = ()
    if keys or opted_out:
        try:
            held = name_extracts(site.warehouse.engine(Login.PROMOTER))
        except DeidError as error:
            failures.append(error)
    return Withdrawn(keys, lost, opted_out, tuple(failures), held)


def withdraw_changed(site: Site, delivery: Delivery) -> None:
    """Before a delivery is promoted: hides what its files have come to withdraw since its run took them in.

    Its promotion ends whatever was said ahead of its staging, and its rows may be of files that are gone by now.

    Raises:
        DeidError: `feed-unreadable` where the files cannot be read now and were read ahead since, or before under
            other settings: what they said then would end with the promotion.
    """
    taken_in = site.store.required(tables.WITHDRAWALS, delivery.key).meta.get("marker")
    reader = site.reader(delivery.feed)
    try:
        now = withdrawals_marker(reader, delivery, site.keyring)
    except DeidError as error:
        if error.code is Code.FEED_UNREADABLE:
            read_ahead = marked_read(site.warehouse.engine(Login.PROMOTER)).get(delivery.key)
            # What is gone withdraws no more than was read of it, if that was when it was taken in.
            if read_ahead in (None, _mark(site, reader, taken_in or ""), sealed_mark(site, delivery)):
                return
        raise
    if now != taken_in:
        _withdraw(site, delivery, {})


def withdraw_first(site: Site, delivery: Delivery) -> None:
    """Hides what a delivery withdraws before the other deliveries of its archive are processed, or raises.

    Raises:
        DeidError: Whatever is in the way: nothing of the others may be shown then.
    """
    _withdraw(site, delivery, marked_read(site.warehouse.engine(Login.PROMOTER)))


def _withdraw(site: Site, delivery: Delivery, known: Mapping[str, str], marker: str | None = None) -> tuple[int, int]:
    """Hides what one delivery withdraws unless `known` has the mark of its files; keys added, rows lost."""
    if marker == "" and delivery.key not in known:  # its reader says that there is nothing, and never was
        return 0, 0
    reader = site.reader(delivery.feed)
    # Before reading: a file that changes meanwhile is read again, and so is one whose columns are mapped otherwise.
    marker = _mark(site, reader, withdrawals_marker(reader, delivery, site.keyring, marker))
    if known.get(delivery.key) == marker:
        return 0, 0
    site.accept(delivery.feed)
    gone: list[tuple[Kind, str, str]] = []
    lost = 0
    for item in reader.withdrawals(delivery, known_patients=None, known_notes=None):
        if isinstance(item, Rejection):
            lost += item.reason.value not in STATEMENT_KEPT
            if item.reason in _OF_FILE:
                marker = ""  # it may be readable the next time, and its size and time are the same then
            continue
        for ring in site.keyrings:
            if item.note_id is not None:
                gone.append((Kind.NOTE, ring.key("note", delivery.feed, item.note_id), ring.key_id))
            if item.patient_id is not None:
                gone.append((Kind.PATIENT, ring.key("patient", item.patient_id), ring.key_id))
    if not gone and delivery.key not in known:  # most deliveries withdraw nothing
        return 0, lost
    return withdraw(site.warehouse.engine(Login.PROMOTER), delivery, gone, marker=marker), lost


def sealed_mark(site: Site, delivery: Delivery) -> str:
    """What is kept of a delivery whose withdrawals were read as the store sealed them, and not from its files.

    Raises:
        DeidError: `not-materialized` if it was not taken in.
    """
    parts = site.store.required(tables.WITHDRAWALS, delivery.key).parts
    # Not the mark of any files: those that come back are read.
    return site.keyring.digest("sealed", *(p.digest for p in parts), *(ring.key_id for ring in site.keyrings))


def _mark(site: Site, reader: Reader, files: str) -> str:
    """What is kept of a delivery whose files were read for withdrawals: which files, by which settings and secrets."""
    return site.keyring.digest(files, reader.reading, *(ring.key_id for ring in site.keyrings))


def _hide_opted_out(site: Site, known: Mapping[str, str]) -> int:
    marker = site.keyring.digest(site.exclusions.digest(site.keyring), *(ring.key_id for ring in site.keyrings))
    if known.get(_OPT_OUTS) == marker:
        return 0
    changed = hide_opted_out(site)
    mark_read(site.warehouse.engine(Login.PROMOTER), _OPT_OUTS, marker)
    return changed

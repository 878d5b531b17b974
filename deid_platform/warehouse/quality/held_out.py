"""Held-out sets in the ledger: what figures are measured on, sealed before, and every look at it.

Belongs here: sealing, counting, reading the counts. Does not belong here: which notes a set holds and when a look is
taken (`bench/gate/held_out.py`).

A set is known by keyed digests alone. Nobody can change or delete a set or a look, and the database takes no figure of
the bench or the laboratory without the look that it is of (`migrations/code/c_held_out.sql`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Engine, text

from deid_platform.warehouse.server.connection import begin


class Purpose(StrEnum):
    """What a look is for."""

    GATE = "gate"
    """The bench, by which the gate judges."""
    LABORATORY = "laboratory"
    COMPARE = "compare"
    """Detectors, locales or corpora side by side."""
    EXPERIMENT = "experiment"
    THRESHOLDS = "training thresholds"


@dataclass(frozen=True, slots=True)
class HeldOutSet:
    """Notes with gold, by digests and counts.

    Attributes:
        digest: Keyed, of all notes and their gold; 32 hex characters.
        gold: A word of `lab.GOLDS`.
        locale: Of the identifiers written in; empty where the gold is in one.
        patients: How many.
        strata: Groups of one type of note and one period.
        smallest_stratum: Notes of the smallest.
        spans: Label -> spans of the gold.
        notes: Each note by a keyed digest of its words; 16 hex characters.
        notes_of: Of a site's own notes: whose they are, a word of `evaluation.sources`; None where gold's name says so.
        marked_by: By which hand, likewise.
    """

    digest: str
    gold: str
    locale: str
    patients: int
    strata: int
    smallest_stratum: int
    spans: Mapping[str, int]
    notes: tuple[str, ...]
    notes_of: str | None = None
    marked_by: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """A look that is counted: its number, and when."""

    number: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Looks:
    """A set with its looks.

    Attributes:
        name: What people call the set.
        looks: How often it was looked at.
        detectors: With how many detectors.
    """

    name: str
    looks: int
    detectors: int


@dataclass(frozen=True, slots=True)
class LookedAt:
    """The set that a detector was measured on for the gate, and what had been seen of it by that detector's last look.

    Attributes:
        name: What people call the set.
        gold: Its gold.
        notes: How many.
        seen: Of these, those whose text was in a set before it.
        sealed_at: When.
        until: When that detector looked at it last; later looks are not counted.
        looks: At the set.
        detectors: That looked at it.
        other_sets: Other sets that hold some of its notes and were looked at.
        other_looks: At these.
        every_detector: That looked at it or at these.
        own_sets: Sets of this gold that the detector was measured on for the gate.
    """

    name: str
    gold: str
    notes: int
    seen: int
    sealed_at: datetime
    until: datetime
    looks: int
    detectors: int
    other_sets: int
    other_looks: int
    every_detector: int
    own_sets: int


def seal(gatekeeper: Engine, held_out: HeldOutSet) -> None:
    """Seals a set; does nothing where it is sealed already.

    Raises:
        DeidError: `held-out-refused` naming `gold`, `spans`, `notes` or `source`, or `set` if its digest is known with
            other figures.
    """
    statement = text(
        "SELECT ctl.seal_held_out(:digest, :gold, :locale, :patients, :strata, :smallest, CAST(:spans AS jsonb),"
        " :notes)"
    )
    values = {
        "digest": held_out.digest, "gold": held_out.gold, "locale": held_out.locale, "patients": held_out.patients,
        "strata": held_out.strata, "smallest": held_out.smallest_stratum, "spans": json.dumps(dict(held_out.spans)),
        "notes": list(held_out.notes),
    }  # fmt: skip
    with begin(gatekeeper) as connection:
        connection.execute(statement, values)
        if held_out.notes_of is not None:
            source = {"digest": held_out.digest, "notes_of": held_out.notes_of, "marked_by": held_out.marked_by}
            connection.execute(text("SELECT ctl.name_source(:digest, :notes_of, :marked_by)"), source)


def record_look(gatekeeper: Engine, digest: str, detector_digest: str, purpose: Purpose) -> Look:
    """Counts a look at a sealed set, before its figures are computed.

    Raises:
        DeidError: `held-out-refused` naming `set` if it is not sealed.
    """
    statement = text("SELECT number, at FROM ctl.record_look(:digest, :detector, :purpose)")
    values = {"digest": digest, "detector": detector_digest, "purpose": purpose.value}
    with begin(gatekeeper) as connection:
        return Look(**connection.execute(statement, values).one()._mapping)


def look_of(reader: Engine, number: int, digest: str, detector_digest: str) -> Look | None:
    """A look by its number, if it is that of this detector at this set."""
    statement = text(
        "SELECT id AS number, at FROM ctl.look WHERE id = :n AND held_out_set = :digest AND detector_digest = :detector"
    )
    with begin(reader) as connection:
        row = connection.execute(statement, {"n": number, "digest": digest, "detector": detector_digest}).one_or_none()
    return None if row is None else Look(**row._mapping)


def looks_at(reader: Engine, digest: str) -> Looks:
    """How often a sealed set was looked at so far.

    Args:
        reader: The engine of the role `gatekeeper` or `officer`.
        digest: The set's.
    """
    statement = text("SELECT name, looks, detectors FROM ctl.held_out WHERE digest = :digest")
    with begin(reader) as connection:
        return Looks(**connection.execute(statement, {"digest": digest}).one()._mapping)


def looked_at(reader: Engine, detector_digest: str, gold: str) -> LookedAt | None:
    """What a detector was measured on, and what had been seen of it by then; None where looks were not yet counted.

    A set that shares a note with another is no new set to whoever has looked at the other: looks at all of them count.
    """
    statement = text(
        """
        WITH own AS (
            SELECT s.*, l.id AS last, l.at AS until, max(l.id) OVER () = l.id AS newest
            FROM ctl.look l JOIN ctl.held_out_set s ON s.digest = l.held_out_set
            WHERE l.detector_digest = :detector AND l.purpose = 'gate' AND s.gold = :gold AND s.locale = ''),
        mine AS (SELECT * FROM own WHERE newest),
        kin AS (
            SELECT DISTINCT o.held_out_set
            FROM mine JOIN ctl.held_out_note n ON n.held_out_set = mine.digest
            JOIN ctl.held_out_note o ON o.note = n.note)
        SELECT m.name, m.gold, m.notes, m.seen, m.at AS sealed_at, m.until,
               count(*) FILTER (WHERE l.held_out_set = m.digest) AS looks,
               count(DISTINCT l.detector_digest) FILTER (WHERE l.held_out_set = m.digest) AS detectors,
               count(DISTINCT l.held_out_set) FILTER (WHERE l.held_out_set <> m.digest) AS other_sets,
               count(*) FILTER (WHERE l.held_out_set <> m.digest) AS other_looks,
               count(DISTINCT l.detector_digest) AS every_detector,
               (SELECT count(DISTINCT digest) FROM own) AS own_sets
        FROM mine m CROSS JOIN kin k JOIN ctl.look l ON l.held_out_set = k.held_out_set AND l.id <= m.last
        GROUP BY m.name, m.gold, m.notes, m.seen, m.at, m.until
        """
    )
    with begin(reader) as connection:
        row = connection.execute(statement, {"detector": detector_digest, "gold": gold}).one_or_none()
    return None if row is None else LookedAt(**row._mapping)

"""What people decided about quarantined notes, and what a refresh makes of it.

Belongs here: which decision is in force, and keeping decisions. Does not belong here: asking people
(`review/quarantine.py`), or letting a note through, which redaction, leak check and gate alone do.

The ledger says who decided what; the spans lie sealed in the note store, under the digest that the ledger names. What
only one of the two says does not count, unless it keeps a note out. One person can hide more;
whatever could show more takes two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.keys import Keyring
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.deliveries import deliveries_of
from deid_platform.refresh.datasets.derived import NOTE_IDS
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.decision import Action, Ruling
from deid_platform.store import NoteStore
from deid_platform.warehouse.officer.reviews import Ruled, ruled_feeds, rulings
from deid_platform.warehouse.server.roles import Role

KEPT_OUT, STALE = "kept-out", "review-stale"
"""Reason codes: people keep the note out; it is not the note, or not the detector, that they decided about."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands of all that was decided about one note.

    Attributes:
        in_force: What counts; None where nothing does.
        ruling: Its spans; None where the note store does not have what the ledger names.
        proposed: What waits for a second person.
        forgotten: Decisions to keep it out that are sealed and that the ledger lacks, as after a restore: they count.
    """

    in_force: Ruled | None = None
    ruling: Ruling | None = None
    proposed: Ruled | None = None
    forgotten: tuple[Ruling, ...] = ()


@dataclass(frozen=True, slots=True)
class InForce:
    """What counts of the decisions about the notes of one delivery.

    Attributes:
        by_note: note_id -> what stands of it.
        digest: Names all of it; empty where nothing was decided.
    """

    by_note: Mapping[str, Standing] = field(default_factory=dict, repr=False)
    digest: str = ""


def one_is_enough(ruling: Ruling, standing: Standing) -> bool:
    """Whether a decision counts that one person made: it hides more than the detector did and than stands."""
    if ruling.action is Action.KEEP_OUT:
        return True
    if ruling.action is not Action.MEND or ruling.removed or not ruling.held_for.startswith("leak-"):
        return False
    if standing.in_force is None:
        return True
    return standing.ruling is not None and standing.ruling.action is Action.MEND and (
        set(standing.ruling.added) <= set(ruling.added)
    )  # fmt: skip


def standing_of(said: Sequence[Ruled], sealed: Mapping[str, Ruling]) -> Standing:
    """What stands of all that was said of a note, oldest first."""
    now = Standing()
    for row in said:
        ruling = sealed.get(row.ruling)
        if ruling is not None and ruling.action != row.action:
            ruling = None
        alone = ruling is not None and one_is_enough(ruling, now)
        # To keep a note out, the ledger's word is enough.
        if row.turn == 2 or alone or row.action == Action.KEEP_OUT:
            now = Standing() if row.action == Action.AS_FOUND else Standing(row, ruling)
        else:
            now = Standing(now.in_force, now.ruling, row)
    return now


@dataclass(frozen=True, slots=True, repr=False)
class Decided:
    """All that was decided about the notes of a feed."""

    said: Mapping[str, Sequence[Ruled]]
    sealed: Mapping[str, Ruling]
    forgotten: Mapping[str, tuple[tuple[str, Ruling], ...]] = field(default_factory=dict)
    """By the note's current key: names and decisions to keep it out that the ledger lacks."""
    note_ids: Set[str] | None = None
    """The only ids that a note with decisions can have; None where the note store lacks one that the ledger names."""

    def __bool__(self) -> bool:
        return bool(self.said or self.forgotten)

    def of(self, note_keys: Sequence[str]) -> Standing:
        """What stands of a note.

        Args:
            note_keys: Its keys under each secret: a decision of before a key rotation counts as one of after it.
        """
        rows = [row for key in note_keys for row in self.said.get(key, ())]
        stands = standing_of(sorted(rows, key=lambda row: row.id), self.sealed)
        lost = self.forgotten.get(note_keys[0], ())
        if not lost:
            return stands
        name, ruling = lost[-1]
        never = datetime.min.replace(tzinfo=UTC)
        row = Ruled(0, note_keys[0], name, ruling.action.value, ruling.held_for, 1, "", "", never)
        return Standing(row, ruling, stands.proposed, tuple(each for _, each in lost))


def decided(site: Site, feed: str) -> Decided:
    """All that was decided about the notes of a feed, under whatever secret."""
    said: dict[str, list[Ruled]] = {}
    for row in rulings(site.warehouse.engine(Role.OFFICER), feed):
        said.setdefault(row.note_key, []).append(row)
    sealed = _sealed(site, feed)
    note_ids = {ruling.note_id for ruling in sealed.values()}
    all_known = said.keys() <= {key for note_id in note_ids for key in site.note_keys(feed, note_id)}
    return Decided(said, sealed, _forgotten(site, said, sealed.values()), note_ids if all_known else None)


def _forgotten(
    site: Site, said: Mapping[str, Sequence[Ruled]], sealed: Iterable[Ruling]
) -> dict[str, tuple[tuple[str, Ruling], ...]]:
    """Sealed decisions to keep a note out that no row of the ledger names, under whatever secret."""
    named = {row.ruling for rows in said.values() for row in rows}
    found: dict[str, dict[str, Ruling]] = {}
    for ruling in sealed:
        if ruling.action is Action.KEEP_OUT and named.isdisjoint(ruling.digest(ring) for ring in site.keyrings):
            key = site.note_key(ruling.feed, ruling.note_id)
            found.setdefault(key, {})[ruling.digest(site.keyring)] = ruling
    return {key: tuple(rulings.items()) for key, rulings in found.items()}


def forgotten(site: Site) -> int:
    """How many notes are kept out by a sealed decision that the ledger lacks."""
    feeds = {ruling.feed for ruling in kept(site.store)}
    return sum(len(decided(site, feed).forgotten) for feed in feeds)


def unmatched(site: Site) -> int:
    """How many notes the ledger keeps out by keys that no note of the store has, under whatever secret is given."""
    found = 0
    for feed in ruled_feeds(site.warehouse.engine(Role.OFFICER)):
        said = decided(site, feed).said
        kept_out = {key for key, rows in said.items() if _keeps_out(rows)}
        for delivery in deliveries_of(site.store, tables.RAW_NOTES, feed) if kept_out else ():
            for note_id in NOTE_IDS.of(site.store, delivery.key)["note_id"].to_pylist():
                kept_out.difference_update(site.note_keys(feed, note_id))
        found += len(kept_out)
    return found


def _keeps_out(rows: Sequence[Ruled]) -> bool:
    now = standing_of(rows, {}).in_force
    return now is not None and now.action == Action.KEEP_OUT


def in_force(site: Site, delivery: Delivery, found: Decided | None = None) -> InForce:
    """What counts for a delivery: what was decided about its notes, or about an earlier version of them.

    Args:
        site: The installation.
        delivery: Which delivery.
        found: All that was decided about the notes of its feed, if it is at hand.

    Raises:
        DeidError: `store-torn` if the sealed decisions were changed; `warehouse-unreachable`.
    """
    found = decided(site, delivery.feed) if found is None else found
    if not found:
        return InForce()
    ids = NOTE_IDS.of(site.store, delivery.key)["note_id"]
    if found.note_ids is not None:
        # A key is a millionth of a second: of an archive, minutes.
        ids = ids.filter(pc.is_in(ids, value_set=pa.array([*found.note_ids], pa.large_string())))
    by_note: dict[str, Standing] = {}
    for note_id in ids.to_pylist():
        standing = found.of(site.note_keys(delivery.feed, note_id))
        if standing.in_force is not None and _concerns(standing, delivery):
            by_note[note_id] = standing
    if not by_note:
        return InForce()
    names = sorted(f"{note_id} {s.in_force and s.in_force.ruling} {s.ruling is None}" for note_id, s in by_note.items())
    return InForce(by_note, site.keyring.digest("rulings", *names))


def _concerns(standing: Standing, delivery: Delivery) -> bool:
    """A note is kept out of every delivery. Any other decision is about one version of it, and about none before."""
    ruling = standing.ruling
    if ruling is None or ruling.action is Action.KEEP_OUT:
        return True
    return Delivery.parse(ruling.delivery).seq <= delivery.seq


def _sealed(site: Site, feed: str) -> dict[str, Ruling]:
    """Sealed decisions by the digest of their content, whatever name the row says."""
    found: dict[str, Ruling] = {}
    for ruling in kept(site.store):
        if ruling.feed == feed:
            found |= {ruling.digest(ring): ruling for ring in site.keyrings}
    return found


def kept(store: NoteStore) -> list[Ruling]:
    """Every decision that the note store keeps, in order."""
    return [
        Ruling(
            **{name: row[name] for name in Ruling.__dataclass_fields__ if name not in ("action", "added", "removed")},
            action=Action(row["action"]),
            added=tables.spans_of(row["added"]),
            removed=tables.spans_of(row["removed"]),
        )
        for row in kept_rows(store)
    ]


def kept_rows(store: NoteStore) -> list[dict[str, Any]]:
    """The same as rows of `tables.RULING_SCHEMA`."""
    there = store.manifest(tables.RULINGS, tables.ALL) is not None
    return store.rows(tables.RULINGS, tables.ALL) if there else []


def held_or_mended(
    standing: Standing | None, content_digest: str, detector_digest: str
) -> tuple[str | None, Ruling | None]:
    """What decisions make of a note: the reason for which it is held, or how its spans are mended, or neither."""
    if standing is None or standing.in_force is None:
        return None, None
    if standing.in_force.action == Action.KEEP_OUT:
        return KEPT_OUT, None
    ruling = standing.ruling
    if ruling is None or (ruling.content_digest, ruling.detector_digest) != (content_digest, detector_digest):
        return STALE, None
    return None, ruling


def keep(store: NoteStore, keyring: Keyring, ruling: Ruling) -> str:
    """Seals a decision and returns the digest by which the ledger names it; until that does, it counts nothing."""
    rows, name = kept_rows(store), ruling.digest(keyring)
    if name not in {row["ruling"] for row in rows}:
        places = ("feed", "delivery", "note_id", "held_for", "content_digest", "detector_digest")
        row = {each: getattr(ruling, each) for each in places} | {"ruling": name, "action": ruling.action.value}
        row |= {"added": tables.span_rows(ruling.added), "removed": tables.span_rows(ruling.removed)}
        table = pa.Table.from_pylist([*rows, row], schema=tables.RULING_SCHEMA)
        store.write(tables.RULINGS, tables.ALL, [table], meta=lambda: {"rulings": table.num_rows})
    return name

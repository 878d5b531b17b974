"""The topics as of a delivery, and what names them.

Belongs here: which rows count for a delivery, folded, and digests of them, for which no row is read. Does not belong
here: taking rows in (`refresh/intake/sealing.py`), how they fold (`notes.py`, `folding.py`), or which rows of later
deliveries count (`refresh/hiding/late_names.py`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import or_
from typing import NamedTuple

import pyarrow as pa

from deid_platform.corpora import Reason
from deid_platform.keys import Keyring, module_digest, package_digest, plain_digest
from deid_platform.notes import Delivery, Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.deliveries import deliveries_until
from deid_platform.refresh.topics.folding import with_patients
from deid_platform.store import Manifest, NoteStore

# A row that was rejected for these reasons is there all the same: without the one value, or as a former row.
_NAME_KEPT = (Reason.IMPOSSIBLE_DATE.value, Reason.DUPLICATE_ID.value)
_FOLDING = (
    "deid_platform.notes",
    "deid_platform.large_tables.topics_file",
    "deid_platform.detection.spec",
    "deid_platform.refresh.datasets.tables",
)
"""Modules beside this package that make topics, and their digest, of the rows that were taken in."""


def topics_as_of(store: NoteStore, delivery: Delivery) -> Topics:
    """Topics folded over the feed's deliveries up to and with this one, and rows of later ones that its notes name.

    Folding from the upserts each time, rather than from the previous fold, keeps the result right when an
    older delivery arrives late or is taken in again.
    """
    folded = Topics()
    rows: dict[Delivery, dict[str, list[dict[str, object]]]] = {}
    # Patients may be millions: theirs are not held.
    for name in tables.TOPICS.keys() - {"patients"}:
        for earlier in deliveries_until(store, f"source/{name}", delivery):
            rows.setdefault(earlier, {topic: [] for topic in tables.TOPICS})[name] = store.rows(
                f"source/{name}", earlier.key
            )
    for earlier in sorted(rows, key=lambda d: d.seq):
        folded = folded.folded(tables.topics_of(rows[earlier]))
    return with_patients(folded, patients_as_of(store, delivery), spool=store.spool)


def patients_as_of(store: NoteStore, delivery: Delivery) -> Iterator[Iterable[pa.Table]]:
    """The rows from which the patients as of a delivery are folded, in the order in which they fold."""
    for earlier in deliveries_until(store, tables.PATIENT_ROWS, delivery):
        yield store.read(tables.PATIENT_ROWS, earlier.key)
    if store.manifest(tables.LATER_PATIENTS, delivery.key) is not None:
        yield store.read(tables.LATER_PATIENTS, delivery.key)


def later_digest(store: NoteStore, delivery: Delivery) -> str:
    """Names the rows of later deliveries that count for a delivery; empty where there are none."""
    later = store.manifest(tables.LATER_PATIENTS, delivery.key)
    return "" if later is None else plain_digest(*(part.digest for part in later.parts))


def patients_digests(store: NoteStore, deliveries: Sequence[Delivery]) -> dict[Delivery, str]:
    """Names the rows that all deliveries up to each of these, of one feed, brought of patients; none is read."""
    if not deliveries:
        return {}
    until = deliveries_until(store, tables.PATIENT_ROWS, max(deliveries, key=lambda each: each.seq))
    brought = (store.required(tables.PATIENT_ROWS, each.key).parts for each in until)
    named = accumulate((plain_digest(*(part.digest for part in parts)) for parts in brought), plain_digest, initial="")
    by_place = list(named)
    return {each: by_place[bisect_right(until, each.seq, key=lambda d: d.seq)] for each in deliveries}


class Upserts(NamedTuple):
    """What the manifests tell of the topics as of a delivery, of which no row is read.

    Attributes:
        digest: Names all rows that they are folded from, and the code that folds them, or makes something else of them.
        rosters_incomplete: Whether a row of the patients topic was lost in this delivery or an earlier one. Whose row
            it was nobody can tell, so a note whose patient no row names may be that patient's. A row that lost one
            optional value is not lost.
    """

    digest: str
    rosters_incomplete: bool


def upserts_until(
    store: NoteStore,
    delivery: Delivery,
    keyring: Keyring,
    *,
    code: Sequence[str] | None = None,
    topics: Iterable[str] = tables.TOPICS,
) -> dict[Delivery, Upserts]:
    """What the manifests tell of the topics as of each delivery of the feed that brought any, up to the one given.

    Args:
        store: Holds the manifests.
        delivery: The last one.
        keyring: Makes the digests.
        code: Digests of the code that makes something else of the rows than folds them.
        topics: Which topics.

    Returns:
        The deliveries in the order of their watermarks.

    Raises:
        DeidError: `store-torn` or `store-rolled-back`.
    """
    found: dict[Delivery, list[Manifest]] = {}
    for name in topics:
        for each in deliveries_until(store, f"source/{name}", delivery):
            found.setdefault(each, []).append(store.required(f"source/{name}", each.key))
    order = sorted(found, key=lambda each: each.seq)
    if code is None:
        code = (package_digest(__package__), module_digest(*_FOLDING))
    # Without rows it changes nothing.
    brought = ([text for m in found[each] if m.rows for text in _named(m)] for each in order)
    digests = keyring.digests("upserts", *code, then=brought)
    lost = accumulate((any(map(_row_lost, found[each])) for each in order), or_)
    return {each: Upserts(*told) for each, *told in zip(order, digests, lost, strict=True)}


def _named(manifest: Manifest) -> tuple[str, ...]:
    return (manifest.dataset, manifest.partition, *(part.digest for part in manifest.parts))


def upserts_as_of(
    store: NoteStore, upserts: Mapping[Delivery, Upserts], delivery: Delivery, keyring: Keyring
) -> Upserts | None:
    """What of `upserts_until` counts for a delivery, which may have brought no topics itself; None if none did.

    Rows of later deliveries that count for this one are among what it names.
    """
    order = list(upserts)
    until = bisect_right(order, delivery.seq, key=lambda each: each.seq)
    found = upserts[order[until - 1]] if until else None
    if not (later := later_digest(store, delivery)):
        return found
    if found is None:
        return Upserts(keyring.digest("later", later), rosters_incomplete=False)
    return found._replace(digest=keyring.digest("later", later, found.digest))


def _row_lost(manifest: Manifest) -> bool:
    rejected = manifest.meta["rejected"] if manifest.dataset == tables.PATIENT_ROWS else ()
    return any(reason not in _NAME_KEPT for reason in rejected)

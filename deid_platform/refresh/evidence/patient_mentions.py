"""What the notes of a feed tell of patients up to a delivery.

Belongs here: folding what the first pass kept, and naming it. Does not belong here: what a note tells
(`detection/resolve/cross_note.py`), or looking for it in other notes.

It is folded over the feed's deliveries up to the one at hand, as topics are: a name that a later delivery brings marks
the notes of that one, and those of an older one once that is run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.detection.two_pass import PatientMentionIndex
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.deliveries import deliveries_until
from deid_platform.refresh.datasets.derived import PATIENTS, TOLD
from deid_platform.store import NoteStore

_A_BATCH = 1_000  # patients


@dataclass(frozen=True)
class Told:
    """What notes tell of the patients of a delivery, and a digest that names it, whichever notes tell it."""

    index: PatientMentionIndex
    digest: str


def told_until(store: NoteStore, delivery: Delivery, keyring: Keyring) -> Told:
    """What the feed's notes up to and with a delivery tell about the patients of its notes.

    Of an earlier delivery, no more is read than who its patients are, unless this one has notes of one of them.

    Raises:
        DeidError: `not-materialized` or `store-torn` if what is found in a delivery is not there; `store-write` if the
            disk has no room for it.
    """
    index, hashes = PatientMentionIndex(spool=store.spool), [np.empty(0, np.uint64)]
    here = PATIENTS.of(store, delivery.key)["patient_id"].combine_chunks()
    try:
        for earlier in deliveries_until(store, tables.FIRST_PASS, delivery):
            if pc.any(pc.is_in(PATIENTS.of(store, earlier.key)["patient_id"], value_set=here)).as_py():
                told = TOLD.of(store, earlier.key)
                told = told.filter(pc.is_in(told["patient_id"], value_set=here))
                hashes.append(_hashes(told))
                # As rows of Python they take several times what is kept of them.
                for batch in told.to_batches(max_chunksize=_A_BATCH):
                    for row in batch.to_pylist():
                        index.add(row["patient_id"], tables.mentions_of(row["told"]))
    except OSError:
        raise DeidError(Code.STORE_WRITE, f"{tables.FIRST_PASS}/{delivery.key}") from None
    every = np.unique(np.concatenate(hashes))
    return Told(index, _named(every.sum(dtype=np.uint64), len(every), keyring))


def first_pass_digests(store: NoteStore, delivery: Delivery, keyring: Keyring) -> dict[Delivery, str]:
    """Names all that was found in the feed's notes up to and with each of its deliveries, up to the one given.

    Where this is the same, so is what is told; no row is read for it.
    """
    until = deliveries_until(store, tables.FIRST_PASS, delivery)
    found = ([part.digest for part in store.required(tables.FIRST_PASS, each.key).parts] for each in until)
    return dict(zip(until, keyring.digests("told", then=found), strict=True))


def told_digests(store: NoteStore, delivery: Delivery, keyring: Keyring) -> dict[Delivery, str]:
    """The digest of `told_until` for each of the feed's deliveries up to the one given, each of which is read once."""
    until = deliveries_until(store, tables.FIRST_PASS, delivery)
    told = [TOLD.of(store, each.key) for each in until]
    bearers = [table["patient_id"].take(pc.list_parent_indices(table["hashes"].combine_chunks())) for table in told]
    codes = _codes([*bearers, *(PATIENTS.of(store, each.key)["patient_id"] for each in until)])
    bearer, here = np.concatenate([np.empty(0, np.int32), *codes[: len(until)]]), codes[len(until) :]
    hashes = np.concatenate([np.empty(0, np.uint64), *map(_hashes, told)])
    # Of what is told again, the first time.
    first = np.sort(np.unique(hashes, return_index=True)[1])
    begins = np.searchsorted(first, np.cumsum([len(each) for each in bearers])[:-1])
    sums, counts = (np.zeros(max(map(_most, codes), default=0) + 1, kind) for kind in (np.uint64, np.int64))
    found: dict[Delivery, str] = {}
    for each, new, patients in zip(until, np.split(first, begins), here, strict=bool(until)):
        np.add.at(sums, bearer[new], hashes[new])
        np.add.at(counts, bearer[new], 1)
        found[each] = _named(sums[patients].sum(dtype=np.uint64), counts[patients].sum(), keyring)
    return found


def _hashes(told: pa.Table) -> npt.NDArray[np.uint64]:
    """One a patient and mention, in order; a mention of a patient has the same whoever repeats it."""
    hashes: npt.NDArray[np.uint64] = pc.list_flatten(told["hashes"].combine_chunks()).to_numpy()
    return hashes


def _codes(columns: Sequence[pa.ChunkedArray]) -> list[npt.NDArray[np.int32]]:
    """Columns of ids as numbers from 0 on, the same number for the same id."""
    ids = pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.large_string())
    numbers = ids.combine_chunks().dictionary_encode().indices.to_numpy()
    return np.split(numbers, np.cumsum([len(column) for column in columns])[:-1])


def _most(codes: npt.NDArray[np.int32]) -> int:
    return int(codes.max(initial=0))


def _named(total: np.uint64, count: int, keyring: Keyring) -> str:
    """A set by the sum of its hashes, which does not depend on their order."""
    return keyring.digest("told here", str(int(total)), str(int(count)))

"""The digest of a delivery's files, without reading again those that nobody touched.

Belongs here: when a digest that was made before is believed, and forgetting it. Does not belong here: what a file
system says of files (`corpora/file_states.py`), or the digest that intake seals, which is always of what it reads
(`refresh/intake/sealing.py`).

A digest is kept with what the file system said of all the files when they were read. It counts as long as all of that
is the same, and only if they had been left alone for some time by then: a write at nearly the time of the one before
it need not show in any time (git calls such a file racy). Whatever else happens costs reading the files: another
process wrote its own meanwhile, a part is torn, the clock was set back, the feed lies on another file system.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import time_ns

import pyarrow as pa

from deid_platform.corpora import Reader
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.keys import Keyring, module_digest
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.derived import derived
from deid_platform.refresh.intake.sealing import files_digests
from deid_platform.store import NoteStore

SETTLED_NS = 3600 * 10**9
"""How long before they are read files must have changed last: an hour. It has to be more than the steps of a file
system's clock (at most 2 s), the time for which a client of NFS keeps what it was told of a file (60 s,
`acregmax`), that for which a write into mapped memory may show in no time (35 s, `vm.dirty_expire_centisecs` and the
interval of the kernel's flusher), and the difference between the clocks of this machine and of a file server."""
_DECIDING = (
    __name__,
    "deid_platform.corpora.decoding",
    "deid_platform.corpora.file_states",
    "deid_platform.corpora.files",
    "deid_platform.refresh.intake.sealing",
)
"""Modules that decide what is in a digest: what other code made is made anew."""


def known_files_digests(
    reader: Reader, delivery: Delivery, *, store: NoteStore, keyrings: Sequence[Keyring], exclusions: Exclusions
) -> list[str]:
    """As `intake.files_digests`, which alone may be sealed: of files that nobody touched, as they were when last read.

    Args:
        reader: Of the delivery's feed.
        delivery: The delivery.
        store: What is kept is read there, and written where the files had to be read.
        keyrings: The site's keys under each secret, the current one first. All callers name the same, or each of them
            would read the files again.
        exclusions: What never enters.

    Raises:
        DeidError: `feed-unreadable` if the delivery is not there.
    """
    # Before anything is asked or read: what changes from here on changed later than this.
    begun = time_ns()
    states = reader.states(delivery)
    if states is None or states.changed_ns > begun - SETTLED_NS:
        return files_digests(reader, delivery, keyrings, exclusions)

    unread: list[None] = []

    def make() -> pa.Table:
        digests = files_digests(reader, delivery, keyrings, exclusions, unread=lambda: unread.append(None))
        return pa.Table.from_pylist([{"digest": each} for each in digests], schema=tables.DIGEST_SCHEMA)

    code, ids = module_digest(*_DECIDING), [keyring.key_id for keyring in keyrings]
    table = derived(
        store,
        tables.FILES_DIGEST,
        delivery.key,
        made_from=keyrings[0].digest(
            "file states", code, str(len(ids)), *ids, exclusions.digest(keyrings[0]), *states.parts
        ),
        make=make,
        # What changed while it was read may have been read half before and half afterwards. A disk or a network that
        # failed reads the next time, and no state shows that.
        keep=lambda: not unread and reader.states(delivery) == states,
    )
    return [str(digest) for digest in table["digest"]]


def forget_files(store: NoteStore, deliveries: Iterable[Delivery]) -> None:
    """Lets the next look at these deliveries read all their files.

    Raises:
        DeidError: `store-write`; of a store elsewhere, `store-unreachable` or `store-taken`.
    """
    kept = set(store.partitions(tables.FILES_DIGEST))
    for delivery in deliveries:
        if delivery.key in kept:
            store.write(tables.FILES_DIGEST, delivery.key, [])

"""The note store: Parquet parts and an atomic, sealed manifest for each partition of each dataset.

    location, files   where a store is, and files under its root
    parts, manifests  rows of a partition, and the sealed list of them
    heads, owner      the newest manifest of each partition; who writes a store that is elsewhere
    note_store        reads and writes partitions

Belongs here: how bytes of the PHI zone are written, sealed, listed and read back, behind `pyarrow.fs` URIs. Does not
belong here: what the rows mean (each asset's domain function) or what research may see (`warehouse/`).

    <root>/<dataset>/<partition>/part-<random>.parquet    rows; written first, invisible until named (`parts.py`)
    <root>/<dataset>/<partition>/manifest.json            names and keyed digests of the parts, last (`manifests.py`)
    <root>/<dataset>/<partition>/unfinished.json          the same of a write that was killed (`parts.py`)
    <root>/heads.json                                     the newest manifest of each partition (`heads.py`)
    <root>/owner.json                                     who writes a store that is elsewhere (`owner.py`)

Readers go through the manifest alone, so a torn write leaves the partition as it was. The manifest is sealed with the
site's key: a part or a manifest that was swapped, truncated or edited is refused, and a digest of it tells nothing
about short notes to anybody without the secret. A partition that was put back to an older sealed state is refused
too. On a local file system folders are 0700 and files 0600; of a store elsewhere, `heads.json` lies in a folder of
this machine, out of reach of whoever keeps the store.
"""

from deid_platform.store.heads import HEADS
from deid_platform.store.location import Location
from deid_platform.store.manifests import MANIFEST, Manifest
from deid_platform.store.note_store import SETTLED, NoteStore
from deid_platform.store.parts import UNFINISHED

__all__ = ["HEADS", "MANIFEST", "SETTLED", "UNFINISHED", "Location", "Manifest", "NoteStore"]

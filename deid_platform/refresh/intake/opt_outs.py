"""Ids in the list of opt-outs that are written otherwise than the source writes them, and so hide nobody.

Belongs here: comparing the list with the ids that arrived. Does not belong here: reading the list
(`corpora/exclusions.py`), or hiding whom it names (`refresh/staging/stage.py`).

Ids are compared exactly, since "0123" and "123" may be two patients. A spreadsheet drops leading zeros all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.errors import DeidError
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.derived import NOTE_IDS
from deid_platform.refresh.installation.site import Site


def misspelt_opt_outs(site: Site) -> int:
    """How many ids of the list are nobody's, while one with other capitals, leading zeros or separators is somebody's.

    Nothing is written. Who is known is told by the topics and the notes that were taken in.

    Raises:
        DeidError: `opt-outs-unreadable`.
    """
    listed = pa.array(site.exclusions.opted_out(), pa.large_string())
    if not listed:
        return 0
    known = nearly = pa.array([False] * len(listed))
    plain = _plain(listed)
    for ids in _arrived(site):
        known = pc.or_(known, pc.is_in(listed, value_set=ids))
        nearly = pc.or_(nearly, pc.is_in(plain, value_set=_plain(ids)))
    meant = pc.is_in(plain, value_set=plain.filter(known))  # that one is listed too
    return int(pc.sum(pc.and_not(nearly, meant)).as_py() or 0)


def _arrived(site: Site) -> Iterator[pa.Array]:
    """Ids of patients, part by part; what cannot be read is left out."""
    for dataset in (tables.PATIENT_ROWS, NOTE_IDS.dataset):
        for partition in site.store.partitions(dataset):
            with suppress(DeidError):
                for part in site.store.read(dataset, partition):
                    yield part["patient_id"].combine_chunks().drop_null().cast(tables.NOTE_IDS_SCHEMA.types[1])


def _plain(ids: pa.Array) -> pa.Array:
    """Ids without what people and spreadsheets change in them."""
    bare = pc.replace_substring_regex(pc.utf8_lower(ids), r"[\s._/-]+", "")
    return pc.utf8_ltrim(bare, characters="0")

"""The dictionaries as datasets of the note store, so that an engineer can see what detection looks up.

Belongs here: writing both dictionaries with their counts, and what changed in the institution's since the
delivery before. Does not belong here: which terms of the topics count (`detection/topics/gazetteer.py`), how a clinical
term is recovered (`detection/resolve/recovery/`) or which might be added (`harvest.py`). Detection builds its own from
the same sources, in its worker: these are a record, not an input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from deid_platform.detection.resolve.recovery import clinical_terms
from deid_platform.detection.topics.gazetteer import institution_terms
from deid_platform.errors import DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh import tables
from deid_platform.refresh.intake import deliveries_until, topics_as_of
from deid_platform.refresh.site import Site
from deid_platform.store import Manifest

Term = tuple[str, str]
"""A folded term and its label, or the list that it comes from."""


def write_institution(site: Site, delivery: Delivery) -> Manifest:
    """Writes the terms that the topics give as of a delivery.

    `meta` names this version by its digest, counts its terms by label, and compares it with that of the feed's
    delivery before: how many terms came (`added`), went (`removed`) and stayed (`kept`), and the digest of the
    version that it was compared with (`previous`). A first version has no `previous`, nor has one whose former
    version cannot be read.
    """
    topics = topics_as_of(site.store, delivery)
    digest = site.spec(topics).dictionary_digest(site.keyring)
    terms = _each_once(_table((term, label.value) for term, label in institution_terms(topics)))
    return _write(site, tables.INSTITUTION, delivery.key, terms, {"digest": digest, **_changes(site, delivery, terms)})


def write_medical(site: Site) -> Manifest:
    """Writes what detection keeps, by list, the site's terms (`site`) and phrases (`allowed`) too; `meta` counts."""
    spec = site.spec(None)
    terms = [*clinical_terms(spec.own_terms()), *((phrase, "allowed") for phrase in spec.allow_list().phrases)]
    digest = site.keyring.digest(*(term for term, _ in terms))
    return _write(site, tables.MEDICAL, tables.ALL, _table(terms), {"digest": digest})


def _changes(site: Site, delivery: Delivery, terms: pa.Table) -> dict[str, Any]:
    """Counts of terms against the version of the feed's delivery before."""
    earlier = [d for d in deliveries_until(site.store, tables.INSTITUTION, delivery) if d != delivery]
    if not earlier:
        return {}
    try:
        before = site.store.required(tables.INSTITUTION, earlier[-1].key)
        former = pa.concat_tables(
            [tables.TERM_SCHEMA.empty_table(), *site.store.read(tables.INSTITUTION, earlier[-1].key)]
        )
    except DeidError:
        # A record of the past that cannot be trusted is no reason to hold up a delivery.
        return {}
    either = _each_once(pa.concat_tables([terms, former])).num_rows
    changes = {
        "added": either - former.num_rows,
        "removed": either - terms.num_rows,
        "kept": terms.num_rows + former.num_rows - either,
    }
    return {"previous": before.meta["digest"], "changes": changes}


def _table(terms: Iterable[Term]) -> pa.Table:
    """Terms as rows of `tables.TERM_SCHEMA`: a site has several for each patient, which as rows of Python take
    several times as much memory."""
    kinds = [field.type for field in tables.TERM_SCHEMA]
    batches = (
        pa.RecordBatch.from_arrays(list(map(pa.array, zip(*batch, strict=True), kinds)), schema=tables.TERM_SCHEMA)
        for batch in tables.batched(terms, tables.NOTES_A_PART)
    )
    return pa.Table.from_batches(batches, tables.TERM_SCHEMA)


def _each_once(terms: pa.Table) -> pa.Table:
    return terms.group_by(tables.TERM_SCHEMA.names).aggregate([])


def _write(site: Site, dataset: str, partition: str, terms: pa.Table, meta: Mapping[str, Any]) -> Manifest:
    kinds = {row["values"]: row["counts"] for row in terms["kind"].value_counts().to_pylist()}
    in_order = terms.sort_by([(name, "ascending") for name in tables.TERM_SCHEMA.names])
    return site.store.write(dataset, partition, [in_order], meta=lambda: {**meta, "kinds": kinds})

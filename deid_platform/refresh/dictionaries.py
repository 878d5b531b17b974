"""The dictionaries as datasets of the note store, so that an engineer can see what detection looks up.

Belongs here: writing both dictionaries with their counts, and what changed in the institution's since the
delivery before. Does not belong here: which terms of the topics count (`detection/topics/gazetteer.py`), how a clinical
term is recovered (`detection/resolve/recovery/`) or which might be added (`harvest.py`). Detection builds its own from
the same sources, in its worker: these are a record, not an input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
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
    terms = {(term, label.value) for term, label in institution_terms(topics)}
    return _write(site, tables.INSTITUTION, delivery.key, terms, {"digest": digest, **_changes(site, delivery, terms)})


def write_medical(site: Site) -> Manifest:
    """Writes what detection keeps, by list, the site's terms (`site`) and phrases (`allowed`) too; `meta` counts."""
    spec = site.spec(None)
    terms = [*clinical_terms(spec.own_terms()), *((phrase, "allowed") for phrase in spec.allow_list().phrases)]
    digest = site.keyring.digest(*(term for term, _ in terms))
    return _write(site, tables.MEDICAL, tables.ALL, terms, {"digest": digest})


def _changes(site: Site, delivery: Delivery, terms: Set[Term]) -> dict[str, Any]:
    """Counts of terms against the version of the feed's delivery before."""
    earlier = [d for d in deliveries_until(site.store, tables.INSTITUTION, delivery) if d != delivery]
    if not earlier:
        return {}
    try:
        before = site.store.required(tables.INSTITUTION, earlier[-1].key)
        former = {(row["term"], row["kind"]) for row in site.store.stream(tables.INSTITUTION, earlier[-1].key)}
    except DeidError:
        # A record of the past that cannot be trusted is no reason to hold up a delivery.
        return {}
    changes = {"added": len(terms - former), "removed": len(former - terms), "kept": len(terms & former)}
    return {"previous": before.meta["digest"], "changes": changes}


def _write(site: Site, dataset: str, partition: str, terms: Iterable[Term], meta: Mapping[str, Any]) -> Manifest:
    rows = [{"term": term, "kind": kind} for term, kind in sorted(terms)]
    kinds = Counter(row["kind"] for row in rows)
    table = pa.Table.from_pylist(rows, schema=tables.TERM_SCHEMA)
    return site.store.write(dataset, partition, [table], meta=lambda: {**meta, "kinds": dict(kinds)})

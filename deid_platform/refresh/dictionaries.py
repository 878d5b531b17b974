"""The dictionaries as datasets of the note store, so that an engineer can see what detection looks up.

Belongs here: writing both dictionaries with their counts. Does not belong here: which terms of the topics
count (`detection/gazetteer.py`) or how a clinical term is recovered (`detection/recovery.py`). Detection
builds its own from the same sources, in its worker: these are a record, not an input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pyarrow as pa

from deid_platform.detection.gazetteer import institution_terms
from deid_platform.detection.recovery import clinical_terms
from deid_platform.notes import Delivery
from deid_platform.refresh import tables
from deid_platform.refresh.intake import topics_as_of
from deid_platform.refresh.site import Site
from deid_platform.store import Manifest


def write_institution(site: Site, delivery: Delivery) -> Manifest:
    """Writes the terms that the topics give as of a delivery; `meta` counts them by label."""
    topics = topics_as_of(site.store, delivery)
    digest = site.spec(topics).dictionary_digest(site.keyring)
    terms = ((term, label.value) for term, label in institution_terms(topics))
    return _write(site, tables.INSTITUTION, delivery.key, terms, digest)


def write_medical(site: Site) -> Manifest:
    """Writes the clinical terms that detection recovers, the site's own lists included; `meta` counts them by list."""
    terms = list(clinical_terms(site.spec(None).own_terms()))
    return _write(site, tables.MEDICAL, tables.ALL, terms, site.keyring.digest(*(term for term, _ in terms)))


def _write(site: Site, dataset: str, partition: str, terms: Iterable[tuple[str, str]], digest: str) -> Manifest:
    rows = [{"term": term, "kind": kind} for term, kind in sorted(terms)]
    kinds = Counter(row["kind"] for row in rows)
    table = pa.Table.from_pylist(rows, schema=tables.TERM_SCHEMA)
    return site.store.write(dataset, partition, [table], meta=lambda: {"digest": digest, "kinds": dict(kinds)})

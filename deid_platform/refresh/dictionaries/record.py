"""The dictionaries as datasets of the note store, so that an engineer can see what detection looks up.

Belongs here: writing both dictionaries with their counts, reading the institution's, and telling whether they are those
that detection looks up. Does not belong here: which terms of the topics count (`detection/topics/terms.py`), how a
clinical term is recovered (`detection/resolve/recovery/`) or which might be added
(`refresh/dictionaries/proposals.py`).

Workers build from rows and lists, which are smaller than the terms that they give and hold more: rosters, former names.
So that the record cannot tell of another dictionary than the one that was looked up, a delivery is redacted only where
both are there, of the rows and lists of this moment, and what came of it bears their names (`in_force`).

The institution dictionary has millions of terms and a delivery brings some of them. So each partition holds the terms
of its own delivery's rows, and of all rows until then only counts. A row of the topics that was ever delivered keeps
its terms, as a former one where it is not the current one: the dictionary as of a delivery is all that the partitions
until then hold. None holds a term of another delivery's rows, so that what is taken in again without a row loses its
terms with it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.detection.resolve.recovery import clinical_terms
from deid_platform.detection.topics.terms import institution_terms
from deid_platform.errors import Code, DeidError
from deid_platform.keys import module_digest, package_digest
from deid_platform.notes import Delivery, Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.topics.as_of import upserts_until
from deid_platform.store import Manifest

Term = tuple[str, str]
"""A folded term and its label, or the list that it comes from."""
_TERMS_A_PART = 100_000
_DECIDING = ("detection", "lexicon", "text")
"""Packages that make terms of a row: what others made is made anew. Where they change, so does the detector."""


def write_institution(site: Site, delivery: Delivery) -> Manifest:
    """Writes the terms that a delivery's topics give, each once for each label under which a row gives it.

    Nothing is written where the same terms are there already, counted with the same ones before them.

    `meta` tells of the whole dictionary as of the delivery: it names it by a digest of all rows of topics until then,
    counts its terms by label (`kinds`), and compares it with that of the feed's delivery before: how many terms came
    (`added`) and stayed (`kept`), and its digest (`previous`). The first one has no `previous`.

    What is missing of an earlier delivery, or was made of other rows or by other code, is made first.

    Raises:
        DeidError: `not-materialized` if the delivery's topics were not taken in.
    """
    site.store.required(tables.PATIENT_ROWS, delivery.key)
    digests = _digests(site, delivery)
    _recorded(site, delivery, digests)
    deque(_parts(site, delivery, digests), maxlen=0)  # what cannot be read is written again
    return site.store.required(tables.INSTITUTION, delivery.key)


def institution(site: Site, delivery: Delivery) -> Iterator[pa.Table]:
    """The institution dictionary as of a delivery, of `tables.TERM_SCHEMA`, one part in memory at a time.

    A term of several deliveries comes once for each. What is missing, or cannot be read, is made first.
    """
    digests = _digests(site, delivery)
    for each in digests:
        _recorded(site, each, digests)
        yield from _parts(site, each, digests)


def write_medical(site: Site) -> Manifest:
    """Writes what detection keeps, by list, the site's terms (`site`) and phrases (`allowed`) too; `meta` counts."""
    terms, digest = _medical(site)
    table = _in_order(_table(terms))
    return _write(site, tables.MEDICAL, tables.ALL, table, {"digest": digest, "kinds": dict(_kinds(table))})


class Names(NamedTuple):
    """What names the dictionaries that a delivery is redacted with.

    Attributes:
        institution: The terms of the topics as of the delivery.
        medical: The terms that are kept.
    """

    institution: str
    medical: str


def in_force(site: Site, delivery: Delivery) -> Names:
    """What names the dictionaries that detection looks up for a delivery, by the record of them.

    Rows of later deliveries that name its patients are looked up too (`refresh/hiding/late_names.py`), and are no part
    of these.

    Raises:
        DeidError: `not-materialized` for a dictionary that is missing, or is of other rows, lists or code.
    """
    return Names(
        _named(site, tables.INSTITUTION, delivery.key, _digests(site, delivery).get(delivery)),
        _named(site, tables.MEDICAL, tables.ALL, _medical(site)[1]),
    )


def _named(site: Site, dataset: str, partition: str, digest: str | None) -> str:
    name: str = site.store.required(dataset, partition).meta["digest"]
    if name != digest:
        raise DeidError(Code.NOT_MATERIALIZED, f"{dataset}/{partition}")
    return name


def _medical(site: Site) -> tuple[list[Term], str]:
    """What detection keeps, by list, and what names it."""
    spec = site.spec(None)
    terms = [*clinical_terms(spec.own_terms()), *((phrase, "allowed") for phrase in spec.allow_list().phrases)]
    return terms, site.keyring.digest(*(term for term, _ in terms))


def _digests(site: Site, delivery: Delivery) -> dict[Delivery, str]:
    """What names the dictionary as of each delivery of the feed that brought topics, up to the one given, in order."""
    code = (*(package_digest(f"deid_platform.{name}") for name in _DECIDING), module_digest(__name__))
    upserts = upserts_until(site.store, delivery, site.keyring, code=("institution", *code))
    return {each: told.digest for each, told in upserts.items()}


def _write_terms(site: Site, delivery: Delivery, digests: Mapping[Delivery, str]) -> Manifest:
    terms = _each_once(_in_order(_table(_terms_of(site, delivery))))
    meta: dict[str, Any] = {"digest": digests[delivery]}
    new = terms
    kinds: Counter[str] = Counter()
    # In their order, since each is counted with those before it.
    if recorded := {each: _recorded(site, each, digests) for each in digests if each.seq < delivery.seq}:
        for each in recorded:
            new = _without(new, _parts(site, each, digests))
        *_, before = recorded.values()
        kinds.update(before.meta["kinds"])
        meta |= {"previous": before.meta["digest"], "changes": {"added": new.num_rows, "kept": kinds.total()}}
    kinds += _kinds(new)
    return _write(site, tables.INSTITUTION, delivery.key, terms, {**meta, "kinds": dict(kinds)})


def _recorded(site: Site, delivery: Delivery, digests: Mapping[Delivery, str]) -> Manifest:
    """The manifest of a delivery's terms, which are written unless they are those of its rows."""
    with suppress(DeidError):
        manifest = site.store.required(tables.INSTITUTION, delivery.key)
        if manifest.meta["digest"] == digests[delivery]:
            return manifest
    return _write_terms(site, delivery, digests)


def _parts(site: Site, delivery: Delivery, digests: Mapping[Delivery, str]) -> Iterator[pa.Table]:
    """The recorded terms of a delivery; where a part cannot be read, all of them once more."""
    try:
        yield from site.store.read(tables.INSTITUTION, delivery.key)
    except DeidError:
        # A record that cannot be trusted is no reason to hold anything up: it is made of rows that are there.
        _write_terms(site, delivery, digests)
        yield from site.store.read(tables.INSTITUTION, delivery.key)


def _terms_of(site: Site, delivery: Delivery) -> Iterator[Term]:
    """The terms of each row of a delivery's topics by itself, whatever the rows beside it say."""
    for name, kind in tables.TOPICS.items():
        dataset = f"source/{name}"
        if site.store.manifest(dataset, delivery.key) is None:
            continue
        for part in site.store.read(dataset, delivery.key):
            # As rows of Python they take several times what they take in the part.
            for batch in part.to_batches(max_chunksize=tables.NOTES_A_BLOCK):
                for row in batch.to_pylist():
                    alone: dict[str, Any] = {name: {"": tables.from_row(kind, row)}}
                    yield from ((term, label.value) for term, label in institution_terms(Topics(**alone)))


def _without(terms: pa.Table, parts: Iterator[pa.Table]) -> pa.Table:
    """The terms that are in no part, of which none is read once no term is left."""
    names = tables.TERM_SCHEMA.names
    while terms.num_rows and (part := next(parts, None)) is not None:
        terms = part.join(terms, keys=names, join_type="right anti")
    return terms


def _table(terms: Iterable[Term]) -> pa.Table:
    """Terms as rows of `tables.TERM_SCHEMA`: rows of Python take several times as much memory."""
    kinds = [field.type for field in tables.TERM_SCHEMA]
    batches = (
        pa.RecordBatch.from_arrays(list(map(pa.array, zip(*batch, strict=True), kinds)), schema=tables.TERM_SCHEMA)
        for batch in tables.batched(terms, tables.NOTES_A_PART)
    )
    return pa.Table.from_batches(batches, tables.TERM_SCHEMA)


def _in_order(terms: pa.Table) -> pa.Table:
    return terms.sort_by([(name, "ascending") for name in tables.TERM_SCHEMA.names])


def _each_once(in_order: pa.Table) -> pa.Table:
    # Grouping gives the same for several times the memory.
    differing = pc.or_(*(pc.not_equal(column[1:], column[:-1]) for column in in_order.columns))
    return in_order.filter(pa.chunked_array([[True] * min(1, in_order.num_rows), *differing.chunks], pa.bool_()))


def _kinds(terms: pa.Table) -> Counter[str]:
    return Counter({row["values"]: row["counts"] for row in terms["kind"].value_counts().to_pylist()})


def _write(site: Site, dataset: str, partition: str, terms: pa.Table, meta: Mapping[str, Any]) -> Manifest:
    parts = (pa.Table.from_batches([batch]) for batch in terms.to_batches(max_chunksize=_TERMS_A_PART))
    return site.store.write(dataset, partition, parts, meta=lambda: meta)

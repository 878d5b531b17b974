"""Whether note store and warehouse belong together, as they may not after one of them was restored from a backup.

Belongs here: what one of them knows and the other does not. Does not belong here: a partition that was put back by
itself (`store/heads.py`), or what makes up for a difference, which is a refresh.

Both are compared by what no run may lack. A delivery is taken in before anything of it is staged, so that the
warehouse knows of none whose notes and topics the store lacks; names from those topics would stay in later notes. And
the store keeps that a delivery was staged, so that it knows of none that the warehouse lacks; notes that it withdrew
or corrected would be shown. What it withdrew can be said again from the store, whichever feed it is of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.withdraw import sealed_mark
from deid_platform.refresh.installation.reported import known_findings
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.decisions import forgotten, unmatched
from deid_platform.refresh.staging.stage import withdrawals_of
from deid_platform.warehouse.gate.queries import known_deliveries
from deid_platform.warehouse.gate.staging import Kind
from deid_platform.warehouse.gate.withdrawals import marked_read, withdraw
from deid_platform.warehouse.officer.findings import findings
from deid_platform.warehouse.officer.releases import releases
from deid_platform.warehouse.server.roles import Role

_TAKEN_IN = (tables.RAW_NOTES, *(f"source/{name}" for name in tables.TOPICS))


@dataclass(frozen=True)
class Differences:
    """What store and warehouse do not both know.

    Attributes:
        store_lacks: Deliveries that the warehouse knows and the store does not hold.
        warehouse_lacks: Deliveries that were staged from the store and that the warehouse does not know.
        findings: Numbers of findings whose strings the store holds and that the warehouse does not know.
        keys: Ids of keys under which releases that are kept were made, and whose secret is not given: withdrawals do
            not reach these releases.
        keep_outs: How many notes are kept out by a sealed decision that the warehouse does not know.
        unmatched: How many notes the warehouse keeps out that the store does not know under any given secret.
    """

    store_lacks: tuple[Delivery, ...] = ()
    warehouse_lacks: tuple[Delivery, ...] = ()
    findings: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()
    keep_outs: int = 0
    unmatched: int = 0

    def __bool__(self) -> bool:
        return self != Differences()


def differences(site: Site) -> Differences:
    """Compares the note store with the warehouse, and changes neither.

    Raises:
        DeidError: `warehouse-not-ready`, `warehouse-unreachable`; `store-torn` or `store-rolled-back` of the reported
            strings.
    """
    officer = site.warehouse.engine(Role.OFFICER)
    store_lacks, warehouse_lacks = _deliveries(site)
    recorded = {finding.number for finding in findings(officer)}
    held = {row["finding"] for row in known_findings(site.store)}
    ours = {ring.key_id for ring in site.keyrings}
    kept = {release.key_id for release in releases(officer) if release.state != "expired"}
    return Differences(
        _in_order(store_lacks),
        _in_order(warehouse_lacks),
        tuple(sorted(number for number in held - recorded if number)),
        tuple(sorted(kept - ours)),
        forgotten(site),
        unmatched(site),
    )


def require_together(site: Site, delivery: Delivery) -> None:
    """Refuses a delivery whose feed has an earlier one that store or warehouse has lost.

    What any other delivery that the warehouse has lost withdraws is hidden first, as the store sealed it: a patient who
    left by one feed has left them all, and the files that said so may be gone.

    Raises:
        DeidError: `store-behind` or `warehouse-behind`, with the first such delivery; why a withdrawal cannot be read.
    """
    store_lacks, warehouse_lacks = _deliveries(site)
    if warehouse_lacks:
        known = marked_read(site.warehouse.engine(Role.PROMOTER))
        for lost in _in_order(warehouse_lacks):
            _withdraw_sealed(site, lost, known.get(lost.key))
    for code, found in ((Code.STORE_BEHIND, store_lacks), (Code.WAREHOUSE_BEHIND, warehouse_lacks)):
        earlier = [each for each in found if each.feed == delivery.feed and each.seq < delivery.seq]
        if earlier:
            raise DeidError(code, _in_order(earlier)[0].key)


def _withdraw_sealed(site: Site, lost: Delivery, known: str | None) -> None:
    """Hides ahead of its run what a delivery withdraws by the store, unless `known` is its mark.

    Who rejoined by it stays hidden until its run.
    """
    marker = sealed_mark(site, lost)
    if marker == known:
        return
    gone = [
        (item.kind, key, ring.key_id)
        for item in withdrawals_of(site, lost)
        if item.kind is not Kind.REJOINED
        for key, ring in zip((item.key, *item.former_keys), site.keyrings, strict=True)
    ]
    withdraw(site.warehouse.engine(Role.PROMOTER), lost, gone, marker=marker)


def _deliveries(site: Site) -> tuple[set[Delivery], set[Delivery]]:
    """What the warehouse knows and the store lacks, and the other way round."""
    known = set(map(Delivery.parse, known_deliveries(site.warehouse.engine(Role.OFFICER))))
    taken_in, *others = ({*map(Delivery.parse, site.store.partitions(name))} for name in _TAKEN_IN)
    staged = {*map(Delivery.parse, site.store.partitions(tables.STAGED))}
    return known - taken_in.intersection(*others), staged - known


def _in_order(found: Iterable[Delivery]) -> tuple[Delivery, ...]:
    return tuple(sorted(found, key=lambda each: (each.feed, each.seq)))

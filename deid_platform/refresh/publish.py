"""Requests promotion, and says what analysts see.

Belongs here: the calls of the last steps. Does not belong here: the decision, which is the database's own
(`warehouse/migrations/code`), or what it rests on (`refresh/staging/stage.py`, `refresh/staging/measure.py`).
"""

from __future__ import annotations

from deid_platform.corpora.feeds import topics_reading
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.store_and_warehouse import require_together
from deid_platform.refresh.hiding.withdraw import withdraw_changed
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.archive import held_back
from deid_platform.refresh.staging.detector_in_force import put_in_force
from deid_platform.refresh.staging.provenance import require_current
from deid_platform.refresh.topics.topic_columns import keep_columns
from deid_platform.warehouse.gate.promotion import Promotion, promote
from deid_platform.warehouse.gate.standing import Requirement, standing
from deid_platform.warehouse.officer.releases import activate_release, expire_releases
from deid_platform.warehouse.readers.extracts import name_extracts
from deid_platform.warehouse.server.roles import Role


def gate_requirements(site: Site, delivery: Delivery) -> tuple[Requirement, ...]:
    """How each requirement of the active profile stands for what is staged."""
    return standing(site.warehouse.engine(Role.OFFICER), delivery).requirements


def promote_delivery(site: Site, delivery: Delivery) -> Promotion:
    """Asks the gate; what the delivery's files have come to withdraw since they were taken in is hidden before.

    Nothing is asked where store or warehouse was restored and lacks an earlier delivery of the feed; what the warehouse
    lacks of withdrawals is hidden before (`refresh/hiding/store_and_warehouse.py`). The detector of a promoted delivery
    is the one that the next detector is compared with, as the columns of its topics are those that later ones are.

    Raises:
        DeidError: `gate-refused` with the requirements that are not met, and the figures of those that failed;
            `store-behind` or `warehouse-behind`; `not-materialized` if somebody decided about a quarantined note, or
            later rows of a patient count, since the rows were made; `feed-unreadable` as `withdraw_changed`.
    """
    withdraw_changed(site, delivery)
    require_together(site, delivery)
    require_current(site, delivery)
    try:
        done = promote(site.warehouse.engine(Role.PROMOTER), delivery)
    except DeidError as error:
        if error.code is not Code.GATE_REFUSED:
            raise
        refusal = error
    else:
        put_in_force(site, delivery)
        keep_columns(site.store, delivery, topics_reading(site.settings, delivery.feed), key_id=site.keyring.key_id)
        return done
    # The promoter reads nothing, so it knows the names alone.
    unmet = {found.name: found for found in standing(site.warehouse.engine(Role.OFFICER), delivery).unmet}
    names = (refusal.ref or "").partition(": ")[2].split(", ")
    told = (str(unmet[name]) if name in unmet else f"{name} not measured" for name in names)
    raise DeidError(Code.GATE_REFUSED, f"{delivery.key}: {', '.join(told)}")


def activate(site: Site, delivery: Delivery) -> bool:
    """Lets analysts see the delivery's release as soon as it holds all that the active one holds.

    Returns:
        Whether that release is the one that analysts see now. A new release waits until every delivery of
        the old one has been promoted in it, never a mixture, and until its dossier is signed where the profile asks
        for it. One that a person withheld is not shown again. A first release waits until every archive is whole:
        a part of it would look like all there is.
    """
    if held_back(site):
        return False
    release = site.store.required(tables.REDACTED_NOTES, delivery.key).meta["release"]
    try:
        activate_release(site.warehouse.engine(Role.PROMOTER), release)
    except DeidError as error:
        if error.code in (Code.RELEASE_CONFLICT, Code.DOSSIER_UNSIGNED):
            return False
        raise
    return True


def name_stale_extracts(site: Site) -> tuple[int, ...]:
    """Names in the ledger the extracts of which a refresh has hidden notes, and returns their numbers."""
    return name_extracts(site.warehouse.engine(Role.PROMOTER))


def expire(site: Site) -> tuple[str, ...]:
    """Forgets releases that analysts no longer see and that the settings do not ask to keep."""
    kept = site.settings.releases
    return expire_releases(site.warehouse.engine(Role.PROMOTER), keep=kept.keep, days=kept.keep_days)

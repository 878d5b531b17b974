"""Which deliveries need a run.

Belongs here: whether research holds a delivery as it stands. Does not belong here: running anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from deid_platform.corpora.exclusions import Exclusions
from deid_platform.notes import Delivery
from deid_platform.refresh import tables
from deid_platform.refresh.first_pass import mentions_digest
from deid_platform.refresh.intake import files_digest
from deid_platform.refresh.rulings import in_force
from deid_platform.refresh.shifts import shifts_digest
from deid_platform.refresh.site import Site
from deid_platform.refresh.stage import staged_from
from deid_platform.warehouse.queries import DeliverySummary, summary
from deid_platform.warehouse.roles import Role


def pending(site: Site, deliveries: Sequence[Delivery]) -> list[Delivery]:
    """Those deliveries that research does not hold as they stand, in the order given.

    A delivery is held if it is promoted with nothing missing under the profile of today, and every link from its
    files to research is whole: they are the files that were taken in, its rows were made of what was taken in and by
    the recipe of today (detector, topics, policy, key, note types) with what the patients' other notes tell today,
    their dates moved with whom they move today, quarantined notes as people decided about
    them today, and those rows are what was staged and promoted.
    A run may have been killed between any two of these.

    Raises:
        DeidError: `opt-outs-unreadable`; `warehouse-not-ready` or `warehouse-unreachable`.
    """
    exclusions = site.exclusions
    state = {held.delivery: held for held in summary(site.warehouse.engine(Role.OFFICER)).deliveries}
    return [each for each in deliveries if not _is_held(site, each, state.get(each.key), exclusions)]


def _is_held(site: Site, delivery: Delivery, held: DeliverySummary | None, exclusions: Exclusions) -> bool:
    raw = site.store.manifest(tables.RAW_NOTES, delivery.key)
    redacted = site.store.manifest(tables.REDACTED_NOTES, delivery.key)
    staged = site.store.manifest(tables.STAGED, delivery.key)
    if held is None or raw is None or redacted is None or staged is None:
        return False
    if (held.state, held.release, held.missing) != ("promoted", site.release, ()):
        return False
    if (held.published, staged_from(site, delivery)) != (staged.meta["staged_digest"], staged.meta["made_from"]):
        return False
    files = files_digest(site.reader(delivery.feed), delivery, site.keyring, exclusions)
    if not files == raw.meta["files"] == redacted.meta.get("files"):
        return False
    recipe = site.recipe(delivery)
    today = {
        "recipe": recipe.digest,
        "shifts": shifts_digest(site.store, delivery, recipe),
        "told": mentions_digest(site.store, delivery, site.keyring),
    }
    if redacted.meta.get("rulings", "") != in_force(site, delivery).digest:
        return False
    return all(redacted.meta.get(name) == digest for name, digest in today.items())

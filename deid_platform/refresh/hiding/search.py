"""Looks for what readers reported in deliveries that research holds, so that only those that may show it are made anew.

Belongs here: the search, and recording where nothing was found. Does not belong here: which deliveries it concerns
(`refresh/staging/due.py`), what a report hides at once (`refresh/staging/findings.py`), or how a string is recognised
(`leakcheck/`).

A report puts all that was measured before it in doubt. A delivery is made anew where one of its notes was hidden, or
where the search finds a string that was reported since. Where it finds none, every row would come out as it is:
what was reported is looked for by the leak check alone, and can only withhold a note.
"""

from __future__ import annotations

from collections.abc import Sequence

from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.search_job import SearchJob
from deid_platform.refresh.hiding.shown_notes import shown_notes
from deid_platform.refresh.installation.reported import newest_known
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging.due import Doubt, looked_at, pending
from deid_platform.refresh.staging.findings import learn
from deid_platform.runtime.stopping import check
from deid_platform.warehouse.gate.ledger import count_again
from deid_platform.warehouse.gate.staging import staged_now
from deid_platform.warehouse.server.roles import Role


def search_held(site: Site, deliveries: Sequence[Delivery]) -> list[Delivery]:
    """Searches the deliveries that only reports have put in doubt.

    Args:
        site: The installation; nobody else may refresh it meanwhile.
        deliveries: Which may be searched.

    Returns:
        Those in which nothing was found, which are as good as before, in the order given.

    Raises:
        DeidError: `warehouse-not-ready`, `warehouse-unreachable`; `store-torn` or `store-rolled-back` for a manifest.
    """
    return due_after_search(site, deliveries)[1]


def due_after_search(site: Site, deliveries: Sequence[Delivery]) -> tuple[list[Delivery], list[Delivery]]:
    """Which deliveries need a run after a search, and those in which the search found nothing.

    Every delivery is looked at once, since that reads all its files; again only where something was searched.

    Raises:
        DeidError: As `search_held`.
    """
    learn(site)
    # Read first: what is reported while this searches, this does not know of.
    known = newest_known(site.store)
    looked = looked_at(site, deliveries)
    clear = [each for each, it in looked.items() if it is not None and it.open and _is_clear(site, it, known)]
    held = {each for each, it in looked.items() if it is not None and not it.open}
    if clear:
        held.update(set(clear).difference(pending(site, clear)))
    return [each for each in deliveries if each not in held], clear


def _is_clear(site: Site, doubt: Doubt, known: int) -> bool:
    """Whether no note of a delivery may show what was reported; then its measurements count again."""
    check()
    if doubt.strings:
        try:
            found = site.engine.run(SearchJob(site.policy, doubt.strings), shown_notes(site, doubt.delivery))
            if any(found):
                return False
        except DeidError as error:
            if error.code is not Code.STORE_TORN:
                raise
            # What cannot be read is made anew, and keeps no other delivery from that.
            return False
        site.store.write(tables.SEARCHED, doubt.delivery.key, [], meta=lambda: doubt.settled)
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    count_again(gatekeeper, staged_now(gatekeeper, doubt.delivery), profile=site.settings.profile, known=known)
    return True

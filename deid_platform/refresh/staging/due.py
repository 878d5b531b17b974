"""Which deliveries need a run, and why.

Belongs here: whether research holds a delivery as it stands, and what a run of it may leave out. Does not belong here:
what differs between rows and today (`provenance.py`), or running anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from deid_platform.errors import DeidError
from deid_platform.keys import module_digest
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging.provenance import Difference, Made, Today, differences, recipe_of, reported_since
from deid_platform.refresh.staging.stage import measured_by, staged_from
from deid_platform.store import Manifest
from deid_platform.warehouse.gate.queries import DeliverySummary, summary
from deid_platform.warehouse.server.roles import Role

_SEARCH = "deid_platform.refresh.hiding.search"
"""Decides what of a delivery is searched: where older code found nothing is searched again."""


def pending(site: Site, deliveries: Sequence[Delivery]) -> list[Delivery]:
    """Those deliveries that research does not hold as they stand, in the order given.

    A delivery is held if it is promoted with nothing missing under the profile of today, and every link from its files
    to research is whole: they are the files that were taken in, and are read by the settings of then; its rows were
    made of what was taken in and by the recipe of today (detector, topics, policy, key, note types) with what the
    patients' other notes tell today, their dates moved with whom they move today, but for those that many patients'
    notes share today, quarantined notes as people decided about them today; and those rows are what was staged and
    promoted. What was reported since they were made was looked for in them, and nothing of it found
    (`refresh/hiding/search.py`). And the languages of its notes that were measured then are those that are measured
    today. A run may have been killed between any two of these.

    Raises:
        DeidError: `opt-outs-unreadable`; `warehouse-not-ready` or `warehouse-unreachable`.
    """
    return [each for each, found in looked_at(site, deliveries).items() if found is None or found.open]


@dataclass(frozen=True)
class Doubt:
    """What reports since its rows were made leave to ask of a delivery that is held otherwise.

    Attributes:
        delivery: The delivery.
        strings: What was reported since.
        settled: What is kept of a search that finds none of it: the rows, the recipe that they are of by then, and what
            searched.
        open: Whether that search, or counting the measurements again, is still to be done.
    """

    delivery: Delivery
    strings: tuple[str, ...] = field(repr=False)
    settled: Mapping[str, str]
    open: bool


def looked_at(site: Site, deliveries: Sequence[Delivery]) -> dict[Delivery, Doubt | None]:
    """What is left to ask of each delivery, in the order given; None where more than reports makes it due.

    Raises:
        DeidError: As `pending`.
    """
    state, feeds = _states(site), _feeds(site, deliveries)
    return {each: _held_but_for_reports(feeds[each.feed], each, state.get(each.key)) for each in deliveries}


def only_to_promote(site: Site, deliveries: Sequence[Delivery]) -> frozenset[Delivery]:
    """Those that wait for nothing but their promotion, since what kept them from it was waived.

    All of it is staged and measured as a run of today would stage and measure it: from the same files, by the recipe,
    the thresholds and the gold of today, with nothing reported since. So a run of it can begin with the promotion: the
    gate judges by the measurements that are there.

    Raises:
        DeidError: As `pending`.
    """
    state, feeds = _states(site), _feeds(site, deliveries)
    return frozenset(each for each in deliveries if _waits_for_promotion(feeds[each.feed], each, state.get(each.key)))


def why_due(site: Site, deliveries: Sequence[Delivery]) -> dict[Delivery, tuple[str, ...]]:
    """Why each delivery needs a run, as a person is told; those that need none are left out.

    Raises:
        DeidError: As `pending`.
    """
    state, feeds = _states(site), _feeds(site, deliveries)
    reasons = {each: _reasons(feeds[each.feed], each, state.get(each.key)) for each in deliveries}
    return {each: found for each, found in reasons.items() if found}


def _reasons(today: Today, delivery: Delivery, held: DeliverySummary | None) -> tuple[str, ...]:
    staged = today.site.store.manifest(tables.STAGED, delivery.key)
    made = Made.of(today.site, delivery)
    if staged is None or made is None or held is None:
        return ("new",) if made is None else ("not staged",)
    if names := tuple(str(name) for name in _differences(today, made, staged)):
        return names
    if _doubt(today, made).open:
        return ("reports to be searched for",)
    if (held.state, held.release, held.published) != ("promoted", today.release, staged.meta["staged_digest"]):
        return ("not promoted",)
    return tuple(f"not measured: {name}" for name in held.missing)


def _states(site: Site) -> dict[str, DeliverySummary]:
    return {held.delivery: held for held in summary(site.warehouse.engine(Role.OFFICER)).deliveries}


def _feeds(site: Site, deliveries: Sequence[Delivery]) -> dict[str, Today]:
    exclusions = site.exclusions
    newest = {each.feed: each for each in sorted(deliveries, key=lambda each: each.seq)}
    return {feed: Today(site, last, exclusions) for feed, last in newest.items()}


def _waits_for_promotion(today: Today, delivery: Delivery, held: DeliverySummary | None) -> bool:
    staged = today.site.store.manifest(tables.STAGED, delivery.key)
    if held is None or staged is None or held.state == "promoted" or held.missing or not held.waived:
        return False
    by_today = staged.meta.get("measured_by") == measured_by(today.site, delivery)  # earlier versions kept none
    if not by_today or (held.release, held.staged_digest) != (today.release, staged.meta["staged_digest"]):
        return False
    doubt = _made_as_today(today, delivery, staged)
    return doubt is not None and not doubt.strings


def _held_but_for_reports(today: Today, delivery: Delivery, held: DeliverySummary | None) -> Doubt | None:
    staged = today.site.store.manifest(tables.STAGED, delivery.key)
    if held is None or staged is None:
        return None
    if (held.state, held.release, held.published) != ("promoted", today.release, staged.meta["staged_digest"]):
        return None
    doubt = _made_as_today(today, delivery, staged)
    return doubt and replace(doubt, open=doubt.open or bool(held.missing))


def _made_as_today(today: Today, delivery: Delivery, staged: Manifest) -> Doubt | None:
    """What reports leave to ask of what is staged; None if a run of today would stage anything else."""
    made = Made.of(today.site, delivery)
    if made is None or next(_differences(today, made, staged), None) is not None:
        return None
    return _doubt(today, made)


def _doubt(today: Today, made: Made) -> Doubt:
    """What reports leave to ask of rows that differ in nothing."""
    site, since = today.site, reported_since(today, made)
    settled = {
        "rows": site.keyring.digest(*(part.digest for part in made.redacted.parts)),
        "recipe": recipe_of(today, made),
        "search": module_digest(_SEARCH),
    }
    clear = not since or _searched(site, made.delivery) == settled
    return Doubt(made.delivery, since, settled, open=not clear)


def _differences(today: Today, made: Made, staged: Manifest) -> Iterator[Difference]:
    if staged_from(today.site, made.delivery) != staged.meta["made_from"]:
        yield Difference.ROWS
    yield from differences(today, made)


def _searched(site: Site, delivery: Delivery) -> Mapping[str, str] | None:
    """What was kept of the last search; None where it cannot be trusted, since the next one writes over it."""
    with suppress(DeidError):
        searched = site.store.manifest(tables.SEARCHED, delivery.key)
        return None if searched is None else searched.meta
    return None

"""Which deliveries need a run.

Belongs here: whether research holds a delivery as it stands. Does not belong here: running anything.

An archive has hundreds of deliveries, and each is made of what all earlier ones brought. So what they have in common
is made once, and what is told by all that came before goes by the manifests, each of which is read a few times at
the most. Topics are folded only where that was never done of the same upserts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from deid_platform.corpora import Reader
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.notes import Delivery
from deid_platform.refresh import tables
from deid_platform.refresh.derived import topics_digest
from deid_platform.refresh.first_pass import mentions_digests
from deid_platform.refresh.intake import (
    Upserts,
    files_digest,
    rosters_incomplete,
    topics_as_of,
    upserts_until,
)
from deid_platform.refresh.recipe import Recipe
from deid_platform.refresh.rulings import Decided, decided, in_force
from deid_platform.refresh.shifts import shifts_digest
from deid_platform.refresh.site import Site
from deid_platform.refresh.stage import staged_from
from deid_platform.store import Manifest
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
    newest = {each.feed: each for each in sorted(deliveries, key=lambda each: each.seq)}
    feeds = {feed: _Feed(site, last, exclusions) for feed, last in newest.items()}
    return [each for each in deliveries if not _is_held(feeds[each.feed], each, state.get(each.key))]


@dataclass(frozen=True)
class _Feed:
    """What the deliveries of a feed have in common today, each part made when it is first asked for.

    Attributes:
        site: The installation.
        newest: The last of the deliveries that are looked at: nothing of a later one is read.
        exclusions: What never enters.
    """

    site: Site
    newest: Delivery
    exclusions: Exclusions

    @cached_property
    def reader(self) -> Reader:
        return self.site.reader(self.newest.feed)

    @cached_property
    def recipe(self) -> Recipe:
        return self.site.recipe_without_topics(self.newest.feed)

    @cached_property
    def release(self) -> str:
        return self.recipe.release

    @cached_property
    def upserts(self) -> dict[Delivery, Upserts]:
        return upserts_until(self.site.store, self.newest, self.site.keyring)

    @cached_property
    def mentions(self) -> dict[Delivery, str]:
        return mentions_digests(self.site.store, self.newest, self.site.keyring)

    @cached_property
    def decided(self) -> Decided:
        return decided(self.site, self.newest.feed)


def _is_held(feed: _Feed, delivery: Delivery, held: DeliverySummary | None) -> bool:
    site = feed.site
    raw = site.store.manifest(tables.RAW_NOTES, delivery.key)
    redacted = site.store.manifest(tables.REDACTED_NOTES, delivery.key)
    staged = site.store.manifest(tables.STAGED, delivery.key)
    if held is None or raw is None or redacted is None or staged is None:
        return False
    if (held.state, held.release, held.missing) != ("promoted", feed.release, ()):
        return False
    if (held.published, staged_from(site, delivery)) != (staged.meta["staged_digest"], staged.meta["made_from"]):
        return False
    if redacted.meta.get("told") != feed.mentions.get(delivery, ""):
        return False
    if not _is_of_today(feed, delivery, redacted):
        return False
    if redacted.meta.get("shifts") != shifts_digest(site.store, delivery, feed.recipe):
        return False
    if redacted.meta.get("rulings", "") != in_force(site, delivery, feed.decided).digest:
        return False
    files = files_digest(feed.reader, delivery, site.keyring, feed.exclusions)
    return all(manifest.meta.get("files") == files for manifest in (raw, redacted))


def _is_of_today(feed: _Feed, delivery: Delivery, redacted: Manifest) -> bool:
    """Whether rows were made by the recipe of today."""
    store = feed.site.store
    upserts = feed.upserts.get(delivery)
    incomplete = rosters_incomplete(store, delivery) if upserts is None else upserts.rosters_incomplete
    made_with = str(redacted.meta.get("dictionary_digest"))
    if redacted.meta.get("recipe") != feed.recipe.digest_with(made_with, rosters_incomplete=incomplete):
        return False
    # All else is as it was. Topics come last, since they may have to be folded.

    def folded() -> str:
        return feed.site.spec(topics_as_of(store, delivery)).dictionary_digest(feed.site.keyring)

    today = folded() if upserts is None else topics_digest(store, delivery.key, upserts.digest, folded)
    return today == made_with

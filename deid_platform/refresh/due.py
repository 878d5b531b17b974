"""Which deliveries need a run.

Belongs here: whether research holds a delivery as it stands, and what a run of it may leave out. Does not belong here:
running anything.

An archive has hundreds of deliveries, and each is redacted with what all earlier ones brought. So what they have in
common is made once, and what all earlier ones tell is compared by their manifests, each of which is read a few times at
the most. Topics are folded only where the same upserts never were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from deid_platform.corpora import Reader
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.errors import DeidError
from deid_platform.keys import module_digest
from deid_platform.notes import Delivery
from deid_platform.refresh import tables
from deid_platform.refresh.derived import topics_digest
from deid_platform.refresh.intake import reading_digest
from deid_platform.refresh.known_files import known_files_digests
from deid_platform.refresh.local_words import with_words, words_digest, words_for
from deid_platform.refresh.recipe import Recipe
from deid_platform.refresh.repeated_dates import repeated_dates, repeated_digest
from deid_platform.refresh.rulings import Decided, decided, in_force
from deid_platform.refresh.shifts import shifts_digest
from deid_platform.refresh.site import Site
from deid_platform.refresh.stage import measured_by, staged_from
from deid_platform.refresh.told import first_pass_digests, told_digests
from deid_platform.refresh.topics import Upserts, topics_as_of, upserts_as_of, upserts_until
from deid_platform.store import Manifest
from deid_platform.warehouse.queries import DeliverySummary, summary
from deid_platform.warehouse.roles import Role

_SEARCH = "deid_platform.refresh.search"
"""Decides what of a delivery is searched: where older code found nothing is searched again."""


def pending(site: Site, deliveries: Sequence[Delivery]) -> list[Delivery]:
    """Those deliveries that research does not hold as they stand, in the order given.

    A delivery is held if it is promoted with nothing missing under the profile of today, and every link from its
    files to research is whole: they are the files that were taken in, and are read by the settings of then; its rows
    were made of what was taken in and by the recipe of today (detector, topics, policy, key, note types) with what the
    patients' other notes tell today, their dates moved with whom they move today, but for those that many patients'
    notes share today, quarantined notes as people decided about them today; and those rows are what was staged and
    promoted. What was reported since they were made was looked for in them, and nothing of it found (`search.py`). And
    the languages of its notes that were measured then are those that are measured today.
    A run may have been killed between any two of these.

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


def _states(site: Site) -> dict[str, DeliverySummary]:
    return {held.delivery: held for held in summary(site.warehouse.engine(Role.OFFICER)).deliveries}


def _feeds(site: Site, deliveries: Sequence[Delivery]) -> dict[str, _Feed]:
    exclusions = site.exclusions
    newest = {each.feed: each for each in sorted(deliveries, key=lambda each: each.seq)}
    return {feed: _Feed(site, last, exclusions) for feed, last in newest.items()}


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
    def gold_files(self) -> str:
        return self.site.gold_files(self.newest.feed)

    @cached_property
    def languages(self) -> Callable[[str], frozenset[str]]:
        # The same for all deliveries: each would read the bench's figures again.
        return cache(self.site.accepted_languages)

    @cached_property
    def upserts(self) -> dict[Delivery, Upserts]:
        return upserts_until(self.site.store, self.newest, self.site.keyring)

    @cached_property
    def found(self) -> dict[Delivery, str]:
        return first_pass_digests(self.site.store, self.newest, self.site.keyring)

    @cached_property
    def told(self) -> dict[Delivery, str]:
        return told_digests(self.site.store, self.newest, self.site.keyring)

    @cached_property
    def repeated(self) -> frozenset[int]:
        shifts = self.recipe.policy.shifts_dates
        return repeated_dates(self.site.store, self.newest.feed) if shifts else frozenset()

    @cached_property
    def decided(self) -> Decided:
        return decided(self.site, self.newest.feed)


def _waits_for_promotion(feed: _Feed, delivery: Delivery, held: DeliverySummary | None) -> bool:
    staged = feed.site.store.manifest(tables.STAGED, delivery.key)
    if held is None or staged is None or held.state == "promoted" or held.missing or not held.waived:
        return False
    by_today = staged.meta.get("measured_by") == measured_by(feed.site, delivery)  # earlier versions kept none
    if not by_today or (held.release, held.staged_digest) != (feed.release, staged.meta["staged_digest"]):
        return False
    doubt = _made_as_today(feed, delivery, staged)
    return doubt is not None and not doubt.strings


def _held_but_for_reports(feed: _Feed, delivery: Delivery, held: DeliverySummary | None) -> Doubt | None:
    staged = feed.site.store.manifest(tables.STAGED, delivery.key)
    if held is None or staged is None:
        return None
    if (held.state, held.release, held.published) != ("promoted", feed.release, staged.meta["staged_digest"]):
        return None
    doubt = _made_as_today(feed, delivery, staged)
    return doubt and replace(doubt, open=doubt.open or bool(held.missing))


def _made_as_today(feed: _Feed, delivery: Delivery, staged: Manifest) -> Doubt | None:
    """What reports leave to ask of what is staged; None if a run of today would stage anything else."""
    site = feed.site
    raw = site.store.manifest(tables.RAW_NOTES, delivery.key)
    redacted = site.store.manifest(tables.REDACTED_NOTES, delivery.key)
    if raw is None or redacted is None or staged_from(site, delivery) != staged.meta["made_from"]:
        return None
    # Rows are read only where something else was found in a note of somebody.
    if redacted.meta.get("found") != feed.found.get(delivery, "") and (
        redacted.meta.get("told") != feed.told.get(delivery, "")
    ):
        return None
    upserts = upserts_as_of(site.store, feed.upserts, delivery, site.keyring)
    incomplete = upserts is not None and upserts.rosters_incomplete
    since = _reported_since(feed, redacted, incomplete)
    # Topics come last, since they may have to be folded.
    if since is None or not _of_todays_topics(feed, delivery, redacted, upserts):
        return None
    if redacted.meta.get("shifts") != shifts_digest(site.store, delivery, feed.recipe):
        return None
    if redacted.meta.get("repeated_dates") != repeated_digest(site.store, delivery, feed.recipe, feed.repeated):
        return None
    if redacted.meta.get("rulings", "") != in_force(site, delivery, feed.decided).digest:
        return None
    if not _of_todays_languages(feed, redacted):
        return None
    reading = reading_digest(feed.reader, site.keyring)
    if raw.meta.get("reading", reading) != reading:  # earlier versions kept none
        return None
    files, *_ = known_files_digests(
        feed.reader, delivery, store=site.store, keyrings=site.keyrings, exclusions=feed.exclusions
    )
    if any(manifest.meta.get("files") != files for manifest in (raw, redacted)):
        return None
    settled = {
        "rows": site.keyring.digest(*(part.digest for part in redacted.parts)),
        "recipe": feed.recipe.digest_with(redacted.meta["dictionary_digest"], rosters_incomplete=incomplete),
        "search": module_digest(_SEARCH),
    }
    clear = not since or _searched(site, delivery) == settled
    return Doubt(delivery, since, settled, open=not clear)


def _searched(site: Site, delivery: Delivery) -> Mapping[str, str] | None:
    """What was kept of the last search; None where it cannot be trusted, since the next one writes over it."""
    with suppress(DeidError):
        searched = site.store.manifest(tables.SEARCHED, delivery.key)
        return None if searched is None else searched.meta
    return None


def _reported_since(feed: _Feed, redacted: Manifest, incomplete: bool) -> tuple[str, ...] | None:
    """What was reported since rows were made by what is the recipe of today in all else; None if they were not."""
    then = set(redacted.meta.get("reported", ()))
    reported = feed.recipe.reported_by_digest
    made_by = feed.recipe.digest_with(
        str(redacted.meta.get("dictionary_digest")),
        rosters_incomplete=incomplete,
        reported=[string for digest, string in reported.items() if digest in then],
    )
    if redacted.meta.get("recipe") != made_by:
        return None
    return tuple(string for digest, string in reported.items() if digest not in then)


def _of_todays_languages(feed: _Feed, redacted: Manifest) -> bool:
    """Whether the languages of these notes that were measured when the rows were made are those of today.

    Where notes wait for a figure, the feed's gold has to be that of then too: another one is measured by a run.
    """
    told: Mapping[str, Mapping[str, int]] = redacted.meta.get("languages", {})
    waits = any(counted.get("withheld") for counted in told.values())
    if waits and redacted.meta.get("gold_files", "") != feed.gold_files:
        return False
    then = set(redacted.meta.get("languages_accepted", ()))
    return told.keys().isdisjoint(then ^ feed.languages(redacted.meta.get("languages_for", "text")))


def _of_todays_topics(feed: _Feed, delivery: Delivery, redacted: Manifest, upserts: Upserts | None) -> bool:
    """Whether rows were made with the topics, and the feed's words, of today."""
    site = feed.site
    words = words_digest(site.store, delivery, site.local_words)
    if words is None:
        return False

    def folded() -> str:
        known = words_for(site.store, delivery, site.local_words, site.keyring).words
        spec = replace(site.spec(topics_as_of(site.store, delivery)), local_words=known)
        return spec.dictionary_digest(site.keyring)

    if upserts is None:
        today = folded()
    else:
        today = topics_digest(site.store, delivery.key, with_words(upserts.digest, words, site.keyring), folded)
    return today == redacted.meta.get("dictionary_digest")

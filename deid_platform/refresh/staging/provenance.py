"""What rows were made with, beside what a run of today would make them with: the names of what differs.

Belongs here: every comparison of the two. Does not belong here: what follows from one (`due.py`, `stage.py`,
`refresh/publish.py`), or making anything.

An archive has hundreds of deliveries, and each is redacted with what all earlier ones brought. So what they have in
common is made once, and what all earlier ones tell is compared by their manifests, each of which is read a few times at
the most. Topics are folded only where the same upserts never were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property

from deid_platform.corpora import Reader
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.derived import topics_digest
from deid_platform.refresh.evidence.local_words import with_words, words_digest, words_for
from deid_platform.refresh.evidence.patient_mentions import first_pass_digests, told_digests
from deid_platform.refresh.evidence.repeated_dates import repeated_dates, repeated_digest
from deid_platform.refresh.evidence.shifts import shifts_digest
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.file_digests import known_files_digests
from deid_platform.refresh.intake.sealing import reading_digest
from deid_platform.refresh.recipe.recipe import Recipe
from deid_platform.refresh.redact.decisions import Decided, decided, in_force
from deid_platform.refresh.topics.as_of import Upserts, later_digest, topics_as_of, upserts_as_of, upserts_until
from deid_platform.store import Manifest


class Difference(StrEnum):
    """What can differ, as a person is told."""

    FILES = "the delivery's files"
    READING = "how its files are read"
    DETECTOR = "detector"
    POLICY = "policy"
    KEY_SECRET = "key secret"  # noqa: S105
    RELEASE = "columns of topics, or offsets of dates"
    RECIPE = "code or settings of redaction"
    REPORTS = "reports that were withdrawn"
    TOPICS = "topics or local words"
    OTHER_NOTES = "what other notes tell of patients"
    LATER_ROWS = "later rows of patients"
    SHIFTS = "whose dates move together"
    REPEATED_DATES = "dates that many patients share"
    DECISIONS = "decisions about quarantined notes"
    LANGUAGES = "measured languages"
    GOLD = "gold of the feed"
    ROWS = "redacted rows"


@dataclass(frozen=True)
class Today:
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
        """Reads the feed's files."""
        return self.site.reader(self.newest.feed)

    @cached_property
    def recipe(self) -> Recipe:
        """Without topics, which differ by delivery."""
        return self.site.recipe_without_topics(self.newest.feed)

    @cached_property
    def release(self) -> str:
        """The release that rows of today belong to."""
        return self.recipe.release

    @cached_property
    def gold_files(self) -> str:
        """Names the feed's gold."""
        return self.site.gold_files(self.newest.feed)

    @cached_property
    def languages(self) -> Callable[[str], frozenset[str]]:
        """Measured languages by what the detector had: the bench's figures are read once for all deliveries."""
        return cache(self.site.accepted_languages)

    @cached_property
    def upserts(self) -> dict[Delivery, Upserts]:
        """What the manifests tell of the topics as of each delivery."""
        return upserts_until(self.site.store, self.newest, self.site.keyring)

    @cached_property
    def upserts_of(self) -> Callable[[Delivery], Upserts | None]:
        """The same of one delivery, checked once."""
        return cache(lambda delivery: upserts_as_of(self.site.store, self.upserts, delivery, self.site.keyring))

    @cached_property
    def found(self) -> dict[Delivery, str]:
        """Names what the first pass found, by delivery."""
        return first_pass_digests(self.site.store, self.newest, self.site.keyring)

    @cached_property
    def told(self) -> dict[Delivery, str]:
        """Names what notes tell of patients, by delivery."""
        return told_digests(self.site.store, self.newest, self.site.keyring)

    @cached_property
    def repeated(self) -> frozenset[int]:
        """Dates that the notes of many patients share."""
        shifts = self.recipe.policy.shifts_dates
        return repeated_dates(self.site.store, self.newest.feed) if shifts else frozenset()

    @cached_property
    def decided(self) -> Decided:
        """What people decided about quarantined notes."""
        return decided(self.site, self.newest.feed)


@dataclass(frozen=True)
class Made:
    """The sealed rows of a delivery.

    Attributes:
        delivery: The delivery.
        raw: Manifest of the notes as they were taken in.
        redacted: Manifest of the redacted rows, whose `meta` says what they were made with.
    """

    delivery: Delivery
    raw: Manifest
    redacted: Manifest

    @classmethod
    def of(cls, site: Site, delivery: Delivery) -> Made | None:
        """None where a delivery was not taken in or not redacted."""
        raw = site.store.manifest(tables.RAW_NOTES, delivery.key)
        redacted = site.store.manifest(tables.REDACTED_NOTES, delivery.key)
        return None if raw is None or redacted is None else cls(delivery, raw, redacted)


def differences(today: Today, made: Made) -> Iterator[Difference]:
    """What differs, one after the other; who only asks whether anything does takes the first.

    Topics may have to be folded, and files to be read: these come last. What was reported since is no difference: it is
    looked for in the rows (`reported_since`).
    """
    site, delivery, meta = today.site, made.delivery, made.redacted.meta
    # Rows are read only where something else was found in a note of somebody.
    if meta.get("found") != today.found.get(delivery, "") and meta.get("told") != today.told.get(delivery, ""):
        yield Difference.OTHER_NOTES
    yield from _of_the_recipe(today, made)
    if meta.get("shifts") != shifts_digest(site.store, delivery, today.recipe):
        yield Difference.SHIFTS
    if meta.get("repeated_dates") != repeated_digest(site.store, delivery, today.recipe, today.repeated):
        yield Difference.REPEATED_DATES
    if meta.get("rulings", "") != in_force(site, delivery, today.decided).digest:
        yield Difference.DECISIONS
    yield from _of_languages(today, made)
    if not _of_todays_topics(today, made):
        yield Difference.TOPICS
    reading = reading_digest(today.reader, site.keyring)
    if made.raw.meta.get("reading", reading) != reading:  # earlier versions kept none
        yield Difference.READING
    files, *_ = known_files_digests(
        today.reader, delivery, store=site.store, keyrings=site.keyrings, exclusions=today.exclusions
    )
    if any(manifest.meta.get("files") != files for manifest in (made.raw, made.redacted)):
        yield Difference.FILES


def reported_since(today: Today, made: Made) -> tuple[str, ...]:
    """What was reported since rows were made."""
    then = set(made.redacted.meta.get("reported", ()))
    return tuple(string for digest, string in today.recipe.reported_by_digest.items() if digest not in then)


def recipe_of(today: Today, made: Made) -> str:
    """The recipe of today, with the topics that rows were made with."""
    return _recipe(today, made, list(today.recipe.reported))


def require_current(site: Site, delivery: Delivery) -> None:
    """Refuses redacted rows that were made before somebody decided about one of their notes, or later rows counted.

    Raises:
        DeidError: `not-materialized`, with what differs.
    """
    redacted = site.store.manifest(tables.REDACTED_NOTES, delivery.key)
    if redacted is not None:
        _require(delivery, _of_the_notes(site, delivery, redacted.meta))


def require_release(site: Site, delivery: Delivery) -> Manifest:
    """The manifest of redacted rows; refuses those that would be announced as what they are not.

    Raises:
        DeidError: `not-materialized`, with what differs: settings, and what `require_current` refuses.
    """
    redacted = site.store.required(tables.REDACTED_NOTES, delivery.key)
    settings = list(_of_the_settings(site.recipe_without_topics(delivery.feed), redacted.meta))
    if not settings and redacted.meta["release"] != site.release:
        settings = [Difference.RELEASE]
    _require(delivery, [*settings, *_of_the_notes(site, delivery, redacted.meta)])
    return redacted


def _require(delivery: Delivery, found: Iterable[Difference]) -> None:
    if names := ", ".join(found):
        raise DeidError(Code.NOT_MATERIALIZED, f"{tables.REDACTED_NOTES}/{delivery.key}: other {names}")


def _of_the_notes(site: Site, delivery: Delivery, meta: Mapping[str, object]) -> Iterator[Difference]:
    if meta.get("rulings", "") != in_force(site, delivery).digest:
        yield Difference.DECISIONS
    if meta.get("later", "") != later_digest(site.store, delivery):
        yield Difference.LATER_ROWS


def _of_the_settings(recipe: Recipe, meta: Mapping[str, object]) -> Iterator[Difference]:
    today = {
        "detector_digest": (recipe.spec.detector_digest, Difference.DETECTOR),
        "policy_digest": (recipe.policy.digest, Difference.POLICY),
        "key_id": (recipe.keyring.key_id, Difference.KEY_SECRET),
    }
    for name, (value, difference) in today.items():
        if meta.get(name) != value:
            yield difference


def _of_the_recipe(today: Today, made: Made) -> Iterator[Difference]:
    """Settings by name; what else the recipe's digest covers, together."""
    meta = made.redacted.meta
    settings = list(_of_the_settings(today.recipe, meta))
    yield from settings
    then = set(meta.get("reported", ()))
    reported = today.recipe.reported_by_digest
    if then - reported.keys():
        yield Difference.REPORTS
    elif not settings:
        known = [string for digest, string in reported.items() if digest in then]
        if meta.get("recipe") != _recipe(today, made, known):
            yield Difference.RECIPE


def _recipe(today: Today, made: Made, reported: list[str]) -> str:
    upserts = today.upserts_of(made.delivery)
    return today.recipe.digest_with(
        str(made.redacted.meta.get("dictionary_digest")),
        rosters_incomplete=upserts is not None and upserts.rosters_incomplete,
        reported=reported,
    )


def _of_languages(today: Today, made: Made) -> Iterator[Difference]:
    """Whether the languages of these notes that were measured when the rows were made are those of today.

    Where notes wait for a figure, the feed's gold has to be that of then too: another one is measured by a run.
    """
    meta = made.redacted.meta
    counts: Mapping[str, Mapping[str, int]] = meta.get("languages", {})
    waits = any(counted.get("withheld") for counted in counts.values())
    if waits and meta.get("gold_files", "") != today.gold_files:
        yield Difference.GOLD
    then = set(meta.get("languages_accepted", ()))
    if not counts.keys().isdisjoint(then ^ today.languages(meta.get("languages_for", "text"))):
        yield Difference.LANGUAGES


def _of_todays_topics(today: Today, made: Made) -> bool:
    """Whether rows were made with the topics, and the feed's words, of today."""
    site, delivery = today.site, made.delivery
    words = words_digest(site.store, delivery, site.local_words)
    if words is None:
        return False

    def folded() -> str:
        known = words_for(site.store, delivery, site.local_words, site.keyring).words
        spec = replace(site.spec(topics_as_of(site.store, delivery)), local_words=known)
        return spec.dictionary_digest(site.keyring)

    upserts = today.upserts_of(delivery)
    if upserts is None:
        digest = folded()
    else:
        digest = topics_digest(site.store, delivery.key, with_words(upserts.digest, words, site.keyring), folded)
    return digest == made.redacted.meta.get("dictionary_digest")

"""One installation as its deid.toml describes it: feeds, store, keys, detector and policy, made on demand.

Belongs here: turning settings into the objects that the steps take. Does not belong here: any step.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from deid_platform.corpora import Reader
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.corpora.feeds import open_feed, topics_reading
from deid_platform.corpora.folders import Delivered
from deid_platform.corpora.given_shifts import read_given_shifts
from deid_platform.detection import MODELS, DetectorSpec
from deid_platform.detection.combination import Combination
from deid_platform.detection.models.device import CARD_IF_THERE, usable
from deid_platform.detection.models.loading import Models
from deid_platform.engine.engines import Engine, LocalEngine
from deid_platform.engine.ray_engine import RayEngine
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.keys import Keyring
from deid_platform.lexicon.vocabularies import TermsFile
from deid_platform.llm.answers import AnswersAt
from deid_platform.notes import Delivery, Topics
from deid_platform.redaction.policy import Policy, load_policy
from deid_platform.refresh.evidence.local_words import Thresholds, newest_words, with_words, words_for
from deid_platform.refresh.evidence.shifts import links_known
from deid_platform.refresh.installation.reported import reported_in_notes, reported_strings
from deid_platform.refresh.recipe.languages import Measured, accepted, gold_files, measured
from deid_platform.refresh.recipe.recipe import Recipe, release_name
from deid_platform.refresh.topics.as_of import topics_as_of, upserts_as_of, upserts_until
from deid_platform.refresh.topics.topic_columns import changed_columns
from deid_platform.settings import FeedSettings, Settings
from deid_platform.store import Location, NoteStore
from deid_platform.surrogates.date_order import DateWriting
from deid_platform.surrogates.dates import GivenShifts
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.server import EmbeddedServer

if TYPE_CHECKING:
    from deid_platform.detection.chat.indirect import IndirectSpec
    from deid_platform.detection.chat.spec import ChatSpec
    from deid_platform.detection.resolve.chat_judge import ChatJudgeSpec


@dataclass(frozen=True)
class Site:
    """What the steps of a refresh need of an installation.

    Attributes:
        settings: Its deid.toml.
        models: Loads the models that steps run: those of a run of Dagster are its resource `gpu`.
    """

    settings: Settings
    models: Models = field(default_factory=Models, compare=False, repr=False)

    @cached_property
    def keyring(self) -> Keyring:
        """The site's keys under the current secret."""
        return self.keyrings[0]

    @cached_property
    def keyrings(self) -> tuple[Keyring, ...]:
        """The site's keys, then those of former secrets by which older releases know a note."""
        return self.settings.keyrings()

    @cached_property
    def store(self) -> NoteStore:
        """The note store of the PHI zone."""
        return NoteStore(self.location, *self.keyrings, record=self.settings.store_path)

    @property
    def location(self) -> Location:
        """Where the note store is."""
        store = self.settings.store
        if store is None:
            return Location(str(self.settings.store_path))
        return Location(store.uri, endpoint=store.endpoint, region=store.region)

    @property
    def answers(self) -> AnswersAt:
        """Where answers of chat models that look for identifiers are kept, in the PHI zone."""
        return AnswersAt(self.settings.home_path / "llm" / "detectors.db", self.keyring)

    @cached_property
    def engine(self) -> Engine:
        """Where detection runs."""
        workers = self.settings.detection.workers
        if self.settings.detection.engine == "ray":
            spool, ray = self.settings.store_path / ".ray", self.settings.ray
            return RayEngine(
                workers=workers, address=ray.address, spool=spool, card_share=ray.card_share, models=self.models
            )
        return LocalEngine(workers=workers, models=self.models)

    @property
    def device(self) -> str:
        """Where models run. With the engine `ray`, each machine of the cluster looks whether it has that.

        Raises:
            DeidError: `device-missing`; `settings-invalid` for what two machines would answer differently.
        """
        asked = self.settings.detection.device
        if self.settings.detection.engine == "local":
            return usable(asked)
        if asked == CARD_IF_THERE:
            raise DeidError(Code.SETTINGS_INVALID, f'detection.device: "{asked}" is not for the engine "ray"')
        return asked

    @cached_property
    def policy(self) -> Policy:
        """What replaces an identifier."""
        return load_policy(self.settings.redaction.policy)

    def feed(self, name: str) -> FeedSettings:
        """One feed's settings; see `Settings.feed`."""
        return self.settings.feed(name)

    def reader(self, name: str) -> Reader:
        """The reader of one feed."""
        # A name that no dataset can have.
        return open_feed(self.settings, name, spool=self.settings.store_path / ".spool")

    def accept(self, feed: str) -> None:
        """Refuses a feed that the embedded server must not hold; to be asked before a byte of it is read.

        Raises:
            DeidError: `feed-not-demonstration`, `feed-unknown`.
        """
        self.warehouse.accept(
            feed,
            demonstration=self.feed(feed).demonstration,
            allow_real=self.settings.warehouse.allow_real_notes_on_embedded,
        )

    def accept_any(self, feeds: Iterable[str]) -> None:
        """Raises as `accept` if it refuses all of these feeds; one of them holds up no other."""
        refused: list[DeidError] = []
        names = sorted(set(feeds))
        for name in names:
            try:
                self.accept(name)
            except DeidError as error:
                refused.append(error)
        if refused and len(refused) == len(names):
            raise refused[0]

    def gold_file(self, feed: str, folder: Path, watermark: str) -> Path:
        """The file of gold for a delivery; no link, unless the feed may have some. Its folder may be one."""
        settings, name = self.settings, f"{watermark}.jsonl.gz"
        gold = settings.path(folder)
        return gold / name if self.feed(feed).follow_links else Delivered(gold.resolve() / name)

    def taking_in(self, feed: str) -> Reader:
        """The reader of a feed whose rows are to be sealed; raises as `accept`."""
        self.accept(feed)
        return self.reader(feed)

    @property
    def exclusions(self) -> Exclusions:
        """What never enters, read anew each time: the list of opt-outs may change while deid.toml does not.

        Raises:
            DeidError: `opt-outs-unreadable`.
        """
        return Exclusions.load(self.settings)

    def deliveries(self, feed: str | None = None) -> list[Delivery]:
        """Deliveries that have arrived, of one feed or feed by feed, each feed in the order of its watermarks."""
        names = sorted(self.settings.feeds) if feed is None else [feed]
        return [delivery for name in names for delivery in self.reader(name).deliveries()]

    def wanted(self, feed: str | None = None, only: str | None = None) -> list[Delivery]:
        """Deliveries that have arrived, those of one feed, or one by its name.

        Raises:
            DeidError: `feed-unknown`; `delivery-unknown` if the one by its name has not arrived, with the nearest name.
        """
        if only is None:
            return self.deliveries(feed)
        arrived = self.deliveries(feed or Delivery.parse(only).feed)
        found = [delivery for delivery in arrived if delivery.key == only]
        if not found:
            near = did_you_mean(only, (delivery.key for delivery in arrived), listed=False)
            raise DeidError(Code.DELIVERY_UNKNOWN, f"{only}: {near}")
        return found

    def spec(self, topics: Topics | None) -> DetectorSpec:
        """The configured detector with these topics, or for text alone."""
        detection = self.settings.detection
        listed = self.settings.dictionaries.terms_files
        files = tuple(TermsFile(str(self.settings.path(file.path)), file.format) for file in listed)
        return DetectorSpec(
            name=detection.detector,
            topics=topics or None,
            medical_terms=files,
            professions=self.policy.hides_professions,
            ages=self.policy.hides_ages,
            recognizers=self.settings.path(detection.recognizers) if detection.recognizers else None,
            keep=self.settings.path(detection.keep) if detection.keep else None,
            models=None if detection.models is None else tuple(map(self.model_path, detection.models)),
            combination=Combination(**detection.combination.model_dump()),
            device=self.device,
            chat=self._chat(),
            chat_judge=self._chat_judge(),
            indirect=self._indirect(),
        )

    def _chat_judge(self) -> ChatJudgeSpec | None:
        """The chat model that is the judge of the detector; None where it has none, or another."""
        judge = self.settings.detection.combination.judge
        if judge is None or not judge.startswith("chat:"):
            return None
        from deid_platform.detection.resolve.chat_judge import ChatJudgeSpec
        from deid_platform.evaluation.panel.judge_plan import kept_at

        return ChatJudgeSpec.of(judge, self.settings, kept_at(self.settings))

    def _chat(self) -> ChatSpec | None:
        """The language model that is part of the detector; None unless `detection.chat` names a prompt."""
        detection = self.settings.detection
        if detection.chat is None:
            if detection.llm_review is not None:
                raise DeidError(Code.SETTINGS_INVALID, "detection.llm_review: detection.chat is not set")
            return None
        # Deferred: a client of HTTP, for few installations.
        from deid_platform.detection.chat.review import Review
        from deid_platform.detection.chat.spec import ChatSpec

        review = None if detection.llm_review is None else Review.of(**detection.llm_review.model_dump())
        return ChatSpec.of(self.settings, detection.chat, answers=self.answers, review=review)

    def _indirect(self) -> IndirectSpec | None:
        """The language model that tags indirect identifiers; None unless `detection.indirect` is set."""
        detection = self.settings.detection
        if not detection.indirect:
            if detection.indirect_budget_tokens is not None:
                raise DeidError(
                    Code.SETTINGS_INVALID, "detection.indirect_budget_tokens: detection.indirect is not set"
                )
            if self.policy.hides_indirect:
                raise DeidError(Code.SETTINGS_INVALID, "detection.indirect: the policy hides what nothing tags")
            return None
        from deid_platform.detection.chat.indirect import IndirectSpec

        return IndirectSpec.of(self.settings, answers=self.answers)

    def model_path(self, name: str) -> str:
        """A model's name, or where its folder is."""
        return name if name in MODELS else str(self.settings.path(Path(name)))

    def recipe(self, delivery: Delivery) -> Recipe:
        """Detector, topics as of the delivery, policy and keys."""
        # Before they are folded: topics that are taken in meanwhile go by another name.
        upserts = upserts_until(self.store, delivery, self.keyring)
        as_of = upserts_as_of(self.store, upserts, delivery, self.keyring)
        words = words_for(self.store, delivery, self.local_words, self.keyring)
        spec = replace(self.spec(topics_as_of(self.store, delivery)), local_words=words.words)
        return replace(
            self.recipe_without_topics(delivery.feed),
            spec=spec,
            languages=self.accepted_languages(spec.inputs),
            gold_files=self.gold_files(delivery.feed),
            rosters_incomplete=as_of is not None and as_of.rosters_incomplete,
            upserts=None if as_of is None else with_words(as_of.digest, words.digest, self.keyring),
            reported_in=reported_in_notes(self.store, delivery.feed),
        )

    @property
    def local_words(self) -> Thresholds:
        """What makes a word of a feed's notes its vocabulary."""
        return Thresholds.of(Combination(**self.settings.detection.combination.model_dump()))

    @property
    def every_local_word(self) -> frozenset[str]:
        """The words in force for the newest delivery of any feed: what the bench measures with."""
        newest = (newest_words(self.store, feed, self.local_words) for feed in self.settings.feeds)
        return frozenset[str]().union(*newest)

    def recipe_without_topics(self, feed: str) -> Recipe:
        """What the recipes of all deliveries of a feed have in common."""
        return Recipe(
            spec=self.spec(None),
            policy=self.policy,
            keyring=self.keyring,
            note_types=self.feed(feed).note_types,
            min_roster_share=self.settings.thresholds.min_roster_share,
            reported=reported_strings(self.store),
            links=links_known(self.store) if self.policy.dates.moved else None,
            columns=self.changed_columns,
            writing=self.date_writing(feed),
            given=self.given_shifts,
        )

    @cached_property
    def given_shifts(self) -> GivenShifts | None:
        """Offsets of dates from outside; None unless deid.toml names a file of them.

        Raises:
            DeidError: `offsets-invalid`; `settings-invalid` if the policy shifts no dates.
        """
        given = self.settings.redaction.offsets
        if given is None:
            return None
        if not self.policy.dates.moved:
            raise DeidError(Code.SETTINGS_INVALID, "redaction.offsets: the policy shifts no dates")
        path = self.settings.path(given.file)
        return read_given_shifts(path, given.sha256, keyed_if_missing=given.missing == "keyed")

    def measured_languages(self, inputs: str) -> dict[str, Measured]:
        """What was measured of the detector of today in each language, with these inputs."""
        return measured(self.settings, self.store, self.spec(None).detector_digest, inputs)

    def accepted_languages(self, inputs: str) -> frozenset[str]:
        """The languages of which notes are not quarantined."""
        return accepted(self.settings, self.store, self.spec(None).detector_digest, inputs)

    def gold_files(self, feed: str) -> str:
        """Names the files of a feed's gold as they lie there."""
        folder = self.feed(feed).gold
        return gold_files(None if folder is None else self.settings.path(folder), self.keyring)

    def date_writing(self, feed: str) -> DateWriting:
        """How a feed writes dates in numbers, as far as deid.toml says so."""
        redaction = self.settings.redaction
        return DateWriting.of(self.feed(feed).date_order or redaction.date_order, redaction.date_zeros)

    def note_keys(self, feed: str, note_id: str) -> tuple[str, ...]:
        """The research-side keys of a note, under each secret, the current one first.

        Two feeds may number their notes alike.
        """
        return tuple(ring.key("note", feed, note_id) for ring in self.keyrings)

    def note_key(self, feed: str, note_id: str) -> str:
        """The research-side key of a note under the current secret."""
        return self.note_keys(feed, note_id)[0]

    @property
    def release(self) -> str:
        """The release that the settings of today make."""
        offsets = self.settings.redaction.offsets is not None
        return release_name(self.spec(None), self.policy, self.keyring, self.changed_columns, offsets=offsets)

    @property
    def changed_columns(self) -> str:
        """Names the columns of topics that are others than when notes of their feeds were first promoted.

        Raises:
            DeidError: `feed-mapping`; `feed-unreadable` if a query's file cannot be read.
        """
        return changed_columns(self.store, {name: topics_reading(self.settings, name) for name in self.settings.feeds})

    @cached_property
    def warehouse(self) -> Warehouse:
        """The server that DEID_WAREHOUSE_URL names, or else the embedded one of this installation."""
        where = os.environ.get("DEID_WAREHOUSE_URL") or EmbeddedServer(self.settings.home_path)
        return Warehouse(where, database=self.settings.warehouse.database)

"""The picklable description of a detector, the registry of recipes, and the digests that name both.

Belongs here: which detectors exist and how one is built in a worker. Does not belong here: how any of
them works. A new detector is one entry of `_RECIPES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from deid_platform.lexicon.lists import Detector
from deid_platform.detection.resolve.cross_note import SecondLook, told_by
from deid_platform.detection.pipeline import Ensemble
from deid_platform.detection.topics.gazetteer import Gazetteer
from deid_platform.lexicon.vocabularies import TermsFile, terms_of
from deid_platform.detection.rules import Rules
from deid_platform.detection.rules.engine.site_recognizers import SiteRecognizers, read_site_recognizers
from deid_platform.detection.resolve.recovery import AllowList, Recovery, read_allow_list
from deid_platform.detection.topics.roster import Roster
from deid_platform.detection.topics.staff import Colleagues
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.keys import Keyring, package_digest, plain_digest
from deid_platform.notes import Facility, Patient, Provider, Topics


@dataclass(frozen=True)
class DetectorSpec:
    """What to detect with; small enough to send to a worker, which builds the detector itself.

    Attributes:
        name: A registered recipe; see `detector_names`.
        topics: Dictionaries and rosters; None means the text alone.
        medical_terms: Files of an institution's own clinical terms to recover; a bare path is one term a line.
        professions: Whether what somebody is by trade is sought too, which hardly any policy hides.
        recognizers: A file of the institution's own recognizers; None leaves them out.
        keep: A file of phrases that are no identifier there, its allow list; None leaves it out.
    """

    name: str = "rules"
    topics: Topics | None = None
    medical_terms: tuple[TermsFile | Path | str, ...] = ()
    professions: bool = False
    recognizers: Path | str | None = None
    keep: Path | str | None = None

    def build(self) -> Detector:
        """The detector.

        Raises:
            DeidError: `detector-unknown` for an unregistered name; `settings-invalid` or `dictionary-invalid` if a
                file of medical terms cannot be read; what `site_recognizers` and `allow_list` raise.
        """
        # Loaded whatever the recipe uses, so that none leaves them out in silence.
        self.site_recognizers()
        self.allow_list()
        return self._recipe.build(self)

    def second_look(self) -> SecondLook:
        """What looks again at the notes that the detector has read, with what other notes of their patients tell.

        Raises:
            DeidError: `settings-invalid` or `dictionary-invalid` if a file of medical terms cannot be read.
        """
        return SecondLook(Recovery(self.own_terms()))

    @property
    def detector_digest(self) -> str:
        """Names rules, thresholds, word lists and recipe: what the bench approves. Not the topics.

        The institution's own medical terms, recognizers and allow list are part of it: they decide what is hidden, so
        they need approval too.

        Raises:
            DeidError: As `build` does.
        """
        site = {"recognizers": self.site_recognizers().digest, "keep": self.allow_list().digest}
        own = [part for kind, digest in site.items() if digest for part in (kind, digest)]
        recipe = plain_digest(self.name, *self._recipe.parts, *(("professions",) if self.professions else ()), *own)
        rules = (package_digest("deid_platform.detection"), package_digest("deid_platform.text"))
        return plain_digest(recipe, *rules, *sorted(set(self.own_terms())))

    def dictionary_digest(self, keyring: Keyring) -> str:
        """Names the topics with their former rows, keyed, since topics could be guessed."""
        topics = self.topics or Topics()
        parts: list[str] = []
        for table in (topics.patients, topics.providers, topics.facilities):
            parts.append(str(len(table)))
            for key in sorted(table):
                parts.extend(_values(table[key]))
        for former in (topics.former, topics.former_providers, topics.former_facilities):
            parts.append(str(len(former)))
            for key in sorted(former):
                parts.append(str(len(former[key])))
                for row in former[key]:
                    parts.extend(_values(row))
        return keyring.digest("dictionary", *parts)

    @property
    def inputs(self) -> Literal["topics", "text"]:
        """Whether the detector knows the institution's topics or only the text."""
        return "topics" if self._recipe.uses_topics and self.topics else "text"

    @property
    def _recipe(self) -> _Recipe:
        recipe = _RECIPES.get(self.name)
        if recipe is None:
            raise DeidError(Code.DETECTOR_UNKNOWN, did_you_mean(self.name, _RECIPES))
        return recipe

    def own_terms(self) -> list[str]:
        """The institution's own clinical terms, of all files; see `lexicons.terms_of`."""
        return [term for file in self.medical_terms for term in terms_of(file)]

    def site_recognizers(self) -> SiteRecognizers:
        """The institution's own recognizers, none unless it has a file of them.

        Raises:
            DeidError: `recognizers-invalid`; `settings-invalid` for a detector that has no patterns.
        """
        if self.recognizers is None:
            return SiteRecognizers()
        self._must_use("patterns", "detection.recognizers")
        return read_site_recognizers(self.recognizers)

    def allow_list(self) -> AllowList:
        """The institution's allow list, empty unless it has a file of it.

        Raises:
            DeidError: `allow-list-invalid`; `settings-invalid` for a detector that has no recovery.
        """
        if self.keep is None:
            return AllowList()
        self._must_use("recovery", "detection.keep")
        return read_allow_list(self.keep)

    def _must_use(self, part: str, key: str) -> None:
        if part not in self._recipe.parts:
            raise DeidError(Code.SETTINGS_INVALID, f"{key}: the detector {self.name} has no {part}")

    def _patterns(self, topics: Topics) -> Rules:
        own = self.site_recognizers().recognizers
        return Rules(colleagues=Colleagues(topics), professions=self.professions, own=own)

    def _rules(self) -> Detector:
        topics = self.topics or Topics()
        patterns = self._patterns(topics)
        components = (patterns, *((Gazetteer(topics), Roster(topics)) if topics else ()))
        return Ensemble(components, recovery=Recovery(self.own_terms(), self.allow_list().phrases), telling=told_by)


@dataclass(frozen=True)
class _Recipe:
    """How a registered detector is built, and what it is made of."""

    build: Callable[[DetectorSpec], Detector]
    parts: tuple[str, ...]
    uses_topics: bool


_RECIPES: dict[str, _Recipe] = {
    "rules": _Recipe(DetectorSpec._rules, ("patterns", "gazetteer", "roster", "recovery"), uses_topics=True),
    "patterns": _Recipe(lambda s: Ensemble([s._patterns(Topics())], telling=told_by), ("patterns",), uses_topics=False),
    "gazetteer": _Recipe(lambda s: Ensemble([Gazetteer(s.topics or Topics())]), ("gazetteer",), uses_topics=True),
    "roster": _Recipe(lambda s: Ensemble([Roster(s.topics or Topics())]), ("roster",), uses_topics=True),
}


def detector_names() -> tuple[str, ...]:
    """The registered recipes, the default first."""
    return tuple(_RECIPES)


def _values(row: Patient | Provider | Facility) -> list[str]:
    """A row's values in the order of its fields; a missing one differs from every written one."""
    return ["" if (value := getattr(row, f.name)) is None else f"={value}" for f in fields(row)]

"""The picklable description of a detector, how it is built in a worker, and the digests that name it.

Belongs here: what a detector is made of. Does not belong here: which there are (`registry.py`), or how a stage works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Literal

from deid_platform.detection.api import Candidate, Document
from deid_platform.detection.combination import UNITED, Combination
from deid_platform.detection.cross_note_search import CrossNoteSearch
from deid_platform.detection.models.device import CARD, PROCESSOR, runtime, usable
from deid_platform.detection.models.loading import Models
from deid_platform.detection.models.network_server import NetworkServer, Served
from deid_platform.detection.pipeline import NoteDetector, Pipeline, Stage, detecting, resolving
from deid_platform.detection.registry import JUDGES, SHIPPED, Model, model_named, stage_names
from deid_platform.detection.resolve.asked import beside_others
from deid_platform.detection.resolve.clinicians import relabel_clinicians
from deid_platform.detection.resolve.cross_note import CrossNoteMentions, Mentioned
from deid_platform.detection.resolve.days import days
from deid_platform.detection.resolve.doubt import Doubt
from deid_platform.detection.resolve.ends import ends
from deid_platform.detection.resolve.judgement import Judgement
from deid_platform.detection.resolve.local_words import LocalWords, shared_words
from deid_platform.detection.resolve.propagate import propagated
from deid_platform.detection.resolve.recovery import AllowList, Recovery, read_allow_list
from deid_platform.detection.resolve.relatives import relabel_relatives
from deid_platform.detection.rules import RULE_STEPS, Rules
from deid_platform.detection.rules.detector import rows_across
from deid_platform.detection.rules.engine.site_recognizers import SiteRecognizers, read_site_recognizers
from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.detection.topics.gazetteer import Gazetteer
from deid_platform.detection.topics.roster import Roster
from deid_platform.detection.topics.staff import Colleagues, staff_initials
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.keys import Keyring, package_digest, plain_digest
from deid_platform.large_tables.topics_file import in_order
from deid_platform.lexicon.vocabularies import TermsFile, terms_of
from deid_platform.notes import Facility, Patient, Provider, Topics

if TYPE_CHECKING:
    from deid_platform.detection.chat.indirect import IndirectSpec
    from deid_platform.detection.chat.spec import ChatSpec
    from deid_platform.detection.resolve.chat_judge import ChatJudgeSpec


@dataclass(frozen=True)
class DetectorSpec:
    """What to detect with; small enough to send to a worker, which builds the detector itself.

    Attributes:
        name: A registered recipe; see `detector_names`.
        topics: Dictionaries and rosters; None means the text alone.
        medical_terms: Files of an institution's own clinical terms to recover; a bare path is one term a line.
        professions: Whether professions are searched for too; few policies hide them.
        ages: Whether ages under 90 are searched for too; few policies hide them. Older ones always are.
        recognizers: A file of the institution's own recognizers; None leaves them out.
        keep: The institution's allow list, a file of phrases that are not identifiers there; None leaves it out.
        models: Models whose candidates join those of rules and topics: names of `MODELS`, or folders that `deid train`
            wrote; None means the shipped one, if the detector has models at all.
        without: Stages that are left out, to measure what they contribute; see `stage_names`.
        combination: What decides where the parts disagree.
        device: Where networks of models run, one of `models.device.DEVICES`.
        served: The process that runs them for all workers; None where each process runs its own.
        chat: A chat model that reads after all of them and may only add; None for none.
        chat_judge: The chat model that `combination.judge` names, `chat:PROMPT`.
        indirect: The chat model that tags indirect identifiers in a refresh, beside the detector; None for none.
        local_words: The institution's vocabulary, as its own notes show it (`resolve/word_counts.py`).
        young_unmarked: Whether it reads gold in which ages under 90 are not marked, so that it leaves them out there.
            No part of the digest: it is the same detector.
    """

    name: str
    topics: Topics | None = None
    medical_terms: tuple[TermsFile | Path | str, ...] = ()
    professions: bool = False
    ages: bool = False
    recognizers: Path | str | None = None
    keep: Path | str | None = None
    models: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    combination: Combination = UNITED
    device: str = PROCESSOR
    served: Served | None = None
    chat: ChatSpec | None = None
    chat_judge: ChatJudgeSpec | None = None
    indirect: IndirectSpec | None = None
    local_words: frozenset[str] = frozenset()
    young_unmarked: bool = False

    def build(self, models: Models | None = None) -> NoteDetector:
        """The detector; see `pipeline`."""
        return self.pipeline(models)

    def pipeline(self, models: Models | None = None) -> Pipeline:
        """The detector, with its stages.

        Args:
            models: Loads its models; some of its own unless given.

        Raises:
            DeidError: `detector-unknown` for an unregistered detector, model or judge; `llm-missing` for a judge that
                is a chat model without its description, and what building that raises; `model-unusable` for a model
                whose files are not those of its card; `stage-unknown` for a stage that the detector does not have;
                `settings-invalid` or `dictionary-invalid` if a file of medical terms cannot be read; what
                `site_recognizers` and `allow_list` raise.
        """
        # Loaded for every detector, so that one that cannot use them fails.
        self.site_recognizers()
        self.allow_list()
        self.chosen_models()
        self._check_judge()
        if self.chat is not None:
            self._must_use("chat", "detection.chat")
        return _Builder(self, models or Models()).pipeline()

    def cross_note_search(self) -> CrossNoteSearch:
        """The second pass, over notes that the detector has searched, with the mentions of their patients' other notes.

        Raises:
            DeidError: As `build` does.
        """
        return CrossNoteSearch(_Builder(self, Models()).second_pass())

    @property
    def detector_digest(self) -> str:
        """Digest of rules, thresholds, word lists and stages, which the bench approves. The topics are not part of it.

        The institution's own medical terms, recognizers and allow list are part of it: they decide what is hidden, so
        they need approval too.

        Raises:
            DeidError: As `build` does.
        """
        site = {"recognizers": self.site_recognizers().digest, "keep": self.allow_list().digest}
        own = [part for kind, digest in site.items() if digest for part in (kind, digest)]
        models = [part for name, model in self.chosen_models().items() for part in (name, model.digest())]
        joined = (self.combination.digest, *runtime(self.device)) if "models" in self.stages else ()
        asked = {"chat": self.chat, "judge": self.chat_judge}
        chat = [it.digest for stage, it in asked.items() if it is not None and stage in self.stages]
        if self.indirect is not None:
            chat += ("indirect", self.indirect.digest)
        sought = [name for name in ("professions", "ages") if getattr(self, name)]
        chosen = (*self.stages, *models, *joined, *sought, *own, *chat)
        code = (package_digest(f"deid_platform.{package}") for package in ("detection", "lexicon", "text"))
        return plain_digest(plain_digest(self.name, *chosen), *code, *sorted(set(self.own_terms())))

    def dictionary_digest(self, keyring: Keyring) -> str:
        """Digest of the topics with their former rows, and of the institution's words; keyed: they could be guessed."""
        words = ("local words", *sorted(self.local_words)) if self.local_words else ()
        return keyring.digest_of(chain(("dictionary",), _parts(self.topics or Topics()), words))

    @property
    def inputs(self) -> Literal["topics", "text"]:
        """Whether the detector uses the institution's topics or only the text."""
        knowing = {"gazetteer", "roster"}.intersection(self.stages)
        return "topics" if self.topics and knowing else "text"

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages of the detector, in their order, without those that are left out; judge and chat if there are.

        Raises:
            DeidError: `detector-unknown`; `stage-unknown` for a stage to leave out that the detector does not have.
        """
        stages = stage_names(self.name)
        for name in self.without:
            if name not in stages:
                raise DeidError(Code.STAGE_UNKNOWN, did_you_mean(name, stages))
        idle = {"judge": self.combination.judge is None, "chat": self.chat is None}
        return tuple(name for name in stages if name not in self.without and not idle.get(name, False))

    def chosen_models(self) -> dict[str, Model]:
        """The models whose candidates join, by name; none for a detector without the stage.

        Raises:
            DeidError: `detector-unknown` for a name that none has; `settings-invalid` for a detector without models.
        """
        if self.models is not None:
            self._must_use("models", "detection.models")
        chosen = (SHIPPED,) if self.models is None else self.models
        return {name: model_named(name) for name in chosen} if "models" in self.stages else {}

    @property
    def on_card(self) -> bool:
        """Whether networks of models run on a card.

        Raises:
            DeidError: What `chosen_models` raises.
        """
        return self.device == CARD and bool(self.chosen_models())

    def network_server(self) -> NetworkServer | None:
        """The process that runs the models' networks on a card for all workers; None on the processor.

        Raises:
            DeidError: `device-missing`; what `chosen_models` raises.
        """
        if self.device == PROCESSOR:
            return None
        folders = [model.folder for model in self.chosen_models().values() if model.folder is not None]
        return NetworkServer(folders, usable(self.device)) if folders else None

    def check(self, models: Models) -> None:
        """Nothing, unless a language model of this process has ended, so that no note can be read any more.

        Raises:
            DeidError: `device-lost`.
        """
        for asked in (self.chat, self.chat_judge, self.indirect):
            if asked is not None:
                models.check(asked.model)

    def for_workers(self, workers: int) -> DetectorSpec:
        """The detector as each of several processes builds it: they share what its chat models may be asked at once.

        Raises:
            DeidError: `settings-invalid` if each would load the weights of its language model again.
        """
        return replace(
            self,
            chat=self.chat and self.chat.for_workers(workers),
            chat_judge=self.chat_judge and self.chat_judge.for_workers(workers),
            indirect=self.indirect and self.indirect.for_workers(workers),
        )

    @contextmanager
    def counted(self) -> Iterator[DetectorSpec]:
        """The detector whose budgets of tokens are those of one run, whichever processes build it meanwhile."""
        with ExitStack() as files:

            def spent() -> Path:
                return Path(files.enter_context(NamedTemporaryFile(prefix="deid-tokens-")).name)

            chat, indirect = self.chat, self.indirect
            if chat is not None and chat.review is not None and chat.review.budget_tokens is not None:
                chat = replace(chat, spent=spent())
            if indirect is not None and indirect.budget_tokens is not None:
                indirect = replace(indirect, spent=spent())
            yield replace(self, chat=chat, indirect=indirect)

    def asking_anew(self) -> DetectorSpec:
        """The detector without the answers that its language model has given before."""
        return self if self.chat is None else replace(self, chat=replace(self.chat, answers=None))

    def as_measured(self, *, young_marked: bool = False) -> DetectorSpec:
        """The same detector where its figures decide: a note fails on which its judge gives no answer.

        Args:
            young_marked: Whether the gold marks ages under 90. None that the platform makes does.
        """
        judge = self.chat_judge and replace(self.chat_judge, strict=True)
        return replace(self, chat_judge=judge, young_unmarked=self.ages and not young_marked)

    def own_terms(self) -> list[str]:
        """The institution's own clinical terms, of all files; see `lexicon.vocabularies.terms_of`."""
        return [term for file in self.medical_terms for term in terms_of(file)]

    def site_recognizers(self) -> SiteRecognizers:
        """The institution's own recognizers, none unless it has a file of them.

        Raises:
            DeidError: `recognizers-invalid`; `settings-invalid` for a detector without rules.
        """
        if self.recognizers is None:
            return SiteRecognizers()
        self._must_use("recognizers", "detection.recognizers")
        return read_site_recognizers(self.recognizers)

    def allow_list(self) -> AllowList:
        """The institution's allow list, empty unless it has a file of it.

        Raises:
            DeidError: `allow-list-invalid`; `settings-invalid` for a detector without recovery.
        """
        if self.keep is None:
            return AllowList()
        self._must_use("recovery", "detection.keep")
        return read_allow_list(self.keep)

    def _check_judge(self) -> None:
        if (name := self.combination.judge) is None:
            return
        self._must_use("judge", "detection.combination.judge")
        if name.startswith("chat:"):
            if self.chat_judge is None or name != f"chat:{self.chat_judge.prompt}":
                raise DeidError(Code.LLM_MISSING)
        elif name not in JUDGES:
            raise DeidError(Code.DETECTOR_UNKNOWN, did_you_mean(name, JUDGES))

    def _must_use(self, stage: str, key: str) -> None:
        if stage not in stage_names(self.name):
            raise DeidError(Code.SETTINGS_INVALID, f"{key}: the detector {self.name} has no {stage}")


class _Builder:
    """Builds the stages of one detector; parts that several stages share are built once."""

    def __init__(self, spec: DetectorSpec, models: Models) -> None:
        self._spec = spec
        self._models = models
        self._stages = spec.stages
        self._topics = (spec.topics if spec.inputs == "topics" else None) or Topics()

    def pipeline(self) -> Pipeline:
        build: dict[str, Callable[[], Stage]] = {
            **dict.fromkeys(RULE_STEPS, lambda: detecting(self._rules)),
            "propagation": lambda: resolving(_propagate),
            "staff_initials": lambda: resolving(self._staff_initials),
            "gazetteer": lambda: detecting(Gazetteer(self._topics)),
            "roster": lambda: detecting(Roster(self._topics)),
            "days": lambda: resolving(days),
            "ends": lambda: resolving(ends),
            "doubt": lambda: resolving(Doubt(self._spec.combination.doubt_below)),
            "local_words": lambda: resolving(self._local_words),
            "recovery": lambda: resolving(self._recovery),
            "judge": lambda: self._judgement,
            "clinicians": lambda: resolving(relabel_clinicians),
            "relatives": lambda: resolving(relabel_relatives),
        }
        stages: dict[str, Stage] = {}
        for name in self._stages:
            if name in RULE_STEPS:
                stages.setdefault("rules", build[name]())
            elif name == "models":
                chosen = self._spec.chosen_models()
                stages |= {
                    f"model:{name}": detecting(model.build(self._spec, self._models)) for name, model in chosen.items()
                }
            elif name == "chat" and (chat := self._spec.chat) is not None:
                asks = chat.build(self._models, professions=self._spec.professions)
                stages |= {name: asks, "asked": resolving(beside_others)}
            elif name in build and (self._topics or name not in ("gazetteer", "roster")):
                stages[name] = build[name]()
        return Pipeline(
            stages,
            across_pieces=rows_across if "tables" in self._stages else None,
            second_pass=self.second_pass() if "propagation" in self._stages else None,
            template_counts=lambda: self._rules.counts if "rules" in stages else TemplateCounts(),
        )

    def second_pass(self) -> Callable[[Mentioned], Mapping[str, Stage]]:
        if "cross_note_mentions" not in self._stages:
            return lambda _: {}
        recovery = {"recovery": resolving(self._recovery_of_mentions)} if "recovery" in self._stages else {}
        relatives = {"relatives": resolving(relabel_relatives)} if "relatives" in self._stages else {}
        return lambda told: {"cross_note_mentions": detecting(CrossNoteMentions(told)), **recovery, **relatives}

    @cached_property
    def _rules(self) -> Rules:
        return Rules(
            professions=self._spec.professions,
            ages=self._spec.ages and not self._spec.young_unmarked,
            own=self._spec.site_recognizers().recognizers,
            without=[step for step in RULE_STEPS if step not in self._stages],
        )

    @cached_property
    def _local_words(self) -> LocalWords:
        return LocalWords(shared_words(), self._spec.local_words, self._topics)

    @cached_property
    def _recovery(self) -> Recovery:
        most = self._spec.combination.recover_up_to
        return Recovery(self._spec.own_terms(), self._spec.allow_list().phrases, predicted_up_to=most)

    @cached_property
    def _judgement(self) -> Judgement:
        combination = self._spec.combination
        chat = self._spec.chat_judge
        judge = chat.build(self._models) if chat else JUDGES[combination.judge or ""]()
        return Judgement(judge, combination.judge_from)

    @cached_property
    def _recovery_of_mentions(self) -> Recovery:
        """Without the allow list: what the patient's other notes name stays hidden."""
        return Recovery(self._spec.own_terms()) if self._spec.allow_list().phrases else self._recovery

    @cached_property
    def _colleagues(self) -> Colleagues:
        return Colleagues(self._topics)

    def _staff_initials(self, document: Document, candidates: list[Candidate]) -> list[Candidate]:
        known = self._colleagues.known_in(document, candidates)
        return [*candidates, *staff_initials(document.text, known)]


def _propagate(document: Document, candidates: list[Candidate]) -> list[Candidate]:
    named = ends(document, candidates)  # what is repeated must be the name alone
    return [*named, *propagated(document.text, named)]


def _parts(topics: Topics) -> Iterator[str]:
    """All that topics say, in the order of the ids."""
    current: tuple[Mapping[str, Patient | Provider | Facility], ...] = (
        topics.patients,
        topics.providers,
        topics.facilities,
    )
    for table in current:
        yield str(len(table))
        for row in in_order(table):
            yield from _values(row)
    before: tuple[Mapping[str, tuple[Patient | Provider | Facility, ...]], ...] = (
        topics.former,
        topics.former_providers,
        topics.former_facilities,
    )
    for former in before:
        yield str(len(former))
        for rows in in_order(former):
            yield str(len(rows))
            for row in rows:
                yield from _values(row)


def _values(row: Patient | Provider | Facility) -> list[str]:
    """A row's values in the order of its fields; a missing one differs from every written one."""
    return ["" if (value := getattr(row, f.name)) is None else f"={value}" for f in fields(row)]

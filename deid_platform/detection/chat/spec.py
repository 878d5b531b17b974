"""The picklable description of a chat model in the detector, and the digest that names it.

Belongs here: which prompt goes to which model, how, and where answers are kept. Does not belong here: what is done with
an answer (`stage.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from deid_platform.detection.chat.review import Review
from deid_platform.detection.chat.stage import ChatStage
from deid_platform.errors import Code, DeidError
from deid_platform.keys import module_digest, plain_digest
from deid_platform.llm.answers import AnswersAt, KeptAnswers
from deid_platform.llm.api import ChatAnswer, ChatModel, ChatRequest, Failed, ModelIdentity
from deid_platform.llm.budget import Budgeted
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.llm.engines import Engines, EngineSpec
from deid_platform.llm.prompted import Asking, Prompted
from deid_platform.llm.prompts import prompt
from deid_platform.settings import Settings, load_settings

_CODE = tuple(
    f"deid_platform.llm.{it}" for it in ("answered", "extraction", "prompted", "rewriting", "tagging", "wire")
)
"""Modules that decide what a model is asked and what its answer means."""


@dataclass(frozen=True)
class ChatSpec:
    """A prompt and a chat model; small enough to send to a worker, which connects by itself.

    Attributes:
        prompt: The name of a shipped prompt.
        model: An endpoint, or an engine of this process.
        temperature: 0 for the likeliest answer.
        seed: For sampling.
        answers: Where answers are kept, so that a run that died goes on without asking again; None to keep none.
        review: Which notes it is for; None for all.
        spent: The file in which a run counts the tokens of `review`'s budget; see `Budgeted`.
    """

    prompt: str
    model: EndpointSpec | EngineSpec
    temperature: float = 0.0
    seed: int | None = 0
    answers: AnswersAt | None = None
    review: Review | None = None
    spent: Path | None = None

    @classmethod
    def of(
        cls, settings: Settings, prompt: str, *, answers: AnswersAt | None = None, review: Review | None = None
    ) -> ChatSpec:
        """A prompt to the endpoint of `[llm]`, or where that section is not there, to the model of `[vllm]`.

        Raises:
            DeidError: `llm-missing` if deid.toml has neither.
        """
        return cls(prompt, *model_of(settings), answers, review)

    @property
    def digest(self) -> str:
        """Names prompt, model, parameters, windows and the code that reads an answer; nothing is asked.

        Raises:
            DeidError: `prompt-unknown`; `model-unusable`; `settings-invalid` for a context without room for a note.
        """
        review = self.review.digest if self.review else ""
        return plain_digest(self._prompted(Unasked(self.model)).digest, review, module_digest(*_CODE))

    def build(self, models: Engines, *, professions: bool = True) -> ChatStage:
        """The stage, with the model.

        Args:
            models: Load it.
            professions: Whether occupations are asked for too.

        Raises:
            DeidError: As `digest` does; `endpoint-refused`; `store-write` if answers cannot be kept; what an engine
                raises as it starts.
        """
        self._prompted(Unasked(self.model))  # refused before anything is loaded
        budget = self.review.budget_tokens if self.review else None
        model = asked_model(models, self.model, self.answers, budget, self.spent)
        return ChatStage(self.prompt, self._prompted(model), self.review, professions=professions)

    def for_workers(self, workers: int) -> ChatSpec:
        """As each of several processes asks: the endpoint's concurrency is divided among them, one request at least.

        Raises:
            DeidError: `settings-invalid` for an engine of this process, whose weights each process would load again.
        """
        return replace(self, model=model_for_workers(self.model, workers))

    def _prompted(self, model: ChatModel) -> Prompted:
        return Prompted(prompt(self.prompt), model, temperature=self.temperature, seed=self.seed)


def model_of(settings: Settings) -> tuple[EndpointSpec | EngineSpec, float, int | None]:
    """The endpoint of `[llm]`, or where that section is not there, the model of `[vllm]`; with temperature and seed.

    Raises:
        DeidError: `llm-missing` if deid.toml has neither.
    """
    if settings.llm is None and (engine := EngineSpec.of(settings)) is not None:
        return engine, 0.0, engine.settings.seed
    asking = Asking.of(settings)
    return asking.endpoint, asking.temperature, asking.seed


def asked_model(
    models: Engines,
    spec: EndpointSpec | EngineSpec,
    answers: AnswersAt | None,
    budget: int | None = None,
    spent: Path | None = None,
) -> ChatModel:
    """A model that is asked for what is not known yet, within a budget of tokens.

    Raises:
        DeidError: `endpoint-refused`; `store-write` if answers cannot be kept; what an engine raises as it starts.
    """
    model = models.chat_model(spec)
    if budget is not None:
        model = Budgeted(model, budget, spent)
    # Outside of the budget: what is known costs nothing.
    return model if answers is None else KeptAnswers(model, answers)


def model_for_workers(spec: EndpointSpec | EngineSpec, workers: int) -> EndpointSpec | EngineSpec:
    """A model as each of several processes asks it.

    Raises:
        DeidError: `settings-invalid` for an engine of this process.
    """
    if workers < 2:
        return spec
    if isinstance(spec, EngineSpec):
        raise DeidError(
            Code.SETTINGS_INVALID,
            "workers: each would load the model of [vllm] again; 1 worker, or a server that [llm] names",
        )
    return spec.for_workers(workers)


def chat_in_force(prompt: str) -> ChatSpec:
    """A prompt to the language model of the deid.toml in force. Answers are kept where there is a key secret: without
    one, nothing could hide which notes they are of.

    Raises:
        DeidError: `llm-missing`; `settings-invalid`; `secret-weak`.
    """
    try:
        settings = load_settings()
    except DeidError as error:
        raise DeidError(Code.LLM_MISSING) if error.code is Code.SETTINGS_MISSING else error from None
    try:
        answers = AnswersAt(settings.home_path / "llm" / "detectors.db", settings.keyring())
    except DeidError as error:
        if error.code is not Code.SECRET_MISSING:
            raise
        answers = None
    return ChatSpec.of(settings, prompt, answers=answers)


@dataclass(frozen=True)
class Unasked:
    """A model as far as it is known without it (`ChatModel`)."""

    spec: EndpointSpec | EngineSpec

    @property
    def identity(self) -> ModelIdentity:
        """The model's."""
        return self.spec.identity

    @property
    def context_length(self) -> int:
        """The model's."""
        return self.spec.context_length

    def answer(self, requests: Iterable[ChatRequest]) -> Iterator[ChatAnswer | Failed]:  # noqa: ARG002
        """Nobody calls it."""
        raise AssertionError("not asked")

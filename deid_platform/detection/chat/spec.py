"""The picklable description of a chat model in the detector, and the digest that names it.

Belongs here: which prompt goes to which model, how, and where answers are kept. Does not belong here: what is done with
an answer (`stage.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from deid_platform.detection.chat.review import Review
from deid_platform.detection.chat.stage import ChatStage
from deid_platform.errors import Code, DeidError
from deid_platform.keys import module_digest, plain_digest
from deid_platform.llm.answers import AnswersAt, KeptAnswers
from deid_platform.llm.api import ChatModel
from deid_platform.llm.budget import Budgeted
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.llm.engines import Engines, EngineSpec, WhenAsked
from deid_platform.llm.prompted import Asking, Prompted
from deid_platform.llm.prompts import DEIDENTIFY, Prompt, is_shipped, prompt, prompt_of
from deid_platform.settings import Settings, load_settings

_CODE = (
    "deid_platform.labels",
    *(f"deid_platform.llm.{name}" for name in ("answered", "extraction", "prompted", "rewriting", "tagging", "wire")),
)
"""Modules that decide what a model is asked and what its answer means."""


@dataclass(frozen=True)
class ChatSpec:
    """A prompt and a chat model; small enough to send to a worker, which connects by itself.

    Attributes:
        prompt: Its name, of a shipped prompt unless `own` is one.
        model: An endpoint, or an engine of this process.
        temperature: 0 for the likeliest answer.
        seed: For sampling.
        answers: Where answers are kept, so that a run that died goes on without asking again; None to keep none.
        review: Which notes it is for; None for all.
        spent: The file in which a run counts the tokens of `review`'s budget; see `Budgeted`.
        own: The prompt, where it is one of one's own.
    """

    prompt: str
    model: EndpointSpec | EngineSpec
    temperature: float = 0.0
    seed: int | None = 0
    answers: AnswersAt | None = None
    review: Review | None = None
    spent: Path | None = None
    own: Prompt | None = None

    @classmethod
    def of(
        cls,
        settings: Settings,
        prompt: str | Prompt,
        *,
        answers: AnswersAt | None = None,
        review: Review | None = None,
    ) -> ChatSpec:
        """A prompt, or the one of a name or file, to the model of `[llm]`, or without that section of `[vllm]`.

        Args:
            settings: Of the model; a relative path of a prompt is beside their file.
            prompt: What is asked.
            answers: Where answers are kept.
            review: Which notes it is for.

        Raises:
            DeidError: `llm-missing` if deid.toml has neither; `prompt-unknown`; `prompt-invalid`.
        """
        asking = Asking.of(settings)
        if isinstance(prompt, str):
            prompt = prompt_of(prompt, *DEIDENTIFY, beside=settings.path(Path()))
        own = None if is_shipped(prompt) else prompt
        return cls(prompt.name, asking.model, asking.temperature, asking.seed, answers, review, own=own)

    @property
    def digest(self) -> str:
        """Names prompt, model, parameters, windows and the code that reads an answer; nothing is asked.

        Raises:
            DeidError: `prompt-unknown`; `model-unusable`; `settings-invalid` for a context without room for a note.
        """
        review = self.review.digest if self.review else ""
        return plain_digest(self._prompted(WhenAsked(self.model)).digest, review, module_digest(*_CODE))

    def build(self, models: Engines, *, professions: bool = True) -> ChatStage:
        """The stage, with the model.

        Args:
            models: Load it.
            professions: Whether occupations are asked for too.

        Raises:
            DeidError: As `digest` does; `endpoint-refused`; `store-write` if answers cannot be kept; what an engine
                raises as it starts.
        """
        self._prompted(WhenAsked(self.model))  # refused before anything is loaded
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
        return Prompted(self.own or prompt(self.prompt), model, temperature=self.temperature, seed=self.seed)


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
    """A prompt, by name or file, to the language model of the deid.toml in force. Answers are kept where there is a key
    secret: without one, nothing could hide which notes they are of.

    Raises:
        DeidError: `prompt-unknown`; `prompt-invalid`; `llm-missing`; `settings-invalid`; `secret-weak`.
    """
    asked = prompt_of(prompt, *DEIDENTIFY)
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
    return ChatSpec.of(settings, asked, answers=answers)

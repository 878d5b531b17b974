"""Which chat models judge: one, or a panel of models and seeds, whose answers are kept.

Belongs here: settings to what is asked. Does not belong here: what a judge is asked (`retention/chat_judge.py`,
`chat_panel.py`), or how good it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from deid_platform.errors import Code, DeidError
from deid_platform.llm.answers import AnswersAt, KeptAnswers
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.llm.engines import Engines, EngineSpec
from deid_platform.llm.prompted import Asking, endpoint_of
from deid_platform.llm.prompts import Prompt, Task, names_for, prompt_of
from deid_platform.llm.questions import Asked

if TYPE_CHECKING:
    from deid_platform.settings import JudgeSettings, Settings

_FILE = "judges.db"
_JUDGES = 3
"""Of a panel, unless told (Miranda 2025, 4.2.1)."""


Model = EndpointSpec | EngineSpec
"""Where a judge is: behind an endpoint, or an engine of this process."""


@dataclass(frozen=True)
class JudgePlan:
    """Who is asked: every member with every prompt.

    Attributes:
        members: Each model with a seed for sampling, in the order in which they were chosen.
        prompts: What each is asked.
        temperature: 0 for the likeliest answer.
        at: Where answers are kept; None if nowhere.
    """

    members: tuple[tuple[Model, int | None], ...]
    prompts: tuple[Prompt, ...]
    temperature: float
    at: AnswersAt | None = None

    @classmethod
    def single(cls, settings: Settings, prompts: Sequence[Prompt]) -> JudgePlan:
        """The model of `[llm]` as it is asked there, once with each prompt; without that section, that of `[vllm]`.

        Raises:
            DeidError: `llm-missing`; what `kept_at` raises.
        """
        asking = Asking.of(settings)
        return cls(((asking.model, asking.seed),), tuple(prompts), asking.temperature, kept_at(settings))

    @classmethod
    def panel(cls, settings: Settings, prompts: Sequence[Prompt]) -> JudgePlan:
        """The panel of `[judges]`: models behind the endpoint, or that of `[vllm]` alone.

        Raises:
            DeidError: `llm-missing`; `settings-invalid` where a judge would come twice, or there are fewer than the
                settings say; what `kept_at` raises.
        """
        told = settings.judges
        models: tuple[Model, ...]
        if not told.models and settings.llm is None and (engine := EngineSpec.of(settings)) is not None:
            models = (engine,)
        else:
            endpoint = endpoint_of(settings)
            models = tuple(replace(endpoint, model=model) for model in told.models or (endpoint.model,))
        for key, values in (("models", told.models), ("seeds", told.seeds or ())):
            if len(set(values)) < len(values):
                raise DeidError(Code.SETTINGS_INVALID, f"judges.{key}: one comes twice")
        return cls(_members(models, told), tuple(prompts), told.temperature, kept_at(settings))

    def asked(self, models: Engines) -> Iterator[Asked]:
        """The judges, model by model, each loaded by `models`; nothing is sent yet.

        Raises:
            DeidError: `endpoint-refused`; `settings-invalid` for a key or certificates that cannot be read;
                `store-write` if answers cannot be kept.
        """
        for spec in dict.fromkeys(spec for spec, _ in self.members):
            model = models.chat_model(spec)
            if self.at is not None:
                model = KeptAnswers(model, self.at)
            for prompt, (of, seed) in product(self.prompts, self.members):
                if of == spec:
                    yield Asked(prompt, model, self.temperature, seed)


def _members(models: Sequence[Model], told: JudgeSettings) -> tuple[tuple[Model, int], ...]:
    """Each model once, then each with another seed, up to the panel's size."""
    size = told.size or (len(models) * len(told.seeds) if told.seeds else max(_JUDGES, len(models)))
    seeds = told.seeds or range(1, size + 1)
    # At temperature 0 seeds make no difference, and one judge would have several votes.
    judges = [(model, seed) for seed in (seeds if told.temperature else seeds[:1]) for model in models]
    if told.size is not None and len(judges) < told.size:
        raise DeidError(Code.SETTINGS_INVALID, f"judges.size: models and seeds make {len(judges)}")
    return tuple(judges[:size])


def kept_at(settings: Settings) -> AnswersAt | None:
    """Where judges' answers are kept: in the PHI zone, as they quote notes; nowhere without a key secret.

    Raises:
        DeidError: `secret-weak`.
    """
    try:
        keyring = settings.keyring()
    except DeidError as error:
        if error.code is not Code.SECRET_MISSING:
            raise
        return None
    return AnswersAt(settings.home_path / "llm" / _FILE, keyring)


def judge_prompts(task: Task, names: Sequence[str] = ()) -> list[Prompt]:
    """Prompts of judges by name or file; all that are shipped for the task unless told.

    Raises:
        DeidError: `prompt-unknown`, with the names for the task; `prompt-invalid`; `settings-invalid` for one that
            comes twice.
    """
    if not names:
        return list(names_for(task).values())
    chosen = [prompt_of(name, task) for name in names]
    for prompt in chosen:
        if chosen.count(prompt) > 1:
            raise DeidError(Code.SETTINGS_INVALID, f"prompt {prompt.name}: twice")
    return chosen

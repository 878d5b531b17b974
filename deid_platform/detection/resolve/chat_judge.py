"""A judge of proposed removals that is a chat model (`judgement.Judge`), and its picklable description.

Belongs here: what it is shown of each removal, what its answer says, and which model it is. Does not belong here: what
may be weighed at all (`judgement.py`), or the prompts (`llm/prompts/judges/`).

After the first open question of Aghakasiri 2025, section 8.1. The model sees the words of each removal and some text
around them, and says one word for each. Whatever is no whole answer returns nothing: all that it was asked about stays
hidden, and the failure is counted. Where a detector is measured, such a note fails instead: what is hidden only because
nobody answered would pass for found, and a refresh in which somebody answers hides less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deid_platform.detection.api import Candidate, Document
from deid_platform.detection.chat.spec import asked_model, model_for_workers
from deid_platform.detection.resolve.judgement import ToWeigh
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.keys import module_digest, plain_digest
from deid_platform.llm.answers import AnswersAt
from deid_platform.llm.api import Schema
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.llm.engines import Engines, EngineSpec
from deid_platform.llm.prompted import Asking
from deid_platform.llm.prompts import Prompt, Task, names_for
from deid_platform.llm.questions import Asked, NoAnswer, Question

if TYPE_CHECKING:
    from deid_platform.settings import Settings

CHAT = "chat:"
"""Before a prompt's name, where a judge is named."""
FAILURES: Counter[str] = Counter()
"""How many removals stay hidden in this process for want of an answer, by why there was none."""
_AROUND = 160
"""Code points before and after a removal that the model sees."""
_AT_ONCE = 16
"""Removals of one question."""
_WEIGHTS = {"identifier": 0.0, "medicine": 1.0}
_MAX_TOKENS = 1024
_CODE = ("deid_platform.llm.questions", "deid_platform.llm.answered", "deid_platform.llm.wire")


class ChatJudge:
    """Weighs removals by asking a chat model (`Judge`)."""

    def __init__(self, asked: Asked, *, strict: bool = False) -> None:
        self._asked = asked
        self._strict = strict

    def __repr__(self) -> str:
        return f"<ChatJudge: {self._asked.name}>"

    def weigh(self, asked: Sequence[ToWeigh]) -> list[list[float]]:
        """See `Judge`; 0 for all of a question without an answer.

        Raises:
            DeidError: `detector-failed` for such a question, if that fails its note.
        """
        parts = [
            (document, removals[at : at + _AT_ONCE])
            for document, removals in asked
            for at in range(0, len(removals), _AT_ONCE)
        ]
        answers = self._asked.answers(_question(document, some) for document, some in parts)
        said = iter([self._weights(answer, len(some)) for answer, (_, some) in zip(answers, parts, strict=True)])
        return [[weight for _ in range(0, len(removals), _AT_ONCE) for weight in next(said)] for _, removals in asked]

    def _weights(self, answer: tuple[float, ...] | NoAnswer, count: int) -> tuple[float, ...]:
        if not isinstance(answer, NoAnswer):
            return answer
        if self._strict:
            raise DeidError(Code.DETECTOR_FAILED)
        FAILURES[answer.why.value] += count
        return (0.0,) * count


@dataclass(frozen=True)
class ChatJudgeSpec:
    """A prompt and a chat model; small enough to send to a worker, which connects by itself.

    Attributes:
        prompt: The name of a shipped prompt of such a judge.
        model: An endpoint, or an engine of this process.
        temperature: 0 for the likeliest answer.
        seed: For sampling.
        answers: Where answers are kept; None to keep none.
        strict: Whether a note fails on which the model gives no answer. No part of the digest: answers are the same.
    """

    prompt: str
    model: EndpointSpec | EngineSpec
    temperature: float = 0.0
    seed: int | None = 0
    answers: AnswersAt | None = None
    strict: bool = False

    @classmethod
    def of(cls, judge: str | None, settings: Settings | None, answers: AnswersAt | None = None) -> ChatJudgeSpec | None:
        """The judge of that name by the model of `[llm]`, or without that section of `[vllm]`; None for another judge.

        Raises:
            DeidError: `prompt-unknown`, with the prompts of such a judge; `llm-missing`.
        """
        if judge is None or not judge.startswith(CHAT):
            return None
        name = judge.removeprefix(CHAT)
        _prompt(name)
        if settings is None:
            raise DeidError(Code.LLM_MISSING)
        asking = Asking.of(settings)
        return cls(name, asking.model, asking.temperature, asking.seed, answers)

    @property
    def digest(self) -> str:
        """Names prompt, model, parameters and the code that reads an answer, beside that of detection.

        Raises:
            DeidError: `prompt-unknown`.
        """
        parameters = (f"{self.temperature:g}", str(self.seed))
        return plain_digest(_prompt(self.prompt).digest, self.model.identity.digest, *parameters, module_digest(*_CODE))

    def for_workers(self, workers: int) -> ChatJudgeSpec:
        """As each of several processes asks; see `ChatSpec.for_workers`.

        Raises:
            DeidError: `settings-invalid` for an engine of this process, whose weights each process would load again.
        """
        return replace(self, model=model_for_workers(self.model, workers))

    def build(self, models: Engines) -> ChatJudge:
        """The judge, whose model `models` load; nothing is sent yet.

        Raises:
            DeidError: `endpoint-refused`; `settings-invalid` for a key or certificates that cannot be read;
                `store-write` if answers cannot be kept; what an engine raises as it starts.
        """
        model = asked_model(models, self.model, self.answers)
        return ChatJudge(Asked(_prompt(self.prompt), model, self.temperature, self.seed), strict=self.strict)


def _prompt(name: str) -> Prompt:
    known = names_for(Task.REMOVALS)
    if name not in known:
        raise DeidError(Code.PROMPT_UNKNOWN, did_you_mean(name, known))
    return known[name]


def _question(document: Document, removals: Sequence[Candidate]) -> Question[tuple[float, ...]]:
    text, count = document.text, len(removals)
    shown = [
        {
            "words": text[it.start : it.end],
            "before": text[max(0, it.start - _AROUND) : it.start],
            "after": text[it.end : it.end + _AROUND],
        }
        for it in removals
    ]
    return Question({"removals": shown}, _schema(count), lambda said: _said(said, count), _MAX_TOKENS)


def _schema(count: int) -> Schema:
    words = {"type": "array", "items": {"enum": list(_WEIGHTS)}, "minItems": count, "maxItems": count}
    return Schema.of_json(
        {"type": "object", "properties": {"verdicts": words}, "required": ["verdicts"], "additionalProperties": False}
    )


def _said(said: Any, count: int) -> tuple[float, ...] | None:
    if not isinstance(said, dict) or set(said) != {"verdicts"}:
        return None
    words = said["verdicts"]
    if not isinstance(words, list) or len(words) != count:
        return None
    known = all(isinstance(it, str) and it in _WEIGHTS for it in words)
    return tuple(_WEIGHTS[word] for word in words) if known else None

"""A chat model that tags indirect identifiers in the notes of a refresh; off unless `detection.indirect` is set.

Belongs here: its picklable description, the digest that names it, and from failures to codes. Does not belong here:
what is asked and what an answer means (`llm/indirect`), or what becomes of the tags (`redaction/indirect.py`).

It stands beside the detector: no tag becomes a candidate, so what the detector finds is the same with and without it.
A note of which no whole answer is there fails; nothing is released half tagged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deid_platform.detection.chat.asking import Asker, code_of
from deid_platform.detection.chat.spec import asked_model, model_for_workers
from deid_platform.errors import Code
from deid_platform.keys import module_digest, plain_digest
from deid_platform.llm.answers import AnswersAt
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.llm.engines import Engines, EngineSpec, WhenAsked
from deid_platform.llm.indirect.tagger import ChatTagger
from deid_platform.llm.prompted import Asking, NotFound
from deid_platform.notes import IndirectMention, Note
from deid_platform.settings import Settings

_CODE = tuple(
    f"deid_platform.{it}"
    for it in ("labels", "llm.answered", "llm.extraction", "llm.indirect.tagger", "llm.prompted", "llm.wire")
)
"""Modules that decide what a model is asked and what its answer means."""


@dataclass(frozen=True)
class IndirectSpec:
    """Who is asked for indirect identifiers, and how; small enough to send to a worker.

    Attributes:
        model: An endpoint, or an engine of this process.
        temperature: 0 for the likeliest answer.
        seed: For sampling.
        answers: Where answers are kept, so that a run that died goes on without asking again; None to keep none.
        budget_tokens: The most tokens of one run, of prompts and answers together; None for any number.
        spent: The file in which a run counts them; see `Budgeted`.
    """

    model: EndpointSpec | EngineSpec
    temperature: float = 0.0
    seed: int | None = 0
    answers: AnswersAt | None = None
    budget_tokens: int | None = None
    spent: Path | None = None

    @classmethod
    def of(cls, settings: Settings, *, answers: AnswersAt | None = None) -> IndirectSpec:
        """The endpoint of `[llm]`, or where that section is not there, the model of `[vllm]`.

        Raises:
            DeidError: `llm-missing` if deid.toml has neither.
        """
        asking = Asking.of(settings)
        return cls(asking.model, asking.temperature, asking.seed, answers, settings.detection.indirect_budget_tokens)

    @property
    def digest(self) -> str:
        """Names prompts, model, parameters, windows and the code that reads an answer; nothing is asked.

        Raises:
            DeidError: `model-unusable`; `settings-invalid` for a context without room for a note.
        """
        unasked = ChatTagger(WhenAsked(self.model), temperature=self.temperature, seed=self.seed, strict=True)
        return plain_digest(unasked.digest, str(self.budget_tokens), module_digest(*_CODE))

    def build(self, models: Engines) -> IndirectTags:
        """What tags notes, with the model, which `models` load.

        Raises:
            DeidError: As `digest` does; `endpoint-refused`; `store-write` if answers cannot be kept; what an engine
                raises as it starts.
        """
        _ = self.digest  # refused before anything is loaded
        model = asked_model(models, self.model, self.answers, self.budget_tokens, self.spent)
        return IndirectTags(ChatTagger(model, temperature=self.temperature, seed=self.seed, strict=True))

    def for_workers(self, workers: int) -> IndirectSpec:
        """As each of several processes asks; see `ChatSpec.for_workers`.

        Raises:
            DeidError: `settings-invalid` for an engine of this process, whose weights each process would load again.
        """
        return replace(self, model=model_for_workers(self.model, workers))


class IndirectTags:
    """Tags the notes of one batch after the other; made by `IndirectSpec.build`.

    Args:
        tagger: Asks the model.
    """

    def __init__(self, tagger: ChatTagger) -> None:
        self._tagger = tagger
        self._ask: Asker[tuple[str, str], tuple[IndirectMention, ...]] = Asker(self._find)

    def __repr__(self) -> str:
        return "<IndirectTags>"

    def __call__(self, notes: Sequence[Note]) -> list[tuple[IndirectMention, ...] | Code]:
        """The indirect identifiers of each note, or why they are not known.

        Raises:
            DeidError: `device-lost` if the model of this process has ended.
        """
        heard = self._ask((note.language, note.text) for note in notes)
        outcomes = (heard[note.language, note.text] for note in notes)
        return [code_of(each.why) if isinstance(each, NotFound) else each for each in outcomes]

    def _find(self, items: Sequence[tuple[str, str]]) -> Iterator[tuple[IndirectMention, ...] | NotFound]:
        notes = (Note(str(at), text, language=language) for at, (language, text) in enumerate(items))
        for found in self._tagger.tag(notes):
            yield tuple(found) if isinstance(found, list) else NotFound(found)

"""De-identifiers that are a prompt and a chat model: texts in, mentions or failures out, in order.

Belongs here: notes to requests, in windows where they are long, and answers to mentions. Does not belong here: prompts,
what one answer means (`extraction.py`, `rewriting.py`, `tagging.py`), or connections.

How many tokens a text has is the model's to know; here two bytes of UTF-8 count as one, which few texts exceed. Half of
what the prompt leaves of the context is for the text and half for the answer. A longer note is read in windows that
overlap; where any of them fails, the note does. Nothing of a note or an answer is logged or raised.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.llm import extraction, rewriting, tagging
from deid_platform.llm.answered import Labels, Mention, Unusable, Why, merged, said, unusable
from deid_platform.llm.api import ChatAnswer, ChatModel, ChatRequest, Failed, Schema
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.llm.engines import Engines, EngineSpec, WhenAsked
from deid_platform.llm.prompts import Prompt, Task
from deid_platform.llm.rewriting import Drift

if TYPE_CHECKING:
    from deid_platform.settings import LlmSettings, Settings

_NONE = Drift()
_MOST = 4096
"""Tokens of a window at most, however long the context: an alignment takes memory with their square."""
_LEAST = 64
"""Tokens of a window at least; a context that leaves fewer is none to read notes in."""
_OVERLAP = 200
"""Code points that a window shares with the one before it, where it is that long."""
_KEPT = 0.5
"""The least share of a window's tokens that a rewriting has to have, as they are or replaced."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a model is asked: small enough to send to a worker.

    Attributes:
        model: Where it is: behind an endpoint, or an engine of this process.
        temperature: 0 for the likeliest answer.
        seed: For sampling.
    """

    model: EndpointSpec | EngineSpec
    temperature: float = 0.0
    seed: int | None = 0

    @classmethod
    def of(cls, settings: Settings) -> Asking:
        """As `[llm]` of deid.toml says, or without that section `[vllm]`, at temperature 0.

        Raises:
            DeidError: `llm-missing` if there is neither.
        """
        if settings.llm is None and (engine := EngineSpec.of(settings)) is not None:
            return cls(engine, seed=engine.settings.seed)
        endpoint = endpoint_of(settings)
        assert settings.llm is not None  # noqa: S101 - there is no endpoint without it
        return cls(endpoint, settings.llm.temperature, settings.llm.seed)

    def build(self, models: Engines) -> ChatModel:
        """The model, which `models` load; nothing is sent yet, and an engine is loaded when the first request comes.

        Raises:
            DeidError: What `EndpointSpec.build` raises.
        """
        return WhenAsked(self.model, models) if isinstance(self.model, EngineSpec) else models.chat_model(self.model)


def endpoint_of(settings: Settings) -> EndpointSpec:
    """The endpoint of `[llm]`.

    Raises:
        DeidError: `llm-missing` if there is no such section.
    """
    llm: LlmSettings | None = settings.llm
    if llm is None:
        raise DeidError(Code.LLM_MISSING)

    def path(relative: Path | None) -> Path | None:
        return None if relative is None else settings.path(relative)

    return EndpointSpec(
        llm.url,
        llm.model,
        revision=llm.revision,
        context_length=llm.context_length,
        allowed_hosts=llm.allowed_hosts,
        api_key_file=path(llm.api_key_file),
        ca_file=path(llm.ca_file),
        concurrency=llm.concurrency,
        deadline=llm.deadline,
        structured=llm.structured,
    )


@dataclass(frozen=True, slots=True, repr=False)
class Found:
    """What a model finds in a note.

    Attributes:
        mentions: Where the identifiers are, in order; none overlaps another.
        unlabelled: Mentions whose label there is not.
        drift: How far a rewriting is from the note; of windows, the sum.
    """

    mentions: list[Mention]
    unlabelled: int = 0
    drift: Drift = _NONE

    def __repr__(self) -> str:
        return f"<Found: {len(self.mentions)} mentions>"


@dataclass(frozen=True, slots=True)
class NotFound:
    """A note of which nothing is known."""

    why: Why


class Window(NamedTuple):
    """A stretch of a text, code points, end exclusive."""

    start: int
    end: int


class Prompted:
    """A prompt and the model that it goes to.

    Args:
        prompt: What is asked.
        model: Who is asked.
        temperature: 0 for the likeliest answer.
        seed: For sampling.

    Attributes:
        tokens: That the model has read and written so far; None once it did not tell.

    Raises:
        DeidError: `settings-invalid` if the model's context has no room for a note beside the prompt.
    """

    def __init__(self, prompt: Prompt, model: ChatModel, *, temperature: float = 0.0, seed: int | None = 0) -> None:
        self._prompt = prompt
        self._model = model
        self._temperature = temperature
        self._seed = seed
        self.tokens: tuple[int, int] | None = (0, 0)
        around = sum(estimated(message.content) + 16 for message in prompt.about(""))
        self._room = min(_MOST, (model.context_length - around) // 2)
        if self._room < _LEAST:
            raise DeidError(Code.SETTINGS_INVALID, "llm.context_length")

    def __repr__(self) -> str:
        return f"<Prompted: {self._prompt.name}>"

    @property
    def digest(self) -> str:
        """Names all that decides what is found, as far as it is known."""
        parameters = (f"{self._temperature:g}", str(self._seed), str(self._room))
        return plain_digest("prompted", self._prompt.digest, self._model.identity.digest, *parameters)

    def find(self, texts: Iterable[str]) -> Iterator[Found | NotFound]:
        """What is found in each text, in order. Requests are made as the model takes them."""
        for text, cut, heard in self._asked(texts, _OVERLAP):
            yield self._read(text, cut, heard)

    def rewrite(self, texts: Iterable[str]) -> Iterator[str | NotFound]:
        """Each text as the model writes it out again, whatever it made of it: what is measured as a release.

        A long text is written out in windows one after the other (Aghakasiri 2025), with the white space around each.

        Raises:
            DeidError: `settings-invalid` if the prompt asks for something else.
        """
        if self._prompt.task is not Task.REWRITE:
            raise DeidError(Code.SETTINGS_INVALID, f"{self._prompt.name} asks for no rewriting")
        for text, cut, heard in self._asked(texts, 0):
            answers = _answers(text, heard)
            yield answers if isinstance(answers, NotFound) else _joined(text, cut, answers)

    def _asked(
        self, texts: Iterable[str], overlap: int
    ) -> Iterator[tuple[str, list[Window], list[ChatAnswer | Failed]]]:
        """Each text with its windows and what was heard of each; one of white space alone has none."""
        waiting: deque[tuple[str, list[Window]]] = deque()

        def requests() -> Iterator[ChatRequest]:
            for text in texts:
                cut = windows(text, self._room, self._tokens, overlap)
                waiting.append((text, cut))
                yield from (self._request(text[window.start : window.end]) for window in cut)

        heard: list[ChatAnswer | Failed] = []
        for outcome in self._model.answer(requests()):
            while not waiting[0][1]:
                yield *waiting.popleft(), []
            heard.append(outcome)
            self._count(outcome)
            if len(heard) == len(waiting[0][1]):
                yield *waiting.popleft(), heard
                heard = []
        while waiting:
            yield *waiting.popleft(), []

    def _count(self, outcome: ChatAnswer | Failed) -> None:
        if self.tokens is None or isinstance(outcome, Failed):
            return
        if outcome.prompt_tokens is None or outcome.completion_tokens is None:
            self.tokens = None
            return
        self.tokens = self.tokens[0] + outcome.prompt_tokens, self.tokens[1] + outcome.completion_tokens

    def _tokens(self, text: str) -> int:
        return estimated(text) + (tagging.more_tokens(text) if self._prompt.task is Task.TAG else 0)

    def _request(self, text: str) -> ChatRequest:
        return ChatRequest(self._prompt.about(text), self._temperature, self._seed, self._room, self._schema(text))

    def _schema(self, text: str) -> Schema | None:
        if self._prompt.task is Task.EXTRACT:
            return extraction.schema_of(extraction.Form(self._prompt.form or extraction.Form.LIST), self._prompt.labels)
        return tagging.schema_for(text, self._prompt.labels) if self._prompt.task is Task.TAG else None

    def _read(self, text: str, cut: list[Window], heard: list[ChatAnswer | Failed]) -> Found | NotFound:
        answers = _answers(text, heard)
        if isinstance(answers, NotFound):
            return answers
        if self._prompt.task is Task.EXTRACT:
            return _extracted(text, answers, self._prompt.labels)
        return (_tagged if self._prompt.task is Task.TAG else _rewritten)(text, cut, answers, self._prompt.labels)


def estimated(text: str) -> int:
    """The tokens of a text, rather too many than too few."""
    return len(text.encode("utf-8", "replace")) // 2 + 1


def windows(text: str, room: int, tokens: Callable[[str], int] = estimated, overlap: int = _OVERLAP) -> list[Window]:
    """The windows of a text, each of no more tokens than there is room; none of white space alone.

    A window ends after a line if there is a line's end in its last third, else after white space, else anywhere.
    """
    found: list[Window] = []
    start = 0
    while text[start:].strip() if start == 0 else start < len(text):
        end = _fitting(text, start, room, tokens)
        if end < len(text):
            least = start + 2 * (end - start) // 3
            cut = text.rfind("\n", least, end) + 1 or max(text.rfind(" ", least, end), text.rfind("\t", least, end)) + 1
            end = cut or end
        found.append(Window(start, end))
        if end == len(text):
            break
        # Back to the beginning of a word, but never as far as this window began.
        back = max(start + 1, end - min(overlap, (end - start) // 4))
        start = next((at for at in range(back, end) if text[at - 1].isspace()), back)
    return found


def _fitting(text: str, start: int, room: int, tokens: Callable[[str], int]) -> int:
    end = min(len(text), start + 2 * room)
    while (over := tokens(text[start:end]) - room) > 0:
        end -= max(1, over // 4)  # no code point takes more than four
    return end


def _answers(text: str, heard: Iterable[ChatAnswer | Failed]) -> list[str] | NotFound:
    """What each answer about a text says; why nothing is known of it where any has failed."""
    answers: list[str] = []
    for outcome in heard:
        if why := unusable(outcome):
            return NotFound(why)
        assert isinstance(outcome, ChatAnswer)  # noqa: S101 - a failure is unusable
        read = said(outcome.text, text)
        if isinstance(read, Unusable):
            return NotFound(read)
        answers.append(read)
    return answers


def _joined(text: str, cut: Iterable[Window], answers: Iterable[str]) -> str | NotFound:
    """Answers in the place of the windows that they write out; models leave the white space around a text out."""
    pieces: list[str] = []
    for window, answer in zip(cut, answers, strict=True):
        stretch, written = text[window.start : window.end], answer.strip()
        if not written:
            return NotFound(Unusable.FORM)
        begins, ends = len(stretch) - len(stretch.lstrip()), len(stretch.rstrip())
        pieces += (stretch[:begins], written, stretch[ends:])
    return "".join(pieces) if pieces else text


def _extracted(text: str, answers: Iterable[str], labels: Labels) -> Found | NotFound:
    entities: list[extraction.Entity] = []
    for answer in answers:
        read = extraction.entities(answer, labels)
        if read is None:
            return NotFound(Unusable.FORM)
        entities += read
    located = extraction.located(text, entities)
    return NotFound(Unusable.ABSENT) if located.absent else _found(located.mentions)


def _tagged(text: str, cut: Iterable[Window], answers: Iterable[str], labels: Labels) -> Found | NotFound:
    mentions: list[Mention] = []
    for window, answer in zip(cut, answers, strict=True):
        read = tagging.tagged(text[window.start : window.end], answer, labels)
        if read is None:
            return NotFound(Unusable.FORM)
        mentions += (Mention(window.start + start, window.start + end, label) for start, end, label in read)
    return _found(mentions)


def _rewritten(text: str, cut: Iterable[Window], answers: Iterable[str], labels: Labels) -> Found | NotFound:
    mentions: list[Mention] = []
    drifts: list[Drift] = []
    for window, answer in zip(cut, answers, strict=True):
        stretch = text[window.start : window.end]
        if len(answer) > 4 * len(stretch) + 1000:  # no note grows so by its labels
            return NotFound(Unusable.STRAYED)
        read = rewriting.rewritten(stretch, answer, labels)
        if read.kept < _KEPT:
            return NotFound(Unusable.STRAYED)
        mentions += (Mention(window.start + start, window.start + end, label) for start, end, label in read.mentions)
        drifts.append(read.drift)
    return _found(mentions, drift=Drift(*map(sum, zip(*drifts, strict=True))))


def _found(mentions: Iterable[Mention], drift: Drift | None = None) -> Found:
    whole = merged(mentions)
    return Found(whole, sum(mention.label is None for mention in whole), drift or _NONE)

"""Questions to a chat model that are answered by a JSON value of a known form, or by a word: what judges ask.

Belongs here: questions to requests, and answers to what they say, or why they say nothing. Does not belong here: what
is asked (`prompts/judges/`), or what an answer is worth.

What a question is about goes to the model as one JSON object, so that no text in it can pass for another part of it,
unless a prompt of one's own has a place for each part.
The form is asked for and checked all the same: not every server keeps one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from deid_platform.keys import plain_digest
from deid_platform.llm.answered import Unusable, Why, json_of, said, unusable
from deid_platform.llm.api import ChatAnswer, ChatModel, ChatRequest, Failed, Schema
from deid_platform.llm.prompts import Prompt

Said = TypeVar("Said")


@dataclass(frozen=True, slots=True, repr=False)
class Question(Generic[Said]):
    """One question.

    Attributes:
        about: What stands in the prompt's place.
        schema: The form of the answer; None for a few words.
        read: What a JSON value says, or the words where `parsed` makes none of them; None where it is not of the form.
        max_tokens: The most tokens of the answer.
        parsed: What is made of the words before they are read.
    """

    about: Mapping[str, Any]
    schema: Schema | None
    read: Callable[[Any], Said | None]
    max_tokens: int
    parsed: Callable[[str], Any] = json_of

    def __repr__(self) -> str:
        return "<Question>"

    def heard(self, outcome: ChatAnswer | Failed) -> Said | NoAnswer:
        """What an outcome says, or why it says nothing."""
        if why := unusable(outcome):
            return NoAnswer(why)
        assert isinstance(outcome, ChatAnswer)  # noqa: S101 - a failure is unusable
        text = said(outcome.text, str(self.about))
        if isinstance(text, Unusable):
            return NoAnswer(text)
        found = self.read(self.parsed(text))
        return NoAnswer(Unusable.FORM) if found is None else found


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """A question to which nothing was said."""

    why: Why


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt, the model that it goes to, and how that is asked.

    Attributes:
        prompt: What is asked.
        model: Who is asked.
        temperature: 0 for the likeliest answer.
        seed: For sampling.
    """

    prompt: Prompt
    model: ChatModel
    temperature: float = 0.0
    seed: int | None = 0

    @property
    def name(self) -> str:
        """The model, the prompt and, where answers are drawn, the seed."""
        drawn = f", seed {self.seed}" if self.temperature else ""
        return f"{self.model.identity.name}, {self.prompt.name}{drawn}"

    @property
    def digest(self) -> str:
        """Names all that decides an answer, as far as it is known, but for its form."""
        parameters = (f"{self.temperature:g}", str(self.seed))
        return plain_digest("asked", self.prompt.digest, self.model.identity.digest, *parameters)

    def answers(self, questions: Iterable[Question[Said]]) -> Iterator[Said | NoAnswer]:
        """What is said to each question, in order. Requests are made as the model takes them."""
        waiting: deque[Question[Said]] = deque()

        def requests() -> Iterator[ChatRequest]:
            for question in questions:
                waiting.append(question)
                about = self.prompt.about_object(question.about)
                yield ChatRequest(about, self.temperature, self.seed, question.max_tokens, question.schema)

        for outcome in self.model.answer(requests()):
            yield waiting.popleft().heard(outcome)

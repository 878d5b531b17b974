"""The interface of chat models: requests in, answers or failures out.

Belongs here: the records and the protocol that an endpoint, an engine in this process and detectors share. Does not
belong here: any model, any prompt, or what an answer means.

A request holds a note and an answer quotes it, so neither shows its text in a `repr`, and a failure is a code.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol

from deid_platform.keys import plain_digest


@dataclass(frozen=True, slots=True, repr=False)
class Message:
    """One turn of a conversation.

    Attributes:
        role: Who speaks.
        content: What is said.
    """

    role: Literal["system", "user", "assistant"]
    content: str

    def __repr__(self) -> str:
        return f"<Message of {self.role}>"


class SchemaKind(StrEnum):
    """In which language a form is written."""

    JSON = "json"
    """A JSON schema."""
    REGEX = "regex"
    """A regular expression that the whole answer matches."""
    GRAMMAR = "grammar"
    """A grammar in EBNF, as xgrammar and llguidance read it."""


@dataclass(frozen=True, slots=True, repr=False)
class Schema:
    """A form that the answer must have, whatever the model would rather say.

    It may be made for one note (word numbers that exist), so its `repr` shows nothing of it.

    Attributes:
        kind: In which language it is written.
        source: The schema, as text.
    """

    kind: SchemaKind
    source: str

    def __repr__(self) -> str:
        return f"<Schema in {self.kind}>"

    @classmethod
    def of_json(cls, schema: Mapping[str, Any]) -> Schema:
        """A JSON schema from its plain values; properties keep their order, in which a model writes them."""
        return cls(SchemaKind.JSON, json.dumps(schema, ensure_ascii=False, separators=(",", ":")))


@dataclass(frozen=True, slots=True, repr=False)
class ChatRequest:
    """What is asked.

    Attributes:
        messages: The conversation so far; the last turn is the user's.
        temperature: 0 for the likeliest answer.
        seed: For sampling, where the model takes one.
        max_tokens: The most tokens of an answer.
        schema: The form of the answer; None for free text.
    """

    messages: tuple[Message, ...]
    temperature: float = 0.0
    seed: int | None = 0
    max_tokens: int = 1024
    schema: Schema | None = None

    def __repr__(self) -> str:
        return f"<ChatRequest of {len(self.messages)} messages>"

    @property
    def parameters(self) -> tuple[str, ...]:
        """All that decides an answer beside the messages; the form counts by its digest."""
        form = plain_digest(self.schema.kind, self.schema.source) if self.schema else ""
        return (f"{self.temperature:g}", "" if self.seed is None else str(self.seed), str(self.max_tokens), form)


class Finish(StrEnum):
    """Why an answer ends."""

    STOP = "stop"
    """It is whole."""
    LENGTH = "length"
    """It was cut at `max_tokens` or at the end of the context."""
    REFUSED = "refused"
    """The model, or a filter behind it, says that it will not answer."""
    OTHER = "other"
    """Whatever else a server names."""


@dataclass(frozen=True, slots=True, repr=False)
class ChatAnswer:
    """What a model says.

    Attributes:
        text: Its words; empty where it refused without any.
        finish: Why they end.
        prompt_tokens: Tokens that it read, None where the model does not tell.
        completion_tokens: Tokens that it wrote, likewise.
        seconds: From asking to the whole answer, retries left out.
    """

    text: str
    finish: Finish
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0

    def __repr__(self) -> str:
        return f"<ChatAnswer: {self.finish}>"


class Failure(StrEnum):
    """Why there is no answer."""

    UNREACHABLE = "unreachable"
    """No connection, or one that ended before the answer, after all tries."""
    DEADLINE = "deadline"
    """No whole answer in time."""
    BUSY = "busy"
    """The server asked to wait until no try was left."""
    SERVER = "server"
    """The server failed at every try."""
    REQUEST = "request"
    """The server does not take the request: unknown model, a form that it cannot keep, a wrong key."""
    TOO_LONG = "too-long"
    """The request is longer than the model's context."""
    MALFORMED = "malformed"
    """What came back is no answer of the interface."""
    REDIRECT = "redirect"
    """The server points elsewhere, where nothing is sent."""
    BUDGET = "budget"
    """It was not asked: no tokens are left for it."""

    @property
    def of_server(self) -> bool:
        """Whether it says nothing of the model: another server, or the same one later, might have an answer."""
        return self is not Failure.TOO_LONG


@dataclass(frozen=True, slots=True)
class Failed:
    """A request without an answer."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model answers.

    Attributes:
        name: As it is asked for.
        digest: Names all that decides its answers as far as is known: weights where they are at hand, else what the
            server says of itself. It is part of a detector's digest.
    """

    name: str
    digest: str


class ChatModel(Protocol):
    """Answers requests, many at once."""

    @property
    def identity(self) -> ModelIdentity:
        """Which model it is."""
        ...

    @property
    def context_length(self) -> int:
        """The most tokens of a request and its answer together."""
        ...

    def answer(self, requests: Iterable[ChatRequest]) -> Iterator[ChatAnswer | Failed]:
        """One outcome a request, in their order.

        Requests are read as they can be worked on, never all at once. What is answered to one does not depend on the
        others, as far as the model's arithmetic allows. A request that fails is a `Failed`, not an exception.

        Raises:
            DeidError: If nothing can be asked at all (`endpoint-refused`).
        """
        ...

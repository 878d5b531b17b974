"""Indirect identifiers of notes, as a chat model lists them.

Belongs here: asking in windows, and where what an answer lists stands in the note. Does not belong here: connections.

As with direct identifiers, what a model writes only says where the note has something. An entity that is not in the
note counts for nothing, or fails it where a release rests on the answer, as does one that takes most of a note for
indirect identifiers; a note of which one window fails is a failed note.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Protocol

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.labels import Indirect
from deid_platform.llm.answered import Unusable, Why, json_of, unusable
from deid_platform.llm.api import ChatAnswer, ChatModel, ChatRequest, Failed, Schema
from deid_platform.llm.extraction import Entity, located
from deid_platform.llm.prompted import estimated, windows
from deid_platform.llm.prompts import Prompt, read_prompt
from deid_platform.notes import IndirectMention, Note

SCHEMA = Schema.of_json(
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "category": {"enum": [it.value for it in Indirect]}},
            "required": ["text", "category"],
            "additionalProperties": False,
        },
    }
)
"""The form of the answer."""
_MOST, _LEAST = 4096, 64
"""Tokens of a window."""
_WORD = re.compile(r"\w+")
_FEW = 50
"""Words that may be tagged of a note, however short it is."""


class Tagger(Protocol):
    """Finds indirect identifiers."""

    def tag(self, notes: Iterable[Note]) -> Iterator[list[IndirectMention] | Why]:
        """What is found in each note, or why nothing is known of it, in order."""
        ...


@cache
def prompt_in(language: str) -> Prompt:
    """The prompt, in Italian for Italian notes and in English for all others."""
    name = "indirect-it" if language == "it" else "indirect"
    return read_prompt((files(__package__) / "prompts" / f"{name}.yaml").read_bytes(), name)


class ChatTagger:
    """A tagger that asks (`Tagger`).

    Args:
        model: Who is asked.
        temperature: 0 for the likeliest answer.
        seed: For sampling.
        strict: Whether an entity that is not in the note fails it, and tags on most of its words, as where a release
            rests on the answer.

    Raises:
        DeidError: `settings-invalid` if the model's context has no room for a note beside the prompt.
    """

    def __init__(
        self, model: ChatModel, *, temperature: float = 0.0, seed: int | None = 0, strict: bool = False
    ) -> None:
        self._model = model
        self._strict = strict
        self._temperature, self._seed = temperature, seed
        around = max(
            sum(estimated(message.content) + 16 for message in prompt_in(language).about(""))
            for language in ("en", "it")
        )
        self._room = min(_MOST, (model.context_length - around) // 2)
        if self._room < _LEAST:
            raise DeidError(Code.SETTINGS_INVALID, "llm.context_length")

    def __repr__(self) -> str:
        return "<ChatTagger>"

    @property
    def digest(self) -> str:
        """Names all that decides what is found, as far as it is known."""
        prompts = (prompt_in(language).digest for language in ("en", "it"))
        parameters = (f"{self._temperature:g}", str(self._seed), str(self._room))
        return plain_digest("indirect", *prompts, self._model.identity.digest, *parameters)

    def tag(self, notes: Iterable[Note]) -> Iterator[list[IndirectMention] | Why]:
        """What is found in each note, or why nothing is known of it, in order."""
        waiting: deque[tuple[str, int]] = deque()

        def requests() -> Iterator[ChatRequest]:
            for note in notes:
                cut = windows(note.text, self._room)
                waiting.append((note.text, len(cut)))
                for start, end in cut:
                    said = prompt_in(note.language).about(note.text[start:end])
                    yield ChatRequest(said, self._temperature, self._seed, self._room, SCHEMA)

        heard: list[ChatAnswer | Failed] = []
        for outcome in self._model.answer(requests()):
            yield from _empty(waiting)
            heard.append(outcome)
            text, asked = waiting[0]
            if len(heard) == asked:
                waiting.popleft()
                yield self._read(text, heard)
                heard = []
        yield from _empty(waiting)

    def _read(self, text: str, heard: Iterable[ChatAnswer | Failed]) -> list[IndirectMention] | Why:
        by_category: dict[Indirect, list[Entity]] = {}
        for outcome in heard:
            if why := unusable(outcome):
                return why
            assert isinstance(outcome, ChatAnswer)  # noqa: S101 - a failure is unusable
            listed = json_of(outcome.text)
            if not isinstance(listed, list):
                return Unusable.FORM
            for each in listed:
                entity = _entity(each)
                if entity is None:
                    return Unusable.FORM
                by_category.setdefault(entity[0], []).append(entity[1])
        # Each category by itself: one stretch may be of two.
        found = {category: located(text, entities) for category, entities in by_category.items()}
        if self._strict and any(it.absent for it in found.values()):
            return Unusable.ABSENT
        tagged = sorted(
            IndirectMention(start, end, category)
            for category, places in found.items()
            for start, end, _ in places.mentions
        )
        return Unusable.STRAYED if self._strict and _on_most(text, tagged) else tagged


def _on_most(text: str, tagged: Sequence[IndirectMention]) -> bool:
    """Whether tags touch most words: a note may have asked for it, and no medicine would be left."""
    covered = bytearray(len(text))
    for start, end, _ in tagged:
        covered[start:end] = b"\1" * (end - start)
    words = [any(covered[word.start() : word.end()]) for word in _WORD.finditer(text)]
    return sum(words) > max(_FEW, len(words) / 2)


def _empty(waiting: deque[tuple[str, int]]) -> Iterator[list[IndirectMention]]:
    # A text of white space alone has no window, so nobody is asked about it.
    while waiting and not waiting[0][1]:
        waiting.popleft()
        yield []


def _entity(value: object) -> tuple[Indirect, Entity] | None:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return None
    category = next((it for it in Indirect if it.value == value.get("category")), None)
    return None if category is None else (category, Entity(value["text"].strip(), None))

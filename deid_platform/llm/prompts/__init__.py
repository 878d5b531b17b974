"""Prompts as data: what a chat model is asked about a note.

Belongs here: the prompts, each a file of YAML, and reading them strictly. Does not belong here: what an answer means
(`extraction.py`, `rewriting.py`, `tagging.py`, and whoever asks a judge).

The note stands where `{{note}}` does, which is in the last message and nowhere else. Each shot is that message with
another note, and the answer to it, before the note in question. No note of anybody stands in a shot. Where words are
tagged, their numbers are put before them in the note and in shots alike. Prompts of judges are in a folder of their
own; what a judge is shown stands in that place as one JSON object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal, cast

from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.keys import plain_digest
from deid_platform.llm.api import Message
from deid_platform.llm.tagging import numbered
from deid_platform.strict_yaml import read_yaml

PLACE = "{{note}}"
"""Where the note stands."""
JUDGES = "judges"
"""The folder of the prompts of judges, which are no de-identifiers."""
_KEYS = {"name", "version", "language", "task", "messages"}
_SUFFIX = ".yaml"


class Task(StrEnum):
    """What an answer is."""

    EXTRACT = "extract"
    """A JSON list of the identifiers, each with its label."""
    REWRITE = "rewrite"
    """The note, with a label in brackets in the place of each identifier."""
    TAG = "tag"
    """A JSON list of the identifiers, each with the numbers of its first and its last word, and its label."""
    RETENTION = "retention"
    """Of a judge: what of the medicine a released chunk lost, as a JSON object."""
    PANEL = "panel"
    """Of a judge: which identifiers of one kind a release hides, as a JSON object."""
    REMOVALS = "removals"
    """Of a judge: which words that are to be hidden are medicine, as a JSON object."""
    CHOOSE = "choose"
    """A JSON object with the number of one of the choices that stand before the note."""


@dataclass(frozen=True, slots=True)
class Shot:
    """An example: a note and the answer to it."""

    note: str
    answer: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked about a note.

    Attributes:
        name: As it is asked for.
        version: Counts up with each change.
        language: In which it is written: `en` or `it`.
        task: What the answer is.
        messages: The conversation; the last one is the user's and has the place of the note.
        shots: Examples.
        digest: Names all of it.
    """

    name: str
    version: int
    language: str
    task: Task
    messages: tuple[Message, ...]
    shots: tuple[Shot, ...]
    digest: str

    def about(self, note: str) -> tuple[Message, ...]:
        """The conversation about a note."""
        *before, last = self.messages
        shown = numbered if self.task is Task.TAG else str
        turns = [
            turn for shot in self.shots for turn in (_filled(last, shown(shot.note)), Message("assistant", shot.answer))
        ]
        return (*before, *turns, _filled(last, shown(note)))


def prompt_names(folder: str = "") -> tuple[str, ...]:
    """The names of the prompts that are shipped: those of de-identifiers, or those of another folder."""
    return tuple(
        sorted(file.name.removesuffix(_SUFFIX) for file in _folder(folder).iterdir() if file.name.endswith(_SUFFIX))
    )


def prompt(name: str, folder: str = "") -> Prompt:
    """A prompt that is shipped.

    Raises:
        DeidError: `prompt-unknown`, with the nearest name; `prompt-invalid`.
    """
    if name not in prompt_names(folder):
        raise DeidError(Code.PROMPT_UNKNOWN, did_you_mean(name, prompt_names(folder)))
    found = read_prompt(_folder(folder).joinpath(name + _SUFFIX).read_bytes(), name)
    if found.name != name:
        raise DeidError(Code.PROMPT_INVALID, f"{name}: name")
    return found


def _folder(name: str) -> Traversable:
    return files(__name__) / name if name else files(__name__)


def read_prompt(source: bytes, shown: str) -> Prompt:
    """A prompt from its YAML.

    Args:
        source: The document.
        shown: What an error calls it.

    Raises:
        DeidError: `prompt-invalid`, with the key that is at fault.
    """
    try:
        document = read_yaml(source)
    except ValueError:
        raise DeidError(Code.PROMPT_INVALID, f"{shown}: not YAML") from None
    if not isinstance(document, dict) or not _KEYS <= document.keys() <= _KEYS | {"shots"}:
        raise DeidError(Code.PROMPT_INVALID, f"{shown}: keys")
    fault = next((key for key, fits in _FORMS.items() if not fits(document.get(key, []))), None)
    if fault is not None:
        raise DeidError(Code.PROMPT_INVALID, f"{shown}: {fault}")
    return Prompt(
        document["name"],
        document["version"],
        document["language"],
        Task(document["task"]),
        tuple(
            Message(cast("Literal['system', 'user', 'assistant']", each["role"]), each["content"])
            for each in document["messages"]
        ),
        tuple(Shot(each["note"], each["answer"]) for each in document.get("shots", [])),
        plain_digest("prompt", source.decode()),
    )


def _are_messages(value: Any) -> bool:
    if not isinstance(value, list) or not value or not all(_has_texts(each, "role", "content") for each in value):
        return False
    *before, last = value
    return (
        all(each["role"] in ("system", "user", "assistant") and PLACE not in each["content"] for each in before)
        and last["role"] == "user"
        and last["content"].count(PLACE) == 1
    )


def _are_shots(value: Any) -> bool:
    return isinstance(value, list) and all(_has_texts(each, "note", "answer") for each in value)


def _has_texts(value: Any, *keys: str) -> bool:
    return isinstance(value, Mapping) and value.keys() == set(keys) and all(_is_text(each) for each in value.values())


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


_FORMS = {
    "name": _is_text,
    "version": lambda value: isinstance(value, int) and not isinstance(value, bool) and value > 0,
    "language": lambda value: value in ("en", "it"),
    "task": lambda value: isinstance(value, str) and value in set(Task),
    "messages": _are_messages,
    "shots": _are_shots,
}


def _filled(message: Message, note: str) -> Message:
    # Not `format` or `replace`: a note may hold braces, and the place itself.
    before, _, after = message.content.partition(PLACE)
    return Message(message.role, f"{before}{note}{after}")

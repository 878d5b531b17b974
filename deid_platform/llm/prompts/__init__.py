"""Prompts as data: what a chat model is asked about a note.

Belongs here: the prompts, each a file of YAML, and reading them strictly. Does not belong here: what an answer means
(`llm/extraction.py`, `llm/rewriting.py`, `llm/tagging.py`, and whoever asks a judge).

The note stands where `{{note}}` does, which is in the last message and nowhere else. Each shot is that message with
another note, and the answer to it, before the note in question. No note of anybody stands in a shot. Where words are
tagged, their numbers are put before them in the note and in shots alike. Prompts of judges are in a folder of their
own; what a judge is shown stands in that place as one JSON object. A prompt of a judge of retention may have a place
for the `{{original}}` chunk and one for the `{{released}}` one instead.

A prompt of one's own is such a file too. Where its answers have another form than those of the shipped ones, or other
names of labels, as the papers' prompts have, it says so in `form` and `labels`; `claims` are the labels that it asks
for, where it does not ask for all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, cast

from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.llm.answered import Labels
from deid_platform.llm.api import Message
from deid_platform.llm.extraction import Form
from deid_platform.llm.tagging import numbered
from deid_platform.text.strict_yaml import read_yaml

PLACE = "{{note}}"
"""Where the note stands."""
PARTS = ("original", "released")
"""What a judge of retention is shown, where each has a place of its own."""
_PART = re.compile(r"\{\{(" + "|".join(PARTS) + r")\}\}")
JUDGES = "judges"
"""The folder of the prompts of judges, which are no de-identifiers."""
_KEYS = {"name", "version", "language", "task", "messages"}
_MORE = {"shots", "form", "labels", "claims"}
_SUFFIX = ".yaml"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


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


DEIDENTIFY = (Task.EXTRACT, Task.REWRITE, Task.TAG)
"""The tasks of de-identifiers."""
YES_NO = "yes-no"
"""The form of a judge of retention that answers yes, something changed, or no (Aghakasiri 2025, figure 6)."""
_FORM_OF = {Task.EXTRACT: tuple(Form), Task.RETENTION: (YES_NO,)}


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
        form: How its answer is written, where that is not the task's first form.
        labels: What it calls labels -> ours; empty where it uses ours.
        claims: The labels that it asks for; None for all.
    """

    name: str
    version: int
    language: str
    task: Task
    messages: tuple[Message, ...]
    shots: tuple[Shot, ...]
    digest: str
    form: str = ""
    labels: Labels = ()
    claims: frozenset[Label] | None = None

    def about(self, note: str) -> tuple[Message, ...]:
        """The conversation about a note."""
        *before, last = self.messages
        shown = numbered if self.task is Task.TAG else str
        turns = [
            turn for shot in self.shots for turn in (_filled(last, shown(shot.note)), Message("assistant", shot.answer))
        ]
        return (*before, *turns, _filled(last, shown(note)))

    def about_object(self, parts: Mapping[str, Any]) -> tuple[Message, ...]:
        """The conversation about an object: each part in its own place, or all of it as JSON in the note's."""
        if PLACE in self.messages[-1].content:
            return self.about(json.dumps(parts, ensure_ascii=False))
        *before, last = self.messages
        turns = [
            turn
            for shot in self.shots
            for turn in (_with_parts(last, json.loads(shot.note)), Message("assistant", shot.answer))
        ]
        return (*before, *turns, _with_parts(last, parts))


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


def prompt_of(name_or_path: str, *tasks: Task, beside: Path = Path()) -> Prompt:
    """A prompt that is shipped by its name, or one of one's own by its file.

    Args:
        name_or_path: As a person names it.
        tasks: Those that it may be for.
        beside: The folder that a relative path is in.

    Raises:
        DeidError: `prompt-unknown` if there is neither, with the nearest name for these tasks and all of them;
            `prompt-invalid`, also for a file with another task.
    """
    names = names_for(*tasks)
    if name_or_path in names:
        return names[name_or_path]
    try:
        source = (beside / name_or_path).read_bytes()
    except (OSError, ValueError):
        raise DeidError(Code.PROMPT_UNKNOWN, did_you_mean(name_or_path, names)) from None
    own = read_prompt(source, "the file")
    if not _NAME.fullmatch(own.name):  # it is shown beside the others
        raise DeidError(Code.PROMPT_INVALID, "the file: name")
    if own.task not in tasks:
        raise DeidError(Code.PROMPT_INVALID, f"the file: task is none of {', '.join(tasks)}")
    return own


@cache
def names_for(*tasks: Task) -> Mapping[str, Prompt]:
    """The shipped prompts for some tasks, by name."""
    known = (prompt(name, folder) for folder in ("", JUDGES) for name in prompt_names(folder))
    return {asked.name: asked for asked in known if asked.task in tasks}


def is_shipped(asked: Prompt) -> bool:
    """Whether it is the shipped prompt of its name, and no other."""
    shipped = names_for(asked.task).get(asked.name)
    return shipped is not None and shipped.digest == asked.digest


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
    if not isinstance(document, dict) or not _KEYS <= document.keys() <= _KEYS | _MORE:
        raise DeidError(Code.PROMPT_INVALID, f"{shown}: keys")
    fault = next((key for key, fits in _FORMS.items() if not fits(document.get(key, _ABSENT.get(key, [])))), None)
    fault = fault or _at_odds(Task(document["task"]), document)
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
        document.get("form", ""),
        tuple((name, None if ours is None else Label(ours)) for name, ours in document.get("labels", {}).items()),
        frozenset(map(Label, document["claims"])) if "claims" in document else None,
    )


def _at_odds(task: Task, document: Mapping[str, Any]) -> str | None:
    """The key that does not go with the task."""
    if document.get("form", "") not in ("", *_FORM_OF.get(task, ())):
        return "form"
    if PLACE in document["messages"][-1]["content"]:
        return None
    if task is not Task.RETENTION:
        return "messages"
    return None if all(map(_has_parts, document.get("shots", []))) else "shots"


def _has_parts(shot: Mapping[str, str]) -> bool:
    try:
        return _has_texts(json.loads(shot["note"]), *PARTS)
    except ValueError:
        return False


def _are_messages(value: Any) -> bool:
    if not isinstance(value, list) or not value or not all(_has_texts(each, "role", "content") for each in value):
        return False
    *before, last = value
    places = sorted(_places(last["content"]))
    return (
        all(each["role"] in ("system", "user", "assistant") and not _places(each["content"]) for each in before)
        and last["role"] == "user"
        and places in ([PLACE], sorted(f"{{{{{part}}}}}" for part in PARTS))
    )


def _places(content: str) -> list[str]:
    return [PLACE] * content.count(PLACE) + [place[0] for place in _PART.finditer(content)]


def _are_shots(value: Any) -> bool:
    return isinstance(value, list) and all(_has_texts(each, "note", "answer") for each in value)


def _has_texts(value: Any, *keys: str) -> bool:
    return isinstance(value, Mapping) and value.keys() == set(keys) and all(_is_text(each) for each in value.values())


def _are_labels(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        _is_text(name) and (ours is None or (isinstance(ours, str) and ours in set(Label)))
        for name, ours in value.items()
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


_FORMS: dict[str, Callable[[Any], bool]] = {
    "name": _is_text,
    "version": lambda value: isinstance(value, int) and not isinstance(value, bool) and value > 0,
    "language": lambda value: value in ("en", "it"),
    "task": lambda value: isinstance(value, str) and value in set(Task),
    "messages": _are_messages,
    "shots": _are_shots,
    "form": lambda value: isinstance(value, str),
    "labels": _are_labels,
    "claims": lambda value: isinstance(value, list) and all(_is_text(name) and name in set(Label) for name in value),
}
_ABSENT: dict[str, Any] = {"form": "", "labels": {}}


def _filled(message: Message, note: str) -> Message:
    # Not `format` or `replace`: a note may hold braces, and the place itself.
    before, _, after = message.content.partition(PLACE)
    return Message(message.role, f"{before}{note}{after}")


def _with_parts(message: Message, parts: Mapping[str, Any]) -> Message:
    # In one go: a chunk may hold the place of the other.
    return Message(message.role, _PART.sub(lambda place: str(parts[place[1]]), message.content))

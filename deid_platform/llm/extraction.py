"""An answer that lists identifiers, and where they stand in the note.

Belongs here: the form of such an answer, reading it, and searching its entities. Does not belong here: prompts, or
asking.

An entity is searched whatever its case and white space, at the edges of words, or anywhere where it stands at none:
"Al" is not in "also", but a number may stand within letters. All its occurrences are mentions. Longer entities are
searched first, and what they cover is not searched again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

import regex

from deid_platform.labels import Label
from deid_platform.llm.answered import Labels, Mention, json_of, label_of, no_identifier
from deid_platform.llm.api import Schema


class Form(StrEnum):
    """How an answer lists identifiers."""

    LIST = "list"
    """`[{"text": ..., "label": ...}, ...]`"""
    DICTIONARY = "dictionary"
    """`{LABEL: [text, ...], ...}`, as Murugadoss 2024 has it."""


class Entity(NamedTuple):
    """What the model says is an identifier.

    Attributes:
        text: Its words, which may not be in the note.
        label: None where there is no such label.
    """

    text: str
    label: Label | None


class Located(NamedTuple):
    """Entities in a note.

    Attributes:
        mentions: Where they stand, in order.
        absent: How many entities are not in the note.
    """

    mentions: list[Mention]
    absent: int


@cache
def schema_of(form: Form = Form.LIST, labels: Labels = ()) -> Schema:
    """The form of the answer, with the labels of a prompt, or ours where it has none."""
    names = [name for name, _ in labels] or [label.value for label in Label]
    text = {"type": "string"}
    if form is Form.DICTIONARY:
        texts = {"type": "array", "items": text}
        return Schema.of_json(
            {"type": "object", "properties": dict.fromkeys(names, texts), "additionalProperties": False}
        )
    entity = {
        "type": "object",
        "properties": {"text": text, "label": {"enum": names}},
        "required": ["text", "label"],
        "additionalProperties": False,
    }
    return Schema.of_json({"type": "array", "items": entity})


def entities(answer: str, labels: Labels = ()) -> list[Entity] | None:
    """The entities of an answer, a list or a dictionary; None where it is neither.

    A fence of Markdown around it is dropped, and so is what the label says is no identifier.

    Args:
        answer: What the model wrote.
        labels: Those of its prompt.
    """
    document = json_of(answer)
    if isinstance(document, dict):
        document = list(_pairs(document))
    if not isinstance(document, list) or not all(_is_entity(each) for each in document):
        return None
    named = [entity for entity in document if not no_identifier(entity["label"], labels)]
    return [Entity(entity["text"].strip(), label_of(entity["label"], labels)) for entity in named]


def _pairs(document: dict[str, Any]) -> Iterator[Any]:
    """A dictionary of lists as a list; what is no list is no entity."""
    for label, texts in document.items():
        yield from ({"text": text, "label": label} for text in texts) if isinstance(texts, list) else [texts]


def located(note: str, found: Iterable[Entity]) -> Located:
    """Where entities stand in a note. An entity that comes twice counts once, with its first label."""
    labels: dict[str, Label | None] = {}
    for entity in found:
        labels.setdefault(" ".join(entity.text.split()).lower(), entity.label)
    mentions: list[Mention] = []
    covered = bytearray(len(note))
    absent = 0
    for words in sorted(labels, key=lambda each: (-len(each), each)):
        places = _places(note, words)
        absent += not places
        for start, end in places:
            if not any(covered[start:end]):
                covered[start:end] = b"\1" * (end - start)
                mentions.append(Mention(start, end, labels[words]))
            elif not all(covered[start:end]):
                mentions.append(Mention(start, end, labels[words]))
    return Located(sorted(mentions, key=lambda each: each[:2]), absent)


def _places(note: str, words: str) -> list[tuple[int, int]]:
    if not words:
        return []
    inner = r"\s+".join(map(regex.escape, words.split()))
    for pattern in (rf"(?<!\w){inner}(?!\w)", inner):
        if places := [match.span() for match in regex.finditer(pattern, note, regex.IGNORECASE)]:
            return places
    return []


def _is_entity(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("text"), str) and isinstance(value.get("label"), str)

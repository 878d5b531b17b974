"""An answer that lists identifiers, and where they stand in the note.

Belongs here: the form of such an answer, reading it, and searching its entities. Does not belong here: prompts, or
asking.

An entity is searched whatever its case and white space, at the edges of words, or anywhere where it stands at none:
"Al" is not in "also", but a number may stand within letters. All its occurrences are mentions. Longer entities are
searched first, and what they cover is not searched again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import regex

from deid_platform.labels import Label
from deid_platform.llm.answered import Mention, json_of, label_of
from deid_platform.llm.api import Schema

SCHEMA = Schema.of_json(
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "label": {"enum": [label.value for label in Label]}},
            "required": ["text", "label"],
            "additionalProperties": False,
        },
    }
)
"""The form of the answer."""


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


def entities(answer: str) -> list[Entity] | None:
    """The entities of an answer; None where it is not of the form. A fence of Markdown around it is dropped."""
    document = json_of(answer)
    if not isinstance(document, list) or not all(_is_entity(each) for each in document):
        return None
    return [Entity(each["text"].strip(), label_of(each["label"])) for each in document]


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

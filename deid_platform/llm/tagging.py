"""An answer that names identifiers by the numbers of the note's words, and nothing that is not in the note.

Belongs here: the note as it is numbered, the form of an answer for one note, and reading it. Does not belong here:
prompts, or asking.

A word is what stands between white space. Each has its number before it, in brackets, and the form takes numbers of the
note alone, so that no answer can say a word that the note has not. The form is as long for a long note as for a short
one, and bounds of integers are in what servers share. A list of the note's own words and phrases would need thousands
of entries for a page, compiled anew for each note; a grammar of the note's substrings is short, but one back end of one
server knows it. And a number is one place, where a word may stand at many.
"""

from __future__ import annotations

import re
from typing import Any

import regex

from deid_platform.labels import Label
from deid_platform.llm.answered import Labels, Mention, json_of, label_of, no_identifier
from deid_platform.llm.api import Schema

_WORD = re.compile(r"\S+")
_INNER = regex.compile(r"\w(?:.*\w)?", regex.DOTALL)
_KEYS = ("first", "last", "label")
_MARK = 5
"""Tokens that a word's number takes: digits are often a token each."""


def numbered(note: str) -> str:
    """A note with the number of each word before it: `[1]Seen [2]well.`"""
    number = 0

    def counted(word: re.Match[str]) -> str:
        nonlocal number
        number += 1
        return f"[{number}]{word[0]}"

    return _WORD.sub(counted, note)


def more_tokens(note: str) -> int:
    """The tokens that a note has more as it is numbered, rather too many than too few."""
    return _MARK * len(note.split())


def schema_for(note: str, labels: Labels = ()) -> Schema:
    """The form of an answer: numbers of words that the note has, and labels of a prompt, or ours where it has none."""
    names = [name for name, _ in labels] or [label.value for label in Label]
    word = {"type": "integer", "minimum": 1, "maximum": len(_WORD.findall(note))}
    return Schema.of_json(
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"first": word, "last": word, "label": {"enum": names}},
                "required": list(_KEYS),
                "additionalProperties": False,
            },
        }
    )


def tagged(note: str, answer: str, labels: Labels = ()) -> list[Mention] | None:
    """The places that an answer names; None where it is not of the form, or names a word that the note has not.

    Signs before the first letter or digit of a place and after its last are left out of it, and so are places whose
    label in the prompt, one of `labels`, is no identifier's.
    """
    document = json_of(answer)
    words = [match.span() for match in _WORD.finditer(note)]
    if not isinstance(document, list) or not all(_is_place(each, len(words)) for each in document):
        return None
    named = (place for place in document if not no_identifier(place["label"], labels))
    places = (
        (words[place["first"] - 1][0], words[place["last"] - 1][1], label_of(place["label"], labels)) for place in named
    )
    return [_trimmed(note, *where) for where in places]


def _is_place(value: Any, words: int) -> bool:
    if not isinstance(value, dict) or value.keys() != set(_KEYS) or not isinstance(value["label"], str):
        return False
    first, last = value["first"], value["last"]
    numbers = all(isinstance(each, int) and not isinstance(each, bool) for each in (first, last))
    return numbers and 1 <= first <= last <= words


def _trimmed(note: str, start: int, end: int, label: Label | None) -> Mention:
    if inner := _INNER.search(note, start, end):
        start, end = inner.span()
    return Mention(start, end, label)

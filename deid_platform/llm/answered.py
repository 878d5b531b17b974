"""What an answer says of a note, whatever was asked: mentions, or why there are none.

Belongs here: the records, and labels and JSON as models write them. Does not belong here: reading an answer
(`extraction.py`, `rewriting.py`, `tagging.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple
from unicodedata import normalize

from deid_platform.labels import CROSSWALKS, Label
from deid_platform.llm.answer_documents import FENCED
from deid_platform.llm.api import ChatAnswer, Failed, Failure, Finish

_OPENED, _CLOSED = "<think>", "</think>"
"""Around what a reasoning model says to itself before it answers."""
_WORDS = {"NAME": Label.PATIENT, "PERSON": Label.PATIENT, "LOCATION": Label.LOCATION_OTHER, "ID": Label.IDNUM}
_PAPERS = ("murugadoss-2024-prompts", "miranda-2025", "aghakasiri-2025")
"""Schemes of papers, in whose words answers to their prompts come."""
Labels = tuple[tuple[str, Label | None], ...]
"""What a prompt calls labels, and ours; None for what is no identifier."""


class Unusable(StrEnum):
    """Why an answer says nothing of its note."""

    REFUSED = "refused"
    """The model says that it will not answer."""
    CUT_OFF = "cut-off"
    """The answer has no end."""
    FORM = "form"
    """It is not of the form that was asked for."""
    STRAYED = "strayed"
    """It is mostly not the note that was to be written out."""
    ABSENT = "absent"
    """It lists an entity that is not in the note: what else it says is not about this note either, or may not be."""


class Mention(NamedTuple):
    """An identifier's place in a note: code points, end exclusive.

    Attributes:
        start: First code point.
        end: One past the last.
        label: None where the model names a label that there is not.
    """

    start: int
    end: int
    label: Label | None


Why = Failure | Unusable
"""Why nothing is known of a note."""


def label_of(written: str, labels: Labels = ()) -> Label | None:
    """A label as a model writes it; None where there is no such label, and for what is no identifier.

    Args:
        written: By the model.
        labels: Those of its prompt, which go before ours and those of the papers.
    """
    return _words(labels).get(_folded(written))


def no_identifier(written: str, labels: Labels = ()) -> bool:
    """Whether a label as a model writes it is of something else, such as a drug."""
    return _words(labels).get(_folded(written), Label.IDNUM) is None


@cache
def _words(labels: Labels) -> dict[str, Label | None]:
    known = [*((name, label) for scheme in _PAPERS for name, label in CROSSWALKS[scheme].items()), *_WORDS.items()]
    return {_folded(name): label for name, label in (*known, *((label.value, label) for label in Label), *labels)}


def _folded(written: str) -> str:
    # Models write accents as signs of their own, too.
    return normalize("NFC", written).strip().upper().replace("_", "-").replace(" ", "-")


def json_of(answer: str) -> Any:
    """The JSON value that an answer is, or None. A fence of Markdown around it is dropped.

    An object that says one thing twice is none: which of the two was meant?
    """
    fenced = FENCED.fullmatch(answer)
    try:
        return json.loads(fenced[1] if fenced else answer, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a doubled key")
    return found


def unusable(outcome: ChatAnswer | Failed) -> Why | None:
    """Why an outcome has no answer that could be read; None where it has one."""
    if isinstance(outcome, Failed):
        return outcome.failure
    if outcome.finish is Finish.REFUSED:
        return Unusable.REFUSED
    return None if outcome.finish is Finish.STOP else Unusable.CUT_OFF


def said(answer: str, note: str) -> str | Unusable:
    """An answer without the thoughts that a reasoning model writes before it.

    The first mark may be the template's own, so that the answer begins within the thoughts. Whoever writes notes must
    not be able to have a part of an answer dropped: where the note has such a mark, or there is more than one pair,
    nobody knows what is a thought.

    Returns:
        `cut-off` where the thoughts have no end; `form` where it is unclear what they are.
    """
    if _OPENED not in answer and _CLOSED not in answer:
        return answer
    thoughts, closed, rest = answer.partition(_CLOSED)
    within = thoughts.lstrip().removeprefix(_OPENED)
    if any(mark in text for mark in (_OPENED, _CLOSED) for text in (within, rest, note)):
        return Unusable.FORM
    return rest.lstrip() if closed else Unusable.CUT_OFF


def merged(mentions: Iterable[Mention]) -> list[Mention]:
    """Mentions that overlap as one, under the label of the longest."""
    found: list[tuple[Mention, int]] = []
    for mention in sorted(mentions, key=lambda each: (each.start, -each.end)):
        length = mention.end - mention.start
        if found and mention.start < found[-1][0].end:
            before, longest = found[-1]
            label = mention.label if length > longest else before.label
            found[-1] = (Mention(before.start, max(before.end, mention.end), label), max(length, longest))
        else:
            found.append((mention, length))
    return [mention for mention, _ in found]

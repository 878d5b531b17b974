"""An answer that writes the note out again with labels in place of identifiers, and which stretches they replace.

Belongs here: the alignment of note and answer. Does not belong here: prompts, or asking.

Nothing of the answer is ever released: it only says where the note has identifiers. Tokens of both are words and single
other characters; white space is none, so that a model may break lines elsewhere. In the cheapest alignment a tag stands
for one or more tokens of the note. A tag that stands for none, and whatever else differs, is drift.

A tag is a label in brackets, `[DATE]` or `[LUOGO/INDIRIZZO]` (Miranda 2025), or a placeholder in stars,
`***patient_Name***`, whose stars a model may leave out (Aghakasiri 2025, figure 5). Notes have stars of their own: what
stands in the note too is no placeholder.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from deid_platform.llm.answered import Labels, Mention, label_of, no_identifier

_TOKEN = regex.compile(r"\[\p{Lu}[\p{Lu}\p{M}\d _/\-]*\]|\w+|[^\s\w]")
_TAG = regex.compile(r"\[(\p{Lu}[\p{Lu}\p{M}\d _/\-]*)\]")
_PLACEHOLDER = regex.compile(
    r"\*{3}(?P<label>\w[\w ./\-]{0,60}(?:\(\w{1,12}\))?)\*{3}"
    r"|(?<!\w)(?P<label>patient_[A-Za-z_]{1,60}(?:\(\w{1,12}\))?)"
)
# A tag would rather take in a token than leave it deleted, and rather few tokens than many.
_OPEN, _MORE, _DELETED, _INSERTED, _CHANGED = 1, 1, 8, 8, 8
_FAR = 1 << 28


class Drift(NamedTuple):
    """How far an answer is from the note beside its tags, in tokens.

    Attributes:
        inserted: Of the answer alone.
        deleted: Of the note alone.
        changed: Of both, in each other's place.
    """

    inserted: int = 0
    deleted: int = 0
    changed: int = 0


class Rewritten(NamedTuple):
    """What an answer says of the note.

    Attributes:
        mentions: Stretches of the note that a tag replaced, in order.
        drift: What else differs.
        kept: The share of the note's tokens that the answer has as they are or replaced; 1 of a note without any.
    """

    mentions: list[Mention]
    drift: Drift
    kept: float


def rewritten(note: str, answer: str, labels: Labels = ()) -> Rewritten:
    """The stretches of a note that an answer's tags replace.

    Args:
        note: As the model was asked.
        answer: What it wrote.
        labels: Those of its prompt; what they call no identifier is replaced for nothing, and is no mention.
    """
    places = [match.span() for match in _TOKEN.finditer(note)]
    ours = [note[start:end] for start, end in places]
    named = list(_named(note, answer))
    theirs = [token for token, _ in named]
    numbers: dict[str, int] = {}
    coded = np.array([numbers.setdefault(token, len(numbers)) for token in ours], dtype=np.int32)
    # Of two tags without a word between them the border is anyone's guess: rather at white space than within a number.
    begins = np.array([_OPEN + bool(start and not note[start - 1].isspace()) for start, _ in places], dtype=np.int32)
    rows = [_first(len(ours))]
    opened: list[npt.NDArray[np.int32] | None] = []
    for token, label in named:
        row, taken = _row(rows[-1], coded == numbers.get(token, -1), begins, is_tag=label is not None)
        rows.append(row)
        opened.append(taken)
    mentions: list[Mention] = []
    inserted = deleted = changed = 0
    i, j = len(ours), len(theirs)
    while i or j:
        cost, above = int(rows[j][i]), rows[max(0, j - 1)]
        tag = opened[j - 1] if j else None
        if i and j and ours[i - 1] == theirs[j - 1] and cost == above[i - 1]:
            i, j = i - 1, j - 1
        elif i and tag is not None and cost == tag[i]:
            # As few tokens as its cost allows.
            first = next(k for k in range(i - 1, -1, -1) if int(above[k] + begins[k]) + _MORE * (i - 1 - k) == cost)
            label = named[j - 1][1] or ""
            if not no_identifier(label, labels):
                mentions.append(Mention(places[first][0], places[i - 1][1], label_of(label, labels)))
            i, j = first, j - 1
        elif i and j and cost == int(above[i - 1]) + _CHANGED:
            changed, i, j = changed + 1, i - 1, j - 1
        elif i and cost == int(rows[j][i - 1]) + _DELETED:
            deleted, i = deleted + 1, i - 1
        else:
            inserted, j = inserted + 1, j - 1
    kept = 1 - (deleted + changed) / len(ours) if ours else 1.0
    return Rewritten(mentions[::-1], Drift(inserted, deleted, changed), kept)


def _named(note: str, answer: str) -> Iterator[tuple[str, str | None]]:
    """The tokens of an answer, each with the label that it is a tag of, if it is one."""
    at = 0
    for placeholder in _PLACEHOLDER.finditer(answer):
        if placeholder[0] not in note:
            yield from _plain(answer[at : placeholder.start()])
            yield placeholder[0], placeholder["label"]
            at = placeholder.end()
    yield from _plain(answer[at:])


def _plain(answer: str) -> Iterator[tuple[str, str | None]]:
    for token in _TOKEN.findall(answer):
        tag = _TAG.fullmatch(token)
        yield token, tag and tag[1]


def _first(tokens: int) -> npt.NDArray[np.int32]:
    return np.arange(tokens + 1, dtype=np.int32) * np.int32(_DELETED)


def _row(
    above: npt.NDArray[np.int32], equal: npt.NDArray[np.bool_], begins: npt.NDArray[np.int32], *, is_tag: bool
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32] | None]:
    """The costs up to each token of the note with one more token of the answer, and those where it is a tag's."""
    at = np.arange(len(above), dtype=np.int32)
    row = above + np.int32(_INSERTED)
    np.minimum(row[1:], above[:-1] + np.where(equal, 0, _CHANGED).astype(np.int32), out=row[1:])
    tag = None
    if is_tag:
        tag = np.full(len(above), _FAR, dtype=np.int32)
        begun = above[:-1] + begins
        tag[1:] = np.minimum.accumulate(begun - at[1:] * _MORE) + at[1:] * _MORE
        np.minimum(row, tag, out=row)
    return np.minimum.accumulate(row - at * _DELETED) + at * _DELETED, tag

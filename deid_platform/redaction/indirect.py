"""How tagged indirect identifiers are taken out of a redacted note.

Belongs here: which stretches go, and what stands in their place. Does not belong here: finding them
(`detection/chat/indirect.py`), or direct identifiers (`redact.py`).

What a policy puts in the place of a direct identifier stays as it is: of an indirect one only the pieces between such
places go. So no direct identifier comes back into sight, whatever a note's words make the model tag.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Indirect
from deid_platform.notes import IndirectMention, Span
from deid_platform.redaction.policy import IndirectAction, Policy
from deid_platform.redaction.redact import Piece, Redaction


def _pieces(text: str, found: Iterable[IndirectMention], applied: Sequence[Span], policy: Policy) -> list[Piece]:
    """What a policy takes out of a note beside the direct identifiers.

    Args:
        text: The original.
        found: Its indirect identifiers; of those that overlap, the union goes.
        applied: Direct identifiers that were replaced, in order.
        policy: What becomes of each category.
    """
    return [
        Piece(*place, policy.indirect_tag(category))
        for start, end, category in _united(found, policy)
        for place in _between(text, start, end, applied)
    ]


def without_indirect(
    text: str, redaction: Redaction, found: Iterable[IndirectMention] | None, policy: Policy
) -> Redaction:
    """A redacted note without what the policy takes out of it; `indirect` says which pieces these are.

    Raises:
        DeidError: `redaction-failed` if nobody tagged the note.
    """
    if found is None:
        raise DeidError(Code.REDACTION_FAILED)
    taken = _pieces(text, found, redaction.applied, policy)
    if not taken:
        return redaction
    direct = (Piece(s.start, s.end, r) for s, r in zip(redaction.applied, redaction.replacements, strict=True))
    parts: list[str] = []
    position = 0
    for start, end, put_in in sorted((*direct, *taken)):
        parts += (text[position:start], put_in)
        position = end
    return replace(redaction, text="".join((*parts, text[position:])), indirect=tuple(taken))


def with_indirect(
    text: str,
    released: str,
    applied: Sequence[Span],
    lengths: Sequence[int],
    found: Iterable[IndirectMention] | None,
    policy: Policy,
) -> str | None:
    """A released note as it was before indirect identifiers were taken out, which is what the leak check looks at.

    Args:
        text: The original.
        released: What is shown of it.
        applied: Direct identifiers that were replaced, in order.
        lengths: Of what stands in their places.
        found: Indirect identifiers; None if nobody tagged the note.
        policy: What became of each category.

    Returns:
        None where nobody can tell: the note was not tagged and should have been, or anything but its tag stands in the
        place of a piece.
    """
    if found is None:
        return None if policy.hides_indirect else released
    taken = _pieces(text, found, applied, policy)
    if not taken:
        return released
    direct = ((span.start, span.end, length, None) for span, length in zip(applied, lengths, strict=True))
    places = sorted((*direct, *((it.start, it.end, len(it.put_in), it.put_in) for it in taken)), key=lambda it: it[:2])
    parts: list[str] = []
    position = at = 0
    for start, end, length, put_in in places:
        at += start - position
        if put_in is not None and released[at : at + length] != put_in:
            return None
        parts += (
            released[at - (start - position) : at],
            released[at : at + length] if put_in is None else text[start:end],
        )
        position, at = end, at + length
    return "".join((*parts, released[at:]))


def _united(found: Iterable[IndirectMention], policy: Policy) -> Iterator[IndirectMention]:
    """What goes, in order and without overlaps. Where it overlaps, nothing is told of it that one of the categories
    should not tell: what is removed is removed, else the longest says what it was."""
    going = sorted(each for each in found if policy.indirect_action(each.category) is not IndirectAction.KEEP)
    group: list[IndirectMention] = []
    for each in going:
        if group and each.start >= max(it.end for it in group):
            yield _one(group, policy)
            group = []
        group.append(each)
    if group:
        yield _one(group, policy)


def _one(group: Sequence[IndirectMention], policy: Policy) -> IndirectMention:
    def weight(each: IndirectMention) -> tuple[bool, int]:
        return policy.indirect_action(each.category) is IndirectAction.REMOVE, each.end - each.start

    category: Indirect = max(group, key=weight).category
    return IndirectMention(group[0].start, max(each.end for each in group), category)


def _between(text: str, start: int, end: int, applied: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """The pieces of a stretch between direct identifiers, without white space at their ends; none without a letter or
    digit."""
    at = start
    met = [(span.start, span.end) for span in applied if span.start < end and start < span.end]
    for stop, after in (*met, (end, end)):
        piece = text[at:stop]
        if any(map(str.isalnum, piece)):
            yield at + len(piece) - len(piece.lstrip()), stop - (len(piece) - len(piece.rstrip()))
        at = after

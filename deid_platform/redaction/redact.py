"""How spans become redacted text.

Belongs here: applying a policy's action to each span. Does not belong here: finding spans, or choosing
between overlapping ones (`detection/`): overlapping input is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.redaction.ages import age90
from deid_platform.redaction.policy import Action, Policy
from deid_platform.redaction.years import kept_year
from deid_platform.redaction.zips import zip3

_BIRTH_CUE = re.compile(
    r"\b(?:d\.?\s?o\.?\s?b|birth(?:\s?day|\s?date)?|born)\b[^\w]*(?:on|in|date)?[^\w]*$", re.IGNORECASE
)
_CUE_REACH = 32


@dataclass(frozen=True, slots=True, repr=False)
class Redaction:
    """A redacted note.

    Attributes:
        text: The redacted text.
        applied: The spans whose text was replaced, in order; offsets into the original.
        replacements: What stands in place of each.
    """

    text: str
    applied: tuple[Span, ...]
    replacements: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Redaction of {len(self.applied)} spans>"

    @property
    def counts(self) -> Mapping[Label, int]:
        """How many spans of each label were replaced."""
        return Counter(span.label for span in self.applied)


def redact(note: Note, spans: Sequence[Span], policy: Policy, *, birth_date: date | None = None) -> Redaction:
    """Replace what a policy removes; everything between the spans stays code point by code point.

    Args:
        note: The note. One without a date is read as if written today, which hides the most years.
        spans: What was found in it, in any order, non-overlapping; touching spans are separate.
        policy: What to do with each label.
        birth_date: The patient's, where the topics know it: some years are kept only if it allows.

    Raises:
        DeidError: `span-bounds` if spans overlap or reach outside the text; the reference is the source
            that the span names.
    """
    ordered = sorted(spans, key=lambda span: (span.start, span.end))
    position = 0
    for span in ordered:
        if span.start < position or span.end > len(note.text):
            raise DeidError(Code.SPAN_BOUNDS, span.source or None)
        position = span.end
    applied: list[Span] = []
    replacements: list[str] = []
    pieces: list[str] = []
    end = len(note.text)
    # From right to left, so that every offset still points into the original.
    for span in reversed(ordered):
        surface = note.text[span.start : span.end]
        replacement = _replacement(note, span, surface, policy, birth_date)
        if replacement != surface:
            pieces += (note.text[span.end : end], replacement)
            end = span.start
            applied.append(span)
            replacements.append(replacement)
    pieces.append(note.text[:end])
    return Redaction("".join(reversed(pieces)), tuple(reversed(applied)), tuple(reversed(replacements)))


def _replacement(note: Note, span: Span, surface: str, policy: Policy, birth_date: date | None) -> str:
    """What stands in a span's place; the surface itself where the policy keeps it."""
    match policy.labels[span.label]:
        case Action.KEEP:
            return surface
        case Action.TAG:
            return policy.tagged(span.label)
        case Action.AGE90:
            age = age90(surface)
            return policy.tagged(span.label) if age is None else age
        case Action.ZIP3:
            return policy.tagged(span.label, zip3(surface, language=note.language))
        case Action.YEAR:
            before = note.text[max(0, span.start - _CUE_REACH) : span.start]
            year = kept_year(
                surface,
                note_date=note.note_date or datetime.now(UTC).date(),
                birth_date=birth_date,
                near_birth=_BIRTH_CUE.search(before) is not None,
            )
            return policy.tagged(span.label, year)

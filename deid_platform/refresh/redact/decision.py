"""One decision about a quarantined note, and how it mends the spans that were found.

Belongs here: what worker processes take along of a decision. Does not belong here: which decision counts
(`refresh/redact/decisions.py`); nothing imported here is slow, since workers are forked from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from deid_platform.keys import Keyring
from deid_platform.notes import Span
from deid_platform.redaction.policy import Policy
from deid_platform.refresh.redact.whole_words import widened

REVIEW = "review"
"""The source of spans that people added."""


class Action(StrEnum):
    """What people may decide about a quarantined note."""

    KEEP_OUT = "keep-out"
    """It stays out, whatever becomes of it, until two people decide otherwise."""
    MEND = "mend"
    """It is redacted with spans added or removed."""
    PASS = "pass"  # noqa: S105 - an action
    """It is redacted with the spans that were found."""
    AS_FOUND = "as-found"
    """Nothing that was decided before counts any more."""


@dataclass(frozen=True, slots=True, repr=False)
class Ruling:
    """One decision about one content of one note, as found by one detector.

    Attributes:
        held_for: The reason code that the note was quarantined for.
        added: Spans that the detector lacked.
        removed: Spans that it should not have found.
    """

    feed: str
    delivery: str
    note_id: str
    action: Action
    held_for: str
    content_digest: str
    detector_digest: str
    added: tuple[Span, ...] = field(default=())
    removed: tuple[Span, ...] = field(default=())

    def __repr__(self) -> str:
        return "<Ruling>"

    def digest(self, keyring: Keyring) -> str:
        """Names it in the ledger."""
        spans = (f"{s.start}-{s.end} {s.label.value}" for s in self.added)
        gone = (f"{s.start}-{s.end} {s.label.value}" for s in self.removed)
        about = (self.feed, self.delivery, self.note_id, self.action.value, self.held_for)
        bound = (self.content_digest, self.detector_digest)
        return keyring.digest("ruling", *about, *bound, "added", *spans, "removed", *gone)

    def mended(self, found: Iterable[Span], text: str, policy: Policy) -> tuple[Span, ...]:
        """The spans that were found, without those removed and with those added, none over another.

        What is added reaches over whole words and numbers, whatever was sealed.

        What the detector finds beyond what people saw stays, and where an added span lies over a found one of which
        the policy hides as much, the found one stays as it is. One that the policy shows, or of which it shows a part,
        gives way: the added one takes its place.
        """
        gone = {(s.start, s.end, s.label) for s in self.removed}
        return laid_over((s for s in found if (s.start, s.end, s.label) not in gone), widened(text, self.added), policy)


def laid_over(found: Iterable[Span], added: Iterable[Span], policy: Policy) -> tuple[Span, ...]:
    """Spans with others over them, as `Ruling.mended` says; none over another."""
    spans = sorted(found)
    for new in added:
        hides = policy.hidden(new.label)
        if not hides:
            continue
        start, end = new.start, new.end
        for less in [s for s in spans if s.overlaps(new) and policy.hidden(s.label) < hides]:
            spans.remove(less)
            if policy.hidden(less.label):
                start, end = min(start, less.start), max(end, less.end)
        new = Span(start, end, new.label)
        for over in [s for s in spans if s.overlaps(new)]:
            if start < over.start:
                spans.append(Span(start, over.start, new.label, source=REVIEW))
            start = max(start, over.end)
        if start < new.end:
            spans.append(Span(start, new.end, new.label, source=REVIEW))
        spans.sort()
    return tuple(spans)

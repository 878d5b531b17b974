"""One note, redacted and checked, or an error in its place.

Belongs here: the policy and the leak check, one after the other, and closed where either fails. Does not belong here:
finding spans (`detection/`), or the notes around this one (`workbench.py`, `refresh/`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.leakcheck import Leak, LeakCheck, Released
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.redaction.redact import Redaction, redact

if TYPE_CHECKING:
    from deid_platform.surrogates.keyed import Surrogates


def text_note_id(text: str) -> str:
    """The id of a note of which nothing but the text is known.

    Under one id, all such texts would have their dates moved alike, and one name in two of them the same surrogate.
    """
    return plain_digest(text)


@dataclass(frozen=True, slots=True, repr=False)
class Redacted:
    """A note that was redacted and in which the leak check found nothing.

    Attributes:
        text: The redacted text.
        spans: All identifiers that were found, with offsets into the original, whether or not the policy hides their
            label. Under a policy with surrogates, the places of what was put in, with offsets into the redacted text:
            the length of an original date beside the shifted one would tell the shift.
        found: How many were found, among them years alone where the policy hides them.
        replaced: How many of them the policy hides.
    """

    text: str
    spans: tuple[Span, ...]
    found: int
    replaced: int

    def __repr__(self) -> str:
        return "<Redacted>"


def redact_note(
    note: Note,
    spans: Sequence[Span],
    check: LeakCheck,
    *,
    topics: Topics | None = None,
    surrogates: Surrogates | None = None,
) -> Redacted:
    """A note by the policy of a leak check, which then looks at it.

    Args:
        note: The original.
        spans: What was found in it, non-overlapping.
        check: The leak check, with the policy.
        topics: What is known of the note's patient.
        surrogates: Say what stands in for whom, where the policy wants that.

    Raises:
        DeidError: `redaction-failed`, or `note-leaks` with the first kind of leak, as `leak-last-name`.
    """
    known_as = topics.patients_known_as(note.patient_id) if topics else ()
    try:
        redaction, leaks = redact_and_check(note, spans, check, known_as, surrogates=surrogates)
    except Exception:  # whatever was raised may quote the note, which does not pass
        raise DeidError(Code.REDACTION_FAILED) from None
    if leaks:
        raise DeidError(Code.NOTE_LEAKS, leak_reason(leaks))
    shown = places(redaction) if check.policy.uses_surrogates else spans
    return Redacted(redaction.text, tuple(shown), len({*spans, *redaction.applied}), len(redaction.applied))


def redact_and_check(
    note: Note,
    spans: Sequence[Span],
    check: LeakCheck,
    known_as: Sequence[Patient],
    *,
    surrogates: Surrogates | None = None,
    released: Released | None = None,
) -> tuple[Redaction, tuple[Leak, ...]]:
    """A note by the policy of a leak check, and what that check finds left in it.

    Args:
        note: The original.
        spans: What was found in it, non-overlapping.
        check: The leak check, with the policy.
        known_as: All rows of the note's patient, the current one first; empty if the topics do not know the patient.
        surrogates: Say what stands in for whom, where the policy wants that.
        released: The columns that go with the text.

    Raises:
        Exception: Whatever a stage raises; it may quote the note.
    """
    birth_date = known_as[0].birth_date if known_as else None
    redaction = redact(note, spans, check.policy, birth_date=birth_date, surrogates=surrogates)
    leaks = check.check(note, known_as, redaction.text, redaction.applied, released, lengths=redaction.lengths)
    return redaction, leaks


def leak_reason(leaks: Sequence[Leak]) -> str:
    """Why a note that leaks is withheld: its first kind of leak, as `leak-last-name`."""
    return f"leak-{leaks[0].kind.value}"


def places(redaction: Redaction) -> Iterator[Span]:
    """Where the replacements stand in the redacted text, in order."""
    moved = 0
    for span, replacement in zip(redaction.applied, redaction.replacements, strict=True):
        start = span.start + moved
        if replacement:
            yield replace(span, start=start, end=start + len(replacement))
        moved += len(replacement) - (span.end - span.start)

"""The leak check: is anything of the patient left in a redacted note?

Belongs here: a judgement on the outcome that shares no code with detection, so that it does not repeat
what detection missed. Does not belong here: what to do with a note that leaks (the gate).

It asks three things. Is the text the original with its spans replaced and nothing else? Does anything
from the patient's own rows of the topics remain, former ones included? Is there still something in the
shape of an e-mail address, a social security number, a phone number or a web address? The roster always
wins: for a patient called Bruce, "Bruce protocol" is a leak.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from deid_platform.evaluation.residue import GAP, NAME_GAP, LeakKind, roster_residue
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Span

__all__ = ["Leak", "LeakKind", "find_leaks"]


@dataclass(frozen=True, slots=True, order=True)
class Leak:
    """One kind of thing that is left; never the thing."""

    kind: LeakKind


# Bounded repetitions only: a hostile text must not cost more than its length.
_SHAPES = {
    LeakKind.EMAIL_SHAPE: re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
    LeakKind.SSN_SHAPE: re.compile(r"(?<!\d)\d{3}[-‐‑–]\d{2}[-‐‑–]\d{4}(?!\d)"),
    # By the North American plan neither area nor exchange starts with 0 or 1, as columns of results may.
    LeakKind.PHONE_SHAPE: re.compile(
        r"(?<!\d)(?:\([2-9]\d{2}\)[ \xa0]{0,2}|[2-9]\d{2}[-‐‑–. \xa0])[2-9]\d{2}[-‐‑–. \xa0]\d{4}(?!\d)"
    ),
    LeakKind.URL_SHAPE: re.compile(r"https?://[^\s]|(?<!\w)www\.\w", re.IGNORECASE),
}
# Tags stand for what was removed; "[PATIENT]" must not leak a person called Patient.
_TAG = re.compile(
    r"\[(?P<label>" + "|".join(re.escape(label.value) for label in Label) + r"|DATE \d{4}s?(?:-\d{4})?|ZIP \d{3})\]"
)


def find_leaks(note: Note, known_as: Sequence[Patient], redacted: str, applied: Sequence[Span]) -> tuple[Leak, ...]:
    """What is left of a patient in a redacted note.

    Args:
        note: The original.
        known_as: All rows of the note's own patient, current and former (`Topics.patients_known_as`); empty
            where the topics do not know the patient, and then only alignment and shapes are checked.
        redacted: The redacted text.
        applied: The spans that were replaced; offsets into the original.

    Returns:
        The kinds of leak, each once, in the order of `LeakKind`; empty for a clean note.
    """
    found: set[LeakKind] = set()
    gaps = _gaps(note.text, applied)
    if gaps is None or not _aligned(gaps, redacted):
        found.add(LeakKind.MISALIGNED)
    bare = _TAG.sub(lambda tag: NAME_GAP if tag["label"] == Label.PATIENT else GAP, redacted)
    found.update(kind for kind, shape in _SHAPES.items() if shape.search(bare))
    for patient in known_as:
        found.update(roster_residue(bare, patient))
    return tuple(Leak(kind) for kind in LeakKind if kind in found)


def _gaps(text: str, applied: Sequence[Span]) -> list[str] | None:
    """What lies between the replaced spans; None if they overlap or reach outside the text."""
    gaps: list[str] = []
    position = 0
    for span in sorted(applied):
        if span.start < position or span.end > len(text):
            return None
        gaps.append(text[position : span.start])
        position = span.end
    return [*gaps, text[position:]]


def _aligned(gaps: Sequence[str], redacted: str) -> bool:
    """Whether `redacted` is the gaps in order with anything in between: first as prefix, last as suffix."""
    first, last = gaps[0], gaps[-1]
    if len(gaps) == 1:
        return redacted == first
    if not redacted.startswith(first) or not redacted.endswith(last):
        return False
    position = len(first)
    for gap in gaps[1:-1]:
        place = redacted.find(gap, position)
        if place < 0:
            return False
        position = place + len(gap)
    return position <= len(redacted) - len(last)

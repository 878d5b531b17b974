"""Looks at held-out sets that a test needs before it records figures.

Belongs here: a set made of numbers, sealed and looked at. Does not belong here: what is shown of it
(`warehouse/quality/test_held_out.py`).
"""

from __future__ import annotations

from sqlalchemy import Engine

from deid_platform.keys import plain_digest
from deid_platform.warehouse.quality.held_out import HeldOutSet, Purpose, record_look, seal


def held_out(
    name: str = "a set", *, gold: str = "synthetic_hospital", locale: str = "", notes: range = range(40)
) -> HeldOutSet:
    """A set of notes that are numbers; another name is another digest."""
    texts = tuple(plain_digest("note", str(n))[:16] for n in notes)
    spans = {"PATIENT": len(notes), "DATE": 3}
    return HeldOutSet(plain_digest(name, gold, locale), gold, locale, len(notes) // 2, 2, len(notes) // 4, spans, texts)


def looked(
    gatekeeper: Engine,
    detector_digest: str,
    *,
    gold: str = "synthetic_hospital",
    locale: str = "",
    purpose: Purpose = Purpose.GATE,
    name: str = "a set",
) -> int:
    """The number of a look that was taken for this."""
    made = held_out(name, gold=gold, locale=locale)
    seal(gatekeeper, made)
    return record_look(gatekeeper, made.digest, detector_digest, purpose).number

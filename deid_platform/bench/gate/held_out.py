"""Held-out sets: sealing what a detector is measured on, and counting every look at it.

Belongs here: a set's digest and strata, and whether figures are a new look. Does not belong here: any figure, or the
ledger's rows (`warehouse/quality/held_out.py`).

Whoever computes figures from gold calls `look` before. Figures of the same spans on the same set by the same code are
those that stand already: computed again they show nothing new, and are no look (`look_unless_same`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from deid_platform.evaluation.scores.sampling import period_of
from deid_platform.keys import Keyring
from deid_platform.notes import Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.sealing import content_digest
from deid_platform.store import Manifest
from deid_platform.warehouse.quality.held_out import (
    HeldOutSet,
    Look,
    Looks,
    Purpose,
    look_of,
    looks_at,
    record_look,
    seal,
)
from deid_platform.warehouse.server.roles import Role

GoldNote = tuple[Note, Sequence[Span], Sequence[tuple[int, int]]]
"""A note, the spans of its gold, and its clinical terms where they are measured too."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The look that figures are of.

    Attributes:
        held_out: Digest of the set.
        look: The look.
        measured: Digest of all that the figures follow from.
        new: Whether it was counted now; otherwise the figures stand already.
    """

    held_out: str
    look: Look
    measured: str
    new: bool

    @property
    def meta(self) -> dict[str, Any]:
        """What a manifest keeps of it."""
        return {
            "held_out_set": self.held_out,
            "look": self.look.number,
            "looked_at": self.look.at.isoformat(),
            "measured": self.measured,
        }


def look(
    site: Site, notes: Iterable[GoldNote], *, gold: str, detector_digest: str, purpose: Purpose, locale: str = ""
) -> Look:
    """Seals a set if it is not sealed yet, and counts a look at it. Before any figure is computed from its gold.

    Args:
        site: The installation.
        notes: All notes of the set.
        gold: A word of `warehouse.lab.GOLDS`, such as a corpus.
        detector_digest: Whose figures will be computed.
        purpose: What for.
        locale: Of the identifiers written in; empty where the gold is in one.

    Returns:
        The look, whose number goes with each figure (`MeasuredOn.look`).

    Raises:
        DeidError: `held-out-refused`; `warehouse-unreachable`.
    """
    held_out = set_of(site, notes, gold=gold, locale=locale)
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    seal(gatekeeper, held_out)
    return record_look(gatekeeper, held_out.digest, detector_digest, purpose)


def look_unless_same(
    site: Site, held_out: HeldOutSet, before: Manifest | None, *parts: str, detector_digest: str, purpose: Purpose
) -> Taken:
    """Seals the set and counts a look, unless the manifest says that the very figures stand already.

    Args:
        site: The installation.
        held_out: The set.
        before: Manifest of the figures that stand.
        *parts: What the figures follow from besides the set and the detector.
        detector_digest: Whose figures they are.
        purpose: What for.
    """
    seal(site.warehouse.engine(Role.GATEKEEPER), held_out)
    return look_at_sealed_unless_same(
        site, held_out.digest, before, *parts, detector_digest=detector_digest, purpose=purpose
    )


def look_at_sealed_unless_same(
    site: Site, digest: str, before: Manifest | None, *parts: str, detector_digest: str, purpose: Purpose
) -> Taken:
    """The same of a set that was sealed before, by its digest.

    Raises:
        DeidError: `held-out-refused` if it was not; `warehouse-unreachable`.
    """
    measured = site.keyring.digest("measured", digest, detector_digest, *parts)
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    if before is not None and before.meta.get("measured") == measured:
        known = look_of(gatekeeper, int(before.meta["look"]), digest, detector_digest)
        # A ledger that was restored from a backup may not know it.
        if known is not None and known.at == datetime.fromisoformat(before.meta["looked_at"]):
            return Taken(digest, known, measured, new=False)
    return Taken(digest, record_look(gatekeeper, digest, detector_digest, purpose), measured, new=True)


def looks(site: Site, digest: str) -> Looks:
    """How often a sealed set was looked at so far."""
    return looks_at(site.warehouse.engine(Role.GATEKEEPER), digest)


def seal_bench(site: Site, of: tables.BenchSet = tables.OWN) -> HeldOutSet:
    """Seals a set that the bench measures on."""
    held_out = of_bench(site, of)
    seal(site.warehouse.engine(Role.GATEKEEPER), held_out)
    return held_out


def look_at_bench(site: Site, detector_digest: str, purpose: Purpose) -> Look:
    """Counts a look at what the bench measures on."""
    held_out = seal_bench(site)
    return record_look(site.warehouse.engine(Role.GATEKEEPER), held_out.digest, detector_digest, purpose)


def of_bench(site: Site, of: tables.BenchSet = tables.OWN) -> HeldOutSet:
    """What the bench measures on; the laboratory measures on the first set alone."""
    manifest = site.store.required(of.gold, tables.ALL)
    rows = (
        (tables.from_row(Note, row), tables.spans_of(row["gold"]), [(start, end) for start, end in row["clinical"]])
        for row in site.store.stream(of.gold, tables.ALL)
    )
    meta = manifest.meta
    sealed = set_of(site, rows, gold=meta["gold"])
    if meta["gold"] != "site" or "notes_of" not in meta:
        return sealed
    return replace(sealed, notes_of=meta["notes_of"], marked_by=meta["marked_by"])


def detections_digest(site: Site, of: tables.BenchSet = tables.OWN) -> str:
    """Which spans the detector found in the notes of a set."""
    rows = sorted(map(_said, site.store.stream(of.detections, tables.ALL)))
    return site.keyring.digest("detections", *(part for row in rows for part in row))


def _said(row: dict[str, Any]) -> tuple[str, ...]:
    return row["inputs"], row["note_id"], *_spans(tables.spans_of(row["spans"]))


def set_of(site: Site, notes: Iterable[GoldNote], *, gold: str, locale: str = "") -> HeldOutSet:
    """A set by digests and counts. Its digest does not depend on what it is called or on the order of its notes."""
    keyring = site.keyring
    digests: list[str] = []
    texts: list[str] = []
    patients: set[str] = set()
    strata: Counter[tuple[str, str]] = Counter()
    spans: Counter[str] = Counter()
    for note, marked, clinical in notes:
        digests.append(_digest(keyring, note, marked, clinical))
        # By its words: a blank more, or other capitals, make no other note of it.
        texts.append(keyring.digest("held-out note", *note.text.casefold().split())[:16])
        patients.update({note.patient_id} - {None})  # type: ignore[arg-type]
        strata[note.note_type or "", period_of(note.note_date, site.settings.bench.periods)] += 1
        spans.update(span.label.value for span in marked)
    return HeldOutSet(
        digest=keyring.digest("held-out set", *sorted(digests)),
        gold=gold,
        locale=locale,
        patients=len(patients),
        strata=len(strata),
        smallest_stratum=min(strata.values(), default=0),
        spans=dict(sorted(spans.items())),
        notes=tuple(texts),
    )


def _digest(keyring: Keyring, note: Note, marked: Sequence[Span], clinical: Sequence[tuple[int, int]]) -> str:
    terms = (f"{start}-{end}" for start, end in sorted(clinical))
    return keyring.digest("held-out gold", content_digest(note, keyring), *_spans(marked), "clinical", *terms)


def _spans(spans: Iterable[Span]) -> list[str]:
    return sorted(f"{it.start}-{it.end} {it.label.value}" for it in spans)

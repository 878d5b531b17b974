"""One quarantined note: what people are shown of it, and what the redaction of a refresh makes of what they decide.

Belongs here: reading the quarantined notes of a delivery, and trying a decision on one. Does not belong here: which
notes wait (`waiting.py`), or keeping a decision (`quarantine.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deid_platform.detection.two_pass import SecondPass
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.evidence.patient_mentions import told_until
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.recipe.note_types import released_type
from deid_platform.refresh.redact.decision import Action, Ruling
from deid_platform.refresh.redact.first_pass import detection_of
from deid_platform.refresh.redact.leak_places import Place
from deid_platform.refresh.redact.row import Item, RedactionJob
from deid_platform.refresh.redact.whole_words import widened


@dataclass(frozen=True, slots=True, repr=False)
class Held:
    """A quarantined note, as people see it. Its key may be shown outside the PHI zone, the rest may not.

    Attributes:
        reason: What the last refresh quarantined it for.
        held_for: What it would be quarantined for now, had nobody decided anything.
        spans: What the detector finds in it, of labels that the policy hides or not.
        failed: Whether the detector failed on it: then people can keep it out, and nothing else.
        names: What the topics say its patient is called.
        seen: Digest of what is shown: a decision says what it was about.
    """

    key: str
    delivery: Delivery
    note: Note
    reason: str
    held_for: str
    content_digest: str
    detector_digest: str
    spans: tuple[Span, ...]
    failed: bool
    names: tuple[str, ...]
    seen: str

    def __repr__(self) -> str:
        return f"<Held {self.key}>"

    def ruling(self, action: Action, added: Sequence[Span] = (), removed: Sequence[Span] = ()) -> Ruling:
        """A decision about what is shown, as it was said.

        Raises:
            DeidError: `ruling-refused` naming `span` if a span reaches outside the text, shows nothing or lies over
                another, or if what is removed was not found.
        """
        text, end = self.note.text, 0
        for span in sorted(added):
            if span.start < end or span.end > len(text) or not text[span.start : span.end].strip():
                raise DeidError(Code.RULING_REFUSED, "span")
            end = span.end
        if not {(s.start, s.end, s.label) for s in removed} <= {(s.start, s.end, s.label) for s in self.spans}:
            raise DeidError(Code.RULING_REFUSED, "span")
        return Ruling(
            feed=self.delivery.feed,
            delivery=self.delivery.key,
            note_id=self.note.note_id,
            action=action,
            held_for=self.held_for,
            content_digest=self.content_digest,
            detector_digest=self.detector_digest,
            added=_bare(added),
            removed=_bare(removed),
        )


class HeldNotes:
    """The quarantined notes of one delivery as the note store has them now.

    Args:
        site: The installation.
        delivery: Theirs.
        ids: Their ids and why each was quarantined.
    """

    def __init__(self, site: Site, delivery: Delivery, ids: Mapping[str, str]) -> None:
        self._site, self._delivery = site, delivery
        self._state = self._generations()
        recipe = site.recipe(delivery)
        self._task = RedactionJob(recipe).build()
        self._items: dict[str, Item] = {}
        self.by_key: dict[str, Held] = {}
        """The notes as they are shown, by their keys."""
        store, second_pass = site.store, SecondPass(recipe.spec.cross_note_search)
        index = told_until(store, delivery, site.keyring).index
        rows = zip(
            store.stream(tables.RAW_NOTES, delivery.key), store.stream(tables.FIRST_PASS, delivery.key), strict=False
        )
        for raw, first in rows:
            if raw["note_id"] not in ids or raw["content_digest"] != first["content_digest"]:
                continue
            note = tables.from_row(Note, raw)
            read = index.after_first_pass(note, detection_of(first))
            item = Item(read, released_type(note.note_type, recipe.note_types))
            key = site.note_key(delivery.feed, note.note_id)
            self._items[key] = item
            detection = second_pass(read)
            spans = detection.spans or ()
            digest = recipe.digests["detector_digest"]
            self.by_key[key] = Held(
                key=key,
                delivery=delivery,
                note=note,
                reason=ids[note.note_id],
                held_for=self._task([item])[0]["reason"] or ids[note.note_id],
                content_digest=raw["content_digest"],
                detector_digest=digest,
                spans=spans,
                failed=detection.error is not None or detection.spans is None,
                names=tuple(" ".join(filter(None, (p.first_name, p.last_name))) for p in recipe.patients(note)),
                seen=site.keyring.digest(
                    "seen", raw["content_digest"], digest, *(f"{s.start}-{s.end} {s.label.value}" for s in spans)
                ),
            )

    def __repr__(self) -> str:
        return f"<HeldNotes {self._delivery.key}>"

    def _generations(self) -> tuple[int, ...]:
        datasets = (tables.RAW_NOTES, tables.FIRST_PASS, tables.REDACTED_NOTES)
        return tuple(self._site.store.required(name, self._delivery.key).generation for name in datasets)

    @property
    def current(self) -> bool:
        """Whether nothing of the delivery has changed since it was read."""
        return self._state == self._generations()

    def row(self, held: Held, ruling: Ruling) -> dict[str, Any]:
        """The row that a refresh would make of a note under a decision."""
        return self._task([self._items[held.key]._replace(mended=ruling)])[0]

    def ruling(self, held: Held, action: Action, added: Sequence[Span] = (), removed: Sequence[Span] = ()) -> Ruling:
        """A decision about what is shown; what is added reaches over the words, numbers and leaks that it touches.

        Raises:
            DeidError: As `Held.ruling`.
        """
        said = held.ruling(action, added, removed)
        if not said.added:
            return said
        return replace(said, added=widened(held.note.text, said.added, self.leak_places(held, replace(said, added=()))))

    def leak_places(self, held: Held, ruling: Ruling) -> tuple[Place, ...]:
        """Where a note leaks under a decision, from the last place to the first."""
        return tuple(self._task.leak_places(self._items[held.key]._replace(mended=ruling)))


def _bare(spans: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(Span(s.start, s.end, s.label) for s in sorted(spans))

"""The quarantine queue: notes that a refresh holds back, shown to people who keep them out, mend them or let them pass.

Belongs here: what is decided about a note, and keeping it. Does not belong here: which notes wait (`waiting.py`), what
is shown of one (`held.py`), what counts at the next refresh (`refresh/redact/decisions.py`), or the page
(`ui/queue.py`).

A decision is tried with the very redaction and leak check of a refresh: what they would stop is refused here, and they
judge again at the refresh, whatever was decided.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Span
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.decision import Action, Ruling
from deid_platform.refresh.redact.decisions import Decided, Standing, decided, keep, kept, one_is_enough
from deid_platform.review.decisions import alone
from deid_platform.review.held import Held, HeldNotes
from deid_platform.review.reasons import quotes
from deid_platform.review.waiting import RELEASED, quarantined
from deid_platform.warehouse.officer.reviews import Ruled, rule
from deid_platform.warehouse.server.roles import Role

_NAMES = frozenset((Label.PATIENT, Label.DOCTOR, Label.USERNAME))


@dataclass(frozen=True, slots=True)
class Waiting:
    """A note of the queue, without its text."""

    key: str
    delivery: str
    reason: str
    decided: str | None
    """What is in force."""
    proposed: Ruled | None
    """What waits for a second person."""


@dataclass(frozen=True, slots=True, repr=False)
class Tried:
    """What redaction and leak check make of a note under a decision.

    Attributes:
        reason: Why it would be quarantined all the same; None if it would pass them.
        text: The redacted text, if it would.
        added: What was added, widened to whole words, numbers and leaks.
        places: Where it leaks, as far as that can be told.
    """

    reason: str | None
    text: str | None
    added: tuple[Span, ...] = ()
    places: tuple[tuple[int, int], ...] = ()


class Queue:
    """The notes of an installation that wait in quarantine.

    Args:
        site: The installation.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._deliveries: dict[str, HeldNotes] = {}
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return "<Queue>"

    def waiting(self) -> list[Waiting]:
        """Every note that waits, delivery by delivery, in the order of their keys."""
        with self._lock:
            held = list(quarantined(self._site))
            said = {feed: decided(self._site, feed) for feed in {delivery.feed for delivery, _ in held}}
            found = []
            for delivery, ids in held:
                for note_id, reason in ids.items():
                    key, standing = self._standing(said[delivery.feed], delivery.feed, note_id)
                    action = None if standing.in_force is None else standing.in_force.action
                    found.append(Waiting(key, delivery.key, reason, action, standing.proposed))
            return sorted(found, key=lambda it: (it.delivery, it.key))

    def held(self, key: str) -> tuple[Held, Ruling | None]:
        """A note that waits, and the decision that was made or proposed last.

        Raises:
            DeidError: `ruling-refused` if it does not wait any more.
        """
        with self._lock:
            _, held, standing = self._found(key)
            last = standing.proposed or standing.in_force
            return held, None if last is None else self._sealed(held, last)

    def mended(self) -> Iterator[tuple[Held, tuple[Span, ...]]]:
        """Notes whose spans people mended, as far as their decision counts, with all that is hidden then."""
        with self._lock:
            for waiting in self.waiting():
                try:
                    _, held, standing = self._found(waiting.key)
                except DeidError:  # it changed since the last refresh
                    continue
                ruling, now = standing.ruling, (held.content_digest, held.detector_digest)
                if ruling is None or ruling.action is not Action.MEND:
                    continue
                if (ruling.content_digest, ruling.detector_digest) == now:
                    yield held, ruling.mended(held.spans, held.note.text, self._site.policy)

    def tried(self, key: str, added: Sequence[Span], removed: Sequence[Span]) -> Tried:
        """What would become of a note with its spans mended so, and where it leaks.

        Raises:
            DeidError: `ruling-refused`.
        """
        with self._lock:
            notes, held, _ = self._found(key)
            self._refuse_shown(added)
            ruling = notes.ruling(held, Action.MEND, added, removed)
            row = notes.row(held, ruling)
            if row["reason"] is None:
                return Tried(None, row["text"], ruling.added)
            return Tried(row["reason"], None, ruling.added, notes.leak_places(held, ruling))

    def decide(
        self,
        key: str,
        action: Action,
        *,
        added: Sequence[Span],
        removed: Sequence[Span],
        who: str,
        reason: str,
        seen: str,
    ) -> bool:
        """Keeps what somebody decides: its spans sealed, then a row of the ledger.

        Args:
            key: The note's.
            action: What is decided.
            added: Spans that the detector lacks; for `MEND` alone.
            removed: Spans that it should not have found; for `MEND` alone.
            who: Who decides.
            reason: Why, at least ten characters, without a word that the note hides.
            seen: `Held.seen` of what they were shown.

        Returns:
            Whether it counts at the next refresh; if not, it waits for a second person.

        Raises:
            DeidError: `ruling-refused`, naming why; `second-person` if the same person decided the same before;
                `waiver-invalid` without a person or a reason; `warehouse-unreachable`.
        """
        site = self._site
        with self._lock, alone(site):
            notes, held, standing = self._found(key)
            if held.seen != seen:
                raise DeidError(Code.RULING_REFUSED, "changed")
            if held.reason == RELEASED and action not in (Action.KEEP_OUT, Action.AS_FOUND):
                raise DeidError(Code.RULING_REFUSED, RELEASED)
            mends = action is Action.MEND
            if mends is not bool(added or removed):
                raise DeidError(Code.RULING_REFUSED, "span")
            self._refuse_shown(added)
            ruling = notes.ruling(held, action, added, removed)
            if action in (Action.MEND, Action.PASS) and (left := notes.row(held, ruling)["reason"]):
                raise DeidError(Code.RULING_REFUSED, left)
            if self._quoted(notes, held, ruling, reason):
                raise DeidError(Code.RULING_REFUSED, "the reason quotes the note")
            # To keep a note out, the ledger's word is enough: sealed first, it would count although the ledger refused.
            if action is not Action.KEEP_OUT:
                keep(site.store, site.keyring, ruling)
            for lost in standing.forgotten:
                # It stood before what is decided now, and the ledger says so.
                if lost != ruling:
                    self._enter(held, lost, who, "sealed in the note store; the ledger lacks it")
            turn = self._enter(held, ruling, who, reason)
            if action is Action.KEEP_OUT:
                keep(site.store, site.keyring, ruling)
            return turn == 2 or one_is_enough(ruling, standing)

    def _enter(self, held: Held, ruling: Ruling, who: str, reason: str) -> int:
        return rule(
            self._site.warehouse.engine(Role.OFFICER),
            self._site.warehouse.engine(Role.PROMOTER),
            feed=held.delivery.feed,
            note_key=held.key,
            ruling=ruling.digest(self._site.keyring),
            action=ruling.action.value,
            held_for=ruling.held_for,
            who=who,
            reason=reason,
        )

    def _quoted(self, notes: HeldNotes, held: Held, ruling: Ruling, said: str) -> bool:
        """Whether a reason says what the note hides, with and without the decision, or what leaks of it."""
        hidden = [(s.start, s.end) for s in held.spans if self._site.policy.hidden(s.label) or s.label in _NAMES] + [
            (s.start, s.end) for s in ruling.added
        ]
        hidden += notes.leak_places(held, held.ruling(Action.MEND))
        return quotes(held.note.text, hidden, held.names, said)

    def _refuse_shown(self, added: Sequence[Span]) -> None:
        if any(not self._site.policy.hidden(span.label) for span in added):
            raise DeidError(Code.RULING_REFUSED, "the policy shows this label")

    def _found(self, key: str) -> tuple[HeldNotes, Held, Standing]:
        for delivery, ids in quarantined(self._site):
            for note_id in ids:
                if self._site.note_key(delivery.feed, note_id) == key:
                    loaded = self._loaded(delivery, ids)
                    if key not in loaded.by_key:
                        raise DeidError(Code.RULING_REFUSED, "changed")
                    _, standing = self._standing(decided(self._site, delivery.feed), delivery.feed, note_id)
                    return loaded, loaded.by_key[key], standing
        raise DeidError(Code.RULING_REFUSED, "not in the queue")

    def _standing(self, said: Decided, feed: str, note_id: str) -> tuple[str, Standing]:
        keys = self._site.note_keys(feed, note_id)
        return keys[0], said.of(keys)

    def _sealed(self, held: Held, said: Ruled) -> Ruling | None:
        rings = self._site.keyrings
        named = (it for it in kept(self._site.store) if said.ruling in {it.digest(ring) for ring in rings})
        found = next(named, None)
        return found if found is not None and found.content_digest == held.content_digest else None

    def _loaded(self, delivery: Delivery, ids: dict[str, str]) -> HeldNotes:
        """The quarantined notes of a delivery, read anew once anything of it has changed."""
        before = self._deliveries.get(delivery.key)
        if before is None or not before.current:
            before = self._deliveries[delivery.key] = HeldNotes(self._site, delivery, ids)
        return before

"""The quarantine queue: notes that a refresh holds back, shown to people who keep them out, mend them or let them pass.

Belongs here: which notes wait, trying a decision before it is kept, and keeping it. Does not belong here: what counts
at the next refresh (`refresh/rulings.py`), or the page (`ui/queue.py`).

A decision is tried with the very redaction and leak check of a refresh: what they would stop is refused here, and they
judge again at the refresh, whatever was decided.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import regex

from deid_platform.detection.two_pass import SecondPass
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.tokens import word_offsets
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Note, Span
from deid_platform.refresh import tables
from deid_platform.refresh.deidentify import QUARANTINED, released_type
from deid_platform.refresh.first_pass import detection_of, mentions_until
from deid_platform.refresh.lock import file_lock
from deid_platform.refresh.redacted_row import Item, RedactionJob
from deid_platform.refresh.ruling import Action, Ruling
from deid_platform.refresh.rulings import Decided, Standing, decided, keep, kept, one_is_enough
from deid_platform.refresh.site import Site
from deid_platform.refresh.whole_words import runs, widened
from deid_platform.warehouse.reviews import Ruled, rule
from deid_platform.warehouse.roles import Role
from deid_platform.workers import Task

_LOCK = "review.lock"
_PART = regex.compile(r"[\p{L}\p{N}]+")
_NAMES = frozenset((Label.PATIENT, Label.DOCTOR, Label.USERNAME))
RELEASED = "released"
"""Takes the place of a reason where a note passed because of a decision, which people may take back."""
_PLACES = 3
"""At most so many places of a leak are shown at once."""


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
        added: What was added, widened to whole words and numbers.
        places: Where the leak is, as far as that can be told.
    """

    reason: str | None
    text: str | None
    added: tuple[Span, ...] = ()
    places: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class _Delivery:
    """What it takes to try notes of one delivery, and its quarantined notes by key."""

    state: tuple[int, ...]
    task: Task[Item, dict[str, Any]]
    items: dict[str, Item] = field(default_factory=dict)
    held: dict[str, Held] = field(default_factory=dict)


class Queue:
    """The notes of an installation that wait in quarantine.

    Args:
        site: The installation.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._deliveries: dict[str, _Delivery] = {}
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return "<Queue>"

    def waiting(self) -> list[Waiting]:
        """Every note that waits, delivery by delivery, in the order of their keys."""
        with self._lock:
            held = list(_quarantined(self._site))
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

    def tried(self, key: str, added: Sequence[Span], removed: Sequence[Span]) -> Tried:
        """What would become of a note with its spans mended so, and where it leaks.

        Raises:
            DeidError: `ruling-refused`.
        """
        with self._lock:
            delivery, held, _ = self._found(key)
            self._refuse_shown(added)
            ruling = _ruling(held, Action.MEND, added, removed)
            row = self._row(delivery, held, ruling)
            if row["reason"] is None:
                return Tried(None, row["text"], ruling.added)
            leaks = str(row["reason"]).startswith("leak-")
            places = self._places(delivery, held, ruling, row["reason"]) if leaks else ()
            return Tried(row["reason"], None, ruling.added, places)

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
        with self._lock, file_lock(site.settings.home_path, _LOCK, wait=True):
            delivery, held, standing = self._found(key)
            if held.seen != seen:
                raise DeidError(Code.RULING_REFUSED, "changed")
            if held.reason == RELEASED and action not in (Action.KEEP_OUT, Action.AS_FOUND):
                raise DeidError(Code.RULING_REFUSED, RELEASED)
            mends = action is Action.MEND
            if mends is not bool(added or removed):
                raise DeidError(Code.RULING_REFUSED, "span")
            self._refuse_shown(added)
            ruling = _ruling(held, action, added, removed)
            if action in (Action.MEND, Action.PASS) and (left := self._row(delivery, held, ruling)["reason"]):
                raise DeidError(Code.RULING_REFUSED, left)
            if self._quoted(delivery, held, ruling, reason):
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

    def _quoted(self, delivery: _Delivery, held: Held, ruling: Ruling, said: str) -> bool:
        """Whether a reason says what the note hides, with and without the decision, or what leaks of it."""
        hidden = [(s.start, s.end) for s in held.spans if self._site.policy.hidden(s.label) or s.label in _NAMES] + [
            (s.start, s.end) for s in ruling.added
        ]
        found = _ruling(held, Action.MEND, (), ())
        if str(reason := self._row(delivery, held, found)["reason"]).startswith("leak-"):
            hidden += self._places(delivery, held, found, reason)
        return _quotes(held.note.text, hidden, held.names, said)

    def _refuse_shown(self, added: Sequence[Span]) -> None:
        if any(not self._site.policy.hidden(span.label) for span in added):
            raise DeidError(Code.RULING_REFUSED, "the policy shows this label")

    def _found(self, key: str) -> tuple[_Delivery, Held, Standing]:
        for delivery, ids in _quarantined(self._site):
            for note_id in ids:
                if self._site.note_key(delivery.feed, note_id) == key:
                    loaded = self._loaded(delivery, ids)
                    if key not in loaded.held:
                        raise DeidError(Code.RULING_REFUSED, "changed")
                    _, standing = self._standing(decided(self._site, delivery.feed), delivery.feed, note_id)
                    return loaded, loaded.held[key], standing
        raise DeidError(Code.RULING_REFUSED, "not in the queue")

    def _standing(self, said: Decided, feed: str, note_id: str) -> tuple[str, Standing]:
        keys = self._site.note_keys(feed, note_id)
        return keys[0], said.of(keys)

    def _sealed(self, held: Held, said: Ruled) -> Ruling | None:
        rings = self._site.keyrings
        named = (it for it in kept(self._site.store) if said.ruling in {it.digest(ring) for ring in rings})
        found = next(named, None)
        return found if found is not None and found.content_digest == held.content_digest else None

    def _row(self, delivery: _Delivery, held: Held, ruling: Ruling) -> dict[str, Any]:
        return delivery.task([delivery.items[held.key]._replace(mended=ruling)])[0]

    def _places(self, delivery: _Delivery, held: Held, ruling: Ruling, reason: str) -> tuple[tuple[int, int], ...]:
        """Where a leak is: the words without which it is another or none, from the last place to the first.

        Hiding more never makes a leak, so the ends of a place are found by halving.
        """
        policy = self._site.policy
        hidden = [s for s in ruling.mended(held.spans, held.note.text, policy) if policy.hidden(s.label)]
        words = [
            (start, end)
            for start, end in word_offsets(held.note.text).tolist()
            if not any(s.start < end and start < s.end for s in hidden)
        ]

        def leaks(*covered: tuple[int, int]) -> bool:
            chosen = {n for first, last in covered for n in range(first, last)}
            spans = [Span(*words[n], Label.PATIENT) for n in sorted(chosen)]
            more = _ruling(held, Action.MEND, (*ruling.added, *spans), ruling.removed)
            return bool(self._row(delivery, held, more)["reason"] == reason)

        def gone_before(also: list[tuple[int, int]], first: int) -> bool:
            return not leaks((0, first), *also)

        def left_until(also: list[tuple[int, int]], last: int) -> bool:
            return leaks((last, len(words)), *also)

        places: list[tuple[int, int]] = []
        known: list[tuple[int, int]] = []
        while len(places) < _PLACES and leaks(*known) and not leaks((0, len(words))):
            # The first word of the last place is the last to be hidden from the front, and the other way round.
            start = _least(len(words), partial(gone_before, known)) - 1
            end = _least(len(words), partial(left_until, [(0, max(start, 0)), *known]))
            if not 0 <= start < end:
                break
            known.append((start, end))
            places.append((words[start][0], words[end - 1][1]))
        return tuple(places)

    def _loaded(self, delivery: Delivery, ids: dict[str, str]) -> _Delivery:
        """The quarantined notes of a delivery, read anew once anything of it has changed."""
        store = self._site.store
        datasets = (tables.RAW_NOTES, tables.FIRST_PASS, tables.REDACTED_NOTES)
        state = tuple(store.required(name, delivery.key).generation for name in datasets)
        before = self._deliveries.get(delivery.key)
        if before is not None and before.state == state:
            return before
        recipe = self._site.recipe(delivery)
        index = mentions_until(store, delivery)
        loaded = _Delivery(state, RedactionJob(recipe).build())
        second_pass = SecondPass(recipe.spec.cross_note_search)
        rows = zip(
            store.stream(tables.RAW_NOTES, delivery.key), store.stream(tables.FIRST_PASS, delivery.key), strict=False
        )
        for raw, first in rows:
            if raw["note_id"] not in ids or raw["content_digest"] != first["content_digest"]:
                continue
            note = tables.from_row(Note, raw)
            read = index.after_first_pass(note, detection_of(first))
            item = Item(read, released_type(note, recipe.note_types))
            key = self._site.note_key(delivery.feed, note.note_id)
            loaded.items[key] = item
            detection = second_pass(read)
            spans = detection.spans or ()
            digest = recipe.digests["detector_digest"]
            patients = recipe.patients(note)
            loaded.held[key] = Held(
                key=key,
                delivery=delivery,
                note=note,
                reason=ids[note.note_id],
                held_for=loaded.task([item])[0]["reason"] or ids[note.note_id],
                content_digest=raw["content_digest"],
                detector_digest=digest,
                spans=spans,
                failed=detection.error is not None or detection.spans is None,
                names=tuple(" ".join(filter(None, (p.first_name, p.last_name))) for p in patients),
                seen=self._site.keyring.digest(
                    "seen", raw["content_digest"], digest, *(f"{s.start}-{s.end} {s.label.value}" for s in spans)
                ),
            )
        self._deliveries[delivery.key] = loaded
        return loaded


def _least(most: int, holds: Callable[[int], bool]) -> int:
    """The least number up to `most` for which it holds, where it holds for all above."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _ruling(held: Held, action: Action, added: Sequence[Span], removed: Sequence[Span]) -> Ruling:
    """A decision about what is shown; what is added is widened to whole words and numbers.

    Raises:
        DeidError: `ruling-refused` naming `span` if a span reaches outside the text, shows nothing or lies over
            another, or if what is removed was not found.
    """
    text, end = held.note.text, 0
    for span in sorted(added):
        if span.start < end or span.end > len(text) or not text[span.start : span.end].strip():
            raise DeidError(Code.RULING_REFUSED, "span")
        end = span.end
    if not {(s.start, s.end, s.label) for s in removed} <= {(s.start, s.end, s.label) for s in held.spans}:
        raise DeidError(Code.RULING_REFUSED, "span")
    bare = [tuple(Span(s.start, s.end, s.label) for s in sorted(spans)) for spans in (widened(text, added), removed)]
    return Ruling(
        feed=held.delivery.feed,
        delivery=held.delivery.key,
        note_id=held.note.note_id,
        action=action,
        held_for=held.held_for,
        content_digest=held.content_digest,
        detector_digest=held.detector_digest,
        added=bare[0],
        removed=bare[1],
    )


def _quotes(text: str, hidden: Sequence[tuple[int, int]], names: Sequence[str], said: str) -> bool:
    """Whether somebody's words hold a word that a note hides, a number of it, or a name of its patient."""
    told = _words(said)
    numbers = {word for word in _words(text) if any(map(str.isdigit, word))}
    secret = {word for start, end in hidden for word in _words(text[start:end])}
    return not told.isdisjoint(numbers | secret | _words(" ".join(names)))


def _words(text: str) -> set[str]:
    """Words of two signs or more without accents; numbers and double names in parts, and whole without what joins."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(sign for sign in decomposed if unicodedata.category(sign) not in ("Mn", "Cf"))
    whole = ("".join(_PART.findall(run)) for run in runs(plain))
    return {word for word in (*_PART.findall(plain), *whole) if len(word) > 1}


def _quarantined(site: Site) -> Iterator[tuple[Delivery, dict[str, str]]]:
    """Deliveries with their quarantined notes and reasons; without notes that a later delivery holds anew.

    A note that passed because of a decision that stands is among them as `RELEASED`. One that was withdrawn, or whose
    patient was, waits no more.
    """
    store = site.store
    deliveries = sorted(map(Delivery.parse, store.partitions(tables.REDACTED_NOTES)), key=lambda d: (d.feed, d.seq))
    gone = {
        row[column]
        for partition in store.partitions(tables.WITHDRAWALS)
        for row in store.stream(tables.WITHDRAWALS, partition)
        for column in ("note_id", "patient_id")
        if row[column] is not None and not row["rejoined"]
    }
    opted_out = site.exclusions.opted_out()
    gone |= set(opted_out)
    sealed: dict[str, set[str]] = {}
    for ruling in kept(store):
        sealed.setdefault(ruling.feed, set()).add(ruling.note_id)
    said = {feed: decided(site, feed) for feed in sealed}
    later: dict[str, set[str]] = {}
    for delivery in reversed(deliveries):
        superseded, here = later.setdefault(delivery.feed, set()), set[str]()
        found: dict[str, str] = {}
        for table in store.read(tables.REDACTED_NOTES, delivery.key):
            here.update(table["note_id"].to_pylist())
            ruled = pa.array(sorted(sealed.get(delivery.feed, ())), pa.string())
            held = table.filter(pc.or_(pc.equal(table["status"], QUARANTINED), pc.is_in(table["note_id"], ruled)))
            for row in held.select(["note_id", "patient_id", "reason", "status"]).to_pylist():
                if row["status"] != QUARANTINED:
                    keys = site.note_keys(delivery.feed, row["note_id"])
                    if said[delivery.feed].of(keys).in_force is None:
                        continue
                    row["reason"] = RELEASED
                left = {row["note_id"], row["patient_id"]} & gone or (opted_out and row["patient_id"] is None)
                if row["note_id"] not in superseded and not left:
                    found[row["note_id"]] = row["reason"]
        superseded |= here
        if found:
            yield delivery, found

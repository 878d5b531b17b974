"""The vocabulary of a feed's notes: counts by delivery, and the words that are in force for each.

Belongs here: counting a delivery's words, folding the counts over the deliveries up to one, and which words count for
it. Does not belong here: what a note says of its words (`detection/resolve/word_counts.py`), or what vocabulary decides
(`detection/resolve/local_words.py`).

The words in force for a delivery are made once, before anything is first detected in it, of the notes of the feed's
deliveries up to and with it, and kept beside it. So a later delivery makes no older one due again, and neither does one
that is taken in again. A delivery takes over the words of the one before it, without those that something introduces by
now. New words come in only where there are enough of them (`growth`), so that two deliveries mostly have the same.
Other thresholds, or other code, make the words of each delivery anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Any

import pyarrow as pa

from deid_platform.detection.combination import Combination
from deid_platform.detection.resolve.word_counts import MOST_PATIENTS, WordCounts, vocabulary
from deid_platform.errors import DeidError
from deid_platform.keys import Keyring, module_digest, plain_digest
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.deliveries import deliveries_of, deliveries_until
from deid_platform.refresh.datasets.derived import derived
from deid_platform.store import Manifest, NoteStore

_COUNTING = ("deid_platform.detection.resolve.word_counts", "deid_platform.refresh.datasets.tables", __name__)
_FORGOTTEN_FROM = 500_000
"""Words counted at once, beyond which those of a single note are forgotten: one is missed rather than made up."""


@dataclass(frozen=True)
class Thresholds:
    """What makes a word vocabulary; of `detection.combination.Combination`.

    Attributes:
        patients: In how many patients' notes it stands, at the least; 0 for no such words.
        introduced: The largest share of the notes with it in which something introduces it.
        growth: By which share the words in force must grow for new ones to come in.
    """

    patients: int
    introduced: float
    growth: float

    @classmethod
    def of(cls, combination: Combination) -> Thresholds:
        """Those of a detector."""
        return cls(combination.local_patients, combination.local_introduced, combination.local_growth)

    @property
    def digest(self) -> str:
        """Names the thresholds and the code that counts."""
        return plain_digest(module_digest(*_COUNTING), *map(str, astuple(self)))


@dataclass(frozen=True)
class InForce:
    """The words that count for a delivery, and a digest that names them; empty where there are none."""

    words: frozenset[str] = frozenset()
    digest: str = ""

    def __repr__(self) -> str:
        return f"<InForce: {len(self.words)} words>"


def words_for(store: NoteStore, delivery: Delivery, thresholds: Thresholds, keyring: Keyring) -> InForce:
    """The words in force for a delivery, made and kept where they were not yet; none before it is taken in.

    Raises:
        DeidError: `store-torn` or `store-rolled-back` if notes cannot be read.
    """
    if not thresholds.patients or store.manifest(tables.RAW_NOTES, delivery.key) is None:
        return InForce()
    words = _kept_words(store, delivery, thresholds)
    if words is None:
        words = _chosen(store, delivery, thresholds)
        meta = {"thresholds": thresholds.digest, "digest": _named(words, keyring)}
        table = pa.Table.from_pydict({"word": sorted(words)}, schema=tables.WORD_SCHEMA)
        store.write(tables.LOCAL_WORDS, delivery.key, [table], meta=lambda: meta)
    return InForce(words, _named(words, keyring))


def words_digest(store: NoteStore, delivery: Delivery, thresholds: Thresholds) -> str | None:
    """Names the words that are kept for a delivery, of which none is read; None where they are still to be made."""
    if not thresholds.patients:
        return ""
    kept = _kept(store, delivery, thresholds)
    return None if kept is None else str(kept.meta["digest"])


def newest_words(store: NoteStore, feed: str, thresholds: Thresholds) -> frozenset[str]:
    """The words that are kept for the newest delivery of a feed that has any."""
    if not thresholds.patients:
        return frozenset()
    return _newest(store, deliveries_of(store, tables.LOCAL_WORDS, feed), thresholds)


def with_words(upserts: str, words: str, keyring: Keyring) -> str:
    """Names what topics are folded from, together with the words in force."""
    return keyring.digest("with local words", upserts, words) if words else upserts


def _kept(store: NoteStore, delivery: Delivery, thresholds: Thresholds) -> Manifest | None:
    """The manifest of a delivery's words, if they are of these thresholds and can be trusted."""
    with suppress(DeidError):
        manifest = store.manifest(tables.LOCAL_WORDS, delivery.key)
        if manifest is not None and manifest.meta.get("thresholds") == thresholds.digest:
            return manifest
    return None


def _kept_words(store: NoteStore, delivery: Delivery, thresholds: Thresholds) -> frozenset[str] | None:
    with suppress(DeidError):
        if _kept(store, delivery, thresholds) is not None:
            return frozenset(row["word"] for row in store.stream(tables.LOCAL_WORDS, delivery.key))
    return None


def _newest(store: NoteStore, deliveries: Sequence[Delivery], thresholds: Thresholds) -> frozenset[str]:
    """The words that are kept for the last of these deliveries that has any of these thresholds."""
    kept = (_kept_words(store, each, thresholds) for each in reversed(deliveries))
    return next((words for words in kept if words is not None), frozenset())


def _named(words: Iterable[str], keyring: Keyring) -> str:
    listed = sorted(words)
    return keyring.digest("local words", *listed) if listed else ""


def _chosen(store: NoteStore, delivery: Delivery, thresholds: Thresholds) -> frozenset[str]:
    folded = WordCounts()
    for each in deliveries_until(store, tables.RAW_NOTES, delivery):
        for row in _counts_of(store, each).to_pylist():
            counted = (row["small"], row["capitals"], row["titled"], row["introduced"])
            folded.take(row["word"], counted, small_by=row["small_by"], capitals_by=row["capitals_by"])
    # Abbreviations of one feed may be its hospital's, or a neighbour's: a model calls them people's now and then.
    shared = vocabulary(folded.counts(), patients=thresholds.patients, introduced=thresholds.introduced)
    today = frozenset(filter(str.islower, shared))
    still = today & _before(store, delivery, thresholds)
    grown = len(today) - len(still) >= thresholds.growth * len(still)
    return today if grown else still


def _before(store: NoteStore, delivery: Delivery, thresholds: Thresholds) -> frozenset[str]:
    """The words in force for the feed's delivery before this one; none where they are of other thresholds."""
    until = deliveries_until(store, tables.LOCAL_WORDS, delivery)
    return _newest(store, [each for each in until if each != delivery], thresholds)


def _counts_of(store: NoteStore, delivery: Delivery) -> pa.Table:
    """What is counted of the words of a delivery's notes."""
    parts = (part.digest for part in store.required(tables.RAW_NOTES, delivery.key).parts)
    made_from = plain_digest(module_digest(*_COUNTING), *parts)
    return derived(
        store, tables.WORD_COUNTS, delivery.key, made_from=made_from, make=lambda: _counted(_notes(store, delivery))
    )


def _notes(store: NoteStore, delivery: Delivery) -> Iterator[dict[str, Any]]:
    for table in store.read(tables.RAW_NOTES, delivery.key):
        for batch in table.select(["patient_id", "text"]).to_batches(max_chunksize=tables.NOTES_A_BLOCK):
            yield from batch.to_pylist()


def _counted(notes: Iterable[dict[str, Any]]) -> pa.Table:
    words = WordCounts(most=MOST_PATIENTS)
    for note in notes:
        words.add(note["patient_id"], note["text"])
        words.forget(_FORGOTTEN_FROM)
    rows: list[dict[str, Any]] = []
    for word, count in words.counts().items():
        # What a single patient's notes have counts only where it is introduced.
        if count.introduced or count.small_by > 1 or count.capitals_by > 1:
            small_by, capitals_by = words.patients_of(word)
            stands = {name: getattr(count, name) for name in ("small", "capitals", "titled", "introduced")}
            rows.append({"word": word, **stands, "small_by": small_by, "capitals_by": capitals_by})
    return pa.Table.from_pylist(sorted(rows, key=lambda row: row["word"]), schema=tables.WORD_COUNTS_SCHEMA)

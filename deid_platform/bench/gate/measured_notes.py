"""The test set and the gold of the notes that are measured.

Belongs here: which notes are chosen, and where their gold comes from. Does not belong here: the sampler's formulas
(`evaluation/scores/sampling.py`), or running a detector over the notes (`scoring.py`).

There are two sets: the site's own notes with gold (adjudicated annotations, slots planted in its own corpus), else the
synthetic hospital's, and then the summary says that recall on the site's own notes is not measured; and the library's
whole notes (`library_gold.py`), beside which no program's notes stand alone. Which of them the gate judges by says
`refresh/recipe/judged.py`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.bench.gate.annotated import accepted_notes
from deid_platform.bench.gate.consistency import made_of
from deid_platform.bench.gate.eligible import arrived, population
from deid_platform.bench.gate.gold_texts import GoldTexts
from deid_platform.bench.gate.gold_topics import seal_topics
from deid_platform.bench.gate.library_gold import library_gold
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.corpora.gold import Gold, read_gold
from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.library.authors import NAME
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.design_weights import stratum_of
from deid_platform.evaluation.scores.sampling import TestSet, sample
from deid_platform.evaluation.sources import MarkedBy, Source, notes_of_feeds, one_hand
from deid_platform.notes import Delivery, Note, Span, Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.file_digests import known_files_digests
from deid_platform.refresh.topics.as_of import topics_as_of
from deid_platform.store import NoteStore

SYNTHETIC = "synthetic_hospital"
# Apart from any seed that a demonstration would use, so that the bench never scores notes it was shown.
SYNTHETIC_SEED = 90_210


def build_test_set(site: Site) -> TestSet:
    """Samples the site's notes, the latest version of each, and seals which ones were chosen.

    Whether a note has an identifier of its own patient is said by the topics as of the note's own delivery
    (`eligible.py`).
    """
    bench = site.settings.bench
    notes = population(site)
    chosen = sample(notes, size=bench.size, minimum=bench.minimum_per_group, seed=bench.seed)
    # What people annotated stays, whatever the sample of today: their gold would lie idle.
    kept = accepted_notes(site.store)
    found = notes.named({*chosen.note_ids, *kept})
    taken = frozenset(chosen.note_ids)
    current = (name for name, it in kept.items() if name in found and found[name][1].key == it.delivery)
    also = sorted(name for name in current if name not in taken)
    names = tables.SAMPLED_SCHEMA.names
    rows = []
    for name in (*chosen.note_ids, *also):
        note, delivery = found[name]
        note_id = name.removeprefix(f"{delivery.feed}/")
        rows.append(dict(zip(names, (delivery.feed, delivery.key, note_id, *stratum_of(note)), strict=True)))
    table = pa.Table.from_pylist(rows, schema=tables.SAMPLED_SCHEMA)
    meta = {
        "notes": len(rows),
        "population": len(notes),
        "phi_share": chosen.phi_share,
        "strata": [[*stratum, count] for stratum, count in sorted(notes.strata().items())],
    }
    site.store.write(tables.TEST_SET, tables.ALL, [table], meta=lambda: meta)
    return chosen


@dataclass(frozen=True)
class GoldNotes:
    """What the bench measures on: how many notes, whose gold, and whether it is the site's own."""

    source: Source
    notes: int
    spans: int
    by_feed: dict[str, int]
    """Notes with gold of the site's own, by feed; empty for the synthetic hospital's."""


def collect_gold(site: Site) -> GoldNotes:
    """Seals the test set's notes with their gold, or the synthetic hospital's where the site has none."""
    rows, topics, by_feed, hands = _site_gold(site)
    if not rows:
        rows, topics = _synthetic_gold(site.settings.bench.synthetic_notes)
    name = "site" if by_feed else SYNTHETIC
    told = _told(site, by_feed, hands) if by_feed else {}
    spans = sum(len(row["gold"]) for row in rows)
    meta: dict[str, Any] = {"gold": name, "gold_by_feed": by_feed, **told, "notes": len(rows), "spans": spans}
    found = GoldNotes(Source.of_meta(meta), len(rows), spans, by_feed)
    parts = (pa.Table.from_pylist(b, schema=tables.GOLD_SCHEMA) for b in tables.batched(rows, tables.NOTES_A_PART))
    seal_topics(site.store, topics)
    if by_feed:  # the synthetic hospital's is of no sample
        meta |= made_of(site.store.required(tables.TEST_SET, tables.ALL))
    site.store.write(tables.GOLD_NOTES, tables.ALL, parts, meta=lambda: meta)
    return found


def collect_library(site: Site) -> GoldNotes | None:
    """Seals the library's notes with their gold and topics; None where the library has none to measure on."""
    written, topics, authors = library_gold(site.settings.bench.library_notes)
    golds = [(it.gold, it.gold.note) for it in written]
    rows = [_gold_row(note, gold.spans, gold.clinical, None) for gold, note in golds if note is not None]
    if not rows:
        return None
    spans = sum(len(row["gold"]) for row in rows)
    meta = {"gold": NAME, "gold_by_feed": {}, "authors": authors, "notes": len(rows), "spans": spans}
    parts = (pa.Table.from_pylist(b, schema=tables.GOLD_SCHEMA) for b in tables.batched(rows, tables.NOTES_A_PART))
    seal_topics(site.store, topics, tables.LIBRARY)
    site.store.write(tables.LIBRARY.gold, tables.ALL, parts, meta=lambda: meta)
    return GoldNotes(Source.of_meta(meta), len(rows), spans, {})


def _told(site: Site, by_feed: Iterable[str], hands: Iterable[MarkedBy]) -> dict[str, str]:
    """Whose notes the gold of some feeds is of, and by which hand."""
    whose = notes_of_feeds(site.feed(feed).demonstration for feed in by_feed)
    return {"notes_of": whose.value, "marked_by": one_hand(hands).value}


def _site_gold(site: Site) -> tuple[list[dict[str, Any]], Topics, dict[str, int], set[MarkedBy]]:
    """Test-set notes for which the feed's gold folder holds spans, newest version of each; how many a feed; by whom.

    Only deliveries of chosen notes are looked at, and of their gold files only the lines of those notes.

    Raises:
        DeidError: `gold-invalid` if a span ends past its note's text, a note has two lines, or a line is of another
            text than its note's; what `read_gold` raises.
    """
    chosen: defaultdict[str, set[str]] = defaultdict(set)
    for row in site.store.stream(tables.TEST_SET, tables.ALL):
        chosen[row["delivery"]].add(row["note_id"])
    exclusions = site.exclusions
    annotated = accepted_notes(site.store)
    texts = GoldTexts(site)
    rows: list[dict[str, Any]] = []
    everyone = Topics()
    by_feed: Counter[str] = Counter()
    hands: set[MarkedBy] = set()
    for feed, deliveries in arrived(site).items():
        if (folder := site.feed(feed).gold) is None:
            continue
        files = {each: site.gold_file(feed, folder, each.watermark) for each in deliveries if each.key in chosen}
        usable = [each for each, path in files.items() if path.exists() and _as_taken_in(site, each, exclusions)]
        if usable:
            topics = topics_as_of(site.store, deliveries[-1])
            # Folded into none they would be the same, and in memory.
            everyone = everyone.folded(topics) if everyone else topics
        for delivery in usable:
            gold: dict[str, Gold] = {}
            for found in read_gold(files[delivery], note_ids=chosen[delivery.key]):
                # Of two lines of a note nobody can tell which is right, and whichever says less would hide misses.
                if gold.setdefault(found.note_id, found) is not found:
                    raise DeidError(Code.GOLD_INVALID, f"{delivery.key}: a note has two lines")
            for note in _notes(site.store, delivery, gold.keys()):
                found = gold[note.note_id]
                # Two feeds may number their notes alike.
                named = replace(note, note_id=f"{feed}/{note.note_id}")
                by_people = annotated.get(named.note_id)
                if by_people is not None and not by_people.fits(delivery, note.text, site.keyrings):
                    continue
                if any(span.end > len(note.text) for span in found.spans):
                    raise DeidError(Code.GOLD_INVALID, f"{delivery.key}: a span ends past its note's text")
                of_text = found.note is None or found.note.text == note.text
                # Of gold without a text: the delivery may have been made anew since somebody wrote it.
                if not of_text or (found.note is None and by_people is None and not texts.fits(delivery, note, found)):
                    raise DeidError(Code.GOLD_INVALID, f"{delivery.key}: gold is of another text of its note")
                rows.append(_gold_row(named, found.spans, found.clinical, found.condition))
                by_feed[feed] += 1
                hands.add(MarkedBy.ADJUDICATED if by_people else MarkedBy(site.feed(feed).gold_by or MarkedBy.UNNAMED))
    texts.keep()
    return rows, everyone, dict(by_feed), hands


def _notes(store: NoteStore, delivery: Delivery, note_ids: Collection[str]) -> Iterator[Note]:
    """Some notes of a delivery, in order; of the others no row is made."""
    sought = pa.array(note_ids, pa.large_string())
    for part in store.read(tables.RAW_NOTES, delivery.key) if note_ids else ():
        for row in part.filter(pc.is_in(part["note_id"], value_set=sought)).to_pylist():
            yield tables.from_row(Note, row)


def _as_taken_in(site: Site, delivery: Delivery, exclusions: Exclusions) -> bool:
    """Whether a delivery's files are still those in the store, or gone: newer gold would not fit older notes.

    Under whichever secret they were taken in: after a change of the secret, gold does not wait until each delivery has
    been taken in again.
    """
    try:
        digests = known_files_digests(
            site.reader(delivery.feed), delivery, store=site.store, keyrings=site.keyrings, exclusions=exclusions
        )
    except DeidError as error:
        if error.code is Code.FEED_UNREADABLE:
            return True
        raise
    return site.store.required(tables.RAW_NOTES, delivery.key).meta["files"] in digests


def _synthetic_gold(notes: int) -> tuple[list[dict[str, Any]], Topics]:
    topics = Topics()
    latest: dict[str, dict[str, Any]] = {}
    for delivery in generate(HospitalSpec(seed=SYNTHETIC_SEED, notes=notes)):
        topics = topics.folded(delivery.topics)
        for note in delivery.notes:
            at = note.note_id
            latest[at] = _gold_row(note, delivery.gold[at], delivery.clinical[at], delivery.conditions[at])
    return list(latest.values()), topics


def _gold_row(
    note: Note, gold: Sequence[Span], clinical: Sequence[tuple[int, int]], condition: str | None
) -> dict[str, Any]:
    row = {"gold": tables.span_rows(gold), "clinical": [list(pair) for pair in clinical], "condition": condition}
    return {**tables.to_row(note), **row}

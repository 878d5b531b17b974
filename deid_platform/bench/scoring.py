"""The test set, its gold, and the scores of the very detector that redacts.

Belongs here: which notes are measured, where their gold comes from, and running the configured detector
over them with topics and on text alone (the two rows of Murugadoss 2024, table 1, that need no model). Does not
belong here: the sampler's formulas (`sampling.py`) or the scores' (`evaluation/`).

There are two sets: the site's own notes with gold (adjudicated annotations, slots planted in its own corpus), else the
synthetic hospital's, and then the summary says that recall on the site's own notes is not measured; and the library's
whole notes (`library_gold.py`), beside which no program's notes stand alone. Which of them the gate judges by says
`refresh/judged.py`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.bench import held_out
from deid_platform.bench.annotated import accepted_notes
from deid_platform.bench.eligible import arrived, population
from deid_platform.bench.gold_texts import GoldTexts
from deid_platform.bench.gold_topics import seal_topics, sealed_topics
from deid_platform.bench.library_gold import library_gold
from deid_platform.bench.sealed import current_detections, made_of
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.corpora.gold import Gold, read_gold
from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.library.authors import NAME
from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.detection.two_pass import Detection, PatientMentionIndex, SecondPass
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.design_weights import stratum_of
from deid_platform.evaluation.scores import NoteCounts, Scores, count_note, summarise
from deid_platform.evaluation.sources import MarkedBy, Source, notes_of_feeds, one_hand
from deid_platform.keys import Keyring, module_digest, package_digest
from deid_platform.languages.telling import languages_of
from deid_platform.notes import Delivery, Note, Span, Topics
from deid_platform.refresh import tables
from deid_platform.refresh.intake import content_digest
from deid_platform.refresh.known_files import known_files_digests
from deid_platform.refresh.reuse import only_new
from deid_platform.refresh.site import Site
from deid_platform.refresh.topics import topics_as_of
from deid_platform.sampling import TestSet, sample
from deid_platform.store import Manifest, NoteStore
from deid_platform.warehouse.held_out import Purpose
from deid_platform.warehouse.ledger import Score, record_scores
from deid_platform.warehouse.roles import Role
from deid_platform.warehouse.staging import Inputs

SYNTHETIC = "synthetic_hospital"
# Apart from any seed that a demonstration would use, so that the bench never scores notes it was shown.
SYNTHETIC_SEED = 90_210
INPUTS = tuple(inputs.value for inputs in Inputs)
_TOLD = ("notes_of", "marked_by", "authors")


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


def sets(site: Site) -> list[tables.BenchSet]:
    """The sets whose gold is sealed: the first, and the library's where there is one."""
    return [it for it in tables.BENCH_SETS if it is tables.OWN or site.store.manifest(it.gold, tables.ALL) is not None]


def run_detector(
    site: Site, of: tables.BenchSet = tables.OWN, *, progress: Callable[[int], None] | None = None
) -> Manifest:
    """Runs the configured detector over the gold notes of a set, with topics and on text alone.

    The set is sealed in the ledger first. Takes the last run's spans over for notes that did not change, where neither
    the detector nor, with topics, the dictionaries did. A note on which the detector raises counts as one in which
    nothing was found.
    """
    store = site.store
    held_out.seal_bench(site, of)
    topics = sealed_topics(store, of)
    gold = store.required(of.gold, tables.ALL)
    detector = site.spec(None).detector_digest
    known = _detected_before(store, of)

    def parts() -> Iterator[pa.Table]:
        for inputs, spec in (("topics", site.spec(topics).as_measured()), ("text", site.spec(None).as_measured())):
            recipe = (inputs, detector, spec.dictionary_digest(site.keyring))

            def keyed(recipe: tuple[str, ...] = recipe) -> Iterator[tuple[str, str, Note]]:
                for note in _gold_notes(store, of):
                    key = site.keyring.digest(content_digest(note, site.keyring), *recipe)
                    yield key, key, note

            found = list(only_new(keyed(), known, partial(site.engine.detect, spec, on_batch=progress)))
            first: list[Detection] = []
            index = PatientMentionIndex(spool=store.spool)
            for note, (key, new) in zip(_gold_notes(store, of), found, strict=True):
                first.append(new or _known(note, known[key]))
                index.add(note.patient_id, first[-1].mentions)
            second_pass = SecondPass(spec.cross_note_search)
            rows = (
                {
                    "note_id": note.note_id,
                    "inputs": inputs,
                    "first": tables.scored_rows(detection.spans or ()),
                    "spans": tables.span_rows(second_pass(index.after_first_pass(note, detection)).spans or ()),
                    # What failed is read anew next time: a server that was down may be up.
                    "cache_key": key if detection.error is None else "",
                }
                for note, (key, _), detection in zip(_gold_notes(store, of), found, first, strict=True)
            )
            for batch in tables.batched(rows, tables.NOTES_A_PART):
                yield pa.Table.from_pylist(batch, schema=tables.DETECTION_SCHEMA)

    meta = {name: gold.meta[name] for name in ("gold", "gold_by_feed", *_TOLD) if name in gold.meta}
    meta |= {"detector_digest": detector, **made_of(gold)}
    return store.write(of.detections, tables.ALL, parts(), meta=lambda: meta)


def _gold_notes(store: NoteStore, of: tables.BenchSet) -> Iterator[Note]:
    return (tables.from_row(Note, row) for row in store.stream(of.gold, tables.ALL))


def _known(note: Note, row: Sequence[dict[str, Any]]) -> Detection:
    """What the last run's first pass found in a note."""
    spans = tables.spans_of(row)
    return Detection(0, spans, mentions=mentioned_in(note.text, spans))


def _detected_before(store: NoteStore, of: tables.BenchSet) -> dict[str, list[dict[str, Any]]]:
    """What the last run's first pass found, by cache key."""
    try:
        return {row["cache_key"]: row["first"] for row in store.rows(of.detections, tables.ALL) if "first" in row}
    except DeidError:
        # A cache that is missing, or cannot be trusted, is no cache.
        return {}


HEADLINE = ("precision", "recall", "recall_conservative", "f1", "words_kept", "leak_rate")


@dataclass(frozen=True)
class Metrics:
    """The bench's scores and what they are scores of."""

    gold: str
    gold_by_feed: dict[str, int]
    told: dict[str, Any]
    """Of the site's own gold: whose notes, and by which hand. Of the library: by how many authors."""
    detector_digest: str
    by_inputs: dict[str, Scores]
    by_language: dict[str, dict[str, Scores]]
    """Inputs -> main language of the notes -> scores."""
    taken: held_out.Taken
    """The look that the scores are of."""
    found: tuple[dict[str, Any], ...] = ()
    """Rows of `FOUND_SCHEMA`: what the next detector is compared with."""
    of: tables.BenchSet = tables.OWN
    """The set of notes."""

    @property
    def source(self) -> Source:
        """Where the scores are from, with topics."""
        notes = self.by_inputs["topics"].notes
        return Source.of_meta({"gold": self.gold, "gold_by_feed": self.gold_by_feed, "notes": notes, **self.told})

    def headline(self) -> Iterator[tuple[str, str, float | None, float | None, float | None]]:
        """The measures that people ask for first: inputs, measure, value, and its 95% interval."""
        for inputs, scores in self.by_inputs.items():
            for measure in HEADLINE:
                found = getattr(scores, measure)
                yield inputs, measure, found.value, found.low, found.high

    def by_label(self) -> Iterator[tuple[str, float | None, float | None]]:
        """With topics: label, recall by gold label, precision by detected label."""
        for label, found in self.by_inputs["topics"].labels.items():
            yield label.value, found.recall.value, found.precision.value


def measure(site: Site, of: tables.BenchSet = tables.OWN) -> Metrics:
    """Scores the sealed detections against a set's gold, which is a look at it unless the same scores stand already.

    Raises:
        DeidError: `not-materialized` without detections in today's gold; `held-out-refused`; `warehouse-unreachable`.
    """
    store = site.store
    settings = site.settings.bench
    manifest = current_detections(store, of)
    taken = held_out.look_unless_same(
        site,
        held_out.of_bench(site, of),
        store.manifest(of.metrics, tables.ALL),
        *(held_out.detections_digest(site, of), f"{settings.resamples} {settings.seed}"),
        *(package_digest("deid_platform.evaluation"), module_digest(__name__)),
        *(str(manifest.meta.get(name, "")) for name in _TOLD),
        detector_digest=manifest.meta["detector_digest"],
        purpose=Purpose.GATE,
    )
    gold = store.rows(of.gold, tables.ALL)
    found: dict[str, dict[str, tuple[Span, ...]]] = {inputs: {} for inputs in INPUTS}
    for row in store.rows(of.detections, tables.ALL):
        found[row["inputs"]][row["note_id"]] = tables.spans_of(row["spans"])
    counted = {
        inputs: [
            count_note(
                row["text"],
                tables.spans_of(row["gold"]),
                found[inputs][row["note_id"]],
                clinical=[(start, end) for start, end in row["clinical"]],
                # Notes of one patient repeat one another, so they are resampled together.
                cluster=row["patient_id"],
            )
            for row in gold
        ]
        for inputs in INPUTS
    }
    own = manifest.meta["gold"] == "site"
    told = [languages_of(row["text"], row["language"]).main if own else row["language"] for row in gold]
    summarised = partial(summarise, resamples=settings.resamples, seed=settings.seed)
    by_inputs = {inputs: summarised(some) for inputs, some in counted.items()}
    return Metrics(
        manifest.meta["gold"],
        manifest.meta["gold_by_feed"],
        {name: manifest.meta[name] for name in _TOLD if name in manifest.meta},
        manifest.meta["detector_digest"],
        by_inputs,
        {inputs: _by_language(told, some, by_inputs[inputs], summarised) for inputs, some in counted.items()},
        taken,
        tuple(
            {
                "note": _note_and_gold(row, site.keyring),
                "patient": row["patient_id"] and site.keyring.digest(row["patient_id"]),
                "inputs": inputs,
                "gold": counts.true_positives + counts.false_negatives,
                "found": counts.true_positives,
                "whole": counts.whole,
            }
            for inputs, some in counted.items()
            for row, counts in zip(gold, some, strict=True)
        ),
        of,
    )


def _by_language(
    told: Sequence[str], counted: Sequence[NoteCounts], of_all: Scores, summarised: Callable[[list[NoteCounts]], Scores]
) -> dict[str, Scores]:
    codes = sorted(set(told))
    if len(codes) == 1:
        return {codes[0]: of_all}
    return {
        code: summarised([counts for main, counts in zip(told, counted, strict=True) if main == code]) for code in codes
    }


def _note_and_gold(row: dict[str, Any], keyring: Keyring) -> str:
    spans = (f"{it.start}-{it.end} {it.label.value}" for it in tables.spans_of(row["gold"]))
    return keyring.digest(content_digest(tables.from_row(Note, row), keyring), *spans)


def record(site: Site, measured: Metrics) -> int:
    """Writes the scores to quality.score, unless they stand there already, and the headline to the store.

    Returns:
        How many figures the scores hold.
    """
    figures = {inputs: [Score(**_figure(row)) for row in s.to_rows()] for inputs, s in measured.by_inputs.items()}
    for inputs, by_language in measured.by_language.items():
        # In small letters, apart from the labels: the scores of the notes of one language.
        of_all = ((code, row) for code, s in by_language.items() for row in s.to_rows() if row["label"] == "ALL")
        figures[inputs] += [Score(**{**_figure(row), "label": code}) for code, row in of_all]
    headline: dict[str, dict[str, dict[str, float | None]]] = {inputs: {} for inputs in measured.by_inputs}
    for inputs, measure, value, low, high in measured.headline():
        headline[inputs][measure] = {"value": value, "low": low, "high": high}
    meta = {
        "gold": measured.gold,
        "gold_by_feed": measured.gold_by_feed,
        **measured.told,
        "notes": measured.by_inputs["topics"].notes,
        "detector_digest": measured.detector_digest,
        "headline": headline,
        "languages": {
            inputs: {code: _of_language(scores) for code, scores in by_language.items()}
            for inputs, by_language in measured.by_language.items()
        },
        **measured.taken.meta,
        "found_digest": site.keyring.digest(*(str(tuple(row.values())) for row in measured.found)),
    }
    previous = site.store.manifest(measured.of.metrics, tables.ALL)
    if measured.taken.new and (previous is None or previous.meta != meta):
        for inputs, scores in figures.items():
            record_scores(
                site.warehouse.engine(Role.GATEKEEPER),
                scores,
                detector_digest=measured.detector_digest,
                gold=measured.gold,
                inputs=Inputs(inputs),
                look=measured.taken.look.number,
            )
        rows = pa.Table.from_pylist(list(measured.found), schema=tables.FOUND_SCHEMA)
        site.store.write(measured.of.metrics, tables.ALL, [rows], meta=lambda: meta)
    return sum(len(scores) for scores in figures.values())


def _of_language(scores: Scores) -> dict[str, float | None]:
    recall = scores.recall_conservative
    return {"notes": scores.notes, "recall_low": recall.low, "precision": scores.precision.value}


def _figure(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("label", "measure", "value", "low", "high", "n")}

"""The scores of the very detector that redacts, on the gold that is sealed.

Belongs here: running the configured detector over the gold notes, with topics and on text alone (the two rows of
Murugadoss 2024, table 1, that need no model), and its scores. Does not belong here: which notes are measured and whose
gold is theirs (`measured_notes.py`), or the scores' formulas (`evaluation/`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from deid_platform.bench.gate import held_out
from deid_platform.bench.gate.consistency import current_detections, made_of, marks_young
from deid_platform.bench.gate.gold_topics import sealed_topics
from deid_platform.detection.documents import views_of
from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.detection.resolve.local_words import words_at_stake
from deid_platform.detection.two_pass import Detection, PatientMentionIndex, SecondPass
from deid_platform.errors import DeidError
from deid_platform.evaluation.scores.scores import NoteCounts, Scores, count_note, summarise
from deid_platform.evaluation.sources import Source
from deid_platform.keys import Keyring, module_digest, package_digest
from deid_platform.languages.telling import languages_of
from deid_platform.notes import Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.reuse import only_new
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.sealing import content_digest
from deid_platform.store import Manifest, NoteStore
from deid_platform.warehouse.gate.ledger import Score, record_scores
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.quality.held_out import Purpose
from deid_platform.warehouse.server.roles import Role

INPUTS = tuple(inputs.value for inputs in Inputs)
_TOLD = ("notes_of", "marked_by", "authors")


def sets(site: Site) -> list[tables.BenchSet]:
    """The sets whose gold is sealed: the first, and the library's where there is one."""
    return [it for it in tables.BENCH_SETS if it is tables.OWN or site.store.manifest(it.gold, tables.ALL) is not None]


def run_detector(
    site: Site, of: tables.BenchSet = tables.OWN, *, progress: Callable[[int], None] | None = None
) -> Manifest:
    """Runs the configured detector over the gold notes of a set, with topics and on text alone.

    The set is sealed in the ledger first. The vocabulary of all feeds counts, so that recall is no higher than with
    that of one. Takes the last run's spans over for notes that did not change, where neither the detector nor the
    topics did, nor any word of the vocabulary that stands in the note. A note on which the detector raises counts as
    one in which nothing was found.
    """
    store = site.store
    held_out.seal_bench(site, of)
    topics = sealed_topics(store, of)
    gold = store.required(of.gold, tables.ALL)
    detector = site.spec(None).detector_digest
    words = site.every_local_word
    young = site.policy.hides_ages and marks_young(store, of)
    known = _detected_before(store, of)

    def parts() -> Iterator[pa.Table]:
        for inputs, given in (("topics", topics), ("text", None)):
            spec = replace(site.spec(given).as_measured(young_marked=young), local_words=words)
            # Of the vocabulary, what a note is read with is what it may hang on: each delivery brings some words.
            dictionaries = replace(spec, local_words=frozenset()).dictionary_digest(site.keyring)
            recipe = (inputs, detector, dictionaries, *(("ages",) if young else ()))

            def keyed(recipe: tuple[str, ...] = recipe) -> Iterator[tuple[str, str, Note]]:
                for note in _gold_notes(store, of):
                    at_stake = sorted(_words_at_stake(note, words))
                    key = site.keyring.digest(content_digest(note, site.keyring), *recipe, *at_stake)
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


def _words_at_stake(note: Note, words: frozenset[str]) -> set[str]:
    return {word for view in views_of(note) for piece in view.pieces for word in words_at_stake(piece.text, words)}


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

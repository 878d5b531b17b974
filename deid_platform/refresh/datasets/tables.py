"""Arrow schemas of the note store's datasets, and the way between rows and records.

Belongs here: the datasets' names and columns, once. Does not belong here: reading or writing files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from itertools import islice
from typing import Any, TypeVar

import pyarrow as pa

from deid_platform.detection.resolve.cross_note import Mentioned
from deid_platform.labels import Indirect, Label
from deid_platform.notes import Facility, IndirectMention, Note, Patient, Provider, Rejoining, Span, Topics, Withdrawal

RAW_NOTES = "source/raw_notes"
WITHDRAWALS = "source/withdrawals"
PATIENT_ROWS = "source/patients"
TOPICS = {"patients": Patient, "providers": Provider, "facilities": Facility}
ROWS_REFUSED = (RAW_NOTES, WITHDRAWALS, *(f"source/{name}" for name in TOPICS))
"""Datasets whose manifests count the rows that were refused."""
FILES_DIGEST = "source/files_digest"
"""The digest of a delivery's files as they were read last (`refresh/intake/file_digests.py`)."""
ARCHIVES = "source/archives"
"""No rows: the deliveries into which an archive was split, with their rows of notes (`refresh/intake/archive.py`)."""
TOPIC_COLUMNS = "source/columns"
"""No rows: a feed a partition, by which columns its topics were read when it was first promoted
(`refresh/topics/topic_columns.py`)."""
LATER_PATIENTS = "source/later_patients"
"""Rows that later deliveries brought of patients whom this one's notes name by them
(`refresh/hiding/late_names.py`)."""
INSTITUTION = "dictionaries/institution"
MEDICAL = "dictionaries/medical"
HARVESTED = "dictionaries/harvested"
RECOVERED = "dictionaries/recovered"
TOPICS_DIGEST = "dictionaries/digest"
"""The digest of the topics as of a delivery, which is of all their rows (`refresh/recipe/recipe.py`)."""
WORD_COUNTS = "source/word_counts"
"""In how many notes, and in which patients', the words of a delivery stand (`refresh/evidence/local_words.py`)."""
LOCAL_WORDS = "dictionaries/local_words"
"""The vocabulary of a feed's notes that is in force for a delivery."""
FIRST_PASS = "deid/first_look"  # noqa: S105 - a dataset
"""What the detector found in each note of a delivery, read by itself, and what the note tells of its patient. The
dataset and its column `told` keep the names under which installations have them."""
SHARED_DATES = "deid/shared_dates"
"""The dates of a delivery's notes with a year, each once for the words before it
(`refresh/evidence/repeated_dates.py`)."""
REDACTED_NOTES = "deid/redacted_notes"
STRUCTURED = "source/structured"
"""Rows of tables beside the notes, as texts with the places of their identifiers."""
REDACTED_STRUCTURED = "deid/structured"
"""The same rows after the policy and the leak check (`refresh/redact/structured_rows.py`)."""
ELIGIBLE_NOTES = "bench/eligible_notes"
"""What the sampler needs to know of a delivery's notes, made of them (`bench/gate/eligible.py`)."""
TEST_SET = "bench/test_set"
GOLD_NOTES = "bench/gold_notes"
GOLD_TEXTS = "bench/gold_texts"
SURROGATE_NOTES = "bench/surrogate_notes"
CORPUS_DETECTIONS = "bench/corpus_detections"
CORPUS_COUNTS = "bench/corpus_counts"
CONTRIBUTIONS = "bench/contributions"
DETECTOR_SCORES = "bench/detector_scores"
PROMPT_TRIALS = "bench/prompt_trials"
"""No rows: what each detector scored on each surrogate corpus, and the digests of both (`bench/leaderboard/`)."""
SURROGATE_TOPICS = {name: f"bench/surrogate_{name}" for name in TOPICS}
DETECTIONS = "bench/detections"
LAB = "bench/lab"
METRICS = "bench/metrics"
"""Scores as they go to the gate; its rows say how many words were found in each note."""
IN_FORCE = "bench/in_force"
"""The same rows of the detector in force (`refresh/staging/detector_in_force.py`)."""


@dataclass(frozen=True, slots=True)
class BenchSet:
    """The datasets of one set of notes with gold on which the bench measures.

    Attributes:
        gold: The notes and their gold.
        topics: Kind of topic -> what the detector is given with them.
        detections: What it finds.
        metrics: Scores of that; the rows say how many words were found in each note.
    """

    gold: str
    topics: Mapping[str, str]
    detections: str
    metrics: str


OWN = BenchSet(GOLD_NOTES, {name: f"bench/{name}" for name in TOPICS}, DETECTIONS, METRICS)
"""The site's own notes with gold, else the synthetic hospital's."""
LIBRARY = BenchSet(
    "bench/library_notes",
    {name: f"bench/library_{name}" for name in TOPICS},
    "bench/library_detections",
    "bench/library_metrics",
)
"""The library's whole notes of authors for tests."""
BENCH_SETS = (OWN, LIBRARY)
ANNOTATION_ROUNDS = "annotation/rounds"
"""Which notes people were given, a partition a round."""
ANNOTATION_SPANS = "annotation/spans"
"""What they made of them, a partition a round and a role."""
ANNOTATION_ACCEPTED = "annotation/accepted"
"""Notes whose gold was accepted, over all rounds."""
ADAPTATION_NOTES = "annotation/adaptation_notes"
"""Notes that were drawn to make a model the site's own, and what each serves."""
ADAPTATION_SPANS = "annotation/adaptation_spans"
"""What people marked in them."""
REVIEW_ROUNDS = "review/rounds"
"""Which removals reviewers were given, with what stood there, a partition a round."""
REVIEW_DECISIONS = "review/decisions"
"""What they said, each decision a row, in order; a partition a round and a role."""
REVIEW_MISSED = "review/missed"
"""Identifiers that they marked as missed, each mark a row, in order; a partition a round and a role."""
RULINGS = "review/rulings"
"""Spans that people mended in quarantined notes, each decision a row that the ledger names by its digest."""
REPORTED = "gate/reported"
SEARCHED = "gate/searched"
"""No rows: which redacted rows of a delivery show nothing of what was reported since they were made."""
STAGED = "gate/staged"
"""No rows: what of the store the warehouse was last given of a delivery, and the digest that it got there."""
ALL = "all"
"""The one partition of a dataset that is not partitioned by delivery."""

NOTES_A_PART = 5_000
NOTES_A_BLOCK = 1_000
"""In a part of what detection and redaction made: what a killed run loses at most, beside the batches under way."""

Record = TypeVar("Record", Note, Patient, Provider, Facility)
T = TypeVar("T")


def _columns(record: type) -> list[pa.Field]:
    kinds = {date: pa.date32()}
    return [
        pa.field(f.name, kinds[date] if "date" in str(f.type).split(" | ") else pa.large_string())
        for f in fields(record)
    ]


SPANS = pa.list_(
    pa.struct([("start", pa.int32()), ("end", pa.int32()), ("label", pa.string()), ("source", pa.string())])
)
INDIRECT = pa.list_(pa.struct([("start", pa.int32()), ("end", pa.int32()), ("category", pa.string())]))
RAW_SCHEMA = pa.schema([*_columns(Note), pa.field("content_digest", pa.string())])
WITHDRAWAL_SCHEMA = pa.schema([*_columns(Withdrawal), pa.field("rejoined", pa.bool_())])
TOPIC_SCHEMAS = {name: pa.schema(_columns(record)) for name, record in TOPICS.items()}
TOPIC_SCHEMAS["patients"] = TOPIC_SCHEMAS["patients"].append(pa.field("undated", pa.bool_()))
REDACTED_SCHEMA = pa.schema(
    [
        ("note_id", pa.large_string()),
        ("patient_id", pa.large_string()),
        ("encounter_id", pa.large_string()),
        ("provider_id", pa.large_string()),
        ("note_type", pa.string()),
        ("note_year", pa.int32()),
        ("shifted_date", pa.date32()),
        ("shift_key", pa.string()),
        ("language", pa.string()),
        # The main one first, then those of which more than a few sentences stand there.
        ("languages", pa.list_(pa.string())),
        ("text", pa.large_string()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("spans", SPANS),
        # How many code points stand in each span's place.
        ("lengths", pa.list_(pa.int32())),
        # As they were found, whatever the policy does with them; none where they were not tagged.
        ("indirect", INDIRECT),
        ("words", pa.int64()),
        # What the topics know of the note's patient: a last name, a date of birth, a record number.
        ("with_roster", pa.bool_()),
        ("with_birth_date", pa.bool_()),
        ("with_number", pa.bool_()),
        ("content_digest", pa.string()),
        ("cache_key", pa.string()),
    ]
)
STRUCTURED_SCHEMA = pa.schema(
    [
        ("note_id", pa.large_string()),
        ("patient_id", pa.large_string()),
        ("table", pa.string()),
        ("language", pa.string()),
        ("text", pa.large_string()),
        ("spans", SPANS),
        ("content_digest", pa.string()),
    ]
)
REDACTED_STRUCTURED_SCHEMA = pa.schema(
    [
        *(field for field in STRUCTURED_SCHEMA if field.name != "language"),
        ("lengths", pa.list_(pa.int32())),
        ("shift_key", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
    ]
)
SCORED_SPANS = pa.list_(pa.struct([*SPANS.value_type, ("score", pa.float64())]))
MENTIONS = pa.list_(pa.struct([("form", pa.large_string()), ("label", pa.string()), ("whole", pa.bool_())]))
"""A name's folded word, or a whole string as it is written."""
FIRST_PASS_SCHEMA = pa.schema(
    [
        ("patient_id", pa.large_string()),
        ("spans", SCORED_SPANS),
        ("error", pa.string()),
        ("indirect", INDIRECT),  # none where they were not tagged
        ("told", MENTIONS),
        ("content_digest", pa.string()),
        ("cache_key", pa.string()),
    ]
)
NOTE_IDS_SCHEMA = pa.schema([("note_id", pa.large_string()), ("patient_id", pa.large_string())])
PATIENT_IDS_SCHEMA = pa.schema([("patient_id", pa.large_string())])
TOLD_SCHEMA = pa.schema(
    [
        ("patient_id", pa.large_string()),
        ("told", MENTIONS),
        ("hashes", pa.list_(pa.uint64())),  # of the patient and each mention
    ]
)
MOTHERS_SCHEMA = pa.schema([("patient_id", pa.large_string()), ("mother_id", pa.large_string())])
SHARED_DATES_SCHEMA = pa.schema(
    [
        ("key", pa.uint64()),  # of the words and the date
        ("words", pa.uint64()),
        ("patients", pa.list_(pa.uint64())),  # a few
        ("count", pa.int64()),  # of patients with the date
        ("behind", pa.int64()),  # of patients with any date behind the words
        ("first", pa.int32()),  # day of the first note, and of the last
        ("last", pa.int32()),
    ]
)
WORD_SCHEMA = pa.schema([("word", pa.large_string())])
WORD_COUNTS_SCHEMA = pa.schema(
    [
        ("word", pa.large_string()),  # folded
        *((name, pa.int64()) for name in ("small", "capitals", "titled", "introduced")),  # notes
        *((name, pa.list_(pa.uint64())) for name in ("small_by", "capitals_by")),  # a few patients, hashed
    ]
)
DIGEST_SCHEMA = pa.schema([("digest", pa.string())])
GOLD_SCHEMA = pa.schema(
    [
        *_columns(Note),
        pa.field("gold", SPANS),
        pa.field("clinical", pa.list_(pa.list_(pa.int32()))),
        pa.field("condition", pa.string()),
    ]
)
GOLD_TEXTS_SCHEMA = pa.schema(
    [
        ("delivery", pa.string()),
        ("note_id", pa.large_string()),
        ("gold_digest", pa.string()),
        ("text_digest", pa.string()),
    ]
)
SURROGATE_SCHEMA = pa.schema(
    [*_columns(Note), pa.field("gold", SPANS), pa.field("ways", pa.list_(pa.string())), pa.field("part", pa.string())]
)
CORPUS_DETECTION_SCHEMA = pa.schema([("note_id", pa.large_string()), ("inputs", pa.string()), ("spans", SPANS)])
COUNTS = (
    "words", "true_positives", "false_positives", "false_negatives", "entities", "covered_entities",
)  # fmt: skip
NAME_COUNTS = ("name_words", "name_words_found")
"""Words of the names of patients, and those of them that were found."""
CORPUS_COUNTS_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("inputs", "sex", "patient_id")),
        *((name, pa.int64()) for name in (*COUNTS, *NAME_COUNTS)),
    ]
)
CONTRIBUTION_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        *((name, pa.int64()) for name in ("right", "right_alone", "wrong", "wrong_alone")),
        ("seconds", pa.float64()),
    ]
)
DETECTION_SCHEMA = pa.schema(
    [
        ("note_id", pa.large_string()),
        ("inputs", pa.string()),
        ("first", SCORED_SPANS),  # as the detector found them in the note by itself
        ("spans", SPANS),
        ("cache_key", pa.string()),
    ]
)
FOUND_SCHEMA = pa.schema(
    [
        ("note", pa.string()),  # a keyed digest of its text and its gold
        ("patient", pa.string()),  # keyed
        ("inputs", pa.string()),
        ("gold", pa.int64()),
        ("found", pa.int64()),
        ("whole", pa.int64()),  # of those found, hidden whole; not there in what earlier versions sealed
    ]
)
TERM_SCHEMA = pa.schema([("term", pa.large_string()), ("kind", pa.string())])
HARVEST_SCHEMA = pa.schema(
    [("phrase", pa.large_string()), ("label", pa.string()), ("patients", pa.int64()), ("notes", pa.int64())]
)
REPORTED_SCHEMA = pa.schema(
    [
        ("finding", pa.int64()),
        ("feed", pa.string()),
        ("label", pa.string()),
        ("string", pa.large_string()),
        ("everywhere", pa.bool_()),
        # Of the reported note, where the string is sought in that alone. Not there in what earlier versions sealed.
        ("note_id", pa.large_string()),
    ]
)
ELIGIBLE_SCHEMA = pa.schema(
    [
        ("note_id", pa.large_string()),
        ("patient_id", pa.large_string()),
        ("note_type", pa.large_string()),  # as its source has it
        ("note_date", pa.date32()),
        ("words", pa.int32()),
        ("names_patient", pa.bool_()),
    ]
)
TEST_SET_SCHEMA = pa.schema([("feed", pa.string()), ("delivery", pa.string()), ("note_id", pa.large_string())])
SAMPLED_SCHEMA = pa.schema(
    [*TEST_SET_SCHEMA, ("note_type", pa.string()), ("period", pa.string()), ("names_patient", pa.bool_())]
)
"""With the stratum of each note (`evaluation/scores/design_weights.py`)."""

ROUND_SCHEMA = pa.schema([("note_key", pa.string()), *TEST_SET_SCHEMA, ("text_digest", pa.string())])
ADAPTATION_SCHEMA = pa.schema([*ROUND_SCHEMA, ("part", pa.string())])
ACCEPTED_SCHEMA = pa.schema([*TEST_SET_SCHEMA, ("text_digest", pa.string()), ("key_id", pa.string())])
ANNOTATION_SCHEMA = pa.schema(
    [("note_key", pa.string()), ("skipped", pa.bool_()), ("spans", SPANS), ("clinical", pa.list_(pa.list_(pa.int32())))]
)
REVIEW_SCHEMA = pa.schema(
    [
        ("removal", pa.string()),  # a keyed digest of the note and the place
        ("note_id", pa.large_string()),
        ("patient_id", pa.large_string()),
        ("patient", pa.string()),  # keyed; None where the note names none
        ("note_type", pa.large_string()),
        ("label", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        *((name, pa.large_string()) for name in ("before", "removed", "after")),
        ("hidden", SPANS),  # what the policy hides of the text shown; not there in what earlier versions sealed
    ]
)
DECISION_SCHEMA = pa.schema([(name, pa.string()) for name in ("removal", "category", "severity", "who", "at")])
MISSED_SCHEMA = pa.schema(
    [
        ("removal", pa.string()),  # beside which it was marked
        ("missed", pa.string()),  # a keyed digest of the note and the place
        ("start", pa.int32()),
        ("end", pa.int32()),
        *((name, pa.string()) for name in ("label", "severity", "who", "at")),  # without a label: taken back
    ]
)
RULING_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("ruling", "feed", "delivery")),
        ("note_id", pa.large_string()),
        *((name, pa.string()) for name in ("action", "held_for", "content_digest", "detector_digest")),
        ("added", SPANS),
        ("removed", SPANS),
    ]
)


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Consecutive lists of at most `size` items; the standard library's comes with Python 3.12."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def to_row(record: Note | Patient | Provider | Facility) -> dict[str, Any]:
    """A record as a row of its schema."""
    return {f.name: getattr(record, f.name) for f in fields(record)}


def withdrawal_row(statement: Withdrawal | Rejoining) -> dict[str, Any]:
    """A withdrawal or a rejoining as a row of `WITHDRAWAL_SCHEMA`: which of the two says its column `rejoined`."""
    if isinstance(statement, Rejoining):
        return {"note_id": None, "patient_id": statement.patient_id, "rejoined": True}
    return {"note_id": statement.note_id, "patient_id": statement.patient_id, "rejoined": False}


def from_row(kind: type[Record], row: dict[str, Any]) -> Record:
    """The record in a row; columns that are not its fields are left aside, and a part written before a field was
    known lacks it."""
    return kind(**{f.name: row[f.name] for f in fields(kind) if f.name in row})


def span_rows(spans: Sequence[Span]) -> list[dict[str, Any]]:
    """Spans as rows of `SPANS`."""
    return [{"start": s.start, "end": s.end, "label": s.label.value, "source": s.source} for s in spans]


def scored_rows(spans: Sequence[Span]) -> list[dict[str, Any]]:
    """Spans as rows of `SCORED_SPANS`."""
    return [{**row, "score": span.score} for row, span in zip(span_rows(spans), spans, strict=True)]


def spans_of(rows: Sequence[dict[str, Any]] | None) -> tuple[Span, ...]:
    """Spans from rows of `SPANS` or `SCORED_SPANS`."""
    return tuple(
        Span(r["start"], r["end"], Label(r["label"]), r.get("score", 1.0), r["source"] or "") for r in rows or ()
    )


def indirect_rows(found: Sequence[IndirectMention] | None) -> list[dict[str, Any]] | None:
    """Indirect identifiers as rows of `INDIRECT`."""
    return None if found is None else [{**it._asdict(), "category": it.category.value} for it in found]


def indirect_of(rows: Sequence[dict[str, Any]] | None) -> tuple[IndirectMention, ...] | None:
    """Indirect identifiers from rows of `INDIRECT`."""
    if rows is None:
        return None
    return tuple(IndirectMention(r["start"], r["end"], Indirect(r["category"])) for r in rows)


def mention_rows(mentions: Mentioned) -> list[dict[str, Any]]:
    """What a note tells as rows of `MENTIONS`."""
    forms = ((mentions.names, False), (mentions.strings, True))
    return [{"form": f, "label": label.value, "whole": whole} for said, whole in forms for f, label in said.items()]


def mention_parts(mentions: Mentioned) -> list[str]:
    """What notes tell as strings, in an order of its own: what a digest is made of."""
    return [f"{row['form']}\0{row['label']}\0{row['whole']}" for row in sorted(mention_rows(mentions), key=_form)]


def _form(row: dict[str, Any]) -> tuple[str, bool]:
    return row["form"], row["whole"]


def mentions_of(rows: Sequence[dict[str, Any]] | None) -> Mentioned:
    """What a note tells, from rows of `MENTIONS`."""
    names, strings = (
        {r["form"]: Label(r["label"]) for r in rows or () if r["whole"] is whole} for whole in (False, True)
    )
    return Mentioned(names, strings)


def topic_rows(topics: Topics, name: str) -> Iterator[dict[str, Any]]:
    """One topic as rows of its schema, in an order from which `topics_of` makes it again: former rows come first."""
    former: Mapping[str, tuple[Any, ...]] = topics.former if name == "patients" else getattr(topics, f"former_{name}")
    for key, current in getattr(topics, name).items():
        for row in (*reversed(former.get(key, ())), current):
            undated = {"undated": row is current and key in topics.undated} if name == "patients" else {}
            yield to_row(row) | undated


def topics_of(rows: dict[str, list[dict[str, Any]]]) -> Topics:
    """Topics from rows by topic name."""
    return Topics.of(
        (from_row(Patient, row) for row in rows["patients"]),
        (from_row(Provider, row) for row in rows["providers"]),
        (from_row(Facility, row) for row in rows["facilities"]),
        (row["patient_id"] for row in rows["patients"] if row.get("undated")),
    )

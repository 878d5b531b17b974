"""What the configured detector finds in a surrogate corpus, and how good that is.

Belongs here: the two steps, over the note store. Does not belong here: making the corpus (`corpora.py`), other
detectors (`leaderboard.py`), or comparing corpora (`fairness.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from deid_platform.bench.leaderboard.corpora import CorpusKey, sealed
from deid_platform.corpora.injection.corpus import Part
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.scores import NoteCounts, Scores, count_note, summarise
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.store import Manifest
from deid_platform.warehouse.gate.staging import Inputs


def detect(site: Site, key: CorpusKey, *, progress: Callable[[int], None] | None = None) -> int:
    """Seals what the configured detector finds in the test part, with topics and on the text alone.

    Returns:
        How many notes it read, twice each.

    Raises:
        DeidError: `not-materialized` if the corpus is not made.
    """
    made = site.store.required(tables.SURROGATE_NOTES, key.partition)
    topics = tables.topics_of({n: site.store.rows(d, key.partition) for n, d in tables.SURROGATE_TOPICS.items()})
    notes = [note for note, _, _ in sealed(site, key, Part.TEST)]
    specs = {Inputs.TOPICS: site.spec(topics).as_measured(), Inputs.TEXT: site.spec(None).as_measured()}

    def rows() -> Iterator[dict[str, Any]]:
        for inputs, spec in specs.items():
            for note, found in site.engine.detect_in_two_passes(spec, lambda: notes, on_batch=progress):
                # A note on which it fails counts as one in which it finds nothing.
                spans = tables.span_rows(found.spans or ())
                yield {"note_id": note.note_id, "inputs": inputs.value, "spans": spans}

    schema = tables.CORPUS_DETECTION_SCHEMA
    parts = (pa.Table.from_pylist(batch, schema=schema) for batch in tables.batched(rows(), tables.NOTES_A_PART))
    meta = {"detector_digest": site.spec(None).detector_digest, "notes": _digest(made)}
    site.store.write(tables.CORPUS_DETECTIONS, key.partition, parts, meta=lambda: meta)
    return len(notes)


def scores(site: Site, key: CorpusKey) -> dict[str, Scores]:
    """How good what was found is, word by word, by inputs.

    The counts of each note are sealed, for what compares corpora and locales.

    Raises:
        DeidError: `not-materialized` if nothing was looked for in these very notes.
    """
    made = site.store.required(tables.SURROGATE_NOTES, key.partition)
    meta = site.store.required(tables.CORPUS_DETECTIONS, key.partition).meta
    if meta["notes"] != _digest(made):
        raise DeidError(Code.NOT_MATERIALIZED, f"{tables.CORPUS_DETECTIONS}/{key.partition}")
    known = {
        row["patient_id"]: row["sex"] for row in site.store.rows(tables.SURROGATE_TOPICS["patients"], key.partition)
    }
    test = {note.note_id: (note, gold) for note, gold, _ in sealed(site, key, Part.TEST)}
    counts: dict[str, list[NoteCounts]] = {inputs.value: [] for inputs in (Inputs.TOPICS, Inputs.TEXT)}
    rows = []
    for row in site.store.stream(tables.CORPUS_DETECTIONS, key.partition):
        note, gold = test[row["note_id"]]
        one = count_note(note.text, gold, tables.spans_of(row["spans"]), cluster=note.patient_id)
        counts[row["inputs"]].append(one)
        figures = {name: getattr(one, name) for name in tables.COUNTS}
        whose = {"sex": known[note.patient_id or ""], "patient_id": note.patient_id}
        figures |= dict(zip(tables.NAME_COUNTS, _names(one), strict=True))
        rows.append({"inputs": row["inputs"], **whose, **figures})
    table = pa.Table.from_pylist(rows, schema=tables.CORPUS_COUNTS_SCHEMA)
    sealed_with = {"detector_digest": meta["detector_digest"], "names": True}
    site.store.write(tables.CORPUS_COUNTS, key.partition, [table], meta=lambda: sealed_with)
    resamples = site.settings.bench.resamples
    return {inputs: summarise(some, resamples=resamples) for inputs, some in counts.items()}


def _names(counts: NoteCounts) -> tuple[int, int]:
    """Words of the names of patients, and those of them that are found under any label."""
    of_label = counts.labels.get(Label.PATIENT)
    return (of_label.gold_words, of_label.found_words) if of_label else (0, 0)


def _digest(made: Manifest) -> str:
    """Names the very notes of a corpus."""
    return plain_digest(*(part.digest for part in made.parts))

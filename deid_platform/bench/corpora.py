"""Surrogate corpora: making one, what it is made of, and what the configured detector finds in it.

Belongs here: one corpus in one locale as steps over the note store. Does not belong here: making a note
(`corpora/injection`), counting (`evaluation/corpus_statistics.py`), or the gold of the gate (`measured_notes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

import pyarrow as pa

from deid_platform.corpora import Rejection
from deid_platform.corpora.catalogue import carriers, corpus_of
from deid_platform.corpora.injection.corpus import Injected, InjectionSpec, Part, inject, staff_of
from deid_platform.corpora.injection.ways import TUNING
from deid_platform.detection import DetectorSpec
from deid_platform.engine import Engine
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.corpus_statistics import CorpusScores, CorpusStatistics
from deid_platform.evaluation.scores import NoteCounts, Scores, count_note, summarise
from deid_platform.labels import Label
from deid_platform.notes import Note, Span, Topics
from deid_platform.refresh import tables
from deid_platform.refresh.site import Site
from deid_platform.settings import Settings

PARTS = tuple(Part)
_RESAMPLES = 20  # only the values are shown


@dataclass(frozen=True)
class CorpusKey:
    """One surrogate corpus: carriers and locale; the partition of its assets."""

    corpus: str
    locale: str

    @property
    def partition(self) -> str:
        """Its name in the note store."""
        return f"{self.corpus}.{self.locale}"


@dataclass(frozen=True)
class Made:
    """Counts of one surrogate corpus."""

    notes: dict[str, int]
    """Part -> notes."""
    identifiers: int
    refused: int
    """Notes of the carriers' files that could not be read."""


def surrogate_notes(
    settings: Settings | None,
    key: CorpusKey,
    part: Part,
    *,
    sets: tuple[str, ...] = (),
    workers: int = 1,
    refused: Callable[[Rejection], object] = lambda _: None,
) -> Iterator[Injected]:
    """The notes of one part of a surrogate corpus, streamed, in the ways of the part unless others are given.

    Raises:
        DeidError: What `catalogue.carriers` and `inject` raise.
    """
    corpus = corpus_of(key.corpus, settings)
    found = carriers(corpus, settings, part, refused=refused)
    return inject(replace(spec_of(key, part, weave=corpus.weave), sets=sets), found, workers=workers)


def spec_of(key: CorpusKey, part: Part, *, weave: bool) -> InjectionSpec:
    """How one part of a surrogate corpus is made."""
    return InjectionSpec(key.corpus, key.locale, part, weave=weave)


def make(site: Site, key: CorpusKey, *, progress: Callable[[int], None] | None = None) -> Made:
    """Seals both parts of a surrogate corpus, and their topics.

    Raises:
        DeidError: What `surrogate_notes` raises; `input-empty` if there was no carrier.
    """
    notes: dict[str, int] = dict.fromkeys(PARTS, 0)
    spans = refusals = 0
    patients: dict[str, dict[str, object]] = {}

    def refused(_: Rejection) -> None:
        nonlocal refusals
        refusals += 1

    def rows() -> Iterator[dict[str, object]]:
        nonlocal spans
        workers = site.settings.detection.workers
        for part in PARTS:
            for made in surrogate_notes(site.settings, key, part, workers=workers, refused=refused):
                notes[part] += 1
                spans += len(made.gold)
                patients.setdefault(made.patient.patient_id, tables.to_row(made.patient))
                if progress is not None:
                    progress(1)
                yield {
                    **tables.to_row(made.note),
                    "gold": tables.span_rows(made.gold),
                    "ways": list(made.ways),
                    "part": part.value,
                }

    parts = (pa.Table.from_pylist(b, schema=tables.SURROGATE_SCHEMA) for b in tables.batched(rows(), 1000))
    first = next(parts, None)
    if first is None:
        raise DeidError(Code.INPUT_EMPTY, key.corpus)
    site.store.write(tables.SURROGATE_NOTES, key.partition, chain([first], parts), meta=lambda: {"notes": dict(notes)})
    _seal_topics(site, key, [{**row, "undated": False} for row in patients.values()])
    return Made(dict(notes), spans, refusals)


def _seal_topics(site: Site, key: CorpusKey, patients: list[dict[str, object]]) -> None:
    corpus = corpus_of(key.corpus, site.settings)
    rows: dict[str, list[dict[str, object]]] = {"patients": patients, "providers": [], "facilities": []}
    for part in PARTS:
        providers, facilities = staff_of(spec_of(key, part, weave=corpus.weave))
        rows["providers"] += map(tables.to_row, providers)
        rows["facilities"] += map(tables.to_row, facilities)
    for name, dataset in tables.SURROGATE_TOPICS.items():
        table = pa.Table.from_pylist(rows[name], schema=tables.TOPIC_SCHEMAS[name])
        site.store.write(dataset, key.partition, [table])


def sealed(site: Site, key: CorpusKey, part: Part) -> Iterator[tuple[Note, tuple[Span, ...], list[str]]]:
    """The notes of one part of a surrogate corpus as they were made, with their gold and ways."""
    for row in site.store.stream(tables.SURROGATE_NOTES, key.partition):
        if row["part"] == part.value:
            yield tables.from_row(Note, row), tables.spans_of(row["gold"]), row["ways"]


def statistics(site: Site, key: CorpusKey) -> dict[Part, CorpusStatistics]:
    """What each part of a surrogate corpus is made of."""
    found = {part: CorpusStatistics() for part in PARTS}
    for part in PARTS:
        for note, gold, ways in sealed(site, key, part):
            found[part].add(note.text, gold, ways)
    return found


def scores(site: Site, key: CorpusKey, *, progress: Callable[[int], None] | None = None) -> dict[str, Scores]:
    """How well the configured detector does on the test part, with topics and on the text alone.

    The counts of each note are sealed, for what compares corpora and locales.
    """
    topics = tables.topics_of({n: site.store.rows(d, key.partition) for n, d in tables.SURROGATE_TOPICS.items()})
    test = list(sealed(site, key, Part.TEST))
    notes = [note for note, _, _ in test]
    gold = [spans for _, spans, _ in test]
    specs = {"topics": site.spec(topics).as_measured(), "text": site.spec(None).as_measured()}
    counts = {
        inputs: list(counted(notes, gold, spec, site.engine, progress=progress)) for inputs, spec in specs.items()
    }
    rows = [
        {
            "inputs": inputs,
            "sex": topics.patients[note.patient_id or ""].sex,
            "patient_id": note.patient_id,
            **{name: getattr(one, name) for name in tables.COUNTS},
            **dict(zip(tables.NAME_COUNTS, _names(one), strict=True)),
        }
        for inputs, some in counts.items()
        for note, one in zip(notes, some, strict=True)
    ]
    table = pa.Table.from_pylist(rows, schema=tables.CORPUS_COUNTS_SCHEMA)
    meta = {"detector_digest": site.spec(None).detector_digest, "names": True}
    site.store.write(tables.CORPUS_COUNTS, key.partition, [table], meta=lambda: meta)
    resamples = site.settings.bench.resamples
    return {inputs: summarise(some, resamples=resamples) for inputs, some in counts.items()}


def _names(counts: NoteCounts) -> tuple[int, int]:
    """Words of the names of patients, and those of them that are found under any label."""
    of_label = counts.labels.get(Label.PATIENT)
    return (of_label.gold_words, of_label.found_words) if of_label else (0, 0)


def counted(
    notes: list[Note],
    gold: list[tuple[Span, ...]],
    spec: DetectorSpec,
    engine: Engine,
    *,
    progress: Callable[[int], None] | None = None,
) -> Iterator[NoteCounts]:
    """A detector's counts on notes with gold; notes of one patient are one cluster."""
    found = engine.detect_in_two_passes(spec, lambda: notes, on_batch=progress)
    for (note, detection), spans in zip(found, gold, strict=True):
        yield count_note(note.text, spans, detection.spans or (), cluster=note.patient_id)


def notes_of_test(
    settings: Settings | None, key: CorpusKey, *, most: int | None, workers: int = 1
) -> tuple[list[Injected], Topics]:
    """The first notes of a surrogate corpus's test part (None: all), and the topics of their patients and the corpus.

    Raises:
        DeidError: What `surrogate_notes` raises.
    """
    made = list(islice(surrogate_notes(settings, key, Part.TEST, workers=workers), most))
    providers, facilities = staff_of(spec_of(key, Part.TEST, weave=corpus_of(key.corpus, settings).weave))
    return made, Topics.of({one.patient.patient_id: one.patient for one in made}.values(), providers, facilities)


def notes_for_tuning(settings: Settings | None, key: CorpusKey, *, most: int) -> list[Injected]:
    """The first notes of a surrogate corpus's training part, in the ways that are kept for tuning.

    None of their carriers, names and ways is in the test part, and no model is trained on these ways.

    Raises:
        DeidError: What `surrogate_notes` raises.
    """
    return list(islice(surrogate_notes(settings, key, Part.TRAINING, sets=(TUNING,)), most))


def score_corpus(
    settings: Settings | None, key: CorpusKey, detector: DetectorSpec, engine: Engine, *, most: int
) -> CorpusScores:
    """What a detector finds in the first notes of a surrogate corpus's test part, without an installation."""
    made, topics = notes_of_test(settings, key, most=most, workers=engine.workers)
    made_of = CorpusStatistics()
    for one in made:
        made_of.add(one.note.text, one.gold)
    notes, gold = [one.note for one in made], [one.gold for one in made]
    known, alone = (
        summarise(counted(notes, gold, spec, engine), resamples=_RESAMPLES)
        for spec in (replace(detector, topics=topics), detector)
    )
    return CorpusScores(
        *(key.corpus, key.locale, made_of.notes, made_of.by_label.total(), made_of.unlisted_share),
        *(known.recall.value, known.precision.value),
        *(alone.recall.value, alone.precision.value, alone.leak_rate.value),
    )

"""Surrogate corpora: which there are, making one, what it is made of, and its notes for whoever measures on them.

Belongs here: one corpus in one locale as steps over the note store. Does not belong here: making a note
(`corpora/injection`), counting (`evaluation/experiments/corpus_statistics.py`), what the configured detector finds in
it (`corpus_scores.py`), or the gold of the gate (`bench/gate/measured_notes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

import pyarrow as pa

from deid_platform.corpora import Rejection
from deid_platform.corpora.catalogue import (
    carriers,
    corpus_of,
    gold_word,
    has_gold_as_written,
    known_corpora,
    paths_of,
    read_corpus,
)
from deid_platform.corpora.gold_words import AS_WRITTEN
from deid_platform.corpora.injection.corpus import Injected, InjectionSpec, Part, inject, staff_of
from deid_platform.corpora.injection.ways import TUNING
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import Engine
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.experiments.corpus_statistics import CorpusScores, CorpusStatistics
from deid_platform.evaluation.scores.scores import NoteCounts, count_note, summarise
from deid_platform.keys import module_digest, package_digest, plain_digest
from deid_platform.notes import Note, Span, Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import Settings
from deid_platform.surrogates.locales import LOCALES, locale
from deid_platform.surrogates.pools import POOLS_VERSION

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

    @classmethod
    def of(cls, partition: str) -> CorpusKey:
        """From its name in the note store."""
        corpus, _, locale = partition.partition(".")
        return cls(corpus, locale)

    @property
    def as_written(self) -> bool:
        """Whether no surrogate is written in."""
        return self.locale == AS_WRITTEN

    def gold(self, settings: Settings | None) -> tuple[str, str]:
        """What the warehouse calls its gold, and the locale that stands beside it; none where nothing is written in."""
        word = gold_word(corpus_of(self.corpus, settings), self.locale, settings)
        return word, "" if self.as_written else self.locale


def surrogate_keys(settings: Settings | None) -> Iterator[CorpusKey]:
    """Every corpus that can be filled, in each locale: published ones, those that ship, and the site's own."""
    for name in corpora_to_fill(settings):
        yield from (CorpusKey(name, locale) for locale in LOCALES)


def corpora_to_fill(settings: Settings | None) -> list[str]:
    """Corpora by name, as the partitions have them."""
    return sorted(known_corpora(settings))


def scored_keys(settings: Settings | None) -> Iterator[CorpusKey]:
    """What detectors can be measured on: the same, and the site's own gold as it is."""
    yield from surrogate_keys(settings)
    for name, corpus in sorted(known_corpora(settings).items()):
        if has_gold_as_written(corpus, settings):
            yield CorpusKey(name, AS_WRITTEN)


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
        for part in corpus_of(key.corpus, site.settings).parts:
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
    recipe = _recipe(site.settings, key)
    site.store.write(tables.SURROGATE_NOTES, key.partition, chain([first], parts), meta=lambda: {"notes": dict(notes)})
    _seal_topics(site, key, [{**row, "undated": False} for row in patients.values()], recipe)
    return Made(dict(notes), spans, refusals)


def is_made(site: Site, key: CorpusKey) -> bool:
    """Whether a surrogate corpus is sealed as it would be made now: by the same code, of the same files."""
    recipe = _recipe(site.settings, key)
    manifests = (site.store.manifest(dataset, key.partition) for dataset in tables.SURROGATE_TOPICS.values())
    return all(it is not None and it.meta.get("recipe") == recipe for it in manifests)


def to_make(site: Site) -> list[CorpusKey]:
    """The surrogate corpora that deid.toml asks for and that are not made, or would be others.

    Raises:
        DeidError: `corpus-unknown`, `locale-unknown`.
    """
    wanted = [CorpusKey.of(partition) for partition in site.settings.corpora.made]
    for key in wanted:
        corpus_of(key.corpus, site.settings), locale(key.locale)
    return [key for key in wanted if not is_made(site, key)]


def _recipe(settings: Settings, key: CorpusKey) -> str:
    """Names what a surrogate corpus is made of; its files by their sizes and times, since they may be large."""
    files = (
        f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}"
        for path in paths_of(corpus_of(key.corpus, settings), settings)
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path] if path.exists() else [])
    )
    code = (package_digest(f"deid_platform.{name}") for name in ("corpora", "surrogates"))
    return plain_digest(*code, module_digest(__name__), POOLS_VERSION, repr(corpus_of(key.corpus, settings)), *files)


def _seal_topics(site: Site, key: CorpusKey, patients: list[dict[str, object]], recipe: str) -> None:
    """Seals topics; after the notes, so that their recipe says that both are there."""
    corpus = corpus_of(key.corpus, site.settings)
    rows: dict[str, list[dict[str, object]]] = {"patients": patients, "providers": [], "facilities": []}
    for part in PARTS:
        providers, facilities = staff_of(spec_of(key, part, weave=corpus.weave))
        rows["providers"] += map(tables.to_row, providers)
        rows["facilities"] += map(tables.to_row, facilities)
    for name, dataset in tables.SURROGATE_TOPICS.items():
        table = pa.Table.from_pylist(rows[name], schema=tables.TOPIC_SCHEMAS[name])
        site.store.write(dataset, key.partition, [table], meta=lambda: {"recipe": recipe})


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


def test_notes(site: Site, key: CorpusKey, *, most: int) -> tuple[list[Injected], Topics]:
    """The same as `notes_of_test`, as an installation has sealed them where they are current.

    Raises:
        DeidError: What `notes_of_test` raises.
    """
    if not is_made(site, key):
        return notes_of_test(site.settings, key, most=most)
    rows = site.store.rows(tables.SURROGATE_TOPICS["patients"], key.partition)
    patients = tables.topics_of({"patients": rows, "providers": [], "facilities": []}).patients
    made = [
        Injected(note, gold, tuple(ways), patients[note.patient_id or ""])
        for note, gold, ways in islice(sealed(site, key, Part.TEST), most)
    ]
    return made, _topics(site.settings, key, made)


def notes_of_test(
    settings: Settings | None, key: CorpusKey, *, most: int | None, workers: int = 1
) -> tuple[list[Injected], Topics]:
    """The first notes of a surrogate corpus's test part (None: all), and the topics of their patients and the corpus.

    Raises:
        DeidError: What `surrogate_notes` raises.
    """
    made = list(islice(surrogate_notes(settings, key, Part.TEST, workers=workers), most))
    return made, _topics(settings, key, made)


def _topics(settings: Settings | None, key: CorpusKey, made: Iterable[Injected]) -> Topics:
    providers, facilities = staff_of(spec_of(key, Part.TEST, weave=corpus_of(key.corpus, settings).weave))
    return Topics.of({one.patient.patient_id: one.patient for one in made}.values(), providers, facilities)


def notes_as_written(settings: Settings | None, key: CorpusKey, *, most: int) -> list[tuple[Note, tuple[Span, ...]]]:
    """The first notes of the test part of a site's own corpus with the gold that they came with.

    Raises:
        DeidError: What `read_corpus` raises.
    """
    corpus = corpus_of(key.corpus, settings)
    golds = read_corpus(corpus, settings, Part.TEST, refused=lambda _: None)
    return [(gold.note, gold.spans) for gold in islice(golds, most) if gold.note is not None]


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

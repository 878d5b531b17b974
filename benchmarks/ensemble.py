"""What the ensemble finds in surrogate corpora of another author's ways, by label, locale, sex and corpus.

    DEID_CORPORA=... python benchmarks/ensemble.py [--detector ensemble] [--model NAME] [--notes 40] [--locale zh]...
                                                     [--direct 3000] [--json FILE]

Notes are of the test parts (docs/corpora.md): ways that nobody who trains or writes rules has read, names of the
held-out share. Recall and precision are by words, with the 95% interval of a bootstrap over patients, with the
institution's topics and on the text alone; then the speed of the parts on one core, and what was aimed for beside what
was measured (the rest of that table comes from other benchmarks: aims.py). `--direct 3000` reads more notes with topics
until it has seen as many of each direct identifier, or has no more. What is printed is Markdown, as docs/model.md shows
it.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import aims
from aims import estimate, table
from measure import row

from deid_platform.bench.leaderboard.corpora import CorpusKey, notes_of_test
from deid_platform.corpora.catalogue import PUBLISHED, is_carrier
from deid_platform.corpora.injection.corpus import Injected
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.detection.models.windows import windows
from deid_platform.detection.two_pass import Detection
from deid_platform.engine.engines import LocalEngine
from deid_platform.evaluation.scores.scores import NoteCounts, Scores, count_note, summarise
from deid_platform.labels import Label
from deid_platform.notes import Note, Topics
from deid_platform.surrogates.locales import LOCALES

RESAMPLES = 1000
DIRECT = tuple(map(Label, aims.DIRECT))
SENTENCES = Path(__file__).parents[1] / "tests" / "detection" / "cases" / "clinical-sentences.txt"
INPUTS = ("topics", "text")
GROUPS = ("locale", "sex", "corpus")
Groups = Mapping[str, Mapping[str, Scores]]
"""By a group's name and the inputs."""


@dataclass(frozen=True)
class Counted:
    """One note's counts, and what it is grouped by."""

    counts: NoteCounts
    groups: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """The test notes of one corpus in one locale; ids of patients are told apart over all cells."""

    key: CorpusKey
    made: Sequence[Injected]
    topics: Topics

    @property
    def notes(self) -> list[Note]:
        """With patients of no other cell."""
        return [replace(it.note, patient_id=f"{self.key.partition}/{it.note.patient_id}") for it in self.made]

    def counted(self, found: Iterable[tuple[Note, Detection]]) -> list[Counted]:
        """Counts of each note."""
        counted = []
        for one, (note, detection) in zip(self.made, found, strict=True):
            if detection.spans is None:
                raise RuntimeError(detection.error)
            key = self.key
            whose = f"{key.partition}/{one.note.patient_id}"
            counts = count_note(note.text, one.gold, detection.spans, cluster=whose)
            groups = (f"locale {key.locale}", f"sex {one.patient.sex}", f"corpus {key.corpus}")
            counted.append(Counted(counts, groups))
        return counted


def with_topics(cell: Cell, spec: DetectorSpec, engine: LocalEngine) -> list[Counted]:
    """Counts of a cell's notes, given the topics of its patients and staff."""
    known = replace(spec, topics=cell.topics)
    return cell.counted(engine.detect_in_two_passes(known, lambda: [it.note for it in cell.made]))


@dataclass(frozen=True)
class Measured:
    """Counts of a cell's notes, by what the detector was given, and two of its texts."""

    counts: Mapping[str, Sequence[Counted]]
    texts: Sequence[str]


def of_cell(key: CorpusKey, most: int, spec: DetectorSpec) -> Measured:
    """Writes a cell's notes and detects in them, in one process."""
    cell, engine = Cell(key, *notes_of_test(None, key, most=most)), LocalEngine()
    text_alone = engine.detect_in_two_passes(spec, lambda: cell.notes)
    counts = {"topics": with_topics(cell, spec, engine), "text": cell.counted(text_alone)}
    return Measured(counts, [one.note.text for one in cell.made[:2]])


def whole(found: Mapping[str, Scores]) -> str:
    """The measures of all notes together."""
    measures = (
        ("word recall", "recall"),
        ("word precision", "precision"),
        ("identifiers covered whole", "entity_recall"),
        ("notes with a missed identifier", "leak_rate"),
    )
    rows = [(said, *(estimate(getattr(found[inputs], name)) for inputs in INPUTS)) for said, name in measures]
    return table(("", "with topics", "text alone"), rows)


def by_label(found: Mapping[str, Scores]) -> str:
    """Recall by label, and of how many words."""
    rows = []
    for label in sorted(found["topics"].labels, key=lambda it: it.value):
        recalls = [found[inputs].labels[label].recall for inputs in INPUTS]
        if recalls[0].total:
            rows.append((label.value, f"{recalls[0].total:,}", *map(estimate, recalls)))
    return table(("label", "words", "recall with topics", "recall, text alone"), rows)


def grouped(counts: Mapping[str, Sequence[Counted]]) -> Groups:
    """Scores of each locale, sex and corpus."""
    groups = dict.fromkeys(group for one in counts["topics"] for group in one.groups)
    return {
        group: {
            inputs: summarise((one.counts for one in counts[inputs] if group in one.groups), resamples=RESAMPLES)
            for inputs in INPUTS
        }
        for group in sorted(groups, key=lambda it: GROUPS.index(it.partition(" ")[0]))
    }


def by_group(groups: Groups) -> str:
    """Recall and precision of each locale, sex and corpus."""
    rows = [
        (group, *(estimate(getattr(found[inputs], name)) for inputs in INPUTS for name in ("recall", "precision")))
        for group, found in groups.items()
    ]
    head = ("", "recall with topics", "precision with topics", "recall, text alone", "precision, text alone")
    return table(head, rows)


def of_aims(found: Mapping[str, Scores], groups: Groups, kept: float, share: float) -> dict[str, str]:
    """What was measured, by the measures that there are aims for."""
    measured = {aims.SENTENCES: f"{kept:.3f}", aims.SHARE: f"{share:.0%}"}
    for inputs, said in zip(INPUTS, ("with topics", "text alone"), strict=True):
        scores = found[inputs]
        measured[aims.RECALL.format(said)] = estimate(scores.recall)
        measured[aims.PRECISION.format(said)] = estimate(scores.precision)
        measured[aims.MISSED.format(said)] = estimate(scores.leak_rate)
        recall = {group: one[inputs].recall.value or 0.0 for group, one in groups.items()}
        worst = min((group for group in recall if group.startswith("locale")), key=lambda group: recall[group])
        if "locale en_US" in recall:
            behind = f"{recall['locale en_US'] - recall[worst]:.4f} ({worst.partition(' ')[2]})"
            measured[aims.LOCALES.format(said)] = behind
        if {"sex F", "sex M"} <= recall.keys():
            measured[aims.SEXES.format(said)] = f"{abs(recall['sex F'] - recall['sex M']):.4f}"
    return measured


def directly_named(key: CorpusKey) -> Cell:
    """Of a whole cell the notes that have a direct identifier."""
    made, topics = notes_of_test(None, key, most=None)
    return Cell(key, [one for one in made if direct_in(one)], topics)


def direct_in(one: Injected) -> Counter[Label]:
    """How many of each direct identifier a note has."""
    return Counter(span.label for span in one.gold if span.label in DIRECT)


def of_some(cell: Cell, spec: DetectorSpec) -> list[NoteCounts]:
    """Counts of a cell's notes, with its topics."""
    return [it.counts for it in with_topics(cell, spec, LocalEngine())]


def of_direct(keys: Sequence[CorpusKey], spec: DetectorSpec, pool: Executor, *, fewest: int) -> dict[str, str]:
    """Recall of direct identifiers with topics, each on at least so many of them, or on all that there are."""
    seen: Counter[Label] = Counter()
    counting = []
    for cell in pool.map(directly_named, keys):
        lacking = {label for label in DIRECT if seen[label] < fewest}
        chosen = [one for one in cell.made if lacking.intersection(direct_in(one))]
        seen.update(label for one in chosen for label in direct_in(one).elements())
        if chosen:
            counting.append(pool.submit(of_some, replace(cell, made=chosen), spec))
    counts = chain.from_iterable(it.result() for it in counting)
    labels = summarise(counts, resamples=RESAMPLES).labels
    measured = {}
    for label in DIRECT:
        recall = estimate(labels[label].recall) if label in labels else "-"
        few = f", all that there are: fewer than {fewest:,}" if seen[label] < fewest else ""
        measured[aims.OF_DIRECT.format(label.value)] = f"{recall}, on {seen[label]:,} identifiers{few}"
    return measured


def intact(spec: DetectorSpec) -> float:
    """Share of the clinical sentences in which nothing is hidden."""
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()
    sentences = [line for line in lines if line.strip() and not line.startswith("#")]
    found = spec.build().detect([Note(str(number), line) for number, line in enumerate(sentences)])
    return sum(not spans for spans in found) / len(sentences)


def speed(texts: Sequence[str], spec: DetectorSpec) -> float:
    """Words a second of one core: rules, model, both; and the model's network alone.

    Returns:
        The speed of the whole as a share of the network's.
    """
    amount = sum(len(text.split()) for text in texts)
    notes = [Note(str(number), text) for number, text in enumerate(texts)]
    for name, each in (("rules", replace(spec, name="rules", models=None)), (spec.name, spec)):
        detector = each.build()
        detector.detect(notes[:3])
        begun = time.process_time()
        row(name, amount, lambda detector=detector: detector.detect(notes))
        spent = time.process_time() - begun
    folder = ModelFolder.shipped("minilm")
    model = TokenClassifier(folder)
    read = [model.reader.read(text) for text in texts]
    framed = [model.reader.framed(it, window.start, window.end) for it in read for window in windows(it)]
    begun = time.process_time()
    row("network alone", amount, lambda: model.network.logits(framed))
    return (time.process_time() - begun) / spent


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detector", default="ensemble")
    parser.add_argument("--model", action="append")
    parser.add_argument("--notes", type=int, default=40, help="the most of each corpus and locale")
    parser.add_argument("--corpus", action="append")
    parser.add_argument("--locale", action="append", choices=LOCALES)
    parser.add_argument("--direct", type=int, default=0, help="the fewest of each direct identifier")
    parser.add_argument("--workers", type=int, default=2)
    aims.add_json(parser)
    arguments = parser.parse_args()
    spec = DetectorSpec(
        arguments.detector, professions=True, models=tuple(arguments.model) if arguments.model else None
    )
    keys = [
        CorpusKey(name, where)
        for name in arguments.corpus or [name for name, it in PUBLISHED.items() if is_carrier(it, None)]
        for where in arguments.locale or LOCALES
    ]
    with ProcessPoolExecutor(arguments.workers) as pool:
        cells = list(pool.map(partial(of_cell, most=arguments.notes, spec=spec), keys))
        direct = of_direct(keys, spec, pool, fewest=arguments.direct) if arguments.direct else {}
    texts = [text for cell in cells for text in cell.texts]
    counts = {inputs: [one for cell in cells for one in cell.counts[inputs]] for inputs in INPUTS}
    found = {inputs: summarise((it.counts for it in some), resamples=RESAMPLES) for inputs, some in counts.items()}
    print(f"{found['text'].notes:,} notes, {found['text'].words:,} words\n")
    groups = grouped(counts)
    print(whole(found), by_label(found), by_group(groups), sep="\n", flush=True)
    share = speed(random.Random(0).sample(texts, min(150, len(texts))), spec)
    measured = of_aims(found, groups, intact(spec), share) | direct
    aims.keep(arguments.json, measured)
    print(aims.beside_aims(measured))


if __name__ == "__main__":
    main()

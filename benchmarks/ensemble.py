"""What the ensemble finds in surrogate corpora of another author's ways, by label, locale, sex and corpus.

    DEID_CORPORA=... python benchmarks/ensemble.py [--detector ensemble] [--model NAME] [--notes 40] [--locale zh]...

Notes are of the test parts (docs/corpora.md): ways that nobody who trains or writes rules has read, names of the
held-out share. Recall and precision are by words, with the 95% interval of a bootstrap over patients, with the
institution's topics and on the text alone; then the speed of the parts on one core, and what was aimed for beside what
was measured. `--direct 3000` reads more notes with topics until it has seen as many of each direct identifier. What is
printed is Markdown, as docs/model.md shows it.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from measure import row

from deid_platform.corpora.catalogue import is_carrier, known_corpora
from deid_platform.corpora.injection.corpus import Injected
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.detection.models.windows import windows
from deid_platform.detection.two_pass import Detection
from deid_platform.engine import LocalEngine
from deid_platform.evaluation.scores import Estimate, NoteCounts, Scores, count_note, summarise
from deid_platform.labels import Label
from deid_platform.notes import Note, Topics
from deid_platform.refresh.corpora import CorpusKey, notes_of_test
from deid_platform.surrogates.locales import LOCALES

RESAMPLES = 1000
DIRECT = (Label.PATIENT, Label.SSN, Label.MEDICALRECORD, Label.PHONE, Label.EMAIL)
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

    def counted(self, found: Iterable[tuple[Note, Detection]]) -> Iterator[Counted]:
        """Counts of each note."""
        for one, (note, detection) in zip(self.made, found, strict=True):
            if detection.spans is None:
                raise RuntimeError(detection.error)
            key = self.key
            whose = f"{key.partition}/{one.note.patient_id}"
            counts = count_note(note.text, one.gold, detection.spans, cluster=whose)
            yield Counted(counts, (f"locale {key.locale}", f"sex {one.patient.sex}", f"corpus {key.corpus}"))


def with_topics(cell: Cell, spec: DetectorSpec, engine: LocalEngine) -> list[Counted]:
    """Counts of a cell's notes, given the topics of its patients and staff."""
    known = replace(spec, topics=cell.topics)
    return list(cell.counted(engine.detect_in_two_passes(known, lambda: [it.note for it in cell.made])))


def on_text_alone(cells: Sequence[Cell], spec: DetectorSpec, engine: LocalEngine) -> list[Counted]:
    """Counts of all cells' notes, by one detector."""
    found = engine.detect_in_two_passes(spec, lambda: chain.from_iterable(cell.notes for cell in cells))
    return [one for cell in cells for one in cell.counted(islice(found, len(cell.made)))]


def estimate(value: Estimate) -> str:
    """A share with its interval."""
    if value.value is None:
        return "-"
    return f"{value.value:.4f} ({value.low:.4f}-{value.high:.4f})" if value.low is not None else f"{value.value:.4f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


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


def aims(found: Mapping[str, Scores], groups: Groups, kept: float, share: float) -> str:
    """What was aimed for, beside what was measured."""
    topics, text = (found[inputs] for inputs in INPUTS)
    rows = [
        ("word recall with topics", estimate(topics.recall), ">= 0.998"),
        ("word precision with topics", estimate(topics.precision), ">= 0.985"),
        ("word recall, text alone", estimate(text.recall), ">= 0.990"),
        ("word precision, text alone", estimate(text.precision), ">= 0.970"),
        ("notes with a missed identifier, with topics", estimate(topics.leak_rate), "<= 0.05"),
        ("notes with a missed identifier, text alone", estimate(text.leak_rate), "<= 0.20"),
        ("clinical sentences intact", f"{kept:.3f}", ">= 0.99"),
    ]
    for inputs, said in zip(INPUTS, ("with topics", "text alone"), strict=True):
        recall = {group: one[inputs].recall.value or 0.0 for group, one in groups.items()}
        worst = min((group for group in recall if group.startswith("locale")), key=lambda group: recall[group])
        if "locale en_US" in recall:
            behind = f"{recall['locale en_US'] - recall[worst]:.4f} ({worst.partition(' ')[2]})"
            rows.append((f"recall of the worst locale behind en_US, {said}", behind, "<= 0.01"))
        apart = abs(recall["sex F"] - recall["sex M"])
        rows.append((f"recall of the sexes apart, {said}", f"{apart:.4f}", "<= 0.005"))
    rows.append(("speed of the whole against its network alone", f"{share:.0%}", ">= 80%"))
    return table(("measure", "measured", "aimed for"), rows)


def of_direct(cells: Iterable[Cell], spec: DetectorSpec, engine: LocalEngine, *, fewest: int) -> str:
    """Recall of direct identifiers with topics, each on at least so many of them if the test parts hold them."""
    seen: Counter[Label] = Counter()
    counts: list[NoteCounts] = []
    for cell in cells:
        lacking = {label for label in DIRECT if seen[label] < fewest}
        made = [one for one in cell.made if lacking.intersection(span.label for span in one.gold)]
        if made:
            counts += [it.counts for it in with_topics(replace(cell, made=made), spec, engine)]
            seen.update(span.label for one in made for span in one.gold)
    labels = summarise(counts, resamples=RESAMPLES).labels
    rows = [(label.value, f"{seen[label]:,}", estimate(labels[label].recall)) for label in DIRECT if label in labels]
    return table(("label", "identifiers", "word recall with topics"), rows)


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
    arguments = parser.parse_args()
    spec = DetectorSpec(
        arguments.detector, professions=True, models=tuple(arguments.model) if arguments.model else None
    )
    engine = LocalEngine(workers=arguments.workers)
    cells = [
        Cell(key, *notes_of_test(None, key, most=arguments.notes, workers=engine.workers))
        for name in arguments.corpus or [name for name, it in known_corpora(None).items() if is_carrier(it, None)]
        for key in (CorpusKey(name, where) for where in arguments.locale or LOCALES)
    ]
    texts = [one.note.text for cell in cells for one in cell.made[:2]]
    counts = {
        "topics": [one for cell in cells for one in with_topics(cell, spec, engine)],
        "text": on_text_alone(cells, spec, engine),
    }
    found = {inputs: summarise((it.counts for it in some), resamples=RESAMPLES) for inputs, some in counts.items()}
    print(f"{found['text'].notes:,} notes, {found['text'].words:,} words\n")
    groups = grouped(counts)
    print(whole(found), by_label(found), by_group(groups), sep="\n", flush=True)
    share = speed(random.Random(0).sample(texts, min(150, len(texts))), spec)
    print(aims(found, groups, intact(spec), share), sep="\n", flush=True)
    if arguments.direct:
        more = (Cell(cell.key, *notes_of_test(None, cell.key, most=None, workers=engine.workers)) for cell in cells)
        print(of_direct(more, spec, engine, fewest=arguments.direct))


if __name__ == "__main__":
    main()

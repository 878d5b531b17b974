"""What an author of the library gains from a few marked notes, as a site would, and what is forgotten elsewhere.

    python benchmarks/adaptation.py AUTHOR... [--sizes 0 10 20 40] [--folds 2] [--elsewhere NAME]...
        [--beside 100] [--rate R] [--epochs E] [--tokens T] [--frozen N] [--by lot] [--figure FILE.png] [--json FILE]

Each author is a site. Its notes are parted into folds; for each fold, so many of the others are drawn as `deid adapt
draw` does, every fourth of them serves the thresholds, the model learns from the rest beside notes of the library's
training authors, and the fold itself is measured: so each note is measured once at each size, by a model that has not
seen it. Where an author has fewer notes than a size, all are taken and the table says how many. Elsewhere are the notes
of other authors, from whom neither learns; what they lose is shown for the worst fold. By default these are the other
authors of the site's use, and of the uses that models learn from every third of them; the rest stand beside. The
ensemble, on the text alone; 95% intervals of a bootstrap over notes. Needs the extra `ml`. What is printed is Markdown.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from aims import estimate, table

from deid_platform.corpora.gold import Gold
from deid_platform.corpora.library.authors import Author, Use, author, authors, notes_by
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.detection.registry import MODELS, SHIPPED
from deid_platform.engine.engines import LocalEngine
from deid_platform.evaluation.scores.paired import Difference, difference
from deid_platform.evaluation.scores.scores import NoteCounts, Scores, count_note, summarise
from deid_platform.reports.adaptation_figure import adaptation_figure
from deid_platform.surrogates.dice import Dice
from deid_platform.training.adapting import adapted
from deid_platform.training.labelled import Labelled
from deid_platform.training.mixture import BESIDE, beside
from deid_platform.training.presets import PRESETS, Preset
from deid_platform.training.uncertainty import Drawable, drawn, uncertainty

RESAMPLES = 1000
_THRESHOLDS = 4  # every so many of the marked notes


@dataclass(frozen=True)
class How:
    """What is the same for all trainings of a run."""

    start: str
    preset: Preset
    beside: int
    without: tuple[str, ...]
    by_lot: bool
    keep_back: bool


@dataclass(frozen=True)
class Point:
    """One size of one site.

    Attributes:
        marked: How many notes of the site were marked, the same in each fold but for one.
        here: Counts of all the site's notes.
        elsewhere: Counts of the other authors' notes, for each model of this size.
        seconds: Of all trainings of this size together.
    """

    marked: int
    here: tuple[NoteCounts, ...]
    elsewhere: tuple[tuple[NoteCounts, ...], ...]
    seconds: float

    @property
    def scores(self) -> Scores:
        """On the site's notes."""
        return summarise(self.here, resamples=RESAMPLES)


def marked_notes(one: Author) -> list[Gold]:
    """The notes of an author."""
    return [item.gold for item in notes_by(one) if item.gold.note is not None]


def counted(notes: Sequence[Gold], model: str, workers: int) -> tuple[NoteCounts, ...]:
    """What the ensemble with a model finds in notes, on the text alone."""
    if workers == 1 or len(notes) < workers:
        return tuple(_counts(notes, model))
    parts = [notes[at::workers] for at in range(workers)]
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(partial(_counts, model=model), parts))
    return tuple(found[at % workers][at // workers] for at in range(len(notes)))


def _counts(notes: Sequence[Gold], model: str) -> list[NoteCounts]:
    spec = DetectorSpec("ensemble", professions=True, models=(model,))
    texts = [gold.note for gold in notes if gold.note is not None]
    made = []
    for gold, (note, detection) in zip(notes, LocalEngine().detect_in_two_passes(spec, lambda: texts), strict=True):
        if detection.spans is None:
            raise RuntimeError(detection.error)
        made.append(count_note(note.text, gold.spans, detection.spans, cluster=gold.note_id))
    return made


def folds(notes: Sequence[Gold], number: int) -> Iterator[tuple[list[Gold], list[Gold]]]:
    """The notes of a fold, and those of the others."""
    lots = sorted(notes, key=lambda it: Dice(3, "fold", it.note_id).between(0, 1 << 30))
    for at in range(number):
        yield lots[at::number], [note for place, note in enumerate(lots) if place % number != at]


def in_order(notes: Sequence[Gold], how: How) -> list[Gold]:
    """Notes in the order in which they are marked."""
    if how.by_lot:
        return sorted(notes, key=lambda it: Dice(5, "mark", it.note_id).between(0, 1 << 30))
    folder = ModelFolder.shipped(how.start) if how.start in MODELS else ModelFolder(Path(how.start))
    model = TokenClassifier(folder)
    texts = {gold.note_id: gold.note for gold in notes if gold.note is not None}
    pool = [
        Drawable(key, note.patient_id or key, note.note_type or "", uncertainty(model, note.text))
        for key, note in texts.items()
    ]
    by_key = {gold.note_id: gold for gold in notes}
    return [by_key[note.key] for note in drawn(pool, len(pool))]


def trained(marked: Sequence[Gold], how: How, folder: Path) -> str:
    """The folder of a model that learned from marked notes."""
    own = [Labelled(gold.note_id, "site", "", gold.note.text, gold.spans) for gold in marked if gold.note is not None]
    tuning = own[_THRESHOLDS - 1 :: _THRESHOLDS] if how.keep_back else []
    learn = [note for note in own if note not in tuning]
    mixture = beside(how.beside, without=how.without)
    return str(adapted(learn, tuning, folder, start=how.start, preset=how.preset, mixture=mixture).model.path)


def curve(
    site: Author, sizes: Iterable[int], number: int, other: Sequence[Gold], how: How, workers: int
) -> list[Point]:
    """A site's points, from the fewest notes to the most."""
    parts = [(held, in_order(rest, how)) for held, rest in folds(marked_notes(site), number)]
    points: list[Point] = []
    for size in sorted(set(sizes)):
        here: list[NoteCounts] = []
        elsewhere: list[tuple[NoteCounts, ...]] = []
        marked, seconds = 0, 0.0
        for held, rest in parts if size else parts[:1]:
            with tempfile.TemporaryDirectory() as folder:
                print(f"{site.name}, {len(rest[:size])} notes", file=sys.stderr)
                begun = time.monotonic()
                model = trained(rest[:size], how, Path(folder) / "site") if size else how.start
                seconds += time.monotonic() - begun
                marked = max(marked, len(rest[:size]))
                here += counted(held if size else [note for fold, _ in parts for note in fold], model, workers)
                elsewhere.append(counted(other, model, workers))
        points.append(Point(marked, tuple(here), tuple(elsewhere), seconds))
    return points


def forgotten(points: Sequence[Point]) -> list[tuple[Difference, Difference] | None]:
    """Of each point, recall and precision elsewhere less those of the model that it started from: the worst fold."""
    before = points[0].elsewhere[0]
    made: list[tuple[Difference, Difference] | None] = []
    for point in points:
        folds = [
            (difference(after, before, "recall"), difference(after, before, "precision"))
            for after in point.elsewhere
            if after
        ]
        made.append(min(folds, key=lambda it: it[0].value or 0.0) if folds else None)
    return made


def _signed(found: Difference) -> str:
    if found.value is None:
        return "-"
    interval = f" ({found.low:+.4f} to {found.high:+.4f})" if found.low is not None else ""
    return f"{found.value:+.4f}{interval}"


def main() -> None:
    """Prints the table, and draws the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    site = PRESETS["site"]
    parser.add_argument("author", nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+", default=[0, 10, 20, 40])
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--elsewhere", action="append")
    parser.add_argument("--elsewhere-notes", type=int, help="the most notes of other authors; all unless given")
    parser.add_argument("--start", default=SHIPPED)
    parser.add_argument("--beside", type=int, default=BESIDE)
    parser.add_argument("--rate", type=float, default=site.rate)
    parser.add_argument("--epochs", type=float, default=site.epochs)
    parser.add_argument("--tokens", type=int, default=site.tokens)
    parser.add_argument("--frozen", type=int, default=site.frozen)
    parser.add_argument("--by", choices=["uncertainty", "lot"], default="uncertainty")
    parser.add_argument("--learn-from-all", action="store_true", help="keep no marked note back for the thresholds")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--json", type=Path, help="a file for recall and precision of each size")
    told = parser.parse_args()
    sites = [author(name) for name in told.author]
    preset = replace(site, rate=told.rate, epochs=told.epochs, tokens=told.tokens, frozen=told.frozen)
    lines, figures, kept = [], {}, {}
    for one in sites:
        others = elsewhere_of(one, told.elsewhere)
        notes = [note for it in others for note in marked_notes(it)]
        notes = sorted(notes, key=lambda it: Dice(7, it.note_id).between(0, 1 << 30))[: told.elsewhere_notes]
        without = (one.name, *(it.name for it in others))
        how = How(told.start, preset, told.beside, without, told.by == "lot", not told.learn_from_all)
        points = curve(one, [0, *told.sizes], told.folds, notes, how, told.workers)
        lost = forgotten(points)
        figures[one.name] = [(point.marked, point.scores) for point in points]
        for point, less in zip(points, lost, strict=True):
            gain = difference(point.here, points[0].here, "recall")
            scores = point.scores
            lines.append((one.name, f"{point.marked}", estimate(scores.recall), _signed(gain),
                          estimate(scores.precision), estimate(scores.leak_rate),
                          *((_signed(less[0]), _signed(less[1])) if less else ("-", "-")),
                          f"{point.seconds / max(1, told.folds):.0f}"))  # fmt: skip
            kept |= {
                f"{measure}, {one.name}, {point.marked} notes": estimate(value)
                for measure, value in (("recall", scores.recall), ("precision", scores.precision))
            }
    print(table(("site", "marked notes", "recall", "gained", "precision", "notes with a missed identifier",
                 "recall elsewhere", "precision elsewhere", "seconds a training"), lines))  # fmt: skip
    if told.figure:
        told.figure.write_bytes(adaptation_figure(figures))
    if told.json:
        told.json.write_text(json.dumps(kept, indent=1) + "\n")


def elsewhere_of(site: Author, named: Sequence[str] | None) -> list[Author]:
    """The authors on whose notes forgetting is measured."""
    if named:
        return [author(name) for name in named if name != site.name]
    others = [one for one in authors(site.use) if one.name != site.name]
    return others[::3] if site.use in (Use.TRAINING, Use.THRESHOLDS) else others


if __name__ == "__main__":
    main()

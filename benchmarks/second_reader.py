"""What a second reader adds and costs: all notes, or only those of which the models are least sure, beside nobody.

    python benchmarks/second_reader.py GOLD.jsonl --prompt extract-one [--share 0.05 --share 0.1 --share 0.2]
                                       [--labels PATIENT,DOCTOR] [--cards 1]
    python benchmarks/second_reader.py NOTES.jsonl --doubts
    DEID_CORPORA=... python benchmarks/second_reader.py --choose 400

The first asks the model of the deid.toml in force, [llm] or [vllm], about notes with gold, on the text alone, and keeps
no answer: each row is asked anew. Of a row it prints the notes that were sent, recall by words, the recall gained over
the ensemble alone, the seconds of asking, and the points of recall gained per 1,000 of them; with --cards, per 1,000
seconds of a card, of which so many are busy meanwhile.

--doubts prints the doubt at each hundredth of the notes of a file, the highest first: `doubt_from` of deid.toml takes
one of them. --choose does so for notes for tuning (`deid_platform/training/mixture.py`), which no test has, and says
how many of the missed words stand in the notes with the highest doubt, beside what their number of words would tell.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import ceil
from pathlib import Path

from deid_platform.corpora.gold import read_gold
from deid_platform.corpora.single_files import read_notes
from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Document
from deid_platform.detection.chat.review import Review, doubt_at, doubt_of
from deid_platform.detection.chat.spec import ChatSpec
from deid_platform.detection.models.loading import Models
from deid_platform.detection.pipeline import Candidates
from deid_platform.engine.detection_job import outcomes_in
from deid_platform.errors import Code
from deid_platform.evaluation.scores.scores import NoteCounts, count_note, summarise
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.settings import load_settings
from deid_platform.training.mixture import Mixture, labelled

_BATCH = 32
_SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
Gold = Sequence[tuple[Note, tuple[Span, ...]]]


class Doubts:
    """The ensemble on the text alone, and the doubt of each note that it has read."""

    def __init__(self) -> None:
        self.of: dict[str, float] = {}
        self._pipeline = DetectorSpec("ensemble").pipeline()
        stages = dict(self._pipeline.stages)
        # Where the stage `chat` would be.
        self._pipeline.stages = {
            name: stage
            for each in stages
            for name, stage in ((("chat", self._seen),) if each == "doubt" else ()) + ((each, stages[each]),)
        }

    def read(self, notes: Iterable[Note]) -> Iterator[tuple[Span, ...]]:
        """What is found in each note, whose doubt is known after it."""
        rest = iter(notes)
        while batch := list(islice(rest, _BATCH)):
            yield from self._pipeline.detect(batch)

    def _seen(self, documents: Sequence[Document], candidates: Candidates) -> Candidates:
        for document, some in zip(documents, candidates, strict=True):
            key = document.note.note_id
            self.of[key] = max(self.of.get(key, 0.0), doubt_of(document, some))
        return candidates


def hundredths(doubts: Iterable[float]) -> list[float]:
    """The doubt from which on each hundredth of the notes is read; the last is that of all but the surest."""
    ordered = sorted(doubts, reverse=True)
    return [ordered[ceil(len(ordered) * n / 100) - 1] for n in range(1, 101)]


def choose(most: int) -> None:
    """Prints what doubt and length tell of missed words, and the hundredths."""
    mixture = replace(Mixture().tuning, plain=0)
    made = list(labelled(mixture, None))
    random.Random(3).shuffle(made)
    made = made[:most]
    notes = [Note(str(n), each.text) for n, each in enumerate(made)]
    doubts = Doubts()
    # Occupations are not searched for unless a policy hides them.
    golds = [[span for span in it.spans if span.label is not Label.PROFESSION] for it in made]
    counts = [count_note(n.text, gold, found) for n, gold, found in zip(notes, golds, doubts.read(notes), strict=True)]
    missed, words = sum(it.false_negatives for it in counts), sum(it.words for it in counts)
    print(f"# {len(notes):,} notes, {words:,} words, {missed:,} missed")
    by: Mapping[str, Sequence[float]] = {
        "doubt": [doubts.of[note.note_id] for note in notes],
        "words": [it.words for it in counts],
    }
    for name, values in by.items():
        order = sorted(range(len(notes)), key=lambda n, values=values: -values[n])  # type: ignore[misc]
        for share in _SHARES:
            top = [counts[n] for n in order[: int(share * len(order))]]
            read, held = sum(it.words for it in top) / words, sum(it.false_negatives for it in top) / missed
            print(f"# by {name}: {share:.0%} of the notes have {read:.0%} of the words, {held:.0%} of the missed ones")
    for value in hundredths(by["doubt"]):
        print(f"{value:.4f}")


def measure(
    gold: Gold, prompt: str, shares: Sequence[float], labels: frozenset[Label], cards: int, models: Models
) -> None:
    """Prints a row for the ensemble alone, for each share and for all notes."""
    notes = [note for note, _ in gold]
    alone = DetectorSpec("ensemble")
    chat = ChatSpec.of(load_settings(), prompt)
    chosen = {f"{share:.0%}": Review(doubt_at(share), labels) for share in shares} | {"all": Review(0.0, labels)}
    doubts = Doubts()
    list(doubts.read(notes))
    base, _, _ = _row(gold, alone, models)
    print(f"{'sent':>6} {'notes':>6} {'failed':>6} {'recall':>8} {'gained':>8} {'seconds':>8} {'points/1000 s':>14}")
    print(f"{'none':>6} {0:6,} {0:6,} {base:8.4f}")
    for name, review in chosen.items():
        sent = sum(doubts.of[note.note_id] >= review.doubt_from for note in notes)
        recall, seconds, failed = _row(gold, replace(alone, chat=replace(chat, review=review)), models)
        gained = 100 * (recall - base)
        price = f"{1000 * gained / (seconds * max(1, cards)):14.2f}" if sent else ""
        print(f"{name:>6} {sent:6,} {failed:6,} {recall:8.4f} {gained:+8.2f} {seconds:8.1f} {price}", flush=True)
    if cards:
        print(f"seconds of the last column are those of {cards} card(s)")


def _row(gold: Gold, spec: DetectorSpec, models: Models) -> tuple[float, float, int]:
    """Recall, seconds of asking, and failed notes, whose identifiers all count as missed."""
    pipeline, asked = spec.pipeline(models), 0.0
    chat = pipeline.stages.get("chat")

    def timed(documents: Sequence[Document], candidates: Candidates) -> Candidates:
        nonlocal asked
        started = time.perf_counter()
        assert chat is not None
        found = chat(documents, candidates)
        asked += time.perf_counter() - started
        return found

    if chat is not None:
        pipeline.stages["chat"] = timed
    rest, counts, failed = iter(gold), list[NoteCounts](), 0
    while batch := list(islice(rest, _BATCH)):
        outcomes = outcomes_in(pipeline, [note for note, _ in batch])
        for (note, spans), outcome in zip(batch, outcomes, strict=True):
            failed += isinstance(outcome, Code)
            counts.append(count_note(note.text, spans, () if isinstance(outcome, Code) else outcome))
    return summarise(counts, resamples=2).recall.value or 0.0, asked, failed


def main() -> None:
    """Reads the arguments and does what they ask."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("notes", type=Path, nargs="?")
    arguments.add_argument("--prompt", default="extract-one")
    arguments.add_argument("--share", type=float, action="append")
    arguments.add_argument("--labels", type=lambda given: frozenset(map(Label, given.split(","))))
    arguments.add_argument("--cards", type=int, default=0)
    arguments.add_argument("--most", type=int)
    arguments.add_argument("--doubts", action="store_true")
    arguments.add_argument("--choose", type=int, metavar="NOTES")
    given = arguments.parse_args()
    if given.choose:
        choose(given.choose)
        return
    if given.doubts:
        doubts = Doubts()
        list(
            doubts.read(
                note for note in islice(read_notes(given.notes, strict=False), given.most) if isinstance(note, Note)
            )
        )
        print("\n".join(f"{value:.4f}" for value in hundredths(doubts.of.values())))
        return
    read = islice(read_gold(given.notes, with_text=True), given.most)
    gold = [(it.note, it.spans) for it in read if it.note is not None]
    with Models() as models:
        measure(gold, given.prompt, given.share or _SHARES[:3], given.labels or frozenset(Label), given.cards, models)


if __name__ == "__main__":
    main()

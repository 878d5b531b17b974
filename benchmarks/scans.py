"""What is left of letters that go over paper: written, printed, worn, read by Tesseract, gold carried over.

    python benchmarks/scans.py [--letters 30] [--seed 11] [--points 11] [--least-confidence 0.7]
        [--notes notes.jsonl.gz] [--of-notes 20] [--workers 2]

Letters are referral letters of the synthetic hospital, whose identifiers were planted. `--notes` adds notes of a file
of JSON lines; where they have no gold, pairs of neighbouring words, one in ten, stand for identifiers, so that it shows
how much is carried over but nothing of how identifiers are read. Each note is printed in one of three typefaces, worn
at three levels (`degrade.WEAR`), and kept as a PDF of images.

    words wrong      words changed, lost or added, of those written (Levenshtein over words); the second figure where
                     only letters and digits count, so that a speck read as a dot does not
    read otherwise   identifiers whose surface is another, white space aside, of those carried over
    carried          identifiers that found a place in what was read, of those in letters that were read
    gold             letters that are still gold, each of whose identifiers found a place, of all
    illegible        letters refused for a page with less than the least confidence
    confidence       mean over the letters that were read; s: seconds a page

A second table says what the rules still find, in words as `deid evaluate` counts them, on the letters that are still
gold at every level: as they were written, with noise on their text alone (`corpora/noise.py`), and over paper.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from deid_platform.corpora.gold import Gold, read_gold
from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.noise import NoiseSpec, noisy
from deid_platform.corpora.scans.carry_over import carry_over, word_error_rate
from deid_platform.corpora.scans.degrade import WEAR, Level, degrade
from deid_platform.corpora.scans.documents import read_document
from deid_platform.corpora.scans.pages import Limits, RefusedPageError
from deid_platform.corpora.scans.render import Face, render, write_pdf
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.evaluation.scores.scores import count_note, summarise
from deid_platform.labels import Label
from deid_platform.notes import Note, Span, Topics
from deid_platform.surrogates.dice import Dice

LETTER = "referral letter"


@dataclass(frozen=True)
class Sheet:
    """One note at one level: what was measured. `wrong` is the number of wrong words; None if it was refused."""

    level: Level
    pages: int
    words: int
    wrong: float | None
    bare_wrong: float
    confidence: float
    identifiers: int
    carried: int
    otherwise: int
    gold: Gold | None
    seconds: float


def letters(count: int, seed: int) -> tuple[list[Gold], Topics]:
    """Referral letters of the synthetic hospital, and its topics."""
    topics, found = Topics(), {}
    for delivery in generate(HospitalSpec(seed=seed, notes=25 * count)):
        topics = topics.folded(delivery.topics)
        for note in delivery.notes:
            key = note.note_id
            if note.note_type == LETTER and (key in found or len(found) < count):
                found[key] = Gold(key, delivery.gold[key], delivery.clinical[key], note)
    return list(found.values()), topics


def notes_of(path: Path, count: int, seed: int) -> list[Gold]:
    """Notes of a file drawn by the seed, with its gold, or pairs of words where it has none."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        rows = [json.loads(line) for line in lines]
    with_gold = any(row.get("spans") for row in rows)
    drawn = set(Dice("scans", seed).some(range(len(rows)), count))
    if with_gold:
        return [gold for at, gold in enumerate(read_gold(path)) if at in drawn]
    chosen = [Note(str(row["note_id"]), row["text"]) for at, row in enumerate(rows) if at in drawn]
    return [Gold(note.note_id, _pairs(note, seed), (), note) for note in chosen]


def _pairs(note: Note, seed: int) -> tuple[Span, ...]:
    """One pair of neighbouring words in ten, as if it were an identifier."""
    dice = Dice("pairs", seed, note.note_id)
    words, at = [], 0
    for word in note.text.split():
        at = note.text.index(word, at)
        words.append((at, at + len(word)))
        at += len(word)
    pairs = zip(words[::2], words[1::2], strict=False)
    return tuple(Span(a, d, Label.PATIENT, source="pair") for (a, _), (_, d) in pairs if dice.chance(0.1))


def measured(task: tuple[int, Gold, Level, float, float]) -> Sheet:
    """One note at one level."""
    at, gold, level, points, confidence = task
    assert gold.note is not None
    text = gold.note.text
    face = list(Face)[at % len(Face)]
    pages = [
        degrade(page, f"{gold.note_id}/{number}", WEAR[level])
        for number, page in enumerate(render(text, face=face, points=points), start=1)
    ]
    sheet = Sheet(level, len(pages), len(text.split()), None, 0.0, 0.0, len(gold.spans), 0, 0, None, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "letter.pdf")
        write_pdf(pages, path)
        began = time.perf_counter()
        try:
            document = read_document(path, limits=Limits(confidence=confidence))
        except RefusedPageError:
            return replace(sheet, seconds=time.perf_counter() - began)
    seconds = time.perf_counter() - began
    carried = carry_over(gold, document.text)
    placed = [span for index, span in enumerate(gold.spans) if index not in carried.unplaced]
    whole = carry_over(replace(gold, spans=tuple(placed)), document.text).gold
    surfaces = zip(placed, whole.spans if whole else (), strict=False)
    otherwise = sum(
        text[was.start : was.end].split() != document.text[now.start : now.end].split() for was, now in surfaces
    )
    return replace(
        sheet,
        wrong=word_error_rate(text, document.text) * sheet.words,
        bare_wrong=word_error_rate(_bare(text), _bare(document.text)) * len(_bare(text).split()),
        confidence=sum(page.confidence for page in document.pages) / len(document.pages),
        carried=len(placed),
        otherwise=otherwise,
        gold=carried.gold,
        seconds=seconds,
    )


def table(name: str, sheets: Sequence[Sheet]) -> Iterator[str]:
    """One row a level."""
    for level in Level:
        of = [sheet for sheet in sheets if sheet.level is level]
        read = [sheet for sheet in of if sheet.wrong is not None]
        words, found = sum(sheet.words for sheet in read), sum(sheet.identifiers for sheet in read)
        carried = sum(sheet.carried for sheet in read)
        pages = sum(sheet.pages for sheet in of)
        cells = (
            name,
            level.value,
            f"{len(of)} ({pages})",
            f"{_share(sum(sheet.wrong or 0 for sheet in read), words)}, "
            + _share(sum(sheet.bare_wrong for sheet in read), words),
            _share(sum(sheet.otherwise for sheet in read), carried),
            f"{_share(carried, found)} of {found:,}",
            f"{sum(sheet.gold is not None for sheet in of)}",
            f"{len(of) - len(read)}",
            f"{sum(sheet.confidence for sheet in read) / max(1, len(read)):.2f}",
            f"{sum(sheet.seconds for sheet in of) / pages:.1f}",
        )
        yield f"| {' | '.join(cells)} |"


def found_again(golds: Sequence[Gold], sheets: Sequence[Sheet], topics: Topics, seed: int) -> Iterator[str]:
    """What the rules find in the letters that are still gold at every level, one row for each way they are given."""
    by_level = {level: {s.gold.note_id: s.gold for s in sheets if s.level is level and s.gold} for level in Level}
    kept = [gold for gold in golds if all(gold.note_id in of for of in by_level.values())]
    noise = NoiseSpec(0.3, outside=0.02, seed=seed)
    ways = {"as written": kept, "noise 0.3, 0.02": [noisy(gold, noise).gold for gold in kept]}
    ways |= {level.value: [of[gold.note_id] for gold in kept] for level, of in by_level.items()}
    yield f"| {len(kept)} letters | recall, text alone | precision | recall, with topics | precision |"
    yield "| --- | --- | --- | --- | --- |"
    for name, given in ways.items():
        cells = [name]
        for spec in (DetectorSpec("rules"), DetectorSpec("rules", topics=topics)):
            notes = [gold.note for gold in given if gold.note]
            read = LocalEngine().detect_in_two_passes(spec, lambda notes=notes: notes)
            spans = [detection.spans or () for _, detection in read]
            scores = summarise(
                count_note(note.text, gold.spans, of, clinical=gold.clinical, cluster=note.patient_id)
                for note, gold, of in zip(notes, given, spans, strict=True)
            )
            cells += [f"{m.value:.3f} ({m.low:.3f}-{m.high:.3f})" for m in (scores.recall, scores.precision)]
        yield f"| {' | '.join(cells)} |"


def _bare(text: str) -> str:
    return re.sub(r"[^\w\s]|_", " ", text)


def _share(part: float, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--letters", type=int, default=30)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--points", type=float, default=11)
    parser.add_argument("--least-confidence", type=float, default=Limits().confidence)
    parser.add_argument("--notes", type=Path)
    parser.add_argument("--of-notes", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    written, topics = letters(chosen.letters, chosen.seed)
    sets = {"letters": written}
    if chosen.notes:
        sets[chosen.notes.parent.name] = notes_of(chosen.notes, chosen.of_notes, chosen.seed)
    print(
        "| set | level | notes (pages) | words wrong | read otherwise | carried | gold | illegible | confidence | s |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with ProcessPoolExecutor(chosen.workers, get_context("spawn")) as pool:
        for name, golds in sets.items():
            each = [(at, gold, level) for at, gold in enumerate(golds) for level in Level]
            tasks = [(*task, chosen.points, chosen.least_confidence) for task in each]
            sheets = list(pool.map(measured, tasks))
            for line in table(name, sheets):
                print(line, flush=True)
            if golds is written:
                of_letters = sheets
    print()
    for line in found_again(written, of_letters, topics, chosen.seed):
        print(line, flush=True)


if __name__ == "__main__":
    main()

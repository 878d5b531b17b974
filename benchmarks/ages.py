"""How many ages are found under a policy that hides those under 90, and how many of what is found are ages.

    DEID_CORPORA=... python benchmarks/ages.py

A row for each gold: the library's notes for thresholds, in which `ages.tsv` marks ages (the rules were adjusted on
them); MEDDOCAN's two parts (the rules were adjusted on the development part); ACI-Bench, whose silver marks are of the
patient's age alone, so that nothing is said of precision. MEDDOCAN marks the words with the number; a number in a mark
counts once. Rules on the text alone: models of the platform know no age under 90.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import regex

from deid_platform.corpora.gold import read_gold
from deid_platform.corpora.library.authors import Use, authors, notes_by
from deid_platform.detection import DetectorSpec, NoteDetector
from deid_platform.labels import Label
from deid_platform.notes import Note

Places = list[tuple[int, int]]
_MARKS = Path(__file__).with_suffix(".tsv")
_NUMBER = regex.compile(r"\d+(?:[.,]\d+)?")


def library() -> Iterator[tuple[str, list[tuple[Note, Places]]]]:
    """The library's notes for thresholds, by language, with the ages of `ages.tsv`."""
    marks: dict[str, Places] = defaultdict(list)
    for line in _MARKS.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            note_id, start, end = line.split("\t")
            marks[note_id].append((int(start), int(end)))
    for author in authors(Use.THRESHOLDS):
        notes = [one.gold.note for one in notes_by(author)]
        yield f"library, {author.name}", [(note, marks[note.note_id]) for note in notes if note]


def published(path: Path, scheme: str) -> list[tuple[Note, Places]]:
    """Notes with the numbers of their marked ages."""
    return [
        (it.note, list(_numbers(it.note.text, ((s.start, s.end) for s in it.spans if s.label is Label.AGE))))
        for it in read_gold(path, scheme=scheme, with_text=True)
        if it.note
    ]


def _numbers(text: str, marked: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for start, end in marked:
        yield from [match.span() for match in _NUMBER.finditer(text, start, end)] or [(start, end)]


def row(detector: NoteDetector, gold: Sequence[tuple[Note, Places]]) -> tuple[int, int, int, int]:
    """Ages marked, those of them found, what is found, and what of it is marked."""
    marked = hit = found = right = 0
    for (_, ages), spans in zip(gold, detector.detect([note for note, _ in gold]), strict=True):
        places = [(span.start, span.end) for span in spans if span.label is Label.AGE]
        marked, found = marked + len(ages), found + len(places)
        hit += sum(_covered(age, places) for age in ages)
        right += sum(_covered(place, ages) for place in places)
    return marked, hit, found, right


def _covered(one: tuple[int, int], others: Places) -> bool:
    return any(start < one[1] and one[0] < end for start, end in others)


def main() -> None:
    """Prints a row for each gold."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    golds = list(library())
    if corpora := os.environ.get("DEID_CORPORA"):
        for part in ("dev", "train"):
            path = Path(corpora) / "meddocan" / f"{part}.jsonl.gz"
            golds.append((f"MEDDOCAN, {part}", published(path, "meddocan")))
        silver = published(Path(corpora) / "aci_bench" / "notes.jsonl.gz", "aci-bench")
        golds.append(("ACI-Bench, silver", [one for one in silver if one[1]]))
    detector = DetectorSpec("rules", ages=True).build()
    print("| notes | ages marked | recall | precision |\n| --- | --- | --- | --- |")
    for name, gold in golds:
        marked, hit, found, right = row(detector, gold)
        precision = "" if "silver" in name else f"{right / found:.3f}"
        print(f"| {name} ({len(gold)}) | {marked} | {hit / marked:.3f} | {precision} |")


if __name__ == "__main__":
    main()

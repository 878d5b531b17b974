"""What a detector finds on writing that nobody developed them on: the synthetic hospital's held-out part.

    python benchmarks/accuracy.py [--notes 600] [--seed 7] [--part held-out] [--detector rules] [--misses 0]

Note types, styles, names and ways of writing are those of the part (`HospitalSpec`). Measures are by words, as
`deid evaluate` counts them, with the 95% interval of a bootstrap over patients; then each label's recall, how often
each planted shape was covered whole, and recall and precision of each house of style. `--misses` shows words that were
missed or taken wrongly, with what stands around them, and not for the held-out part: whoever looks there has begun to
tune to it.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aims import estimate, table

from deid_platform.corpora.hospital import HospitalSpec, Part, Shape, Style, generate
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.evaluation.scores.scores import Estimate, NoteCounts, count_note, summarise
from deid_platform.notes import Note, Span, Topics

MEASURES = ("precision", "recall", "f1", "entity_recall", "clinical_retention")


@dataclass(frozen=True)
class Planted:
    """One note with what was planted in it."""

    note: Note
    gold: tuple[Span, ...]
    clinical: tuple[tuple[int, int], ...]
    shapes: tuple[Shape | None, ...]
    style: str


def written(spec: HospitalSpec) -> tuple[list[Planted], Topics]:
    """The newest version of every note, and the topics as of the last delivery."""
    topics, notes = Topics(), {}
    for delivery in generate(spec):
        topics = topics.folded(delivery.topics)
        for note in delivery.notes:
            key = note.note_id
            notes[key] = Planted(
                note, delivery.gold[key], delivery.clinical[key], delivery.shapes[key], delivery.styles[key].value
            )
    return list(notes.values()), topics


def shown(name: str, value: Estimate) -> str:
    """A measure with its interval and counts."""
    return f"  {name:<20} {value.value:.4f} ({value.low:.4f}-{value.high:.4f})  {value.hits:,} of {value.total:,}"


def by_shape(notes: Sequence[Planted], found: Sequence[tuple[Span, ...]]) -> str:
    """How many of each planted shape are covered whole."""
    planted: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for each, spans in zip(notes, found, strict=True):
        for span, shape in zip(each.gold, each.shapes, strict=True):
            if shape is not None:
                planted[shape.value] += 1
                whole[shape.value] += any(s.start <= span.start and span.end <= s.end for s in spans)
    return ", ".join(f"{shape} {whole[shape]}/{count}" for shape, count in sorted(planted.items()))


def by_style(notes: Sequence[Planted], counts: Sequence[NoteCounts]) -> str:
    """Recall and precision of each house of style, as docs/model.md shows them."""
    rows = []
    for style in Style:
        some = [count for each, count in zip(notes, counts, strict=True) if each.style == style.value]
        if some:
            scores = summarise(some, resamples=1000)
            rows.append((style.value, f"{len(some):,}", estimate(scores.recall), estimate(scores.precision)))
    return table(("house of style", "notes", "recall", "precision"), rows)


def mistakes(notes: Sequence[Planted], found: Sequence[tuple[Span, ...]]) -> Iterator[str]:
    """What was missed and what was taken wrongly, in context."""
    for each, spans in zip(notes, found, strict=True):
        text = each.note.text
        for sign, mine, theirs in (("missed", each.gold, spans), ("wrong", spans, each.gold)):
            for span in mine:
                if not any(span.overlaps(other) for other in theirs):
                    before, after = text[max(0, span.start - 40) : span.start], text[span.end : span.end + 25]
                    line = f"{before}[{text[span.start : span.end]}]{after}".replace("\n", "⏎")
                    yield f"  {sign} {span.label.value} {span.source}: {line}"


def main() -> None:
    """Prints both inputs: with topics, and on the text alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=600)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--part", choices=[part.value for part in Part], default=Part.HELD_OUT.value)
    parser.add_argument("--detector", default="rules")
    parser.add_argument("--misses", type=int, default=0, help="how many to show, drawn at random")
    arguments = parser.parse_args()
    part = Part(arguments.part)
    if arguments.misses and part is not Part.SHOWN:
        parser.error("--misses goes with --part shown alone")
    notes, topics = written(HospitalSpec(seed=arguments.seed, notes=arguments.notes, part=part))
    words = sum(len(each.note.text.split()) for each in notes)
    print(f"{part.value}: {len(notes):,} notes, {words:,} words, {sum(len(each.gold) for each in notes):,} identifiers")
    for inputs, known in (("with topics", topics), ("text alone", None)):
        spec = DetectorSpec(arguments.detector, topics=known)
        read = LocalEngine().detect_in_two_passes(spec, lambda: [each.note for each in notes])
        found = [detection.spans or () for _, detection in read]
        counts = [
            count_note(each.note.text, each.gold, spans, clinical=each.clinical, cluster=each.note.patient_id)
            for each, spans in zip(notes, found, strict=True)
        ]
        scores = summarise(counts)
        print(f"\n{inputs}")
        print("\n".join(shown(name, getattr(scores, name)) for name in MEASURES))
        labels = ((label.value, label_scores.recall.value) for label, label_scores in scores.labels.items())
        print("  recall by label:", ", ".join(f"{label} {value:.3f}" for label, value in labels if value is not None))
        print("  shapes covered whole:", by_shape(notes, found))
        print(f"\n{by_style(notes, counts)}")
        lines = list(mistakes(notes, found)) if arguments.misses else []
        print("\n".join(random.Random(0).sample(lines, min(arguments.misses, len(lines)))))


if __name__ == "__main__":
    main()

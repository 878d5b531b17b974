"""What each recognizer, dictionary and model adds that no other does, and what recognizers cost.

    DEID_CORPORA=... python benchmarks/contributions.py [--model NAME] [--hospital 400] [--top 60] [--scores]

For whoever writes or removes a rule: whole notes of the library's threshold and training authors, notes of carriers
that are kept back from training, in the ways of an author whom no model is trained on, and the synthetic hospital's
held-out part. The sealed set serves no such decision. Text alone;
candidates before they are merged, after recovery. What only the model finds counts for the model alone.

The table of those that add nothing is in the order of the words that they alone hide wrongly, then of their seconds.

`--scores` prints recall and precision of the ensemble and of its rules alone on the same notes instead, in two passes:
what a change of the rules costs both.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace

from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.hospital.spec import Part
from deid_platform.corpora.library.authors import Use, authors, notes_by
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.evaluation.scores.contributions import Contribution, contributions_on
from deid_platform.evaluation.scores.scores import count_note, summarise
from deid_platform.notes import Note, Span, Topics
from deid_platform.training.mixture import Mixture, labelled


def notes(hospital: int) -> Iterator[tuple[Note, tuple[Span, ...]]]:
    """Notes with their gold."""
    for use in (Use.THRESHOLDS, Use.TRAINING):
        for written in (written for one in authors(use) for written in notes_by(one)):
            if written.gold.note is not None:
                yield written.gold.note, written.gold.spans
    tuning = Mixture().tuning
    for number, one in enumerate(labelled(replace(tuning, hospital=0), None)):
        yield Note(f"{one.corpus}-{number}", one.text), one.spans
    for delivery in generate(HospitalSpec(notes=hospital, part=Part.HELD_OUT)) if hospital else ():
        for note in delivery.notes:
            yield note, tuple(delivery.gold[note.note_id])


def scores(hospital: int, models: tuple[str, ...] | None) -> Iterator[str]:
    """A line of Markdown for each detector and set of notes."""
    topics, newest = Topics(), {}
    for delivery in generate(HospitalSpec(notes=hospital, part=Part.HELD_OUT)):
        topics = topics.folded(delivery.topics)
        newest |= {note.note_id: (note, tuple(delivery.gold[note.note_id])) for note in delivery.notes}
    known = list(newest.values())
    sets = (("library and corpora", list(notes(0)), None), ("hospital", known, None), ("with topics", known, topics))
    yield "| detector | notes | missed of words | recall | precision |\n| --- | --- | --- | --- | --- |"
    for name in ("ensemble", "rules"):
        for said, some, given in sets:
            spec = DetectorSpec(name, topics=given, professions=True, models=models if name == "ensemble" else None)
            read = LocalEngine().detect_in_two_passes(spec, lambda some=some: [note for note, _ in some])
            found = summarise(
                count_note(note.text, gold, detection.spans or (), cluster=note.patient_id)
                for (note, gold), (_, detection) in zip(some, read, strict=True)
            )
            recall = found.recall
            missed = f"{recall.total - recall.hits:,} of {recall.total:,}"
            yield f"| {name} | {said} | {missed} | {recall.value:.4f} | {found.precision.value:.4f} |"


def table(rows: Iterable[Contribution]) -> str:
    """Markdown."""
    lines = ["| source | right | by it alone | wrong | by it alone | ms |", "| --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        counts = (row.right, row.right_alone, row.wrong, row.wrong_alone)
        lines.append(f"| {row.source} | {' | '.join(f'{it:,}' for it in counts)} | {1000 * row.seconds:,.1f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append")
    parser.add_argument("--hospital", type=int, default=400)
    parser.add_argument("--top", type=int, default=60)
    parser.add_argument("--scores", action="store_true")
    arguments = parser.parse_args()
    if arguments.scores:
        for line in scores(arguments.hospital, tuple(arguments.model) if arguments.model else None):
            print(line, flush=True)
        return
    spec = DetectorSpec("ensemble", professions=True, models=tuple(arguments.model) if arguments.model else None)
    rows = contributions_on(notes(arguments.hospital), spec)
    idle = [row for row in rows if not row.right_alone]
    wrong = sum(row.wrong_alone for row in idle)
    spent, of_all = (sum(row.seconds for row in some) for some in (idle, rows))
    print(f"{len(rows)} sources; {len(idle)} add nothing: {wrong:,} wrong words alone, {spent:.2f} of {of_all:.2f} s\n")
    print(table(rows[: arguments.top]))
    print(table(sorted(idle, key=lambda row: (-row.wrong_alone, -row.seconds))))


if __name__ == "__main__":
    main()

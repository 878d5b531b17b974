"""What each recognizer, dictionary and model adds that no other does, and what recognizers cost.

    DEID_CORPORA=... python benchmarks/contributions.py [--model NAME] [--hospital 400] [--top 60]

For whoever writes or removes a rule: notes of carriers that are kept back from training, in the ways of an author whom
no model is trained on, and the synthetic hospital's held-out part. The sealed set serves no such decision. Text alone;
candidates before they are merged, after recovery. What only the model finds counts for the model alone.

The table of those that add nothing is in the order of the words that they alone hide wrongly, then of their seconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace

from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.hospital.spec import Part
from deid_platform.detection import DetectorSpec
from deid_platform.evaluation.contributions import Contribution, contributions_on
from deid_platform.notes import Note, Span
from deid_platform.training.mixture import Mixture, labelled


def notes(hospital: int) -> Iterator[tuple[Note, tuple[Span, ...]]]:
    """Notes with their gold."""
    tuning = Mixture().tuning
    for number, one in enumerate(labelled(replace(tuning, hospital=0), None)):
        yield Note(f"{one.corpus}-{number}", one.text), one.spans
    for delivery in generate(HospitalSpec(notes=hospital, part=Part.HELD_OUT)):
        for note in delivery.notes:
            yield note, tuple(delivery.gold[note.note_id])


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
    arguments = parser.parse_args()
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

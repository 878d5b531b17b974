"""The ensemble and its rules beside other de-identifiers, on the same notes and in the same run.

    python -m benchmarks.peers NOTES.jsonl [PEER ...] --python INTERPRETER [--topics FOLDER] [--sentences FILE]

NOTES.jsonl is a gold file (docs/gate.md) with texts; FOLDER holds patients.csv, providers.csv and facilities.csv;
INTERPRETER has the peers installed (`adapters.py` says which versions and what else they need). Every measure is by
words: a word counts as found if any character of it is covered. Sentences (one a line) hold clinical terms and no
identifier; a sentence is intact if nothing in it was removed. Seconds are processor time on one core, without start-up.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.adapters import PEERS
from deid_platform.corpora import Role
from deid_platform.corpora.gold import read_gold
from deid_platform.detection import DetectorSpec
from deid_platform.evaluation.scores import count_note, summarise
from deid_platform.labels import Label
from deid_platform.notes import Note, Span, Topics
from deid_platform.workbench import read_topics

Found = list[list[tuple[int, int]]]


def ours(spec: DetectorSpec, notes: Sequence[Note]) -> tuple[Found, float]:
    """One of the platform's detectors in this process."""
    spec.build().detect(notes)  # compiles what this process has not used yet
    detector = spec.build()
    start = time.process_time()
    found = detector.detect(notes)
    return [[(s.start, s.end) for s in spans] for spans in found], time.process_time() - start


def peer(name: str, interpreter: Path, notes: Sequence[Note]) -> tuple[Found, float]:
    """A peer in its own interpreter."""
    lines = "".join(json.dumps({"text": note.text}) + "\n" for note in notes)
    script = Path(__file__).with_name("adapters.py")
    done = subprocess.run(
        [interpreter, script, name], input=lines, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    if done.returncode:
        sys.exit(f"{name} did not run: {done.stderr.strip().splitlines()[-1]}")
    *spans, seconds = (json.loads(line) for line in done.stdout.splitlines())
    return [[(start, end) for start, end in note] for note in spans], seconds


def main() -> None:
    """Prints one line a de-identifier."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", type=Path)
    parser.add_argument("peers", nargs="*", default=list(PEERS), help=f"default: {' '.join(PEERS)}")
    parser.add_argument("--python", type=Path, help="an interpreter with the peers; without it, ours alone")
    parser.add_argument("--topics", type=Path)
    parser.add_argument("--sentences", type=Path)
    arguments = parser.parse_args()
    gold = list(read_gold(arguments.notes))
    notes = [found.note for found in gold if found.note is not None]
    sentences = (
        [
            Note(f"s{i}", line)
            for i, line in enumerate(arguments.sentences.read_text("utf-8").splitlines())
            if line and not line.startswith("#")
        ]
        if arguments.sentences
        else []
    )
    words = sum(len(note.text.split()) for note in notes)
    print(f"{len(notes):,} notes, {words:,} words, {len(sentences):,} clinical sentences")
    print(f"{'':<26} precision  recall  sentences intact      words/s", flush=True)
    known: list[tuple[str, Topics | None]] = [("text alone", None)]
    if arguments.topics:
        files = {
            role: arguments.topics / f"{role.value}.csv" for role in (Role.PATIENTS, Role.PROVIDERS, Role.FACILITIES)
        }
        known.insert(0, ("with topics", read_topics(files)[0]))
    everything = [*notes, *sentences]

    def report(name: str, found: Found, seconds: float) -> None:
        counts = (
            count_note(
                n.text,
                g.spans,
                [Span(s, min(e, len(n.text)), Label.IDNUM) for s, e in f if 0 <= s < min(e, len(n.text))],
            )
            for n, g, f in zip(notes, gold, found, strict=False)
        )
        scores = summarise(counts, resamples=1)
        intact = f"{sum(not f for f in found[len(notes) :]) / len(sentences):.3f}" if sentences else "-"
        total = sum(len(note.text.split()) for note in everything)
        measured = f"{scores.precision.value:9.3f} {scores.recall.value:7.3f} {intact:>17} {total / seconds:12,.0f}"
        print(f"{name:<26} {measured}", flush=True)

    for detector in ("ensemble", "rules"):
        for inputs, topics in known:
            report(f"{detector}, {inputs}", *ours(DetectorSpec(detector, topics=topics), everything))
    for name in arguments.peers if arguments.python else ():
        report(name, *peer(name, arguments.python, everything))


if __name__ == "__main__":
    main()

"""The ensemble and its rules beside other de-identifiers, on the same notes and in the same run.

    python -m benchmarks.peers NOTES.jsonl [PEER[:ENGINE] ...] --python INTERPRETER [--topics FOLDER] [--sentences FILE]

NOTES.jsonl is a gold file (docs/gate.md) with texts; FOLDER holds patients.csv, providers.csv and facilities.csv;
INTERPRETER has the peers installed (`adapters.py` says which versions and what else they need). `model+PEER` is what
either the shipped model alone or the peer finds, as Aghakasiri 2025 joins a BERT with Presidio.

Every measure is by words: a word counts as found if any character of it is covered. A peer is scored on all labels, and
its recall again on the labels that it claims to find, with that of the ensemble on the same labels beside it. Sentences
(one a line) hold clinical terms and no identifier; a sentence is intact if nothing in it was removed. Seconds are
processor time on one core, without start-up.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.adapters import PEERS
from deid_platform.corpora import Role
from deid_platform.corpora.gold import Gold, read_gold
from deid_platform.detection import DetectorSpec
from deid_platform.evaluation.ablation import ablations
from deid_platform.evaluation.scores import Scores, count_note, summarise
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.workbench import read_topics

Found = list[list[tuple[int, int]]]
ADAPTERS = Path(__file__).with_name("adapters.py")
BY_DEFAULT = ("pydeid", "philter", "presidio", "presidio-modified")
WITH_MODEL = "model+"


@dataclass(frozen=True)
class Answer:
    """What one de-identifier did.

    Attributes:
        found: Spans of each note.
        seconds: Of processor time.
        claims: The labels that it claims to find; None for all.
    """

    found: Found
    seconds: float
    claims: frozenset[Label] | None = None


def ours(spec: DetectorSpec, notes: Sequence[Note]) -> Answer:
    """One of the platform's detectors in this process."""
    spec.build().detect(notes)  # compiles what this process has not used yet
    detector = spec.build()
    start = time.process_time()
    found = detector.detect(notes)
    return Answer([[(s.start, s.end) for s in spans] for spans in found], time.process_time() - start)


def peer(name: str, interpreter: Path, notes: Sequence[Note], *, script: Path = ADAPTERS) -> Answer:
    """A peer in its own interpreter.

    Raises:
        SystemExit: It is not installed there, or failed; its last words.
    """
    lines = "".join(json.dumps({"text": note.text}) + "\n" for note in notes)
    done = subprocess.run(
        [interpreter, script, name], input=lines, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    if done.returncode:
        sys.exit(f"{name} did not run: {done.stderr.strip().splitlines()[-1]}")
    *spans, claims, seconds = (json.loads(line) for line in done.stdout.splitlines())
    return Answer([[(start, end) for start, end in note] for note in spans], seconds, frozenset(map(Label, claims)))


def joined(one: Answer, other: Answer) -> Answer:
    """What either of two finds."""
    found = [[*a, *b] for a, b in zip(one.found, other.found, strict=True)]
    return Answer(found, one.seconds + other.seconds)


def scored(gold: Sequence[Gold], found: Found, labels: Collection[Label] | None = None) -> Scores:
    """Scores of spans against gold; with labels, identifiers of others are neither missed nor counted at all."""
    counts = []
    for one, spans in zip(gold, found, strict=False):
        text = one.note.text if one.note is not None else ""
        inside = [(start, min(end, len(text))) for start, end in spans if 0 <= start < min(end, len(text))]
        wanted = [span for span in one.spans if labels is None or span.label in labels]
        counts.append(count_note(text, wanted, [Span(start, end, Label.IDNUM) for start, end in inside]))
    return summarise(counts, resamples=1)


def main() -> None:
    """Prints one line a de-identifier."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", type=Path)
    parser.add_argument("peers", nargs="*", default=list(BY_DEFAULT), help=f"of {' '.join(PEERS)}")
    parser.add_argument("--python", type=Path, help="an interpreter with the peers; without it, ours alone")
    parser.add_argument("--topics", type=Path)
    parser.add_argument("--sentences", type=Path)
    arguments = parser.parse_args()
    gold = [found for found in read_gold(arguments.notes, with_text=True) if found.note is not None]
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
    everything = [*notes, *sentences]
    words = sum(len(note.text.split()) for note in everything)
    print(f"{len(notes):,} notes, {len(sentences):,} clinical sentences, {words:,} words\n")
    print("| | precision | recall | recall on its labels | the ensemble on these | sentences intact | words/s |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)

    def report(name: str, answer: Answer, beside: Answer | None = None) -> None:
        scores = scored(gold, answer.found)
        on_its_labels = ("-", "-")
        if answer.claims is not None and beside is not None:
            recalls = [scored(gold, it.found, answer.claims).recall.value or 0.0 for it in (answer, beside)]
            on_its_labels = (f"{recalls[0]:.3f}", f"{recalls[1]:.3f}")
        intact = f"{sum(not f for f in answer.found[len(notes) :]) / len(sentences):.3f}" if sentences else "-"
        cells = (f"{scores.precision.value:.3f}", f"{scores.recall.value:.3f}", *on_its_labels, intact)
        print(f"| {name} | {' | '.join(cells)} | {words / answer.seconds:,.0f} |", flush=True)

    whole = DetectorSpec("ensemble")
    ensemble = ours(whole, everything)
    report("ensemble, text alone", ensemble)
    report("rules, text alone", ours(DetectorSpec("rules"), everything))
    if arguments.topics:
        topics = read_topics(
            {role: arguments.topics / f"{role.value}.csv" for role in (Role.PATIENTS, Role.PROVIDERS, Role.FACILITIES)}
        )[0]
        for detector in ("ensemble", "rules"):
            report(f"{detector}, with topics", ours(DetectorSpec(detector, topics=topics), everything))
    model = DetectorSpec("ensemble", without=dict(ablations(whole.stages, topics=False))["model"])
    for name in arguments.peers if arguments.python else ():
        answer = peer(name.removeprefix(WITH_MODEL), arguments.python, everything)
        if name.startswith(WITH_MODEL):
            report(name, joined(ours(model, everything), answer))
        else:
            report(name, answer, ensemble)


if __name__ == "__main__":
    main()

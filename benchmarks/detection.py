"""Speed and memory of the rule-based detector, stage by stage, on one core.

    python benchmarks/detection.py [NOTES.jsonl[.gz]] [--patients 5000] [--words 300000]

Without a file of notes (`{"text": ...}` a line) it writes its own prose of invented names. Words are runs
without white space; time is processor time; peak memory is that of this process, topics included.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import resource
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

from deid_platform.detection import DetectorSpec
from deid_platform.detection.detector import written_terms
from deid_platform.detection.gazetteer import Gazetteer
from deid_platform.detection.patterns import Patterns
from deid_platform.detection.patterns.recognizer import load_recognizers
from deid_platform.detection.reading import Reading
from deid_platform.detection.recovery import Recovery
from deid_platform.detection.roster import Roster
from deid_platform.notes import Facility, Note, Patient, Provider, Topics

SENTENCES = (
    "{first} {last} is a {age}-year-old patient with hypertension and type 2 diabetes who returns for follow-up.",
    "Blood pressure was 128/76, pulse 72, temperature 98.6, oxygen saturation 97% on room air.",
    "Mr. {last} denies chest pain, shortness of breath, nausea, vomiting or abdominal pain.",
    "On {day} an echocardiogram showed an ejection fraction of 55-60% and a 2/6 systolic murmur.",
    "Continue metoprolol 25 mg by mouth twice daily, lisinopril 10 mg daily and atorvastatin 40 mg at bedtime.",
    "The abdomen is soft, nontender and nondistended, with normal bowel sounds and no hepatosplenomegaly.",
    "Exercised for nine minutes on the Bruce protocol without ischaemic changes; Babinski negative bilaterally.",
    "The patient tolerated the procedure well and was transferred to the recovery room in stable condition.",
    "Labs reviewed: sodium 138, potassium 4.2, creatinine 1.1, hemoglobin 13.4, platelets 220, INR 1.0.",
    "Discussed with Dr. {other}, who agrees with the plan; call 617-555-0142 with questions.",
)


def topics_of(patients: int, rng: random.Random) -> Topics:
    """Invented topics: every patient with all fields, a tenth as many providers, a hundredth facilities."""
    first, last = written_terms("given_names"), written_terms("surnames")
    return Topics.of(
        (
            Patient(
                f"P{i:06}",
                rng.choice(first),
                rng.choice(first),
                rng.choice(last),
                date(1930, 1, 1) + timedelta(days=rng.randrange(30_000)),
                mrn=f"{10_000_000 + i}",
                ssn=f"9{i % 90 + 10:02}-{i % 89 + 10}-{i % 10_000:04}",
                phone=f"617-555-{i % 10_000:04}",
                email=f"p{i}@example.org",
                street=f"{i + 1} {rng.choice(last)} Street",
                city="Harlow Falls",
                zip=f"{27_000 + i % 1000}",
            )
            for i in range(patients)
        ),
        (Provider(f"D{i:05}", rng.choice(first), rng.choice(last), user_id=f"ZZ{i:04}") for i in range(patients // 10)),
        (
            Facility(f"F{i:04}", f"{rng.choice(last)} Falls Clinic {i}", f"HFC{i:04}")
            for i in range(max(1, patients // 100))
        ),
    )


def written_notes(topics: Topics, words: int, rng: random.Random) -> Iterator[Note]:
    """Invented notes of about 550 words each."""
    patients = list(topics.patients.values())
    total = 0
    while total < words:
        patient = rng.choice(patients)
        text = "\n".join(
            rng.choice(SENTENCES).format(
                first=patient.first_name,
                last=patient.last_name,
                age=rng.randrange(20, 99),
                day=f"{rng.randrange(1, 13)}/{rng.randrange(1, 29)}/2025",
                other=rng.choice(patients).last_name,
            )
            for _ in range(38)
        )
        total += len(text.split())
        yield Note(str(total), text, patient_id=patient.patient_id)


def read_notes(path: Path, topics: Topics) -> Iterator[Note]:
    """Notes of a file, given to the patients of the topics in turn."""
    ids = list(topics.patients)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for i, line in enumerate(lines):
            yield Note(str(i), json.loads(line)["text"], patient_id=ids[i % len(ids)])


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Prints one line a stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", nargs="?", type=Path)
    parser.add_argument("--patients", type=int, default=5000)
    parser.add_argument("--words", type=int, default=300_000)
    arguments = parser.parse_args()
    rng = random.Random(7)
    topics = topics_of(arguments.patients, rng)
    notes = list(
        read_notes(arguments.notes, topics) if arguments.notes else written_notes(topics, arguments.words, rng)
    )
    words = sum(len(note.text.split()) for note in notes)
    print(f"{len(notes):,} notes, {words:,} words, topics of {arguments.patients:,} patients")

    def report(stage: str, spent: float) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{stage:<28} {spent:8.2f} s {words / max(spent, 1e-9):12,.0f} words/s   peak {peak:6.0f} MB")

    spec = DetectorSpec(topics=topics)
    report("build rules", seconds(spec.build))
    Patterns().find(Reading(Note("warm", SENTENCES[0])))
    readings = [Reading(note) for note in notes]
    report("fold and read numbers", seconds(lambda: [(r.folded, r.numbers) for r in readings]))
    for stage, component in (("patterns", Patterns()), ("gazetteer", Gazetteer(topics)), ("roster", Roster(topics))):
        report(stage, seconds(lambda found=component: [found.find(r) for r in readings]))
    recovery = Recovery()
    spans = [Patterns().find(r) for r in readings]
    report("recovery", seconds(lambda: [recovery.keep(r, s) for r, s in zip(readings, spans, strict=True)]))
    detector = spec.build()
    report("rules, all together", seconds(lambda: detector.detect(notes)))

    slowest = sorted(
        ((seconds(lambda x=r: [list(x.find(reading)) for reading in readings]), r.name) for r in load_recognizers()),
        reverse=True,
    )
    print("slowest recognizers:", ", ".join(f"{name} {spent:.2f} s" for spent, name in slowest[:8]))


if __name__ == "__main__":
    main()

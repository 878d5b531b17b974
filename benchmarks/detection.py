"""Speed and memory of detection and redaction by rules, stage by stage, on one core.

    python benchmarks/detection.py [NOTES.jsonl[.gz]] [--patients 100000] [--words 300000] [--slowest 0]

Without a file of notes (`{"text": ...}` a line) it writes its own prose of invented names. Words are runs
without white space; time is processor time; peak memory is that of this process, topics included. The
topics have a tenth as many providers as patients, and a hundredth as many facilities.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import time
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path

from measure import row

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Document
from deid_platform.detection.pipeline import Candidates, Pipeline, detecting
from deid_platform.detection.resolve.merge import merge
from deid_platform.detection.rules import Rules
from deid_platform.detection.rules.catalogue import load_recognizers
from deid_platform.engine.gc_freeze import freeze_gc
from deid_platform.keys import Keyring
from deid_platform.leakcheck import LeakCheck
from deid_platform.lexicon.lists import written_terms
from deid_platform.notes import Facility, Note, Patient, Provider, Span, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact
from deid_platform.surrogates.keyed import Surrogates

BATCH = 64  # notes, as the engine has it
SECTIONS = {
    "HISTORY OF PRESENT ILLNESS:": (
        "{first} {last} is a {age}-year-old patient with hypertension and type 2 diabetes who returns for follow-up.",
        "Mr. {last} denies chest pain, shortness of breath, nausea, vomiting or abdominal pain.",
        "The pain began three weeks ago after lifting boxes and is worse when climbing stairs.",
        "Symptoms improved with ibuprofen 400 mg as needed, up to three times a day with food.",
        "Last seen on {day} for an infected wound of the left heel, which has healed since.",
        "There is no history of stroke, myocardial infarction, asthma or thyroid disease.",
        "The daughter, who helps with medicines at home, reports two falls without injury.",
        "There was no loss of consciousness, and the patient remembers the event clearly.",
        "Appetite is good, weight has been stable, and sleep is disturbed only by the pain in the knee.",
        "Current smoker of half a pack a day, drinks socially and uses no other substances.",
        "Family history is positive for coronary disease in the father and breast cancer in a maternal aunt.",
    ),
    "PHYSICAL EXAMINATION:": (
        "Blood pressure was 128/76, pulse 72, temperature 98.6, oxygen saturation 97% on room air.",
        "The abdomen is soft, nontender and nondistended, with normal bowel sounds and no hepatosplenomegaly.",
        "Heart regular, 2/6 systolic murmur at the left sternal border, no gallop; lungs clear to auscultation.",
        "Strength 5/5 in all extremities, reflexes 2+ and symmetric, Babinski negative bilaterally.",
        "Skin warm and dry with a 2 x 3 cm healed scar over the left heel, no erythema or drainage.",
        "Neck supple without lymphadenopathy; Murphy sign absent; no costovertebral angle tenderness.",
        "Alert and oriented, in no acute distress, answering questions appropriately.",
        "Pupils equal, round and reactive to light; extraocular movements intact; mucous membranes moist.",
        "Full range of motion in the shoulders and hips, with crepitus of the right knee on extension.",
        "Gait is steady with a cane; sensation is decreased to light touch in a stocking distribution.",
    ),
    "RESULTS:": (
        "On {day} an echocardiogram showed an ejection fraction of 55-60% and mild mitral regurgitation.",
        "Sodium 138, potassium 4.2, creatinine 1.1, hemoglobin 13.4, platelets 220, INR 1.0.",
        "Exercised for nine minutes on the Bruce protocol without ischaemic changes.",
        "Hemoglobin A1c was 7.2%, down from 8.1% in the spring; LDL cholesterol 84 mg/dL.",
        "Chest radiograph: no focal consolidation, effusion or pneumothorax; heart size normal.",
        "Magnetic resonance imaging of the knee showed a tear of the medial meniscus and mild chondromalacia.",
        "Blood cultures have shown no growth so far, and urinalysis was unremarkable.",
        "The biopsy was reported as a benign nevus with clear margins.",
        "Pulmonary function tests demonstrate mild obstruction without response to bronchodilators.",
    ),
    "ASSESSMENT AND PLAN:": (
        "Continue metoprolol 25 mg by mouth twice daily, lisinopril 10 mg daily and atorvastatin 40 mg at bedtime.",
        "The patient tolerated the procedure well and was transferred to the recovery room in stable condition.",
        "Discussed with Dr. {other}, who agrees with the plan; call 617-555-0142 with questions.",
        "Start physical therapy twice a week for six weeks and repeat laboratory tests before the next visit.",
        "Return to clinic in three months, or sooner if fever, chills or worsening pain occur.",
        "Foley catheter removed in the morning; voiding without difficulty since then.",
        "Counselled on diet, exercise and cessation of smoking; written instructions were given.",
        "Weigh the benefits of surgery against conservative treatment once the swelling has gone down.",
        "The risks of anticoagulation were explained, including bleeding, and all questions were answered.",
        "Arrange home nursing for wound care and keep the leg elevated as much as possible.",
    ),
}
FOOTER = "Electronically signed by {doctor}, MD on {day}"


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
    """Invented notes of about 500 words in sections, with some ten identifiers and twice as many other numbers."""
    patients, providers = list(topics.patients.values()), list(topics.providers.values())
    total = 0
    while total < words:
        patient, doctor = rng.choice(patients), rng.choice(providers)

        def filled(sentence: str, patient: Patient = patient, doctor: Provider = doctor) -> str:
            return sentence.format(
                first=patient.first_name,
                last=patient.last_name,
                age=rng.randrange(20, 99),
                day=f"{rng.randrange(1, 13)}/{rng.randrange(1, 29)}/2025",
                other=rng.choice(patients).last_name,
                doctor=f"{doctor.first_name} {doctor.last_name}",
            )

        paragraphs = [
            "\n".join([heading, *(filled(s) for s in rng.choices(sentences, k=9))])
            for heading, sentences in SECTIONS.items()
        ]
        text = "\n\n".join([*paragraphs, filled(FOOTER)])
        total += len(text.split())
        yield Note(str(total), text, patient_id=patient.patient_id)


def read_notes(path: Path, topics: Topics) -> Iterator[Note]:
    """Notes of a file, given to the patients of the topics in turn."""
    ids = list(topics.patients)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for i, line in enumerate(lines):
            yield Note(str(i), json.loads(line)["text"], patient_id=ids[i % len(ids)])


def main() -> None:
    """Prints one row a stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", nargs="?", type=Path)
    parser.add_argument("--patients", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=300_000)
    parser.add_argument("--slowest", type=int, default=0, help="also time so many of the slowest recognizers")
    arguments = parser.parse_args()
    rng = random.Random(7)
    topics = topics_of(arguments.patients, rng)
    notes = list(
        read_notes(arguments.notes, topics) if arguments.notes else written_notes(topics, arguments.words, rng)
    )
    words = sum(len(note.text.split()) for note in notes)
    print(f"{len(notes):,} notes, {words:,} words, topics of {len(topics.patients):,} patients")
    detector = row("build", words, DetectorSpec("rules", topics=topics).build)
    assert isinstance(detector, Pipeline)
    nothing = Document(Note("warm", ""))
    row("compile, once a process", words, lambda: [list(recognizer.find(nothing)) for recognizer in load_recognizers()])
    batches = [notes[i : i + BATCH] for i in range(0, len(notes), BATCH)]
    # First of all, while no paragraph is known yet; frozen, as the engine has it.
    with freeze_gc():
        found = row("all stages", words, lambda: [spans for batch in batches for spans in detector.detect(batch)])
    print(f"  of these, template text: {detector.reused.share:.1%} of characters reused")
    stages(detector, batches, words)
    redaction(notes, found, topics, words)
    slowest([Document(note) for note in notes], arguments.slowest)


def stages(detector: Pipeline, batches: Sequence[Sequence[Note]], words: int) -> None:
    """Rows of the forms in which a text is searched, and of each stage by itself, on text that none has read."""
    documents = [[Document(note) for note in batch] for batch in batches]
    row("  fold", words, lambda: [document.folded for batch in documents for document in batch])
    row("  numbers", words, lambda: [document.numbers for batch in documents for document in batch])
    candidates: list[Candidates] = [[[] for _ in batch] for batch in documents]
    for name, stage in {**detector.stages, "rules": detecting(Rules(remembered=0))}.items():
        pairs = list(zip(documents, candidates, strict=True))
        candidates = row(f"  {name}", words, lambda stage=stage, pairs=pairs: [stage(*pair) for pair in pairs])
    row("  merge", words, lambda: [merge(some) for batch in candidates for some in batch])


def redaction(notes: Sequence[Note], found: Sequence[Sequence[Span]], topics: Topics, words: int) -> None:
    """Rows of redaction with tags and with surrogates, and of the leak check over its result."""
    pairs = list(zip(notes, found, strict=True))
    policy = load_policy("safe_harbor_plus_providers")
    done = row("redaction with tags", words, lambda: [redact(note, spans, policy) for note, spans in pairs])
    keyring = Keyring(hashlib.sha256(b"bench").digest(), site="bench")
    shifted = load_policy("surrogate")
    surrogates = row("surrogates, built", words, lambda: Surrogates(keyring, topics))
    # What comes out is not kept, as the engine writes it away note by note.
    with freeze_gc():
        row(
            "redaction with surrogates",
            words,
            lambda: sum(len(redact(note, spans, shifted, surrogates=surrogates).text) for note, spans in pairs),
        )
    check = row("leak check, built", words, lambda: LeakCheck.of(topics, policy))
    with freeze_gc():
        row(
            "leak check",
            words,
            lambda: [
                check.check(note, topics.patients_known_as(note.patient_id), redacted.text, redacted.applied)
                for note, redacted in zip(notes, done, strict=True)
            ],
        )


def slowest(documents: Sequence[Document], count: int) -> None:
    """The recognizers that take longest over whole texts, without their anchors."""
    spent: list[tuple[float, str]] = []
    for recognizer in load_recognizers() if count else ():
        started = time.process_time()
        for document in documents:
            list(recognizer.find(document))
        spent.append((time.process_time() - started, recognizer.name))
    for seconds, name in sorted(spent, reverse=True)[:count]:
        print(f"  {name:<28}{seconds:8.2f} s without anchors")


if __name__ == "__main__":
    main()

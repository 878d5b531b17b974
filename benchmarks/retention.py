"""What detectors leave of the medicine: retention, diagnosis codes and a downstream task on notes of the hospital.

    python benchmarks/retention.py [--notes 200] [--detectors gold,rules,ensemble] [--policy safe_harbor] [--part shown]
    DEID_CORPORA=... python benchmarks/retention.py --mtsamples [--notes 400] [--detectors rules,ensemble]

Each detector releases the same notes without topics. `gold` releases them by their planted identifiers alone, so what
it loses is what the policy takes or a false alarm of the judge: the floor that the others stand on. The task is to tell
a note's type. JSC and NSDCG are by the coder of terms. Notes that are withheld are counted and left out.

MTSamples are published without identifiers, so nearly all that is lost there is lost wrongly; the task is to tell the
specialty. Of its notes only those are read that no sealed corpus is made of.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from deid_platform import load
from deid_platform.corpora.hospital.deliveries import generate
from deid_platform.corpora.hospital.spec import HospitalSpec, Part
from deid_platform.corpora.injection.corpus import Part as CorpusPart
from deid_platform.corpora.injection.corpus import part_of
from deid_platform.errors import DeidError
from deid_platform.evaluation.experiments.utility import Example, utility
from deid_platform.evaluation.retention.icd import TermCoder, note_codes
from deid_platform.evaluation.retention.lexical_judge import LexicalJudge
from deid_platform.evaluation.retention.retention import Pair, mean_interval, note_retentions, retention
from deid_platform.notes import Note, Span
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact

# Those of a part of medicine; others are kinds of documents.
_SPECIALTIES = (
    "Cardiovascular / Pulmonary",
    "Orthopedic",
    "Gastroenterology",
    "Neurology",
    "Urology",
    "Obstetrics / Gynecology",
    "ENT - Otolaryngology",
    "Ophthalmology",
    "Psychiatry / Psychology",
)


def main() -> None:
    """Prints a line a detector."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--detectors", default="gold,rules,ensemble")
    parser.add_argument("--policy", default="safe_harbor")
    parser.add_argument("--part", default="shown", choices=[part.value for part in Part])
    parser.add_argument("--mtsamples", action="store_true")
    asked = parser.parse_args()
    gold: Mapping[str, tuple[Span, ...]] = {}
    if asked.mtsamples:
        notes = _mtsamples()[: asked.notes]
    else:
        delivery = next(iter(generate(HospitalSpec(notes=2 * asked.notes, part=Part(asked.part)))))
        notes, gold = list(delivery.notes[: asked.notes]), delivery.gold
    judge, coder = LexicalJudge(), TermCoder()
    for name in asked.detectors.split(","):
        release = _releaser(name, asked.policy, gold)
        pairs = [(note, release(note)) for note in notes]
        kept = [(note, text) for note, text in pairs if text is not None]
        found = retention(
            note_retentions([Pair(n.text, text, n.patient_id) for n, text in kept], judge), judge.identity
        )
        codes = note_codes([(n.text, text) for n, text in kept], coder)
        examples = [Example(n.text, text, n.note_type or "", n.patient_id) for n, text in kept]
        task = utility("specialty" if asked.mtsamples else "note type", examples)
        print(f"{name}: {len(kept)} notes, {len(notes) - len(kept)} withheld, policy {asked.policy}")
        print(f"  {found.metric} {_of(found.mean, found.low, found.high)}, of all chunks {found.pooled:.3f}")
        print(f"  changed {found.changed} of {found.chunks} chunks, {found.identical} identical, {dict(found.reasons)}")
        for metric in ("jsc", "nsdcg"):
            values = [(getattr(c, metric), n.patient_id) for c, (n, _) in zip(codes, kept, strict=True)]
            print(f"  {metric.upper()} {_mean([v for v in values if v[0] is not None])} of {len(values)} notes")
        print(
            f"  {task.task}: raw {task.raw:.3f}, released {task.released:.3f}, most frequent {task.most_frequent:.3f},"
            f" difference {_of(task.loss.value, task.loss.low, task.loss.high)}"
        )


def _mtsamples() -> list[Note]:
    """Notes of the commonest specialties, which stand as their type."""
    path = Path(os.environ["DEID_CORPORA"]) / "mtsamples" / "notes.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if part_of(row["note_id"]) is CorpusPart.TRAINING]
    found = []
    for row in rows:
        of_body = [name for name in row["specialties"] if name in _SPECIALTIES]
        if len(of_body) == 1:
            found.append(Note(row["note_id"], row["text"], note_type=of_body[0]))
    return found


def _releaser(name: str, policy: str, gold: Mapping[str, tuple[Span, ...]]) -> Callable[[Note], str | None]:
    if name == "gold":
        rules = load_policy(policy)
        return lambda note: redact(note, gold[note.note_id], rules).text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        deid = load(name, policy=policy)

    def released(note: Note) -> str | None:
        try:
            return deid.redact(note.text).text
        except DeidError:
            return None

    return released


def _mean(values: Sequence[tuple[float, str | None]]) -> str:
    import numpy as np

    if not values:
        return "-"
    numbers = np.array([value for value, _ in values])
    low, high = mean_interval(numbers, [cluster for _, cluster in values])
    return f"{_of(float(numbers.mean()), low, high)}, {len(values)}"


def _of(value: float | None, low: float | None, high: float | None) -> str:
    return " ".join("-" if it is None else f"{it:.3f}" for it in (value, low, high))


if __name__ == "__main__":
    main()

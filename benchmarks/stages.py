"""Speed of intake, scores and sampler on one core, over the synthetic hospital; `detection.py` has the other stages.

    python benchmarks/stages.py [--notes 2000]

Words are those that scores count; time is processor time; peak memory is that of this process.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from pathlib import Path

from measure import row

from deid_platform.corpora.exclusions import Exclusions
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.hospital import HospitalSpec, generate, write
from deid_platform.evaluation.scores.sampling import EligibleNote, contains_own_phi, period_of, sample
from deid_platform.evaluation.scores.scores import count_note, summarise
from deid_platform.evaluation.scores.tokens import word_offsets
from deid_platform.keys import Keyring
from deid_platform.notes import Delivery, Note, Patient, Topics
from deid_platform.refresh.intake.sealing import take_in_notes, take_in_topic
from deid_platform.store import NoteStore


def main() -> None:
    """Prints one row a stage."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--notes", type=int, default=2000)
    spec = HospitalSpec(notes=arguments.parse_args().notes)
    deliveries = list(generate(spec))
    notes = [note for delivery in deliveries for note in delivery.notes]
    gold = [delivery.gold[note.note_id] for delivery in deliveries for note in delivery.notes]
    topics = Topics()
    for delivery in deliveries:
        topics = topics.folded(delivery.topics)
    words = sum(len(word_offsets(note.text)) for note in notes)
    print(f"{len(notes):,} notes, {words:,} words")
    patients = [topics.patients.get(note.patient_id or "") for note in notes]

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        row("hospital, written", words, lambda: write(spec, feed_root=root / "feed", gold_root=root / "gold"))
        reader = FilesFeed(name="hospital", root=root / "feed")
        keyring = Keyring(hashlib.sha256(b"bench").digest(), site="bench")
        store = NoteStore(root / "store", keyring)
        first = Delivery("hospital", deliveries[0].watermark)
        for name in ("patients", "providers", "facilities"):
            take_in_topic(reader, first, name, store=store)
        row(
            "intake, first delivery",
            words,
            lambda: take_in_notes(reader, first, store=store, keyring=keyring, exclusions=Exclusions()),
        )

    row(
        "scores with intervals",
        words,
        lambda: summarise(
            count_note(note.text, spans, spans, cluster=note.patient_id)
            for note, spans in zip(notes, gold, strict=True)
        ),
    )
    row("sampler", words, lambda: sample(map(candidate, notes, patients), size=500))


def candidate(note: Note, patient: Patient | None) -> EligibleNote:
    """A note as the sampler sees it."""
    return EligibleNote(
        note_id=note.note_id,
        patient_id=note.patient_id,
        note_type=note.note_type or "other",
        period=period_of(note.note_date),
        words=len(word_offsets(note.text)),
        has_phi=patient is not None and contains_own_phi(note, patient),
    )


if __name__ == "__main__":
    main()

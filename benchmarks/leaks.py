"""The leak check: false alarms on clean notes, speed, and what a large register of patients costs.

    python benchmarks/leaks.py [--notes 2000] [--patients 100000]

The notes are the synthetic hospital's with every gold span redacted. What is left in them names nobody but
for one planted thing: a patient called like something in medicine ("Bell's palsy" in the notes of a patient
Bell), which gold leaves and the roster rule does not. Alarms on such a surname are counted apart. Every
other alarm is false, also among strangers with names of the same town and random numbers.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections import Counter
from collections.abc import Iterable

from deid_platform.corpora.hospital import HospitalSpec, generate, library
from deid_platform.evaluation.leaks import LeakCheck, LeakKind
from deid_platform.evaluation.tokens import word_offsets
from deid_platform.notes import Note, Patient, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import Redaction, redact

Work = tuple[Note, tuple[Patient, ...], Redaction]


def register(size: int, seed: int = 1) -> list[Patient]:
    """Strangers: names drawn from the hospital's own lists, numbers at random."""
    draw = random.Random(seed)
    firsts, lasts = (*library.words("first_female"), *library.words("first_male")), library.words("surnames")
    return [
        Patient(
            f"S{n}",
            first_name=draw.choice(firsts),
            last_name=draw.choice(lasts),
            mrn=f"{draw.randrange(10**6, 10**8)}",
            ssn=f"{draw.randrange(10**8, 10**9)}",
            phone=f"{draw.randrange(2 * 10**9, 10**10)}",
            email=f"{n}@example.org",
        )
        for n in range(size)
    ]


def resident_mb() -> float:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def namesake(kinds: Iterable[LeakKind], known_as: tuple[Patient, ...]) -> bool:
    """Whether the only alarm is on a surname that medicine uses too."""
    return set(kinds) == {LeakKind.LAST_NAME} and any(
        row.last_name in library.words("surnames_eponyms") for row in known_as
    )


def main() -> None:
    """Prints one row a policy and register."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--notes", type=int, default=2000)
    arguments.add_argument("--patients", type=int, default=100_000)
    options = arguments.parse_args()
    deliveries = list(generate(HospitalSpec(notes=options.notes)))
    topics = Topics()
    for delivery in deliveries:
        topics = topics.folded(delivery.topics)
    words = sum(len(word_offsets(note.text)) for delivery in deliveries for note in delivery.notes)
    crowd = topics.folded(Topics.of(register(options.patients)))
    for name in ("safe_harbor_plus_providers", "safe_harbor"):
        policy = load_policy(name)
        work: list[Work] = []
        for delivery in deliveries:
            for note in delivery.notes:
                known_as = topics.patients_known_as(note.patient_id)
                birth_date = known_as[0].birth_date if known_as else None
                done = redact(note, delivery.gold[note.note_id], policy, birth_date=birth_date)
                work.append((note, known_as, done))
        for whom in (topics, crowd):
            before, started = resident_mb(), time.process_time()
            check = LeakCheck.of(whom, policy)
            built, grown = time.process_time() - started, resident_mb() - before
            started = time.process_time()
            found = [[leak.kind for leak in check.check(n, k, d.text, d.applied)] for n, k, d in work]
            seconds = time.process_time() - started
            planted = [namesake(kinds, k) for kinds, (_, k, _) in zip(found, work, strict=True)]
            false = [kinds for kinds, spared in zip(found, planted, strict=True) if kinds and not spared]
            print(
                f"{name:<28}{len(whom.patients):>8,} patients: built in {built:5.2f} s, {grown:4.0f} MB; "
                f"{words / seconds:9,.0f} words/s; {len(work):,} notes: {sum(planted)} namesakes, "
                f"{len(false)} false alarms ({len(false) / len(work):.2%}) "
                f"{dict(Counter(kind.value for kinds in false for kind in kinds))}"
            )


if __name__ == "__main__":
    main()

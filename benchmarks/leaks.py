"""The leak check: false alarms on clean notes, speed, and what a large register of patients costs.

    python benchmarks/leaks.py [--notes 2000] [--hospitals 3] [--patients 100000]

The notes are the synthetic hospital's with every gold span redacted. What is left in them names nobody but
for one planted thing: a patient called like something in medicine ("Bell's palsy" in the notes of a patient
Bell), which gold leaves and the roster rule does not. Alarms on such a surname are counted apart. Every
other alarm is false, also among strangers with names of the same town and random numbers.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from measure import peak

from deid_platform.corpora.hospital import HospitalSpec, generate, library
from deid_platform.evaluation.scores.tokens import word_offsets
from deid_platform.leakcheck import LeakCheck, LeakKind
from deid_platform.notes import Note, Patient, Topics
from deid_platform.redaction.policy import Policy, load_policy
from deid_platform.redaction.redact import Redaction, redact
from deid_platform.surrogates.pools import Share, given_names, surnames

Work = tuple[Note, tuple[Patient, ...], Redaction]


def register(size: int, seed: int = 1) -> list[Patient]:
    """Strangers: names drawn from the hospital's own share of the pools, numbers at random."""
    draw = random.Random(seed)
    firsts, lasts = given_names("en_US", None, Share.HOSPITAL), surnames("en_US", Share.HOSPITAL)
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


def namesake(kinds: Iterable[LeakKind], known_as: tuple[Patient, ...]) -> bool:
    """Whether the only alarm is on a surname that medicine uses too."""
    return set(kinds) == {LeakKind.LAST_NAME} and any(
        row.last_name in library.words("surnames_eponyms") for row in known_as
    )


@dataclass
class Tally:
    """What was counted over some hospitals under one policy and with one register."""

    patients: int = 0
    build_seconds: float = 0.0
    grown_mb: float = 0.0
    words: int = 0
    seconds: float = 0.0
    notes: int = 0
    namesakes: int = 0
    false_alarms: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, topics: Topics, policy: Policy, work: list[Work], words: int) -> None:
        """Checks one hospital's notes."""
        self.patients = len(topics.patients)
        before, started = peak(), time.process_time()
        check = LeakCheck.of(topics, policy)
        self.build_seconds = time.process_time() - started
        self.grown_mb = max(self.grown_mb, peak() - before)
        started = time.process_time()
        found = [[leak.kind for leak in check.check(n, known, d.text, d.applied)] for n, known, d in work]
        self.seconds += time.process_time() - started
        self.words += words
        self.notes += len(work)
        for kinds, (_, known_as, _) in zip(found, work, strict=True):
            if kinds and namesake(kinds, known_as):
                self.namesakes += 1
            elif kinds:
                self.false_alarms += 1
                self.kinds.update(kind.value for kind in kinds)

    def __str__(self) -> str:
        return (
            f"{self.patients:>8,} patients  built in {self.build_seconds:5.2f} s, {self.grown_mb:4.0f} MB  "
            f"{self.words / self.seconds:9,.0f} words/s  {self.notes:,} notes, {self.namesakes} namesakes, "
            f"{self.false_alarms} false alarms ({self.false_alarms / self.notes:.2%}) {dict(self.kinds)}"
        )


def main() -> None:
    """Prints one row a policy and register."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--notes", type=int, default=2000, help="a hospital")
    arguments.add_argument("--hospitals", type=int, default=3, help="seeds 7, 8, ...")
    arguments.add_argument("--patients", type=int, default=100_000, help="in the large register")
    options = arguments.parse_args()
    crowd = Topics.of(register(options.patients))
    tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
    for seed in range(7, 7 + options.hospitals):
        topics = Topics()
        deliveries = list(generate(HospitalSpec(notes=options.notes, seed=seed)))
        for delivery in deliveries:
            topics = topics.folded(delivery.topics)
        words = sum(len(word_offsets(note.text)) for delivery in deliveries for note in delivery.notes)
        for name in ("safe_harbor_plus_providers", "safe_harbor"):
            policy = load_policy(name)
            work: list[Work] = []
            for delivery in deliveries:
                for note in delivery.notes:
                    known_as = topics.patients_known_as(note.patient_id)
                    birth_date = known_as[0].birth_date if known_as else None
                    done = redact(note, delivery.gold[note.note_id], policy, birth_date=birth_date)
                    work.append((note, known_as, done))
            tallies[name, "own"].add(topics, policy, work, words)
            tallies[name, "crowd"].add(crowd.folded(topics), policy, work, words)
    for (name, _), tally in tallies.items():
        print(f"{name:<28}{tally}")


if __name__ == "__main__":
    main()

"""False alarms: clean notes of the synthetic hospital, gold redacted, pass the leak check."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from deid_platform.corpora.hospital import HospitalDelivery, HospitalSpec, generate, library
from deid_platform.keys import Keyring
from deid_platform.leakcheck import LeakCheck, LeakKind
from deid_platform.notes import Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact
from deid_platform.surrogates.keyed import Surrogates

KEYRING = Keyring(hashlib.sha256(b"clean").digest(), site="test")


@pytest.fixture(scope="module")
def hospital() -> list[HospitalDelivery]:
    return list(generate(HospitalSpec(notes=800, seed=11)))


@pytest.mark.parametrize(
    ("name", "bound"),
    # benchmarks/leaks.py measured 0.08 % and 0.75 % of notes. Where the policy keeps providers, a physician who
    # shares the patient's surname raises an alarm: nobody can tell the two apart by the name alone.
    # Among surrogates, a date of birth may come out as itself with day and month the other way round.
    [("safe_harbor_plus_providers", 0.01), ("safe_harbor", 0.03), ("surrogate", 0.015)],
)
def test_clean_notes_raise_hardly_any_alarm(name: str, bound: float, hospital: list[HospitalDelivery]) -> None:
    policy, topics = load_policy(name), Topics()
    alarms: Counter[LeakKind] = Counter()
    notes = 0
    for delivery in hospital:
        topics = topics.folded(delivery.topics)
        check = LeakCheck.of(topics, policy)
        surrogates = Surrogates(KEYRING, topics) if policy.uses_surrogates else None
        for note in delivery.notes:
            known_as = topics.patients_known_as(note.patient_id)
            born = known_as[0].birth_date
            done = redact(note, delivery.gold[note.note_id], policy, birth_date=born, surrogates=surrogates)
            kinds = [leak.kind for leak in check.check(note, known_as, done.text, done.applied, lengths=done.lengths)]
            notes += 1
            # For a patient called Bell, "Bell's palsy" is a leak by the roster rule; gold leaves it, on purpose.
            namesake = any(row.last_name in library.words("surnames_eponyms") for row in known_as)
            if kinds and not (namesake and kinds == [LeakKind.LAST_NAME]):
                alarms.update(kinds[:1])
    assert notes >= 800
    assert alarms.total() < bound * notes, alarms
    # Beside words that happen to be the patient's name, nothing that is left looks like anybody. Under a shift, a
    # result such as "Hgb/Hct 12/31" may be a day near the note's own.
    shifting = (LeakKind.SURROGATE, LeakKind.DATE_SHAPE) if surrogates else ()
    assert set(alarms) <= {LeakKind.FIRST_NAME, LeakKind.LAST_NAME, *shifting}

"""A thousand patients with twenty notes each: nobody's stand-in is in the family, nobody is two, no two are one.

A provider's is the same in all of them, whatever a family is called.

The notes are written from mentions alone, each in one of several ways, so that every stand-in can be foretold from
the one of the full name.
"""

import random
from collections import defaultdict

import pytest

from deid_platform.detection.naming import PARTICLES
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Provider, Span, Topics
from deid_platform.surrogates.names import letters
from deid_platform.surrogates.pools import given_names, surnames
from deid_platform.surrogates.stand_in import Surrogates
from deid_platform.surrogates.written_names import nicknames
from tests.surrogates.surrogate_scene import KEYRING, OTHER

PATIENTS, NOTES = 1000, 20
LOCALES = ("en_US", "en_US", "en_US", "en_GB", "es_MX", "it_IT", "fr_FR", "de_DE", "en_IN")
WAYS = ("{f} {l}", "{l}, {f}", "{F} {L}", "Mr. {l}", "{i}. {l}", "{l}, {i}.", "{l}'s", "{f}")


class Cast:
    """Random people with no name and no nickname in common but the surnames of a family."""

    def __init__(self) -> None:
        self.rng = random.Random(20)
        self.providers = [Provider(f"d{i}", *self.name(set())) for i in range(40)]
        self.patients: list[Patient] = []
        self.people: list[list[tuple[str, str, str]]] = []
        for n in range(PATIENTS):
            used = {letters(name) for p in self.providers for name in (p.first_name, p.last_name)}
            given, surname = self.name(used)
            initials = {letters(given)[0]}
            people = [("patient", given, surname)]
            for kin in ("kin1", "kin2", "kin3"):
                first, last = self.name(used, not_with=initials)
                initials.add(letters(first)[0])
                people.append((kin, first, last if kin == "kin3" else surname))
            relatives = "; ".join(f"{first} {last}" for _, first, last in people[1:])
            self.patients.append(Patient(f"p{n}", given, None, surname, relatives=relatives))
            # Two whom no topic knows.
            self.people.append([*people, *((f"friend{i}", *self.name(used)) for i in range(2))])

    def name(self, used: set[str], not_with: set[str] = frozenset()) -> tuple[str, str]:
        while True:
            locale = self.rng.choice(LOCALES)
            given, surname = self.rng.choice(given_names(locale, None)), self.rng.choice(surnames(locale))
            words = {letters(given), letters(surname), *nicknames(letters(given))}
            plain = given.isalpha() and surname.isalpha() and min(len(given), len(surname)) > 2 and given != surname
            if plain and not words & used and letters(given)[0] not in not_with and letters(surname) not in PARTICLES:
                used |= words
                return given, surname

    def notes(self):
        """Each note with its spans and, for each span, who is meant in which way."""
        for patient, people in zip(self.patients, self.people, strict=True):
            doctors = [(p.provider_id, p.first_name, p.last_name) for p in self.rng.sample(self.providers, 3)]
            for k in range(NOTES):
                met = [(*who, Label.PATIENT) for who in self.rng.sample(people, 2)]
                met.append((*self.rng.choice(doctors), Label.DOCTOR))
                text, spans, meant = "", [], []
                for who, given, surname, label in met:
                    for way in (WAYS[0], self.rng.choice(WAYS[1 : None if label is Label.PATIENT else -1])):
                        written = written_as(way, given, surname)
                        text += "saw "
                        spans.append(Span(len(text), len(text) + len(written), label))
                        meant.append((who, way, given, surname))
                        text += written + " "
                yield (
                    patient,
                    people,
                    Note(f"{patient.patient_id}/{k}", text, patient_id=patient.patient_id),
                    spans,
                    meant,
                )


def written_as(way: str, given: str, surname: str) -> str:
    return way.format(f=given, l=surname, F=given.upper(), L=surname.upper(), i=given[0])


@pytest.fixture(scope="module")
def cast() -> Cast:
    return Cast()


@pytest.fixture(scope="module")
def written(cast: Cast):
    """Every note with what stands in for its mentions."""
    topics = Topics.of(cast.patients, cast.providers)
    surrogates, other = Surrogates(KEYRING, topics), Surrogates(OTHER, topics)
    notes = []
    for n, (patient, people, note, spans, meant) in enumerate(cast.notes()):
        under_another = other.replace(note, spans) if n % NOTES == 0 else []
        notes.append((patient, people, meant, surrogates.replace(note, spans), under_another))
    return notes


def test_nothing_of_the_family_and_no_original_is_left(written):
    for _, people, meant, made, _ in written:
        family = {letters(name) for who, *names in people if not who.startswith("friend") for name in names}
        for (who, way, given, surname), stand_in in zip(meant, made, strict=True):
            words = {letters(word) for word in stand_in.replace("'s", "").replace(",", " ").split()}
            assert who.startswith("d") or not words & family
            if who.startswith(("d", "friend")):
                # Each of their names is drawn by itself, and by chance may be the other one of the two.
                parts = dict(zip(way.replace("'s", "").replace(",", " ").split(), stand_in.split(), strict=True))
                assert all(
                    letters(parts[x]) != letters(own) for x, own in (("{f}", given), ("{l}", surname)) if x in parts
                )
            else:
                assert not words & {letters(given), letters(surname)}


def test_everybody_has_one_stand_in_in_all_notes_and_ways(written):
    full: dict[tuple[str, str], str] = {}
    for patient, _, meant, made, _ in written:
        for (who, way, _, _), stand_in in zip(meant, made, strict=True):
            if way == WAYS[0]:
                assert full.setdefault((patient.patient_id, who), stand_in) == stand_in
                given, surname = stand_in.split()
            else:
                # The full name comes right before: whatever is written of it must agree.
                assert letters(stand_in) == letters(written_as(way, given, surname))


def test_no_two_people_become_one_and_families_share_their_surname(written):
    stand_ins: dict[str, dict[str, str]] = defaultdict(dict)
    for patient, _, meant, made, _ in written:
        for (who, way, _, _), stand_in in zip(meant, made, strict=True):
            if way == WAYS[0]:
                stand_ins[patient.patient_id][who] = letters(stand_in.split()[0]) + " " + letters(stand_in.split()[1])
    for people in stand_ins.values():
        assert len(set(people.values())) == len(people)
        assert len({people[who].split()[1] for who in ("patient", "kin1", "kin2") if who in people}) <= 1


def test_a_provider_is_the_same_for_all_patients_whatever_a_family_is_called(written):
    stand_ins: dict[tuple[str, str], set[str]] = defaultdict(set)
    by_chance = 0
    for _, people, meant, made, _ in written:
        family = {letters(name) for who, *names in people if not who.startswith("friend") for name in names}
        for (who, way, _, _), stand_in in zip(meant, made, strict=True):
            if who.startswith("d"):
                stand_ins[who, way].add(stand_in)
                by_chance += way == WAYS[0] and not family.isdisjoint(map(letters, stand_in.split()))
    assert {len(made) for made in stand_ins.values()} == {1}
    assert by_chance > 20, "the cast has many families with a name that stands in for a provider's"


def test_another_secret_gives_other_stand_ins(written):
    pairs = [pair for *_, made, other in written for pair in zip(made, other, strict=False)]
    assert len(pairs) >= PATIENTS * 6
    assert sum(one != two for one, two in pairs) / len(pairs) > 0.99

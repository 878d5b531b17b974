"""A thousand patients with twenty notes each: nobody's surrogate is in the family, nobody is two, no two are one.

A provider's is the same in all of them, whatever a family is called. What the topics say of a patient (street, city,
ZIP, telephone, record number, day of birth) is in no note of theirs, nor is it drawn for anybody else in them, and all
days of a patient move by one number of weeks.

The notes are written from mentions alone, each in one of several ways, so that every surrogate can be foretold from
the one of the full name. `make test` has 200 of the patients.
"""

import random
import re
from calendar import month_name
from collections import defaultdict
from datetime import date, datetime, timedelta

import pytest

from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Provider, Span, Topics
from deid_platform.surrogates.date_order import DateOrder, DateWriting
from deid_platform.surrogates.dates import MAX_WEEKS
from deid_platform.surrogates.keyed import Surrogates
from deid_platform.surrogates.names import invented_pool, letters, read_lines
from deid_platform.surrogates.places import us_places
from deid_platform.surrogates.pools import given_names, locales, surnames
from deid_platform.surrogates.written_names import nicknames
from deid_platform.text.names import PARTICLES
from tests.surrogates.surrogate_scene import KEYRING, OTHER

pytestmark = pytest.mark.slow

NOTES = 20
LOCALES = ("en_US", "en_US", "en_US", "en_GB", "es_MX", "it_IT", "fr_FR", "de_DE", "en_IN")
# Locales that count as one origin, as the surrogates have it.
ORIGINS = {
    "en": ("en_US", "en_GB", "en"), "es": ("es_MX", "es_ES"), "it": ("it_IT",), "fr": ("fr_FR", "fr_CA"),
    "de": ("de_DE",), "in": ("en_IN",),
}  # fmt: skip
WAYS = ("{f} {l}", "{l}, {f}", "{F} {L}", "Mr. {l}", "{i}. {l}", "{l}, {i}.", "{l}'s", "{f}")
# Ways of writing a day that can be read in one way alone.
DATES = (
    "%Y-%m-%d", "%m/%d/%Y", "%m-%d-%Y", "%Y%m%d", "%B %d, %Y", "%d %b %Y", "%d-%b-%Y", "%A, %B %d, %Y",
    "%Y/%m/%d",
)  # fmt: skip
BIRTH = "%Y.%m.%d"


def read(written: str, shape: str) -> date:
    """The day that was written in a shape; an impossible one raises."""
    # May is as long as its abbreviation: what stands for it is written as the note's other months are.
    long = any(month in written for month in month_name[1:] if len(month) > 3)
    shape = re.sub("%[bB]", "%B" if long else "%b", shape)
    return datetime.strptime(written, shape).date()  # noqa: DTZ007 - a day has no zone


def of_origin(kind: str, sex: str = "") -> dict[str, frozenset[str]]:
    """The folded names of each origin: surnames, or given names of a sex."""
    more = [line.split("\t") for line in read_lines("more_names.tsv")]
    found = {}
    for origin, which in ORIGINS.items():
        listed = [name for locale in which for name in (given_names(locale, sex) if sex else surnames(locale))]
        listed += [n for locale, of, names in more if locale in which and of == (sex or "-") for n in names.split()]
        found[origin] = frozenset(map(letters, listed))
    return found


class Cast:
    """Random people with no name and no nickname in common but the surnames of a family."""

    def __init__(self, patients: int) -> None:
        self.rng = random.Random(20)
        self.providers = [Provider(f"d{i}", *self.name(set())) for i in range(40)]
        self.patients: list[Patient] = []
        self.people: list[list[tuple[str, str, str]]] = []
        self.written: list[
            tuple[Patient, list[tuple[Label, str, date | None]], list[str | None], list[str | None]]
        ] = []
        for n in range(patients):
            used = {letters(name) for p in self.providers for name in (p.first_name, p.last_name)}
            sex = self.rng.choice("FM")
            given, surname = self.name(used, sex=sex)
            initials = {letters(given)[0]}
            people = [("patient", given, surname)]
            for kin in ("kin1", "kin2", "kin3"):
                first, last = self.name(used, not_with=initials)
                initials.add(letters(first)[0])
                people.append((kin, first, last if kin == "kin3" else surname))
            relatives = "; ".join(f"{first} {last}" for _, first, last in people[1:])
            self.patients.append(self.patient(f"p{n}", given, surname, sex, relatives))
            # Two whom no topic knows.
            self.people.append([*people, *((f"friend{i}", *self.name(used)) for i in range(2))])

    def patient(self, ident: str, given: str, surname: str, sex: str, relatives: str) -> Patient:
        # In a town from which surrogates are drawn, and in a street called by one of the invented names.
        town = self.rng.choice(us_places())
        return Patient(
            ident, given, None, surname, self.day(1940, 1999), sex, str(self.rng.randrange(10**6, 10**7)), None,
            self.phone(town.area), None, self.street(), town.city, town.state, self.zip(town.zip3), relatives,
        )  # fmt: skip

    def day(self, first: int, last: int) -> date:
        return date(first, 1, 1) + timedelta(days=self.rng.randrange(366 * (last - first)))

    def phone(self, area: str) -> str:
        return f"({area}) 555-01{self.rng.randrange(100):02}"

    def street(self) -> str:
        return f"{self.rng.randrange(10, 999)} {self.rng.choice(invented_pool().names)} Rd"

    def zip(self, zip3: str) -> str:
        return f"{zip3}{self.rng.randrange(1, 100):02}"

    def name(self, used: set[str], not_with: set[str] = frozenset(), sex: str | None = None) -> tuple[str, str]:
        while True:
            locale = self.rng.choice(LOCALES)
            given, surname = self.rng.choice(given_names(locale, sex)), self.rng.choice(surnames(locale))
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
                facts = [*(self.facts(patient) if k % 5 == 0 else ()), *self.days()]
                for label, written, _ in facts:
                    spans.append(Span(len(text), len(text) + len(written), label))
                    text += written + (", " if label in (Label.CITY, Label.STATE) else "; ")
                note = Note(
                    f"{patient.patient_id}/{k}", text, patient_id=patient.patient_id, note_date=self.day(2018, 2022)
                )
                yield (patient, people, note, spans, meant, facts)

    def facts(self, patient: Patient) -> list[tuple[Label, str, date | None]]:
        """What a note says beside names and days, the patient's own and somebody else's: label and writing."""
        town = self.rng.choice(us_places())
        return [
            (Label.STREET, patient.street or "", None),
            (Label.CITY, patient.city or "", None),
            (Label.STATE, patient.state or "", None),
            (Label.ZIP, patient.zip or "", None),
            (Label.PHONE, patient.phone or "", None),
            (Label.MEDICALRECORD, patient.mrn or "", None),
            (Label.STREET, self.street(), None),
            (Label.CITY, town.city, None),
            (Label.STATE, town.state, None),
            (Label.ZIP, self.zip(town.zip3), None),
            (Label.PHONE, self.phone(town.area), None),
            (Label.MEDICALRECORD, str(self.rng.randrange(10**6, 10**7)), None),
            (Label.DATE, (patient.birth_date or date.min).strftime(BIRTH), patient.birth_date),
        ]

    def days(self) -> list[tuple[Label, str, date | None]]:
        """The same for two days, each written in its own way."""
        days = [(self.day(2018, 2022), shape) for shape in self.rng.sample(DATES, 2)]
        return [(Label.DATE, day.strftime(shape), day) for day, shape in days]


def written_as(way: str, given: str, surname: str) -> str:
    return way.format(f=given, l=surname, F=given.upper(), L=surname.upper(), i=given[0])


@pytest.fixture(scope="module")
def cast(sampling) -> Cast:
    return Cast(sampling.number(everything=1000, sample=200))


@pytest.fixture(scope="module")
def written(cast: Cast):
    """Every note with what stands in for its mentions."""
    topics = Topics.of(cast.patients, cast.providers)
    writing = DateWriting(DateOrder.MONTH_FIRST, zeros=True)
    surrogates, other = (Surrogates(keys, topics, writing=writing) for keys in (KEYRING, OTHER))
    notes = []
    for n, (patient, people, note, spans, meant, facts) in enumerate(cast.notes()):
        under_another = other.replace(note, spans) if n % NOTES == 0 else []
        made, count = surrogates.replace(note, spans), len(meant)
        notes.append((patient, people, meant, made[:count], under_another))
        cast.written.append((patient, facts, made[count:], under_another[count:]))
    return notes


@pytest.fixture(scope="module")
def stated(cast: Cast, written):
    """What each note says of its patient beside names, and what stands in for it."""
    return cast.written


def test_nothing_of_the_family_and_no_original_is_left(written):
    for _, people, meant, made, _ in written:
        family = {letters(name) for who, *names in people if not who.startswith("friend") for name in names}
        for (who, way, given, surname), surrogate in zip(meant, made, strict=True):
            words = {letters(word) for word in surrogate.replace("'s", "").replace(",", " ").split()}
            assert who.startswith("d") or not words & family
            if who.startswith(("d", "friend")):
                # Each of their names is drawn by itself, and by chance may be the other one of the two.
                parts = dict(zip(way.replace("'s", "").replace(",", " ").split(), surrogate.split(), strict=True))
                assert all(
                    letters(parts[x]) != letters(own) for x, own in (("{f}", given), ("{l}", surname)) if x in parts
                )
            else:
                assert not words & {letters(given), letters(surname)}


def test_everybody_has_one_stand_in_in_all_notes_and_ways(written):
    full: dict[tuple[str, str], str] = {}
    for patient, _, meant, made, _ in written:
        for (who, way, _, _), surrogate in zip(meant, made, strict=True):
            if way == WAYS[0]:
                assert full.setdefault((patient.patient_id, who), surrogate) == surrogate
                given, surname = surrogate.split()
            else:
                # The full name comes right before: whatever is written of it must agree.
                assert letters(surrogate) == letters(written_as(way, given, surname))


def test_no_two_people_become_one_and_families_share_their_surname(written):
    surrogates: dict[str, dict[str, str]] = defaultdict(dict)
    for patient, _, meant, made, _ in written:
        for (who, way, _, _), surrogate in zip(meant, made, strict=True):
            if way == WAYS[0]:
                surrogates[patient.patient_id][who] = (
                    letters(surrogate.split()[0]) + " " + letters(surrogate.split()[1])
                )
    for people in surrogates.values():
        assert len(set(people.values())) == len(people)
        assert len({people[who].split()[1] for who in ("patient", "kin1", "kin2") if who in people}) <= 1


def test_a_provider_is_the_same_for_all_patients_whatever_a_family_is_called(written, cast):
    surrogates: dict[tuple[str, str], set[str]] = defaultdict(set)
    by_chance = 0
    for _, people, meant, made, _ in written:
        family = {letters(name) for who, *names in people if not who.startswith("friend") for name in names}
        for (who, way, _, _), surrogate in zip(meant, made, strict=True):
            if who.startswith("d"):
                surrogates[who, way].add(surrogate)
                by_chance += way == WAYS[0] and not family.isdisjoint(map(letters, surrogate.split()))
    assert {len(made) for made in surrogates.values()} == {1}
    assert by_chance >= len(cast.patients) / 100, (
        "the cast has many families with a name that stands in for a provider's"
    )


def test_a_patients_stand_in_is_of_the_same_sex_and_of_the_same_origin(written, cast):
    """Of those whose surname only one origin has: an American list has names of all."""
    last, women, men = of_origin("surname"), of_origin("given", "F"), of_origin("given", "M")
    ours = {locale for which in ORIGINS.values() for locale in which}
    elsewhere = {letters(name) for locale in locales() if locale not in ours for name in surnames(locale)}
    told: dict[str, int] = defaultdict(int)
    seen = set()
    for patient, _, meant, made, _ in written:
        given_lists = women if patient.sex == "F" else men
        for (who, way, given, surname), surrogate in zip(meant, made, strict=True):
            if who != "patient" or way != WAYS[0] or patient.patient_id in seen:
                continue
            seen.add(patient.patient_id)
            origins = [origin for origin, names in last.items() if letters(surname) in names]
            if len(origins) != 1 or letters(surname) in elsewhere:
                continue
            drawn_given, drawn_surname = map(letters, surrogate.split())
            assert drawn_surname in last[origins[0]]
            given_origins = [origin for origin, names in given_lists.items() if letters(given) in names]
            if origins[0] in given_origins:
                given_origins = origins
            assert any(drawn_given in given_lists[origin] for origin in given_origins)
            told[origins[0]] += 1
    assert sum(told.values()) > len(cast.patients) / 2
    assert len(told) == len(ORIGINS)


def test_nothing_that_the_topics_say_of_the_patient_is_drawn_for_anything(stated):
    for patient, facts, made, _ in stated:
        street = letters(re.sub(r"\d+|Rd$", "", patient.street))
        for (label, own, _), surrogate in zip(facts, made, strict=True):
            if label is Label.DATE and surrogate is None:
                continue  # the note's own day by chance, with day and month exchanged
            assert surrogate, label
            assert surrogate != own
            assert letters(re.sub(r"\d+|Rd$", "", surrogate)) != street
            assert surrogate not in (patient.city, patient.zip, patient.phone, patient.mrn)
            assert label is not Label.PHONE or surrogate[-4:] != patient.phone[-4:]
            assert label is not Label.DATE or all(
                f"{patient.birth_date:{shape}}" != surrogate for shape in (*DATES, BIRTH)
            )


def test_every_day_is_one_and_all_of_a_patient_move_by_one_number_of_weeks(stated, cast):
    weeks: dict[str, set[int]] = defaultdict(set)
    for patient, facts, made, _ in stated:
        told = zip(facts, made, strict=True)
        days = [(own, day, surrogate) for (_, own, day), surrogate in told if day is not None and surrogate is not None]
        shapes = [next(shape for shape in (*DATES, BIRTH) if day.strftime(shape) == own) for own, day, _ in days]
        assert len(set(shapes)) == len(days) >= 1
        for shape, (_, day, surrogate) in zip(shapes, days, strict=True):
            moved = read(surrogate, shape)
            assert "%A" not in shape or surrogate.startswith(f"{moved:%A}")
            weeks[patient.patient_id].add((moved - day).days)
    assert len(weeks) == len(cast.patients)
    for shift in weeks.values():
        (days,) = shift
        assert days % 7 == 0
        assert 0 < abs(days) <= 7 * MAX_WEEKS


def test_another_secret_moves_days_and_numbers_otherwise(stated, cast):
    same: dict[Label, list[bool]] = defaultdict(list)
    for _, facts, made, other in stated:
        for (label, _, _), one, two in zip(facts, made, other, strict=False):
            same[label].append(one == two)
    assert min(map(len, same.values())) >= len(cast.patients)
    # One of 49 other states, 100 lines in an area, 104 shifts.
    for label, alike in same.items():
        assert sum(alike) / len(alike) < 0.04, label


def test_another_secret_gives_other_surrogates(written, cast):
    pairs = [pair for *_, made, other in written for pair in zip(made, other, strict=False)]
    assert len(pairs) >= len(cast.patients) * 6
    assert sum(one != two for one, two in pairs) / len(pairs) > 0.99

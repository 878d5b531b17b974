"""The surrogates of providers: the same whoever the patient is, and whoever joins the staff."""

import random
from collections import defaultdict
from itertools import cycle

import pytest

from deid_platform.labels import Label
from deid_platform.leakcheck import LeakCheck
from deid_platform.notes import Patient, Provider, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact
from deid_platform.surrogates.keyed import Surrogates
from deid_platform.surrogates.names import letters
from deid_platform.surrogates.pools import given_names, surnames
from tests.surrogates.surrogate_scene import KEYRING, marked, people

DOCTOR = Provider("d3", "Ines", "Marchetti")
(USUAL,) = people("Ines Marchetti", label="DOCTOR")
GIVEN, SURNAME = USUAL.split()
WAYS = ("Ines Marchetti, MD", "Dr. Marchetti", "MARCHETTI, INES", "I. Marchetti", "Marchetti's", "I.M.")

# Families whose names are the provider's surrogate's, in part.
NAMESAKES = {
    "nobody's name": Patient("p", "Tobin", None, "Quill"),
    "the patient's given name": Patient("p", GIVEN, None, "Quill"),
    "the patient's surname": Patient("p", "Tobin", None, SURNAME),
    "the patient's middle name": Patient("p", "Tobin", GIVEN, "Quill"),
    "both names": Patient("p", GIVEN, None, SURNAME),
    "a relative's": Patient("p", "Tobin", None, "Quill", relatives=f"Ann {SURNAME}"),
    "the street's": Patient("p", "Tobin", None, "Quill", street=f"18 {SURNAME} Road"),
    "the city's": Patient("p", "Tobin", None, "Quill", city=SURNAME, state="Ohio"),
}


def of(*rows: Patient | Provider) -> Surrogates:
    """Surrogates for these people."""
    patients = [row for row in rows if isinstance(row, Patient)]
    return Surrogates(KEYRING, Topics.of(patients, [row for row in rows if isinstance(row, Provider)]))


@pytest.mark.parametrize("whose", NAMESAKES)
def test_a_provider_has_one_stand_in_whatever_the_family_is_called(whose: str):
    surrogates = of(NAMESAKES[whose], DOCTOR)
    assert people(*WAYS, label="DOCTOR", patient_id="p", surrogates=surrogates) == people(*WAYS, label="DOCTOR")


def test_over_many_patients_nothing_is_to_be_learned_from_a_provider():
    """Every usual name is some family's here: any draw that went round them would show."""
    families = [
        Patient(f"p{i}", given, None, surname)
        for i, (given, surname) in enumerate(zip(cycle(given_names("es_ES", "F")), surnames("en_US"), strict=False))
    ]
    surrogates = of(*families, DOCTOR)
    made = {tuple(people(*WAYS, label="DOCTOR", patient_id=p.patient_id, surrogates=surrogates)) for p in families}
    assert made == {tuple(people(*WAYS, label="DOCTOR"))}
    assert SURNAME in {p.last_name for p in families}
    assert GIVEN in {p.first_name for p in families}


def test_where_a_providers_stand_in_is_somebodys_of_the_household_a_tag_stands():
    """Which can be told from the note itself, and tells nothing of any real name."""
    doctors = [Provider(f"d{i}", given, "Rossi") for i, given in enumerate(given_names("it_IT", "F"))]
    patients = [Patient(f"p{i}", "Bianca", None, "Ferrari", sex="F") for i in range(3000)]
    surrogates = of(*patients, *doctors)
    made = people(*(f"{d.first_name} Rossi" for d in doctors), label="DOCTOR", surrogates=surrogates)
    by_stand_in = dict(zip(made, doctors, strict=True))
    met = 0
    for patient in patients:
        (own,) = people("Bianca Ferrari", patient_id=patient.patient_id, surrogates=surrogates)
        if own in by_stand_in:
            met += 1
            written = f"{by_stand_in[own].first_name} Rossi"
            found = people(written, "Dr. Rossi", label="DOCTOR", patient_id=patient.patient_id, surrogates=surrogates)
            assert found == [None, f"Dr. {own.split()[1]}"]
    assert met


POLICY = load_policy("surrogate")


@pytest.mark.parametrize("whose", NAMESAKES)
@pytest.mark.parametrize("measured", [True, False])
def test_a_note_is_not_held_back_for_a_name_that_stands_in_for_a_provider(whose: str, measured: bool):
    patient = NAMESAKES[whose]
    topics = Topics.of([patient], [DOCTOR])
    name = f"{patient.first_name} {patient.last_name}"
    source = f"{{PATIENT|{name}}} saw {{DOCTOR|Dr. Marchetti}}.\n{{DOCTOR|Ines Marchetti}}, MD"
    note, spans = marked(source, patient_id="p")
    done = redact(note, spans, POLICY, surrogates=Surrogates(KEYRING, topics))
    assert SURNAME in done.text
    lengths = [len(text) for text in done.replacements] if measured else None
    assert LeakCheck.of(topics, POLICY).check(note, [patient], done.text, done.applied, lengths=lengths) == ()


@pytest.mark.parametrize(
    ("label", "original", "surrogate", "leaks"),
    [
        (Label.DOCTOR, "Dr. Marchetti", "Dr. Quill", False),
        (Label.DOCTOR, "Dr. Quill", "Dr. Quill", True),
        (Label.DOCTOR, "Dr. T. Quill", "Dr. B. Quill", True),
        (Label.DOCTOR, "Tobin Quill", "Bruno Quill", True),
        (Label.DOCTOR, "QUILLTOBIN", "Bruno Quill", True),
        (Label.DOCTOR, "Quill's", "Tobin's", False),  # one name of the patient's is not the other
        (Label.PATIENT, "Ann Zeller", "Bea Quill", True),
        (Label.HOSPITAL, "Zeller Clinic", "Quill Clinic", True),
    ],
)
def test_only_what_was_not_there_before_is_chance(label: Label, original: str, surrogate: str, leaks: bool):
    patient = NAMESAKES["nobody's name"]
    note, spans = marked(f"Seen by {{{label.value}|{original}}} today.", patient_id="p")
    found = LeakCheck.of(Topics.of([patient]), POLICY).check(
        note, [patient], f"Seen by {surrogate} today.", spans, lengths=[len(surrogate)]
    )
    assert ([leak.kind.value for leak in found] == ["surrogate"]) is leaks


def test_what_was_reported_leaks_also_as_a_surrogate():
    note, spans = marked("Seen by {DOCTOR|Dr. Marchetti}.", patient_id="p")
    check = LeakCheck.of(Topics(), POLICY, reported=["Quill"])
    assert [leak.kind.value for leak in check.check(note, [], "Seen by Dr. Quill.", spans)] == ["surrogate"]


# A staff that grows

BEARERS = ("Zeller", "Rossi", "Hill", "Okonkwo-Brandt", "Quenneville")


def staff(count: int) -> list[Provider]:
    """Providers with few surnames and all kinds of given names; their ids come in no order."""
    rng = random.Random(7)
    given = [*given_names("en_US", None), *given_names("it_IT", None), "Grace", "Mark", "Xanthe", "Qiang", "Bohumila"]
    names = rng.sample([(one, two) for one in dict.fromkeys(given) for two in BEARERS], count)
    ids = rng.sample(range(10 * count), count)
    return [Provider(f"{n}", *name) for n, name in zip(ids, names, strict=True)]


def surrogates(topics: Topics) -> dict[str, str]:
    surrogates = Surrogates(KEYRING, topics)
    made = {}
    for provider in topics.providers.values():
        (full,) = people(f"{provider.first_name} {provider.last_name}", label="DOCTOR", surrogates=surrogates)
        assert full is not None
        made[provider.provider_id] = full
    return made


@pytest.mark.parametrize("whole", [False, True], ids=["newcomers alone", "everybody each time, sorted"])
def test_whoever_joins_the_staff_changes_nobody_elses_stand_in_and_no_two_become_one(whole: bool):
    everybody = staff(300)
    topics, before = Topics(), {}
    for size in (20, 60, 140, 300):
        arrived = everybody[:size] if whole else everybody[len(before) : size]
        topics = topics.folded(Topics.of(providers=sorted(arrived, key=lambda p: p.provider_id)))
        now = surrogates(topics)
        assert len({letters(name) for name in now.values()}) == size
        assert {provider_id: now[provider_id] for provider_id in before} == before
        before = now


@pytest.mark.parametrize("newcomer", ["d0", "d1a", "zz"])
def test_a_bare_name_means_the_same_before_and_after_a_namesake_came(newcomer: str):
    ways = ("Dr. Marchetti", "Ines Marchetti", "I. Marchetti, MD")
    alone = people(*ways, label="DOCTOR", surrogates=of(DOCTOR))
    assert people(*ways, label="DOCTOR", surrogates=of(DOCTOR, Provider(newcomer, "Bruno", "Marchetti"))) == alone
    # Nor does it matter when the topics come to know her at all.
    assert people("Ines Marchetti", "Dr. Marchetti", label="DOCTOR", surrogates=of())[1] == alone[0]


def test_two_whose_names_would_meet_are_kept_apart():
    """Names that no list holds take a place by their hash, where somebody else's may be."""
    rng = random.Random(3)
    made_up = {
        "".join(rng.choice("bcdfgklmnprstv") + rng.choice("aeiou") for _ in range(3)).title() for _ in range(400)
    }
    usual = defaultdict(list)
    for name in sorted(made_up):
        (made,) = people(f"{name} Zeller", label="DOCTOR", surrogates=of())
        usual[made].append(name)
    one, two = next(names for names in usual.values() if len(names) > 1)[:2]
    first, second = Provider("d2", one, "Zeller"), Provider("d1", two, "Zeller")
    topics = Topics.of(providers=[first]).folded(Topics.of(providers=[second, first]))
    kept, moved = surrogates(topics).values()
    assert kept == next(made for made, names in usual.items() if one in names)
    assert moved != kept
    shouted, bare = people(f"{two.upper()} ZELLER", "Zeller", label="DOCTOR", surrogates=Surrogates(KEYRING, topics))
    assert (shouted, bare) == (moved.upper(), moved.split()[1])


def test_a_provider_whose_given_name_is_corrected_keeps_the_surrogate():
    before = of(Provider("d1", "Jon", "Marsh"))
    after = of(Provider("d1", "Jon", "Marsh"), Provider("d1", "John", "Marsh"))
    (old,) = people("Jon Marsh", label="DOCTOR", surrogates=before)
    assert people("John Marsh", "Jon Marsh", label="DOCTOR", surrogates=after) == [old, old]

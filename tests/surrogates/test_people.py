"""Who stands in for whom: one surrogate a person in whatever way it is written, and two people never one."""

import pickle

import pytest

from deid_platform.lexicon.lists import word_list
from deid_platform.notes import Patient, Topics
from deid_platform.surrogates.keyed import Surrogates
from deid_platform.surrogates.names import Kind, is_listed, letters, pool_for
from deid_platform.surrogates.written_names import nicknames
from tests.surrogates.surrogate_scene import KEYRING, OTHER, SURROGATES, TOPICS, marked, people, replaced

(FULL,) = people("John Smith")
GIVEN, SURNAME = FULL.split()
(MARY,) = people("Mary Smith")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("John Smith", "{g} {s}"),
        ("JOHN SMITH", "{G} {S}"),
        ("john smith", "{gl} {sl}"),
        ("Smith, John", "{s}, {g}"),
        ("SMITH,JOHN", "{S},{G}"),
        ("Smith John", "{s} {g}"),
        ("Mr. Smith", "Mr. {s}"),
        ("Smith", "{s}"),
        ("John", "{g}"),
        ("Smith's", "{s}'s"),
        ("SMITH’S", "{S}’S"),
        ("J. Smith", "{gi}. {s}"),
        ("Smith, J.", "{s}, {gi}."),
        ("John S.", "{g} {si}."),
        ("JS", "{gi}{si}"),
        ("J.S.", "{gi}.{si}."),
        ("J S", "{gi} {si}"),
        ("Smtih", "{s}"),
        ("Smiht, John", "{s}, {g}"),
        ("Jhon Smith", "{g} {s}"),
        ("JohnSmith", "{g}{s}"),
        ("Sm ith", "{s}"),
        ("Smi-\nth", "{s}"),
        ("Sm\u00adith", "{s}"),
        ("J0hn Smith", "{g} {s}"),
        ("SMITH^JOHN", "{S}^{G}"),
        ("js", "{gil}{sil}"),
        ("John Smith, Jr.", "{g} {s}, Jr."),
        ("John Smith III", "{g} {s} III"),
        ("Mr. & Mrs. Smith", None),
    ],
)
def test_the_patient_is_one_person_in_every_writing(written: str, expected: str | None):
    (made,) = people(written)
    if expected is None:
        assert made is not None
        assert "Smith" not in made
        return
    low = {"gil": GIVEN[0].lower(), "sil": SURNAME[0].lower()}
    forms = {"g": GIVEN, "s": SURNAME, "G": GIVEN.upper(), "S": SURNAME.upper(), "gl": GIVEN.lower()}
    assert made == expected.format(**forms, sl=SURNAME.lower(), gi=GIVEN[0], si=SURNAME[0], **low)


def test_an_apostrophe_alone_keeps_a_final_s_before_it():
    written = "the {PATIENT|Walters}' son; {PATIENT|WALTERS}’ SON; {PATIENT|Walters}'s son"
    plural, capitals, singular = replaced(written)
    assert (plural[-1], capitals[-1]) == ("s", "S")
    assert plural.removesuffix("s") == singular.removesuffix("s")


def test_a_nickname_becomes_a_nickname_or_the_given_name_of_the_same_person():
    for nickname in ("Johnny", "Jack", "JOHNNY SMITH"):
        (made,) = people(nickname)
        assert made.lower().split()[0] in {GIVEN.lower(), *nicknames(letters(GIVEN))}


def test_a_middle_name_and_its_initial_agree():
    whole, initial = people("John Michael Smith", "Smith, John M.")
    middle = whole.split()[1]
    assert whole == f"{GIVEN} {middle} {SURNAME}"
    assert initial == f"{SURNAME}, {GIVEN} {middle[0]}."


def test_a_family_shares_its_surname_and_nobody_his_given_name():
    father, mother, son, both = people("John Smith", "Mary Smith", "Tobin Smith", "John and Mary Smith")
    given = [name.split()[0] for name in (father, mother, son)]
    assert len(set(given)) == 3
    assert {name.split()[1] for name in (father, mother, son)} == {SURNAME}
    assert both == f"{given[0]} and {given[1]} {SURNAME}"


def test_somebody_whose_two_names_are_one_word_gets_two():
    surrogates = Surrogates(KEYRING, Topics.of([Patient("p9", "Martin", None, "Martin", sex="M")]))
    plain, comma, initial = people(
        "Martin Martin", "Martin, Martin", "M. Martin", patient_id="p9", surrogates=surrogates
    )
    given, surname = plain.split()
    assert given != surname
    assert comma == f"{surname}, {given}"
    assert initial == f"{given[0]}. {surname}"


def test_particles_stay_and_the_name_within_is_one_person_with_them_or_without():
    full, surname, together, capitals = people("Anna de la Cruz", "de la Cruz", "DeLaCruz", "DE LA CRUZ, ANNA")
    given, name = full.split(" de la ")
    assert surname == f"de la {name}"
    assert together == name
    assert capitals == f"DE LA {name.upper()}, {given.upper()}"


def test_a_surname_that_is_a_particle_elsewhere_is_replaced():
    for made in people("Das", "Das, Rajiv", "Rajiv Das", "R. Das", patient_id="p4"):
        assert "Das" not in made


def test_a_hyphened_surname_becomes_a_hyphened_one_of_the_same_parts():
    whole, half = people("Zora Quill-Smith", "Zora Quill-Smith, Smith")
    assert whole.endswith(f"-{SURNAME}")
    assert half.startswith(whole)


def test_somebody_unknown_is_one_person_within_a_note_and_in_the_patients_others():
    note = people("Zora Quill", "Quill, Zora", "Zora", "ZQ", "Mrs. Quill", "Z. Quill", "Quil")
    given, surname = note[0].split()
    assert note[1:6] == [
        f"{surname}, {given}", given, given[0] + surname[0], f"Mrs. {surname}", f"{given[0]}. {surname}",
    ]  # fmt: skip
    assert note[6] == surname or note[6] != "Quil"
    assert people("Zora Quill", note_id="n2") == [note[0]]


def test_a_name_that_is_on_a_list_is_no_misspelling_of_another():
    marie, maria = people("Marie Quillan", "Maria Quillan")
    assert marie.split()[0] != maria.split()[0]


def test_the_given_name_of_a_relative_is_not_a_nickname_of_the_patient():
    topics = Topics.of([Patient("p", "Patricia", None, "Olsen", sex="F", relatives="Pat Olsen")])
    surrogates = Surrogates(KEYRING, topics)
    patient, relative = surrogates.replace(*marked("{PATIENT|Patricia Olsen} {PATIENT|Pat Olsen}", patient_id="p"))
    assert patient.split()[0] != relative.split()[0]


def test_providers_of_one_surname_share_its_stand_in_and_no_given_name():
    ann, bob, bare = people("Ann Zeller", "Bob Zeller", "Dr. Zeller", label="DOCTOR")
    assert ann.split()[0] != bob.split()[0]
    assert ann.split()[1] == bob.split()[1] == bare.split()[1]
    # One of them in full, and the rest of the note means that one.
    full, again = people("Bob Zeller", "B. Zeller", label="DOCTOR")
    assert (full, again) == (bob, f"{bob[0]}. {bob.split()[1]}")
    assert people("A. Zeller", label="DOCTOR") == [f"{ann[0]}. {ann.split()[1]}"]


def test_a_provider_is_the_same_in_every_patients_notes_and_a_patients_friend_is_not():
    here, there = (people("Ines Marchetti, MD", label="DOCTOR", patient_id=p) for p in ("p1", "p2"))
    assert here == there
    assert here[0].endswith(", MD")
    assert people("Zora Quill", patient_id="p1") != people("Zora Quill", patient_id="p2")


def test_a_provider_whom_the_topics_do_not_know_keeps_one_surname():
    full, bare = people("Cora Venn", "Dr. Venn", label="DOCTOR")
    assert bare == f"Dr. {full.split()[1]}"
    assert people("Dr. Venn", label="DOCTOR", patient_id="p2", note_id="n9") == [bare]


def test_a_full_name_is_recognised_under_the_other_label():
    assert people("John Smith", label="DOCTOR") == [FULL]
    assert people("Ines Marchetti") == people("Ines Marchetti", label="DOCTOR")


def test_a_corrected_given_name_keeps_its_surrogate():
    former = Topics.of([Patient("p1", "Jon", None, "Smith"), *TOPICS.patients.values()])
    surrogates = Surrogates(KEYRING, former)
    old, new = surrogates.replace(*marked("{PATIENT|Jon Smith} {PATIENT|John Smith}"))
    assert old == new


@pytest.mark.parametrize(
    ("given", "sex", "expected"),
    [("John", "M", "M"), ("Mary", None, "F"), ("Taylor", None, "N"), ("Taylor", "F", "F"), ("Xyzzy", None, "N")],
)
def test_a_stand_in_keeps_the_sex_of_the_topics_or_of_the_lists(given: str, sex: str | None, expected: str):
    assert pool_for(Kind.GIVEN, letters(given), sex).home.sex == expected


@pytest.mark.parametrize(
    ("surname", "family"),
    [("rossi", "it_IT"), ("garcia", "es"), ("patel", "en_IN"), ("smith", "en"), ("abramczuk", "pl_PL"), ("qzx", "en")],
)
def test_a_stand_in_keeps_the_origin_of_the_name(surname: str, family: str):
    assert pool_for(Kind.SURNAME, surname).home.family == family


def test_the_given_name_of_an_italian_patient_is_italian():
    (made,) = people("Maria Rossi", patient_id="p2")
    assert pool_for(Kind.GIVEN, letters(made.split()[0]), "F", beside="rossi").home.family == "it_IT"


@pytest.mark.parametrize("name", ["Lee", "Walker", "Kirkpatrick"])
def test_a_stand_in_keeps_the_length_class(name: str):
    (made,) = people(f"Mr. {name}")
    classes = [0 if len(word) <= 4 else 1 if len(word) <= 7 else 2 for word in (name, made.removeprefix("Mr. "))]
    assert classes[0] == classes[1]


def test_accents_come_only_where_the_original_has_some():
    plain, accented = people("Garcia", "García", patient_id="p2")
    assert plain.isascii()
    assert letters(plain) == letters(accented)


def test_no_stand_in_is_a_word_of_clinic_or_street_or_an_eponym():
    never = word_list("common_words") | word_list("clinical_words") | {"parkinson", "bell", "graves", "murphy", "foley"}
    for word in ("smith", "lee", "rossi", "garcia", "abercrombie"):
        assert never.isdisjoint(pool_for(Kind.SURNAME, word).folded)
    assert is_listed(Kind.SURNAME, "murphy")


@pytest.mark.parametrize("text", ["Smith 3", "Иван Петров", "王伟", "J0hn5on 77", "…", "John @Smith"])
def test_what_cannot_be_read_whole_becomes_a_tag(text: str):
    assert people(text) == [None]


def test_initials_never_come_out_as_they_were():
    for patient_id in [f"q{i}" for i in range(300)]:
        (made,) = people("QX", patient_id=patient_id)
        assert made != "QX"
        assert len(made) == 2


def test_a_note_without_a_patient_is_a_scope_of_its_own():
    texts = [people("Zora Quill", patient_id=None, note_id=n)[0] for n in ("a", "a", "b")]
    assert texts[0] == texts[1] != texts[2]


def test_the_outcome_depends_on_the_secret_and_on_nothing_that_went_before():
    source = "{PATIENT|John Smith}, {PATIENT|Zora Quill}, {DOCTOR|Ines Marchetti}, {MEDICALRECORD|00718822}"
    fresh = Surrogates(KEYRING, TOPICS)
    replaced("{PATIENT|Zora M. Quill} {PATIENT|Zora} {DOCTOR|Ines}", surrogates=fresh)
    assert replaced(source, surrogates=fresh) == replaced(source)
    assert not set(replaced(source)) & set(replaced(source, surrogates=Surrogates(OTHER, TOPICS)))


def test_a_worker_process_that_gets_it_by_pickle_says_the_same():
    source = "{PATIENT|John Smith}, {DOCTOR|Ines Marchetti}, {CITY|Akron}"
    assert replaced(source, surrogates=pickle.loads(pickle.dumps(SURROGATES))) == replaced(source)


def test_a_long_list_of_names_and_hostile_spans_end_and_leave_nothing():
    names = [f"Zora Quil{a}{b}" for a in "abcdefghijklmnopqrst" for b in "abcdefghijklmnopqrst"]
    assert not set(people(*names)) & set(names)
    assert people("J. " * 50_000, "A" * 200_000, " ," * 200_000, "\ud800 Smith", "\u200b") == [None] * 5


def test_no_repr_shows_anybody():
    shown = repr(SURROGATES)
    assert shown == "<Surrogates>"

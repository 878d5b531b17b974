"""Where a person has one surrogate: in all notes, in one, or for some mentions; and what never follows the choice."""

import pickle
from dataclasses import replace
from itertools import groupby, pairwise

import pytest

from deid_platform.errors import DeidError
from deid_platform.leakcheck import LeakCheck
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact
from deid_platform.surrogates.consistency import MOST_REPEATS, Chain, Consistency
from deid_platform.surrogates.keyed import Surrogates
from deid_platform.surrogates.names import Kind, pool_for
from tests.surrogates.surrogate_scene import KEYRING, OTHER, SURROGATES, TOPICS, marked, people, replaced

PER_NOTE, VARIED = (Surrogates(KEYRING, TOPICS, consistency=way) for way in (Consistency.PER_NOTE, Consistency.VARIED))
WAYS = ("John Smith", "SMITH, JOHN", "Mr. Smith", "J. Smith", "JS", "Smith's")
FAMILY = {"john", "johnny", "jack", "michael", "mike", "smith", "mary", "tobin", "anna", "cruz", "teasel", "akron"}


@pytest.mark.parametrize(
    ("numbers", "chain"),
    [
        ([0] * 8, [0, 0, 0, 1, 1, 1, 2, 2, 2]),  # stays whenever it may
        ([1] * 4, [0, 1, 2, 3, 4]),
        ([0, 1, 0, 0, 1], [0, 0, 1, 1, 1, 2]),
    ],
)
def test_a_chain_by_hand(numbers: list[int], chain: list[int]):
    left = iter(numbers)
    # Nothing is asked at the first mention, nor where three in a row have had one surrogate.
    asked: list[tuple[str, ...]] = []

    def number(*parts: str) -> int:
        asked.append(parts)
        return next(left)

    of_note = Chain(number)
    assert [of_note.next(("patient", "p1")) for _ in chain] == chain
    assert len(set(asked)) == len(asked)


def test_people_have_chains_of_their_own():
    chain = Chain(lambda *parts: int(parts[1] == "two"))
    assert [chain.next((who,)) for who in ("one", "two", "one", "two", "two")] == [0, 0, 0, 1, 2]


def test_in_one_note_a_person_is_one_in_every_writing_and_in_the_next_another():
    seen = set()
    for note_id in ("n1", "n2", "n3"):
        full, shouted, titled, initial, both, whose = people(*WAYS, surrogates=PER_NOTE, note_id=note_id)
        given, surname = full.split()
        assert shouted == f"{surname}, {given}".upper()
        assert (titled, whose) == (f"Mr. {surname}", f"{surname}'s")
        assert (initial, both) == (f"{given[0]}. {surname}", f"{given[0]}{surname[0]}")
        seen.add(full)
    assert len(seen) == 3


def test_the_same_note_gives_the_same_text_again_and_another_key_another_one():
    for way in (PER_NOTE, VARIED):
        again = pickle.loads(pickle.dumps(way))
        assert (again.consistency, again.date_shift) == (way.consistency, way.date_shift)
        made = people(*WAYS, surrogates=way)
        assert made == people(*WAYS, surrogates=way) == people(*WAYS, surrogates=again)
        other = Surrogates(OTHER, TOPICS, consistency=way.consistency)
        assert not set(made) & set(people(*WAYS, surrogates=other))


def test_without_the_key_two_notes_tell_nothing_of_each_other():
    """Nor of the surrogate that a consistent release shows: a name in one note is a chance draw from another's."""
    one, usual = people("John Smith", surrogates=PER_NOTE)[0], people("John Smith")[0]
    others = [people("John Smith", surrogates=PER_NOTE, note_id=f"n{i}")[0] for i in range(2, 302)]
    pool = len(pool_for(Kind.SURNAME, "smith").names)
    for known in (one, usual):
        met = sum(other.split()[1] == known.split()[1] for other in others)
        assert met <= 12, (met, pool)  # a draw from half a pool of hundreds: about one or none
    assert pool > 200
    assert len({other.split()[1] for other in others}) > 80


def test_what_never_comes_is_not_the_true_name_alone():
    """Over so many notes that every name of the pool would have come, half of it has not."""
    drawn = [people("Rossi", surrogates=VARIED, patient_id="p2", note_id=f"n{i}")[0] for i in range(3000)]
    pool = pool_for(Kind.SURNAME, "rossi")
    assert len(drawn) > 5 * len(pool.names)
    never = set(pool.names) - set(drawn)
    assert "Rossi" in never
    assert 0.4 < len(never) / len(pool.names) < 0.65


def test_where_it_varies_a_mention_agrees_in_itself_and_few_in_a_row_are_alike():
    made = people(*["John Smith"] * 60, surrogates=VARIED)
    runs = [(name, len(list(same))) for name, same in groupby(made)]
    assert max(length for _, length in runs) <= MOST_REPEATS
    assert len({name for name, _ in runs}) == len(runs) > 20
    given, surnames = zip(*(name.split() for name in made), strict=True)
    changes = [[a != b for a, b in pairwise(words)] for words in (given, surnames)]
    assert changes[0] == changes[1]
    # A half of the mentions stay, but for those that may not.
    assert 0.3 < changes[0].count(False) / len(changes[0]) < 0.6


def test_parts_of_a_name_within_a_mention_are_one_persons():
    for initial, both in zip(*[iter(people(*["J. Smith", "JS"] * 20, surrogates=VARIED))] * 2, strict=True):
        assert len(both) == 2
        assert initial[1:3] == ". "
    pairs = people(*["John and Mary Smith"] * 20, surrogates=VARIED)
    assert all(" and " in pair for pair in pairs)
    assert len(set(pairs)) > 8


@pytest.mark.parametrize("surrogates", [PER_NOTE, VARIED], ids=lambda it: it.consistency.value)
def test_nothing_of_the_family_is_ever_drawn(surrogates: Surrogates):
    texts = ["John Michael Smith", "Mary Smith", "Johnny", "Tobin Smith", "Anna de la Cruz", "Dr. Gail Harrow"]
    for i in range(150):
        for name in people(*texts, surrogates=surrogates, note_id=f"n{i}"):
            assert not FAMILY & {word.casefold().strip(".") for word in name.split()}, i


def test_two_people_of_a_note_stay_two_and_a_family_keeps_one_surname():
    for i in range(100):
        made = people("John Smith", "Mary Smith", "Tobin Smith", "Gail Harrow", surrogates=PER_NOTE, note_id=f"n{i}")
        assert len(set(made)) == 4
        assert len({name.split()[1] for name in made[:3]}) == 1
        staff = people("Ann Zeller", "Bob Zeller", "Ines Marchetti", label="DOCTOR", surrogates=PER_NOTE,
                       note_id=f"n{i}")  # fmt: skip
        assert len(set(staff)) == 3
        assert len({name.split()[1] for name in staff}) == 2


def test_staff_are_one_in_a_note_and_another_in_the_next():
    ways = ("Ines Marchetti", "Dr. Marchetti", "I. Marchetti")
    notes = [people(*ways, label="DOCTOR", surrogates=PER_NOTE, note_id=note_id) for note_id in ("n1", "n2")]
    for full, titled, initial in notes:
        given, surname = full.split()
        assert (titled, initial) == (f"Dr. {surname}", f"{given[0]}. {surname}")
    assert notes[0][0] != notes[1][0]


NUMBERS = "{MEDICALRECORD|00718822} {PHONE|(330) 555-0142} {SSN|219-09-9999} {USERNAME|imarch02} {EMAIL|jsmith@a.org}"
PLACES = "{HOSPITAL|Larkmoor General Hospital} (LGH), {STREET|5 Elm St}, {CITY|Akron}, {STATE|OH} {ZIP|44308}"


@pytest.mark.parametrize("surrogates", [PER_NOTE, VARIED], ids=lambda it: it.consistency.value)
def test_numbers_change_from_note_to_note_and_places_and_dates_do_not(surrogates: Surrogates):
    one, same, two = (replaced(NUMBERS, surrogates, note_id=note_id) for note_id in ("n1", "n1", "n2"))
    assert one == same
    assert all(a != b for a, b in zip(one, two, strict=True))
    # An area code belongs to a place.
    assert one[1][:5] == two[1][:5]
    lasting = PLACES + " {DATE|3/14/2019}"
    assert replaced(lasting, surrogates) == replaced(lasting, surrogates, note_id="n2") == replaced(lasting)


def test_an_initial_of_nobody_known_never_shows_itself_nor_all_others():
    shown = {people("Q.", patient_id="p9", surrogates=PER_NOTE, note_id=f"n{i}")[0] for i in range(400)}
    assert "Q." not in shown
    assert 5 < len(shown) < 20


@pytest.mark.parametrize("surrogates", [PER_NOTE, VARIED], ids=lambda it: it.consistency.value)
def test_the_leak_check_passes_a_note_and_finds_a_name_that_was_missed(surrogates: Surrogates):
    policy = replace(load_policy("surrogate"), consistency=surrogates.consistency)
    check = LeakCheck.of(TOPICS, policy)
    known_as = TOPICS.patients_known_as("p1")
    source = "{PATIENT|John Smith} saw {DOCTOR|Ines Marchetti}. {PATIENT|Smith}, MRN {MEDICALRECORD|00718822}. Smith"
    for i in range(20):
        note, spans = marked(source, note_id=f"n{i}")
        note = replace(note, text=note.text.removesuffix(" Smith"))
        done = redact(note, spans, policy, surrogates=surrogates)
        assert check.check(note, known_as, done.text, done.applied, lengths=done.lengths) == ()
    note, spans = marked(source)
    done = redact(note, spans, policy, surrogates=surrogates)
    leaks = check.check(note, known_as, done.text, done.applied, lengths=done.lengths)
    assert [leak.kind.value for leak in leaks] == ["last-name"]


def test_surrogates_of_a_policy_that_chose_otherwise_are_refused():
    note, spans = marked("{PATIENT|John Smith}")
    for surrogates in (PER_NOTE, VARIED):
        with pytest.raises(DeidError) as caught:
            redact(note, spans, load_policy("surrogate"), surrogates=surrogates)
        assert caught.value.ref == "surrogates of another policy"
    assert redact(note, spans, load_policy("surrogate"), surrogates=SURROGATES).text == people("John Smith")[0]

"""The sampler: Murugadoss 2024's formulas, and whom it takes first."""

import random
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.evaluation.scores import sampling
from deid_platform.evaluation.scores.sampling import EligibleNote, adjusted_count, contains_own_phi, period_of, sample
from deid_platform.notes import Note, Patient


def group(
    note_type: str, notes: int, words: int, *, patients: int | None = None, phi: int | None = None
) -> list[EligibleNote]:
    """A group of notes; by default each of a patient of its own, and each with PHI."""
    return [
        EligibleNote(
            f"{note_type}{i}",
            f"p{i % (patients or notes)}",
            note_type,
            "2020",
            words,
            i < (notes if phi is None else phi),
        )
        for i in range(notes)
    ]


def sizes(test_set: sampling.TestSet) -> dict[str, int]:
    return {g.note_type: g.sampled for g in test_set.groups}


def test_the_papers_worked_numbers():
    # The paper gives 10.8M and 4.0M; the formula on the figures it prints gives 10.7M and 3.8M.
    assert adjusted_count(3_700_000, 794) == pytest.approx(10.73e6, rel=1e-3)
    assert adjusted_count(12_700_000, 1.99) == pytest.approx(3.795e6, rel=1e-3)


@pytest.mark.parametrize("words", [0.0, 0.5, 1.0])
def test_one_word_or_less_weighs_nothing(words: float):
    assert adjusted_count(1000, words) == 0.0


def test_shares_follow_the_adjusted_counts():
    # 1000 x log10(1000) = 3000 and 1000 x log10(10) = 1000: three quarters and one quarter of 100.
    test_set = sample(group("long", 1000, 1000) + group("short", 1000, 10), size=100)
    assert sizes(test_set) == {"long": 75, "short": 25}
    assert [g.adjusted for g in test_set.groups] == pytest.approx([3000, 1000])
    assert [g.target for g in test_set.groups] == pytest.approx([75, 25])


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        (group("a", 1000, 1000) + group("b", 100, 10), {"a": 97, "b": 10}),  # 96.77 rounds up; 3.2 becomes k
        (group("a", 1000, 1000) + group("b", 4, 10), {"a": 100, "b": 4}),  # fewer than k: all of them
        (group("a", 1000, 1000) + group("b", 500, 1), {"a": 100, "b": 10}),  # one word: k all the same
        (group("a", 50, 1) + group("b", 5, 0), {"a": 10, "b": 5}),  # nothing to share out
        (group("a", 50, 100), {"a": 50}),  # no more than there are
        ([], {}),
    ],
)
def test_minimum_and_maximum_of_a_group(candidates: list[EligibleNote], expected: dict[str, int]):
    assert sizes(sample(candidates, size=100)) == expected


def test_groups_are_type_and_period():
    notes = [EligibleNote(f"n{t}{p}", "p", t, p, 9, False) for t in "ab" for p in ("2019", "2020")]
    assert [(g.note_type, g.period) for g in sample(notes).groups] == [
        ("a", "2019"),
        ("a", "2020"),
        ("b", "2019"),
        ("b", "2020"),
    ]


def test_distinct_patients_come_before_a_second_note_of_one():
    # 40 notes of 8 patients: 10 are taken, so each patient once and two of them twice.
    test_set = sample(group("a", 40, 9, patients=8), size=10)
    assert test_set.groups[0].distinct_patients == 8
    assert test_set.groups[0].sampled == 10


def test_a_new_patient_without_phi_comes_before_a_known_one_with_it():
    many = [EligibleNote(f"x{i}", "one", "a", "2020", 9, True) for i in range(30)]
    others = [EligibleNote(f"y{i}", f"q{i}", "a", "2020", 9, False) for i in range(9)]
    taken = sample(many + others, size=10)
    assert {n for n in taken.note_ids if n.startswith("y")} == {c.note_id for c in others}
    assert taken.phi_share == pytest.approx(0.1)


def test_among_a_patients_notes_and_among_patients_those_with_phi_come_first():
    notes = [EligibleNote(f"n{p}-{i}", f"p{p}", "a", "2020", 9, i == 3 and p < 10) for p in range(20) for i in range(5)]
    taken = sample(notes, size=10)
    assert taken.phi_share == 1.0
    assert set(taken.note_ids) == {f"n{p}-3" for p in range(10)}


def test_notes_without_a_patient_count_as_patients_of_their_own():
    notes = [EligibleNote(f"n{i}", None, "a", "2020", 9, True) for i in range(30)]
    assert sample(notes, size=10).groups[0].distinct_patients == 10


@given(st.randoms(use_true_random=False), st.integers(0, 3))
def test_the_order_of_the_population_does_not_matter(shuffler: random.Random, seed: int):
    notes = group("a", 60, 40, patients=20, phi=25) + group("b", 30, 300, patients=9, phi=3)
    expected = sample(notes, size=30, seed=seed)
    shuffled = list(notes)
    shuffler.shuffle(shuffled)
    assert sample(shuffled, size=30, seed=seed) == expected


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.booleans()), max_size=80),
    st.integers(1, 6),
    st.integers(1, 6),
)
def test_notes_that_are_let_go_on_the_way_would_not_have_been_taken(
    drawn: list[tuple[str, int, bool]], size: int, minimum: int
):
    notes = [
        EligibleNote(f"n{i}", f"p{person}" if person else None, kind, "2020", 9, phi)
        for i, (kind, person, phi) in enumerate(drawn)
    ]
    taken = sample(notes, size=size, minimum=minimum)
    for g in taken.groups:
        mine = [n for n in notes if n.note_type == g.note_type]
        assert g.population == len(mine)
        # With room for all, nothing is let go, and the order is the same.
        every = sample(mine, size=len(mine), minimum=len(mine)).note_ids
        assert [n for n in taken.note_ids if n in every] == list(every[: g.sampled])


def test_another_seed_takes_other_notes_of_the_same_rank():
    notes = group("a", 500, 40)
    assert set(sample(notes, size=20).note_ids) != set(sample(notes, size=20, seed=1).note_ids)


@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.integers(0, 500), st.integers(1, 12), st.integers(0, 40)),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 60),
    st.integers(1, 12),
)
def test_every_group_gets_what_the_formula_says(shapes: list[tuple[int, int, int, int]], size: int, minimum: int):
    notes = [c for i, (n, w, p, phi) in enumerate(shapes) for c in group(f"t{i}-", n, w, patients=p, phi=phi)]
    test_set = sample(notes, size=size, minimum=minimum)
    assert len(test_set.note_ids) == len(set(test_set.note_ids)) == sum(g.sampled for g in test_set.groups)
    for g in test_set.groups:
        assert min(g.population, max(minimum, g.target)) - 1e-5 <= g.sampled
        assert g.sampled < min(g.population, max(minimum, g.target)) + 1
        assert g.distinct_patients == min(g.sampled, len({c.patient_id for c in notes if c.note_type == g.note_type}))


@pytest.mark.parametrize(
    ("day", "ranges", "period"),
    [
        (date(2019, 5, 1), (), "2019"),
        (date(2019, 5, 1), ((2015, 2017), (2018, 2021)), "2018-2021"),
        (date(2014, 5, 1), ((2015, 2017),), "2014"),
        (None, ((2015, 2017),), "undated"),
    ],
)
def test_periods(day: date | None, ranges: tuple[tuple[int, int], ...], period: str):
    assert period_of(day, ranges) == period


VASK = Patient(
    "p",
    first_name="Will",
    last_name="O'Vask",
    phone="(614) 555-0142",
    email="o.vask@example.org",
    street="18 Teasel Row",
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Will came", True),
        ("he will come", False),
        ("Willow bark", False),
        ("Mr. O'Vask", True),
        ("MR. O'VASK", True),
        ("Mr. Vaskov", False),
        ("614-555-0142", True),
        ("(614) 555 0142", True),
        ("6145550142", True),
        ("614-555-01420", False),
        ("O.Vask@Example.org", True),
        ("18  Teasel\nRow", True),
        ("18 Teasel Rowe", False),
        ("", False),
    ],
)
def test_whether_a_note_shows_its_own_patient(text: str, found: bool):
    assert contains_own_phi(Note("n", text), VASK) is found


def test_a_patient_of_whom_nothing_is_known_is_shown_nowhere():
    assert not contains_own_phi(Note("n", "Will 614-555-0142"), Patient("p", first_name="", phone="0", street=" "))


def test_no_repr_shows_an_id():
    notes = group("secret", 3, 9)
    assert "secret" not in repr(notes[0])
    assert "secret" not in repr(sample(notes))

"""Noise: what it does to letters, and that gold stays exact whatever it does."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.corpora.gold import Gold
from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.noise import Distribution, Kind, NoiseSpec, Noisy, noisy
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

SHARE = st.one_of(st.just(1.0), st.floats(0, 1))


def letter(text: str, *surfaces: str, clinical: tuple[str, ...] = (), note_id: str = "n1") -> Gold:
    spans = tuple(Span(text.index(s), text.index(s) + len(s), Label.PATIENT, source="gold") for s in surfaces)
    terms = tuple((text.index(term), text.index(term) + len(term)) for term in clinical)
    return Gold(note_id, spans, terms, Note(note_id, text, patient_id="p1", note_date=date(2026, 1, 5)))


def text_of(made: Noisy) -> str:
    assert made.gold.note is not None
    return made.gold.note.text


def surfaces(made: Noisy) -> list[str]:
    return [text_of(made)[span.start : span.end] for span in made.gold.spans]


def every(kind: Kind, surface: str, draws: int = 60) -> set[str]:
    """All that one kind of edit makes of a surface."""
    gold = letter(f"Seen: {surface}. Well.", surface)
    specs = (NoiseSpec(1.0, density=0.0, kinds=(kind,), seed=seed) for seed in range(draws))
    return {surfaces(noisy(gold, spec))[0] for spec in specs}


@pytest.mark.parametrize(
    ("kind", "surface", "made"),
    [
        (Kind.CONFUSION, "S0", {"50", "SO", "So"}),
        (Kind.CONFUSION, "rn", {"m", "ru"}),
        (Kind.CONFUSION, "clx", {"dx", "elx", "c1x", "cIx"}),
        (Kind.CONFUSION, "XX", {"XX"}),
        (Kind.ACCENT, "Zoë", {"Zoe"}),
        (Kind.ACCENT, "Zoe", {"Zoe"}),
        (Kind.SWAP, "123", {"213", "132"}),
        (Kind.SWAP, "1-2", {"1-2"}),
        (Kind.SWAP, "11", {"11"}),
        (Kind.SPLIT, "Ann", {"A nn", "An n"}),
        (Kind.SPLIT, "J.", {"J."}),
        (Kind.JOIN, "Ann Lee", {"AnnLee"}),
        (Kind.JOIN, "Ann\nLee", {"Ann\nLee"}),
        (Kind.HYPHEN, "Annabel", {"An-\nnabel", "Ann-\nabel", "Anna-\nbel", "Annab-\nel"}),
        (Kind.HYPHEN, "Ann", {"Ann"}),
        (Kind.CASE, "Ann Lee", {"ann lee", "ANN LEE"}),
        (Kind.CASE, "ANN", {"ann"}),
        (Kind.CASE, "55", {"55"}),
    ],
)
def test_each_kind_makes_what_it_says_and_leaves_what_it_cannot_change(kind, surface, made):
    assert every(kind, surface) == made


def test_what_is_around_an_identifier_is_left_as_it_was():
    made = noisy(letter("Seen: Ann Lee. Rash, 10 mg.", "Ann Lee", clinical=("Rash",)), NoiseSpec(1.0))
    assert text_of(made).startswith("Seen: ")
    assert text_of(made).endswith(". Rash, 10 mg.")
    assert made.touched == (True,)
    (start, end), *_ = made.gold.clinical
    assert text_of(made)[start:end] == "Rash"
    assert not made.outside


def test_a_span_of_nothing_but_a_space_keeps_it():
    gold = Gold("n1", (Span(1, 2, Label.PATIENT),), (), Note("n1", "a b"))
    assert surfaces(noisy(gold, NoiseSpec(1.0, kinds=(Kind.JOIN,)))) == [" "]


def test_each_identifier_is_drawn_by_itself():
    names = [f"Ann{number:02}" for number in range(60)]
    made = noisy(letter(", ".join(names), *names), NoiseSpec(0.5))
    assert 15 < sum(made.touched) < 45


def test_edits_of_one_identifier_do_not_fall_on_each_other():
    for seed in range(20):
        made = noisy(letter("No: 123456789.", "123456789"), NoiseSpec(1.0, density=1.0, kinds=(Kind.SWAP,), seed=seed))
        assert sorted(surfaces(made)[0]) == sorted("123456789")
        assert made.inside[Kind.SWAP] >= 3


def test_noise_around_identifiers_leaves_them_as_they_were():
    made = noisy(letter("Seen today: Ann Lee. Persistent rash.", "Ann Lee"), NoiseSpec(0.0, outside=1.0))
    assert surfaces(made) == ["Ann Lee"]
    assert made.touched == (False,)
    assert sum(made.outside.values()) == made.words == 4


def test_what_happens_to_identifiers_does_not_depend_on_the_noise_outside():
    gold = letter("Ann Lee of 5 Mill Road came with her sister Zoë.", "Ann Lee", "Mill Road", "Zoë")
    for seed in range(20):
        quiet, loud = (noisy(gold, NoiseSpec(0.6, outside=share, seed=seed)) for share in (0.0, 1.0))
        assert surfaces(quiet) == surfaces(loud)
        assert quiet.touched == loud.touched


def test_the_note_keeps_all_but_its_text():
    made = noisy(letter("Ann Lee came.", "Ann Lee"), NoiseSpec(1.0))
    assert made.gold.note is not None
    assert (made.gold.note.patient_id, made.gold.note.note_date) == ("p1", date(2026, 1, 5))
    assert [(span.label, span.source) for span in made.gold.spans] == [(Label.PATIENT, "gold")]


def test_nothing_that_is_shown_shows_the_text():
    assert "Lee" not in repr(noisy(letter("Ann Lee came.", "Ann Lee"), NoiseSpec(1.0)))


@pytest.mark.parametrize(
    ("fields", "named"),
    [({"identifiers": 1.1}, "identifiers"), ({"outside": -0.1}, "outside"), ({"kinds": ()}, "kinds")],
)
def test_a_share_that_is_none_is_refused_by_its_name(fields, named):
    with pytest.raises(DeidError) as caught:
        NoiseSpec(**fields)
    assert (caught.value.code, caught.value.ref) == (Code.INPUT_INVALID, named)


def test_gold_without_a_text_is_refused():
    with pytest.raises(DeidError) as caught:
        noisy(Gold("n1", ()), NoiseSpec())
    assert caught.value.code is Code.INPUT_INVALID


@st.composite
def golds(draw) -> Gold:
    """Any text with spans that do not overlap, and clinical terms that may lie anywhere."""
    # Short texts of what each kind changes, and cuts anywhere: borders lie within pairs and beside spaces.
    parts = st.sampled_from(["rn", "cl", "ab", "l1", "é", " ", " ", "X", "ß", "İ", "\n", "-", "."])
    text = "".join(draw(st.lists(parts, min_size=1, max_size=12)))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    spans = tuple(Span(a, b, Label.PATIENT, source="gold") for a, b in pairwise(cuts) if draw(st.booleans()))
    places = st.integers(0, len(text) - 1).flatmap(
        lambda start: st.tuples(st.just(start), st.integers(start + 1, min(len(text), start + 4)))
    )
    return Gold("n1", spans, tuple(sorted(draw(st.lists(places, max_size=3)))), Note("n1", text))


@st.composite
def specs(draw, **fixed) -> NoiseSpec:
    kinds = tuple(draw(st.lists(st.sampled_from(Kind), min_size=1, unique=True)))
    fields = {"identifiers": draw(SHARE), "outside": draw(SHARE), "density": draw(SHARE), **fixed}
    return NoiseSpec(**fields, kinds=kinds, seed=draw(st.integers(0, 99)))


@given(golds(), specs())
def test_spans_stay_in_their_order_are_never_empty_and_never_overlap(gold, spec):
    made = noisy(gold, spec)
    assert len(made.gold.spans) == len(made.touched) == len(gold.spans)
    assert all(0 <= span.start < span.end <= len(text_of(made)) for span in made.gold.spans)
    assert all(before.end <= after.start for before, after in pairwise(made.gold.spans))
    assert all(0 <= start < end <= len(text_of(made)) for start, end in made.gold.clinical)


@given(golds(), specs())
def test_a_span_is_touched_if_and_only_if_its_surface_is_another(gold, spec):
    made = noisy(gold, spec)
    before = [gold.note.text[span.start : span.end] for span in gold.spans]
    assert [was != now for was, now in zip(before, surfaces(made), strict=True)] == list(made.touched)


@given(golds(), specs())
def test_no_white_space_is_added_to_the_ends_of_a_surface(gold, spec):
    made = noisy(gold, spec)
    moved = [*((span.start, span.end) for span in made.gold.spans), *made.gold.clinical]
    places = [*((span.start, span.end) for span in gold.spans), *gold.clinical]
    for place, now in zip(places, moved, strict=True):
        before, surface = gold.note.text[slice(*place)], text_of(made)[slice(*now)]
        assert surface[0].isspace() <= before[0].isspace()
        assert surface[-1].isspace() <= before[-1].isspace()


@given(golds(), specs(identifiers=0.0, outside=0.0))
def test_without_a_rate_nothing_changes(gold, spec):
    made = noisy(gold, spec)
    assert made.gold == gold
    assert not any(made.touched)


@given(golds(), specs(outside=0.0))
def test_without_noise_outside_what_lies_between_spans_is_the_same(gold, spec):
    made = noisy(gold, spec)

    def between(of: Gold) -> list[str]:
        assert of.note is not None
        ends = [0, *(span.end for span in of.spans)]
        starts = [*(span.start for span in of.spans), len(of.note.text)]
        return [of.note.text[a:b] for a, b in zip(ends, starts, strict=True)]

    assert between(made.gold) == between(gold)


@given(golds(), specs())
def test_the_same_note_and_spec_give_the_same_noise(gold, spec):
    assert noisy(gold, spec).gold == noisy(gold, spec).gold


@pytest.fixture(scope="module")
def hospital() -> list[Gold]:
    found = []
    for delivery in generate(HospitalSpec(seed=11, notes=150)):
        for note in delivery.notes:
            found.append(Gold(note.note_id, delivery.gold[note.note_id], delivery.clinical[note.note_id], note))
    return found


@pytest.mark.parametrize(("identifiers", "outside"), [(0.1, 0.0), (0.3, 0.02), (0.6, 0.1), (1.0, 0.3)])
def test_rates_are_met_over_many_notes(hospital, identifiers, outside):
    spec = NoiseSpec(identifiers, outside)
    total = Distribution.of(noisy(gold, spec) for gold in hospital)
    assert total.notes == len(hospital)
    assert total.touched / total.identifiers == pytest.approx(identifiers, abs=0.03)
    # A word such as "X" has nothing that could be mistaken.
    assert 0.9 * outside <= sum(total.outside.values()) / total.words <= 1.05 * outside + 0.003


def test_every_kind_occurs_and_confusions_are_the_most_frequent(hospital):
    total = Distribution.of(noisy(gold, NoiseSpec(0.5)) for gold in hospital)
    assert set(total.inside) >= set(Kind) - {Kind.ACCENT}
    assert max(total.inside, key=lambda kind: total.inside[kind]) is Kind.CONFUSION

"""Agreement of two annotators: one example by hand, and what holds of any two."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deid_platform.evaluation.scores.agreement import Kind, PairedNote, agreement, disagreements
from deid_platform.labels import Label
from deid_platform.notes import Span

P, D, C = Label.PATIENT, Label.DOCTOR, Label.CITY
TEXT = "Ada Quill saw Bo Fenn in Lorn on Monday"
#       012345678901234567890123456789012345678


def note(one: list[tuple], other: list[tuple], text: str = TEXT, key: str = "n_a") -> PairedNote:
    return PairedNote(key, text, tuple(Span(*s) for s in one), tuple(Span(*s) for s in other))


# Nine words. The first annotator: a patient of two words, a doctor of two, a city. The second: the patient's given name
# alone, the doctor's words as a patient, no city, a day.
HAND = note(
    [(0, 9, P), (14, 21, D), (25, 29, C)],
    [(0, 3, P), (14, 21, P), (33, 39, Label.DATE)],
)


def test_an_example_by_hand():
    found = agreement([HAND])
    assert (found.notes, found.words) == (1, 9)
    # Spans: no two are equal; the doctor's are at one place; two of three of each meet, one with the same label.
    assert (found.spans.one, found.spans.other) == (3, 3)
    assert found.spans.exact == 0.0
    assert found.spans.exact_any_label == pytest.approx(2 / 6)
    assert found.spans.overlapping == pytest.approx(2 / 6)
    assert found.spans.overlapping_any_label == pytest.approx(4 / 6)
    # Any label: both Ada, Bo, Fenn; the first alone Quill, Lorn; the second alone Monday; neither saw, in, on.
    any_label = found.kappa
    assert (any_label.both, any_label.only_one, any_label.only_other, any_label.neither) == (3, 2, 1, 3)
    # Observed 6/9; by chance 5/9 * 4/9 + 4/9 * 5/9 = 40/81; kappa (54 - 40) / (81 - 40).
    assert any_label.value == pytest.approx(14 / 41)
    # PATIENT: both Ada; the first alone Quill; the second alone Bo and Fenn; neither five.
    # Observed 6/9; by chance 2/9 * 3/9 + 7/9 * 6/9 = 48/81; kappa (54 - 48) / (81 - 48).
    assert found.labels[P].kappa.value == pytest.approx(6 / 33)
    # DOCTOR: the second never used it, so chance explains all the agreement that there is.
    assert found.labels[D].kappa.value == 0.0
    assert list(found.labels) == [label for label in Label if label in (P, D, C, Label.DATE)]
    assert [(d.kind, d.start) for d in disagreements(HAND)] == [
        (Kind.BOUNDARIES, 0),
        (Kind.LABEL, 14),
        (Kind.ONLY_ONE, 25),
        (Kind.ONLY_OTHER, 33),
    ]
    assert found.disagreements[Kind.LABEL] == 1
    assert found.disagreements[Kind.BOTH] == 0


@pytest.mark.parametrize(
    ("one", "other", "kinds"),
    [
        pytest.param([(0, 9, P)], [(0, 9, P)], [], id="equal"),
        pytest.param([(0, 9, P)], [(0, 9, D)], [Kind.LABEL], id="other label"),
        pytest.param([(0, 9, P)], [(4, 9, P)], [Kind.BOUNDARIES], id="other start"),
        pytest.param([(0, 9, P)], [(4, 9, D)], [Kind.BOTH], id="other start and label"),
        pytest.param([(0, 3, P)], [(3, 9, P)], [Kind.ONLY_ONE, Kind.ONLY_OTHER], id="touching"),
        pytest.param([(0, 9, P)], [(0, 3, P), (4, 9, P)], [Kind.BOUNDARIES, Kind.ONLY_OTHER], id="two for one"),
        pytest.param([(0, 9, P)], [], [Kind.ONLY_ONE], id="the first alone"),
    ],
)
def test_each_disagreement_has_its_kind(one, other, kinds):
    assert [d.kind for d in disagreements(note(one, other))] == kinds


def test_nothing_marked_is_no_agreement():
    found = agreement([note([], [])])
    assert found.kappa.value is found.spans.exact is None
    assert found.labels == {}
    assert agreement([]).words == 0


def test_a_repr_shows_no_text():
    assert "Quill" not in repr(HAND) + repr(list(disagreements(HAND))) + repr(agreement([HAND]))


@st.composite
def spans(draw) -> tuple[Span, ...]:
    cuts = sorted(draw(st.sets(st.integers(0, len(TEXT)), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return tuple(Span(a, b, draw(st.sampled_from([P, D, C])), source=draw(st.sampled_from("ab"))) for a, b in pairs)


NOTES = st.lists(st.tuples(spans(), spans()), max_size=5).map(
    lambda found: [PairedNote(f"n_{i}", TEXT, *pair) for i, pair in enumerate(found)]
)
few = settings(max_examples=60, deadline=None)


@few
@given(NOTES)
def test_one_annotator_agrees_with_herself(notes):
    found = agreement([PairedNote(n.key, n.text, n.one, n.one) for n in notes], resamples=20)
    assert found.spans.exact in (None, 1.0)
    assert found.spans.overlapping in (None, 1.0)
    for kappa in (found.kappa, *(by.kappa for by in found.labels.values())):
        assert kappa.value in (None, 1.0)
        assert kappa.low in (None, 1.0)
    assert not any(found.disagreements.values())


MIRROR = {Kind.ONLY_ONE: Kind.ONLY_OTHER, Kind.ONLY_OTHER: Kind.ONLY_ONE}


@few
@given(NOTES)
def test_the_two_may_be_exchanged(notes):
    swapped = [PairedNote(n.key, n.text, n.other, n.one) for n in notes]
    one, other = agreement(notes, resamples=20), agreement(swapped, resamples=20)
    assert one.kappa.value == other.kappa.value
    assert (one.kappa.low, one.kappa.high) == (other.kappa.low, other.kappa.high)
    assert (one.spans.exact, one.spans.overlapping) == (other.spans.exact, other.spans.overlapping)
    assert {MIRROR.get(kind, kind): count for kind, count in one.disagreements.items()} == other.disagreements


@few
@given(NOTES, st.randoms())
def test_the_order_of_notes_says_nothing(notes, random):
    shuffled = [*notes]
    random.shuffle(shuffled)
    assert agreement(shuffled, resamples=20) == agreement(notes, resamples=20)


@few
@given(NOTES)
def test_stricter_measures_are_no_higher(notes):
    found = agreement(notes, resamples=1)
    if found.spans.exact is not None:
        assert found.spans.exact <= found.spans.overlapping <= found.spans.overlapping_any_label <= 1
        assert found.spans.exact <= found.spans.exact_any_label <= found.spans.overlapping_any_label
    for kappa in (found.kappa, *(by.kappa for by in found.labels.values())):
        assert kappa.value is None or -1 <= kappa.value <= 1
        assert kappa.both + kappa.only_one + kappa.only_other + kappa.neither == found.words

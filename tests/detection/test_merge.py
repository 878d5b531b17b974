from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deid_platform.detection.api import Candidate
from deid_platform.detection.resolve.merge import merge, well_formed
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.text.offsets import trim


def candidate(start: int, end: int, label: Label, score: float = 1.0, source: str = "roster") -> Candidate:
    return Candidate.of_span(Span(start, end, label, score, source))


intervals = st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda t: (t[0], t[0] + t[1]))
spans = st.builds(
    lambda place, label, score, source: candidate(*place, label, score, source),
    intervals,
    st.sampled_from([Label.PATIENT, Label.DATE, Label.HOSPITAL]),
    st.floats(0, 1),
    st.sampled_from(["roster", "gazetteer", "rules:x", "model:x"]),
)


def covered(found: list[Candidate]) -> set[int]:
    return {i for s in found for i in range(s.start, s.end)}


@given(st.lists(spans))
def test_merging_uncovers_nothing_and_covers_nothing_new(found: list[Candidate]) -> None:
    merged = merge(found)
    assert covered(merged) == covered(found)
    assert well_formed([c.span() for c in merged], 100)


@given(st.lists(spans))
def test_merging_is_idempotent_and_ignores_order(found: list[Candidate]) -> None:
    merged = merge(found)
    assert merge(merged) == merged
    assert [(s.start, s.end, s.label) for s in merge(found[::-1])] == [(s.start, s.end, s.label) for s in merged]


@given(st.text(), st.integers(0, 20), st.integers(0, 20))
def test_trimming_removes_white_space_and_nothing_else(text: str, a: int, b: int) -> None:
    start, end = sorted((min(a, len(text)), min(b, len(text))))
    place = trim(text, start, end)
    assert (text[slice(*place)] if place else "") == text[start:end].strip()


def test_spans_that_touch_stay_apart() -> None:
    touching = [candidate(0, 3, Label.CITY), candidate(3, 5, Label.STATE)]
    assert merge(touching) == touching


def test_the_longest_member_names_the_merged_span() -> None:
    email = candidate(0, 20, Label.EMAIL, 0.99, "rules:email")
    surname = candidate(4, 9, Label.PATIENT, 1.0, "roster")
    assert merge([surname, email]) == [email]


def test_of_equal_members_the_roster_names_the_merged_span() -> None:
    doctor = candidate(0, 5, Label.DOCTOR, 0.9, "rules:doctor-title")
    patient = candidate(0, 5, Label.PATIENT, 0.8, "roster")
    assert merge([doctor, patient]) == [patient]


def test_the_merged_span_reaches_over_all_members() -> None:
    merged = merge([candidate(0, 6, Label.STREET), candidate(4, 9, Label.CITY), candidate(8, 12, Label.ZIP)])
    assert [(s.start, s.end, s.label) for s in merged] == [(0, 12, Label.STREET)]

"""ALID, LR, LRDI and LRQI of Pissarra 2024, by hand."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from deid_platform.evaluation.disclosure.residue import distance, note_residue, residue
from deid_platform.labels import Label
from deid_platform.notes import Span

TEXT = "Quillfeather, MRN 4417, of Millbrook, 61"
GOLD = [
    Span(0, 12, Label.PATIENT),
    Span(18, 22, Label.MEDICALRECORD),
    Span(27, 36, Label.CITY),
    Span(38, 40, Label.AGE),
]


def test_measures_by_hand() -> None:
    # "Quilfeather" lacks one letter of 12, "4417" is gone (its best window is the 4 of "A4"), the town is there, the
    # age is not.
    released = note_residue(TEXT, GOLD, "Quilfeather, MRN A4, of Millbrook, [AGE]", cluster="a")
    assert [(label, round(far, 4)) for label, far in released.distances] == [
        (Label.PATIENT, round(1 / 12, 4)),
        (Label.MEDICALRECORD, 0.75),
        (Label.CITY, 0.0),
        (Label.AGE, 1.0),
    ]
    clean = note_residue(TEXT, GOLD[:2], "[A], [B]", cluster="b")
    assert clean.distances[1] == (Label.MEDICALRECORD, 1.0)
    found = residue([released, clean])
    far = clean.distances[0][1]
    assert found.alid.value == pytest.approx((1 / 12 + 0.75 + 0 + 1 + far + 1) / 6)
    assert (found.lr.hits, found.lr.total) == (4, 6)  # the name and the town of the first note are left
    assert (found.lrdi.hits, found.lrdi.total) == (1, 2)  # one of its two direct identifiers is left, so it fails
    assert (found.lrqi.value, found.lrqi.n) == (0.5, 1)
    assert (found.lrdi.low, found.lrdi.high) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("identifier", "text", "far"),
    [
        ("abc", "xxabcxx", 0.0),
        ("abc", "xxaxcxx", 1 / 3),
        ("abc", "xxabxcxx", 1 / 3),
        ("abc", "", 1.0),
        ("abc", "zzz", 1.0),
        ("vask-hale", "by vask - hale", 2 / 9),
    ],
)
def test_a_window_is_any_substring(identifier: str, text: str, far: float) -> None:
    assert distance(identifier, text) == pytest.approx(far)


def test_a_similarity_of_exactly_the_threshold_is_a_residue() -> None:
    twenty = "abcdefghijklmnopqrst"
    for kept, left in ((17, True), (16, False)):  # 3 of 20 edits are 0.85, 4 are 0.80
        one = note_residue(twenty, [Span(0, 20, Label.PATIENT)], twenty[:kept] + "0" * (20 - kept))
        assert (residue([one]).lr.value == 0.0) is left


def test_case_and_white_space_do_not_hide() -> None:
    text = "Mary\nAnn  Vask"
    assert note_residue(text, [Span(0, 14, Label.PATIENT)], "seen: MARY ANN VASK").distances[0][1] == 0.0


def test_whole_words_alone_count_if_asked() -> None:
    assert distance("61", "161 mg") == 0.0
    assert distance("61", "161 mg", whole_words=True) == 0.5  # "161" has one more
    assert distance("61", "is 61.", whole_words=True) == 0.0
    assert distance("vask", "mrvask", whole_words=True) == 0.5


def test_without_identifiers_there_is_nothing_to_measure() -> None:
    found = residue([note_residue("well", [], "well")])
    assert (found.alid.value, found.lr.value, found.lrdi.value, found.lrqi.value) == (None,) * 4


@given(st.text("abc ", min_size=1, max_size=6), st.text("abc ", max_size=9))
def test_the_distance_is_that_to_the_nearest_of_all_substrings(identifier: str, text: str) -> None:
    windows = [text[a:b] for a in range(len(text) + 1) for b in range(a, len(text) + 1)]
    expected = min(Levenshtein.distance(identifier, window) for window in windows) / len(identifier)
    assert distance(identifier, text) == pytest.approx(expected)


def test_a_long_note_takes_moments() -> None:
    began = time.process_time()
    for _ in range(20):
        distance("quillfeather-jones", "lorem ipsum dolor " * 300)
    assert time.process_time() - began < 2.0

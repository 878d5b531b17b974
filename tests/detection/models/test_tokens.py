"""What a model reads: pieces, words, how words are set; and windows of them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.detection.models.tokens import FEATURES, GAPS, SHAPES
from deid_platform.detection.models.windows import OVERLAP, windows


def feature(shape: str, gap: str) -> int:
    return 1 + SHAPES.index(shape) * len(GAPS) + GAPS.index(gap)


def test_words_have_their_places_and_how_they_are_set(reader):
    text = "Okonkwo\nsaw  NDOYE, 3/14 x1\n\nA McX"
    tokens = reader.read(text)
    words = [text[s:e] for s, e in zip(tokens.starts, tokens.ends, strict=True)]
    assert words == ["Okonkwo", "saw", "NDOYE", ",", "3", "/", "14", "x1", "A", "McX"]
    assert tokens.words.tolist()[:3] == [0, 0, 1]  # two pieces of one word
    assert tokens.word_features.tolist() == [
        *(feature("title", "paragraph"), feature("lower", "line"), feature("upper", "wide"), feature("other", "none")),
        *(feature("digits", "space"), feature("other", "none"), feature("digits", "none")),
        *(feature("alphanumeric", "space"), feature("initial", "paragraph"), feature("mixed", "space")),
    ]
    assert 0 < tokens.word_features.min() <= tokens.word_features.max() < FEATURES


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_text_without_words_has_no_window(reader, text):
    tokens = reader.read(text)
    assert (len(tokens.ids), len(tokens.starts)) == (0, 0)
    assert list(windows(tokens)) == []


@given(st.text(alphabet="xo \n3/", max_size=400), st.integers(6, 60))
def test_windows_judge_every_piece_once(reader, text, length):
    tokens = reader.read(text)
    overlap = min(OVERLAP, length // 3)
    found = list(windows(tokens, length, overlap))
    judged = [piece for window in found for piece in range(window.judged_from, window.judged_to)]
    assert judged == list(range(len(tokens.ids)))
    for window in found:
        assert window.start <= window.judged_from <= window.judged_to <= window.end <= window.start + length
    for one, other in pairwise(found):
        assert 0 <= one.end - other.start <= overlap


def test_a_window_ends_before_a_line(reader):
    tokens = reader.read("saw " * 100 + "\n" + "saw " * 100)
    assert next(iter(windows(tokens, 120))).end == 100


def test_a_window_ends_before_a_word(reader):
    tokens = reader.read("okonkwo " * 100)
    first = next(iter(windows(tokens, 25)))
    assert first.end == 24
    assert tokens.words[first.end] != tokens.words[first.end - 1]

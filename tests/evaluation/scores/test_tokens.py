"""Words, the unit of scoring."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.evaluation.scores.tokens import touched, word_offsets


def words(text: str) -> list[str]:
    return [text[a:b] for a, b in word_offsets(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n\t", []),
        ("... -- !?", []),
        ("Orrin Vask", ["Orrin", "Vask"]),
        ("O'Brien's knee", ["O'Brien's", "knee"]),
        ("O’Brien", ["O’Brien"]),
        ("the Vasks' house", ["the", "Vasks", "house"]),
        ("'quoted'", ["quoted"]),
        ("Smith-Jones", ["Smith", "Jones"]),
        ("03/04/2019", ["03", "04", "2019"]),
        ("94-year-old", ["94", "year", "old"]),
        ("vask_orrin@x.org", ["vask", "orrin", "x", "org"]),
        ("Zoë", ["Zoë"]),
        ("Zoe\u0308 ill", ["Zoe\u0308", "ill"]),
        ("রহিম উদ্দিন", ["রহিম", "উদ্দিন"]),
        ("王小明 came", ["王", "小", "明", "came"]),
        ("a\u00a0b\r\nc", ["a", "b", "c"]),
        ("🙂x🙂", ["x"]),
    ],
)
def test_the_words_of_a_text(text: str, expected: list[str]):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("interval", "marks"),
    [
        ((0, 5), [True, False, False]),
        ((0, 6), [True, False, False]),
        ((4, 7), [True, True, False]),
        ((5, 6), [False, False, False]),
        ((6, 7), [False, True, False]),
        ((10, 99), [False, False, True]),
        ((0, 99), [True, True, True]),
    ],
)
def test_a_word_is_touched_by_one_shared_code_point(interval: tuple[int, int], marks: list[bool]):
    assert touched(word_offsets("Orrin has flu"), [interval]).tolist() == marks


@given(st.text(alphabet="ab -'", max_size=40), st.lists(st.tuples(st.integers(0, 45), st.integers(1, 10)), max_size=5))
def test_touching_agrees_with_its_definition(text: str, starts: list[tuple[int, int]]):
    intervals = [(start, start + length) for start, length in starts]
    offsets = word_offsets(text)
    expected = [any(a < end and start < b for start, end in intervals) for a, b in offsets.tolist()]
    assert touched(offsets, intervals).tolist() == expected

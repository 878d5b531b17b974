"""How patterns read tables, columns and long runs of names."""

from __future__ import annotations

from itertools import pairwise

import pytest

from deid_platform.detection.api import Document
from deid_platform.detection.rules.layout.tables import table_names
from deid_platform.detection.rules.names.vocabulary import vocabulary_names
from deid_platform.notes import Note


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_tables_are_read_whatever_ends_lines(newline: str) -> None:
    for sign in ("  ", " | ", "\t", ","):
        rows = [sign.join(row) for row in (("Date", "Provider", "Nurse"), ("today", "Zorbel", "Quarmby"))]
        text = newline.join(rows)
        assert [text[s.start : s.end] for s in table_names(text)] == ["Zorbel", "Quarmby"]


def test_a_cell_belongs_to_the_heading_above_it() -> None:
    table = "Room   Nurse     Provider\n412              Zorbel\n413    Besfat    Osei"
    assert [table[s.start : s.end] for s in table_names(table)] == ["Zorbel", "Besfat", "Osei"]


def test_a_long_run_of_capitalised_words_is_read_once_from_left_to_right() -> None:
    text = "Mary " * 5_000 + "Quarmby"
    spans = list(vocabulary_names(text))
    assert all(a.end <= b.start for a, b in pairwise(spans))


@pytest.mark.parametrize("text", ["1\n2\n3\n4\n5", "150 140\n35 40", "12 34 56\n78 90 12", "120 80 72 98 16 97 36"])
def test_columns_are_no_numbers_that_go_on(text: str) -> None:
    assert all("\n" not in text[start:end] for start, end, _ in Document(Note("n", text)).numbers)

"""Edits: what is put in stands exactly where the gold says."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from deid_platform.corpora.injection.edits import Edit, Piece, applied
from deid_platform.labels import Label

TEXT = "one two three four five"


@given(st.text(st.characters(exclude_characters="<"), max_size=30), st.data())
def test_every_span_holds_its_piece(text: str, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.tuples(*[st.integers(0, len(text))] * 2), max_size=6))
    edits = [
        Edit(min(a, b), max(a, b), (Piece("<"), Piece(f"id{number}\U0001f642", Label.IDNUM, f"w{number}"), Piece(">")))
        for number, (a, b) in enumerate(places)
    ]
    made, spans, ways = applied(text, edits)
    assert [made[s.start : s.end] for s in spans] == [f"id{way[1:]}\U0001f642" for way in ways]
    assert all(one.end < other.start for one, other in pairwise(spans))
    assert made.count("<") - text.count("<") == len(spans)


def test_of_two_edits_that_meet_the_first_stands() -> None:
    made, _, _ = applied(TEXT, [Edit(4, 7, (Piece("2"),)), Edit(5, 9, (Piece("x"),))])
    assert made == "one 2 three four five"


def test_insertions_in_one_place_keep_their_order() -> None:
    made, _, _ = applied(TEXT, [Edit(0, 0, (Piece("a "),)), Edit(0, 0, (Piece("b "),)), Edit(0, 3, (Piece("1"),))])
    assert made == "a b 1 two three four five"


def test_white_space_around_a_piece_is_no_identifier() -> None:
    made, spans, _ = applied("", [Edit(0, 0, (Piece(" Ann\n", Label.PATIENT),))])
    assert made[spans[0].start : spans[0].end] == "Ann"


def test_initials_from_two_pieces_are_one_identifier() -> None:
    pieces = (Piece("J", Label.DOCTOR, "w"), Piece("S", Label.DOCTOR, "w"), Piece(" "), Piece("K", Label.DOCTOR, "w"))
    made, spans, ways = applied("", [Edit(0, 0, pieces)])
    assert [made[s.start : s.end] for s in spans] == ["JS", "K"]
    assert ways == ("w", "w")

"""Tokens of an original and a released text beside one another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deid_platform.evaluation.retention.alignment import (
    align,
    chunks,
    chunks_of,
    fuzzy_chunks_of,
    sentences,
    tokens,
)

_TOKENS = st.lists(st.sampled_from(["a", "b", "c", "-", "[X]"]), max_size=30)


def test_an_alignment_by_hand() -> None:
    # Two names become one tag: one mismatch and one gap (5 - 1 - 1 = 3), the best of all alignments.
    pairs = align(tokens("Mr. John Smith takes 25 mg daily"), tokens("Mr. [NAME] takes 25 mg daily"))
    assert [pair for pair in pairs if pair[0] == pair[1]] == [(t, t) for t in ("Mr.", "takes", "25", "mg", "daily")]
    assert sorted(pair for pair in pairs[1:3] if pair[1]) in ([("John", "[NAME]")], [("Smith", "[NAME]")])
    assert _score(pairs) == 3


def test_gaps_are_positions_and_no_text() -> None:
    found = chunks(align(["a", "b", "c", "d"], ["a", "d"]), size=2)
    assert [(c.original, c.released, c.pairs) for c in found] == [("a b", "a", 2), ("c d", "d", 2)]


def test_a_dash_of_the_note_is_no_gap() -> None:
    found = chunks_of("fever - none", "fever none")
    assert (found[0].original, found[0].released) == ("fever - none", "fever none")


def test_the_sides_of_later_chunks_stand_for_one_another() -> None:
    """Long tokens beside short ones, which push the literal algorithm's two lists apart."""
    original = " ".join(["Featherstonehaugh-Cholmondeley"] * 20 + [f"w{i}" for i in range(20)])
    released = " ".join(["[N]"] * 20 + [f"w{i}" for i in range(20)])
    found = chunks_of(original, released)
    assert [c.pairs for c in found] == [20, 20]
    assert found[1].is_identical and not found[0].is_identical


def test_a_placeholder_is_one_token() -> None:
    assert tokens("On [DATE 2024], [ID] x[1 and [see note]") == [
        "On",
        "[DATE 2024],",
        "[ID]",
        "x[1",
        "and",
        "[see",
        "note]",
    ]


def test_an_empty_side() -> None:
    assert chunks_of("", "") == []
    assert [(c.original, c.released) for c in chunks_of("a b", "")] == [("a b", "")]
    assert [(c.original, c.released) for c in chunks_of("", "a b")] == [("", "a b")]
    assert [(c.original, c.released) for c in fuzzy_chunks_of("a b", "")] == [("a b", "")]


@given(_TOKENS, _TOKENS)
def test_both_sides_come_back_whole_and_the_score_is_the_best(one: list[str], other: list[str]) -> None:
    pairs = align(one, other)
    assert [a for a, _ in pairs if a is not None] == one
    assert [b for _, b in pairs if b is not None] == other
    assert _score(pairs) == _best(one, other)


def test_sentences_of_the_original() -> None:
    original = "Seen today. No fever\nTook 5 mg."
    found = sentences(original, align(tokens(original), tokens("Seen [DATE] today. fever\nTook 5 mg.")))
    assert [(c.original, c.released) for c in found] == [
        ("Seen today.", "Seen [DATE] today."),
        ("No fever", "fever"),
        ("Took 5 mg.", "Took 5 mg."),
    ]


def test_fuzzy_matching_finds_the_stretch_in_noise() -> None:
    original = " ".join(f"word{i}" for i in range(20)) + " metoprolol succinate twenty five milligrams"
    released = " ".join(f"w0rd{i}" for i in range(20)) + " metoproiol succ1nate twenty f1ve milligrams"
    found = fuzzy_chunks_of(original, released)
    assert [c.released.split()[0] for c in found] == ["w0rd0", "metoproiol"]
    assert found[1].released == "metoproiol succ1nate twenty f1ve milligrams"


def _score(pairs: list[tuple[str | None, str | None]]) -> int:
    return sum(1 if a == b else -1 for a, b in pairs)


def _best(one: list[str], other: list[str]) -> int:
    row = [-j for j in range(len(other) + 1)]
    for i, a in enumerate(one, start=1):
        above, row = row, [-i]
        for j, b in enumerate(other, start=1):
            row.append(max(above[j - 1] + (1 if a == b else -1), above[j] - 1, row[j - 1] - 1))
    return row[-1]

"""Anchors: a pattern that is run only around them finds what it finds in the whole text."""

from __future__ import annotations

import random
from itertools import accumulate

import pytest
import regex
from case_files import BREAK, cases_of
from loops import Sampling
from marked_text import plain

from deid_platform.detection.api import Document
from deid_platform.detection.rules.catalogue import load_recognizers
from deid_platform.detection.rules.engine.anchors import AnchorIndex, Anchors
from deid_platform.notes import Note, Span

BLANK_LINE = regex.compile(r"\n(?:[ \t]*\n)+")
PROSE = (
    "She slept well and ate breakfast without nausea.",
    "The abdomen is soft and not tender, bowel sounds are present",
    "Continue metoprolol 25 mg twice daily; recheck potassium in two weeks.",
    "There is no oedema of the legs, and the lungs are clear to the bases",
    "Blood pressure 128/76, pulse 72, temperature 98.6, saturation 97% on room air.",
    "He was advised to drink enough and to walk every day.",
)


def windows(text: str, anchors: Anchors, *places: tuple[int, int]) -> list[str]:
    """The windows of one recognizer, as text, in the places given or in the whole of it."""
    asked = places or ((0, len(text)),)
    in_text = [(0, *place) for place in asked]
    found = dict(AnchorIndex([anchors]).windows([Document(Note("n", text))], in_text)).get(0, [])
    return [text[asked[place][0] + start : asked[place][0] + end] for place, start, end in found]


def words(*anchors: str, reach: tuple[int, int] = (0, 0)) -> Anchors:
    return Anchors(words=frozenset(anchors), reach=reach)


@pytest.mark.parametrize(
    ("text", "anchor", "found"),
    [
        ("her MRN is", "mrn", ["MRN"]),
        ("her mrns are", "mrn", []),
        ("her mrns are", "mrn*", ["mrns"]),
        ("MRN12345", "mrn", ["MRN12345"]),  # a number written against its label
        ("the Med\n Rec of", "med rec", ["Med\n Rec"]),
        ("the José Clinic", "jose", ["José"]),
        ("in Harlowville today", "*ville", ["ville"]),
        ("in villeins' time", "*ville", []),
        ("mail to a@b.org", "@", ["@b.org"]),
        ("O’Brien said", "o'brien", ["O’Brien"]),
    ],
)
def test_words_are_found_whole_and_folded_unless_a_star_opens_an_end(text: str, anchor: str, found: list[str]) -> None:
    assert windows(text, words(anchor)) == found


@pytest.mark.parametrize(
    ("text", "shape", "found"),
    [
        ("on 3/14/2019 or 98.6", r"\d/\d", ["3/14/2019"]),
        ("on 3/14/2019 or 98.6", None, ["3/14/2019", "98.6"]),
        ("call 617 555 0123 now", r"\d{4}", ["617 555 0123"]),
        ("call 617 555 012 now", r"\d{4}", []),
        ("1" * 1000, r"\d{7}", ["1" * 1000]),
    ],
)
def test_a_chain_of_digit_groups_is_an_anchor_if_its_shape_is(text: str, shape: str | None, found: list[str]) -> None:
    assert (
        windows(text.replace(" or ", " or " + "x" * 50 + " "), Anchors(digits=True, shape=shape, reach=(0, 0))) == found
    )


def test_runs_of_capitalised_words_are_anchors() -> None:
    text = "saw Maria Lopez" + " and so on" * 8 + " with J. Ndoye"
    assert windows(text, Anchors(capitals=True, reach=(0, 0))) == ["Maria Lopez", "J. Ndoye"]


def test_windows_reach_out_as_told_end_with_a_word_and_are_joined_where_they_nearly_touch() -> None:
    text = "abcdefghij MRN klmnop qrstuv " + "x " * 60 + "MRN 12345 MRN"
    assert windows(text, words("mrn", reach=(4, 3))) == ["hij MRN klmnop", "x x MRN 12345 MRN"]


def test_no_window_leaves_its_paragraph_and_no_anchor_lies_in_two() -> None:
    text = "one med\n\nrec two MRN three"
    assert windows(text, words("med rec", "mrn", reach=(40, 40)), (0, 7), (9, len(text))) == ["rec two MRN three"]


def examples() -> list[str]:
    """Every line of the recognizers' cases, hits and near misses, without its marks."""
    lines = (case.line.replace(BREAK, "\n") for case in cases_of() if case.file != "clinical-sentences")
    # A blank line would end the paragraph.
    return list(dict.fromkeys(BLANK_LINE.sub("\n", plain(line)) for line in lines))


def composed(seed: int) -> str:
    """Examples in random order with prose between them, as one paragraph."""
    rng = random.Random(seed)
    shuffled = examples()
    rng.shuffle(shuffled)
    # Mostly so little that windows nearly touch, which is where they go wrong; at times more than any reaches.
    lines = [line for example in shuffled for line in (example, *rng.choices(PROSE, k=rng.choice((1, 1, 1, 1, 4))))]
    return "".join(line + rng.choice((" ", "\n", ". ", "\n")) for line in lines)


def test_every_shipped_anchor_can_be_found_at_all() -> None:
    # A star opens an end; inside a word it would be sought as a star.
    inner = [(r.name, word) for r in load_recognizers() for word in r.anchors.words if "*" in word.strip("*")]
    nothing = [r.name for r in load_recognizers() if not (r.anchors.words or r.anchors.digits or r.anchors.capitals)]
    assert (inner, nothing) == ([], [])


def test_every_recognizer_finds_something_in_some_line_of_the_tables() -> None:
    recognizers = load_recognizers()
    lines = examples()
    text = "\n\n".join(lines)
    ends = list(accumulate(len(line) + 2 for line in lines))
    places = [(0, end - 2 - len(line), end - 2) for line, end in zip(lines, ends, strict=True)]
    around = dict(AnchorIndex([r.anchors for r in recognizers]).windows([Document(Note("n", text))], places))
    idle = [r.name for i, r in enumerate(recognizers) if next(r.search(lines, around.get(i, ())), None) is None]
    assert idle == []


@pytest.fixture(scope="module")
def found(sampling: Sampling) -> dict[str, tuple[list[Span], list[Span]]]:
    """What each recognizer finds in the whole of composed texts, and in its windows."""
    recognizers = load_recognizers()
    index = AnchorIndex([r.anchors for r in recognizers])
    spans: dict[str, tuple[list[Span], list[Span]]] = {r.name: ([], []) for r in recognizers}
    for seed in sampling.some((1, 2), sample=1, name="compositions"):
        text = composed(seed)
        document = Document(Note("n", text))
        places = dict(index.windows([document], [(0, 0, len(text))]))
        for number, recognizer in enumerate(recognizers):
            whole, windowed = spans[recognizer.name]
            whole.extend(recognizer.find(document))
            windowed.extend(span for _, span in recognizer.search([text], places.get(number, ())))
    return spans


@pytest.mark.parametrize("name", [recognizer.name for recognizer in load_recognizers()])
def test_a_recognizer_finds_in_its_windows_what_it_finds_in_the_whole_text(
    name: str, found: dict[str, tuple[list[Span], list[Span]]]
) -> None:
    whole, windowed = found[name]
    assert windowed == whole

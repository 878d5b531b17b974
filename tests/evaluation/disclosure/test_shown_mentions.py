"""Mentions as a reader of released notes sees them, by hand."""

from __future__ import annotations

from deid_platform.evaluation.disclosure.plain_sight import Rule, plain_sight
from deid_platform.evaluation.disclosure.shown_mentions import ReleasedNote, shown_mentions
from deid_platform.labels import Label
from deid_platform.notes import Span

TEXT = "Ann Vask came. Ms. VASK left on 3/4."
FULL, LAST, DATE = Span(0, 8, Label.PATIENT), Span(19, 23, Label.PATIENT), Span(32, 35, Label.DATE)
GOLD = (FULL, LAST, DATE)


def seen(*replaced: tuple[Span, str]) -> list[tuple[int, object, str, bool]]:
    note = ReleasedNote(TEXT, GOLD, [span for span, _ in replaced], [new for _, new in replaced])
    return [(it.note, it.entity[1], it.shown, it.residual) for it in shown_mentions([note])]  # type: ignore[index]


def test_a_name_is_shown_word_by_word_and_a_date_is_none() -> None:
    assert seen((FULL, "Eve Pell"), (LAST, "PELL"), (DATE, "5/4")) == [
        (0, "ann", "Eve", False),
        (0, "vask", "Pell", False),
        (0, "vask", "PELL", False),
    ]


def test_what_is_left_is_residual() -> None:
    assert seen((FULL, "Eve Pell")) == [(0, "ann", "Eve", False), (0, "vask", "Pell", False), (0, "vask", "VASK", True)]
    # "Ann" alone was replaced, so "Vask" is left beside it.
    assert seen((Span(0, 3, Label.DOCTOR), "Eve"), (LAST, "PELL")) == [
        (0, "ann", "Eve", False),
        (0, "vask", "Vask", True),
        (0, "vask", "PELL", False),
    ]


def test_a_surrogate_of_another_length_is_one_mention() -> None:
    assert seen((FULL, "Eve"), (LAST, "PELL"))[0] == (0, "ann vask", "Eve", False)


def test_a_replaced_span_that_holds_more_than_the_name_gives_the_names_words() -> None:
    assert seen((Span(15, 28, Label.PATIENT), "Mrs. PELL went"), (FULL, "Eve Pell"))[2] == (0, "vask", "PELL", False)


def test_one_name_under_two_labels_is_two_entities() -> None:
    note = ReleasedNote(TEXT, [FULL, Span(19, 23, Label.DOCTOR)], [FULL, LAST], ["Eve Pell", "REED"])
    assert len({mention.entity for mention in shown_mentions([note])}) == 3


def test_a_reader_tells_the_name_that_was_missed_once_in_two_notes() -> None:
    whole = ReleasedNote(TEXT, GOLD, [FULL, LAST], ["Eve Pell", "Pell"])
    missed = ReleasedNote(TEXT, GOLD, [LAST], ["Pell"])
    found = plain_sight([shown_mentions([whole, missed])])
    assert (found.residual.hits, found.residual.total) == (2, 6)
    assert found.best is Rule.ODD_IN_RECORD
    assert found.rules[Rule.ODD_IN_RECORD].told.hits == 1  # "Vask"; of "Ann" there is one surrogate against one name

"""Perturbations carry gold along exactly, and what a detector loses by them is measured in pairs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.evaluation.experiments.perturbations import Perturbation, perturbed
from deid_platform.evaluation.experiments.stability import stability
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

TEXT = "Seen: Jörg Weiß\n  on 03/04/2019 and March 7, 2019."
NAME, DATE, NAMED = Span(6, 15, Label.PATIENT), Span(21, 31, Label.DATE), Span(36, 49, Label.DATE)
GOLD = (NAME, DATE, NAMED)


def surfaces(text: str, spans: Sequence[Span]) -> list[str]:
    return [text[span.start : span.end] for span in spans]


@pytest.mark.parametrize(
    ("how", "expected", "marked"),
    [
        (Perturbation.UPPER, "SEEN: JÖRG WEISS\n  ON 03/04/2019 AND MARCH 7, 2019.", ["JÖRG WEISS", "03/04/2019"]),
        (Perturbation.LOWER, "seen: jörg weiß\n  on 03/04/2019 and march 7, 2019.", ["jörg weiß", "03/04/2019"]),
        (Perturbation.LINE_ENDS, TEXT.replace("\n", "\r\n"), ["Jörg Weiß", "03/04/2019"]),
        (Perturbation.SPACING, TEXT.replace(" ", "  "), ["Jörg  Weiß", "03/04/2019"]),
        (Perturbation.NO_BREAK, TEXT.replace(" ", "\u00a0"), ["Jörg\u00a0Weiß", "03/04/2019"]),
        (Perturbation.WRAPPED, TEXT, ["Jörg Weiß", "03/04/2019"]),
        (Perturbation.BULLETS, "- Seen: Jörg Weiß\n  - on 03/04/2019 and March 7, 2019.", ["Jörg Weiß", "03/04/2019"]),
        (Perturbation.DATES, "Seen: Jörg Weiß\n  on 4 March 2019 and 2019-03-07.", ["Jörg Weiß", "4 March 2019"]),
    ],
)
def test_a_perturbation_changes_one_thing_and_the_gold_goes_along(
    how: Perturbation, expected: str, marked: list[str]
) -> None:
    text, gold = perturbed(Note("n", TEXT), GOLD, how)
    assert text == expected
    assert surfaces(text, gold)[:2] == marked
    assert [span.label for span in gold] == [span.label for span in GOLD]


def test_dates_are_read_and_written_in_the_notes_language() -> None:
    note = Note("n", "visto il 03/04/2019", language="it")
    assert perturbed(note, [Span(9, 19, Label.DATE)], Perturbation.DATES)[0] == "visto il 3 aprile 2019"
    for unread in ("last Monday", "3/4", "03/04/2019 10:30"):
        assert perturbed(Note("n", unread), [Span(0, len(unread), Label.DATE)], Perturbation.DATES)[0] == unread


def test_a_long_line_is_broken_within_a_name_too() -> None:
    text = "x" * 62 + " " + "Ann Vask" + " y" * 40
    new, (name,) = perturbed(Note("n", "Ann" * 21 + " Vask"), [Span(60, 68, Label.PATIENT)], Perturbation.WRAPPED)
    assert new[name.start : name.end] == "Ann\nVask"
    assert max(map(len, perturbed(Note("n", text), [], Perturbation.WRAPPED)[0].split("\n"))) <= 62


letters = st.text("aÉßİ \n\t9-", max_size=30)


@given(st.data(), letters, st.sampled_from(Perturbation))
def test_gold_covers_the_same_letters_and_digits_afterwards(data: st.DataObject, text: str, how: Perturbation) -> None:
    start = data.draw(st.integers(0, max(0, len(text) - 1)))
    gold = [Span(start, data.draw(st.integers(start + 1, len(text))), Label.IDNUM)] if text else []
    new, moved = perturbed(Note("n", text), gold, how)

    def told(some: str) -> str:
        return "".join(regex.findall(r"[\p{L}\p{N}]", some.casefold()))

    assert told(new) == told(text)
    assert [told(part) for part in surfaces(new, moved)] == [told(part) for part in surfaces(text, gold)]


def by_capital(notes: Sequence[Note]) -> list[list[Span]]:
    """A detector that knows names by a capital before small letters, and no dates."""
    return [
        [Span(*match.span(), Label.PATIENT) for match in regex.finditer(r"\b\p{Lu}\p{Ll}+\b", note.text)]
        for note in notes
    ]


def test_what_a_perturbation_costs_by_hand() -> None:
    notes = [
        (Note("1", "saw Ann Vask", "a"), [Span(4, 12, Label.PATIENT)]),
        (Note("2", "saw Lee\nand POE", "b"), [Span(4, 7, Label.PATIENT), Span(12, 15, Label.PATIENT)]),
        (Note("3", "well", "c"), []),
    ]
    rows = {row.perturbation: row for row in stability(notes, by_capital)}
    upper = rows[Perturbation.UPPER]
    assert (upper.notes, upper.recall.value) == (3, -0.75)  # 3 of 4 words before, none after
    assert upper.recall.is_significant
    assert upper.precision.value is None, "nothing is found any more"
    ends = rows[Perturbation.LINE_ENDS]
    assert (ends.notes, ends.recall.value, ends.recall.low) == (1, 0.0, None)
    assert rows[Perturbation.DATES].notes == 0
    assert rows[Perturbation.DATES].recall.value is None
    assert rows[Perturbation.SPACING].recall.value == 0.0

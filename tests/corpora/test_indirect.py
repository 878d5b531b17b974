"""Indirect identifiers planted in notes: their places, those of the direct ones, and two parts apart."""

from __future__ import annotations

import pytest

from deid_platform.corpora.indirect.planting import LANGUAGES, Ways, plant, sentences
from deid_platform.labels import Indirect, Label
from deid_platform.notes import Note, Span

TEXT = "Seen: Ann\nQuill of Corby.\nWell.\nDr. Ode"
GOLD = (Span(6, 15, Label.PATIENT), Span(19, 24, Label.CITY), Span(36, 39, Label.DOCTOR))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_part_has_two_sentences_of_each_category_and_none_of_the_other(language: str) -> None:
    parts = {ways: sentences(language, ways) for ways in Ways}
    for found in parts.values():
        assert sorted(it.category for it in found) == sorted([*Indirect, *Indirect])
        assert all(len(set(it.alternatives)) == 3 for it in found)
    planted = [{words for it in found for words in it.alternatives} for found in parts.values()]
    assert len(planted[0]) == len(planted[1]) == 54 and not planted[0] & planted[1]


def test_what_is_planted_stands_where_it_says_and_the_note_is_otherwise_the_same() -> None:
    known = {words for it in sentences("en", Ways.TUNING) for words in it.alternatives}
    at = set()
    for seed in range(30):
        made = plant(Note("n", TEXT, "p"), GOLD, Ways.TUNING, seed=seed)
        assert len(made.planted) == 2 and len({it.category for it in made.planted}) == 2
        assert {made.note.text[it.start : it.end] for it in made.planted} <= known
        assert [made.note.text[it.start : it.end] for it in made.gold] == ["Ann\nQuill", "Corby", "Ode"]
        lines = [line for line in made.note.text.splitlines() if not any(words in line for words in known)]
        assert "\n".join(lines) == TEXT, "no line is cut, and no identifier that goes over two"
        at.add(made.planted[0].start)
    assert len(at) > 3
    assert plant(Note("n", TEXT), GOLD, Ways.TEST) == plant(Note("n", TEXT), GOLD, Ways.TEST)


def test_a_note_of_one_line_gets_them_at_its_end_and_another_language_none() -> None:
    made = plant(Note("n", "Well."), (), Ways.TEST)
    assert made.note.text.startswith("Well.\n") and len(made.planted) == 2
    assert plant(Note("n", "Bien.", language="es"), (), Ways.TEST).note.text == "Bien."
    assert "Well" not in repr(made)

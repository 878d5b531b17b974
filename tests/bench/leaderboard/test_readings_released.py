"""Texts that readings release, and what is measured of them."""

from __future__ import annotations

import pytest

from deid_platform.bench.leaderboard.detectors import Hidden, Reading
from deid_platform.bench.leaderboard.readings_released import Released, of_codes, of_judge, of_occurrences, released
from deid_platform.evaluation.retention.lexical_judge import LexicalJudge
from deid_platform.labels import Label
from deid_platform.llm.known_models import KNOWN
from deid_platform.notes import Note, Span
from deid_platform.warehouse.quality.lab import FAMILIES, MEASURES, SUBJECTS, LabScore

TEXT = "Anna Rossi, 61, has pneumonia. Anna Rossi lives in Bari."
NOTE = Note("n", TEXT, patient_id="p")
GOLD = (
    Span(0, 10, Label.PATIENT),
    Span(12, 14, Label.AGE),
    Span(31, 41, Label.PATIENT),
    Span(51, 55, Label.CITY),
)
HIDDEN = [
    Hidden(0, 10, frozenset({Label.PATIENT})),
    Hidden(2, 14, frozenset({Label.AGE})),  # over the first one
    Hidden(20, 29, frozenset({Label.DATE})),
    Hidden(51, 55, frozenset()),
]


def test_places_become_tags_and_overlapping_ones_one() -> None:
    (one,) = released([NOTE], [GOLD], Reading([HIDDEN], 1.0))
    assert one.text == "[PATIENT], has [DATE]. Anna Rossi lives in [IDNUM]."


def test_what_a_model_wrote_is_its_release_and_where_it_failed_there_is_none() -> None:
    reading = Reading([HIDDEN, []], None, frozenset({1}), ["[NAME] has the sugar.", None])
    (one,) = released([NOTE, NOTE], [GOLD, GOLD], reading)
    assert one.text == "[NAME] has the sugar."


def figures(text: str) -> dict[str, LabScore]:
    return {it.subject: it for it in of_occurrences([Released(NOTE, GOLD, text)])}


def test_texts_left_and_tags_beyond_them_are_counted_by_category() -> None:
    found = figures("[PATIENT], 61, has [DATE]. Anna Rossi lives in [CITY].")
    assert found["category NAME"].value == pytest.approx(2 / 3)  # one of two left
    assert found["category AGE"].value == 0
    assert found["category LOCATION/ADDRESS"].value == 1
    assert found["category DATE"].value == 0  # a tag where gold has no date


def test_a_code_that_is_lost_is_told() -> None:
    (kept,) = of_codes([Released(NOTE, GOLD, TEXT.replace("Anna Rossi", "[PATIENT]"))], 20)
    (lost,) = of_codes([Released(NOTE, GOLD, TEXT.replace("pneumonia", "[DATE]"))], 20)
    assert (kept.value, lost.value) == (1.0, 0.0)


def test_every_figure_has_words_of_the_warehouse() -> None:
    releases = [Released(NOTE, GOLD, "[PATIENT], [AGE], has [DATE].")]
    made = [
        *of_occurrences(releases),
        *of_codes(releases, 20),
        *(it for known in KNOWN for it in of_judge(releases, LexicalJudge(), known, 20)),
    ]
    assert {it.family for it in made} <= set(FAMILIES)
    assert {it.measure for it in made} <= set(MEASURES)
    assert {it.subject for it in made} <= set(SUBJECTS)
    assert {it.subject for it in made if it.measure == "chat_retention"} == {f"judged by {it}" for it in KNOWN}

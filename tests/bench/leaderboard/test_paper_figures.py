"""Tokens and names as the papers count them: in words of the warehouse, each as its table."""

from __future__ import annotations

import pytest

from deid_platform.bench.leaderboard.paper_figures import Read, of_names, of_patients_alone, of_tokens
from deid_platform.evaluation.scores.by_length import EDGES
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.warehouse.quality.lab import FAMILIES, MEASURES, SUBJECTS, TOKEN_LENGTHS, LabScore

TEXT = "Ann-Lee saw Dr. Pell yesterday morning"
GOLD = (Span(0, 7, Label.PATIENT), Span(16, 20, Label.DOCTOR))
HIDDEN = (Span(0, 3, Label.PATIENT), Span(16, 20, Label.DOCTOR), Span(21, 30, Label.DATE))
READ: list[Read] = [(TEXT, GOLD, HIDDEN, str(n)) for n in range(12)]


def values(figures: list[LabScore]) -> dict[str, float | None]:
    return {it.measure: it.value for it in figures if it.subject == "ALL"}


def test_providers_are_identifiers_in_table_12_and_text_in_table_2() -> None:
    counted, alone = values(list(of_tokens(READ, 20))), values(list(of_patients_alone(READ, 20)))
    assert (counted["recall"], counted["precision"], counted["accuracy"]) == (1.0, 2 / 3, 5 / 6)
    assert (alone["recall_patient_only"], alone["precision_patient_only"]) == (1.0, 1 / 3)
    assert alone["accuracy_patient_only"] == pytest.approx(4 / 6)


def test_table_13_keeps_providers_and_asks_for_the_whole_token_on_both_sides() -> None:
    alone = values(list(of_patients_alone(READ, 20)))
    # "Ann-Lee" is hidden in part: missed; "Pell" and "yesterday" are hidden whole: wrong.
    assert (alone["recall_patient_only_two_sided"], alone["precision_patient_only_two_sided"]) == (0.0, 0.0)
    assert alone["accuracy_patient_only_two_sided"] == pytest.approx(3 / 6)
    in_part = [(TEXT, GOLD, (Span(0, 7, Label.PATIENT), Span(22, 24, Label.DATE)), None)]
    assert values(list(of_patients_alone(in_part, 20)))["precision_patient_only_two_sided"] == 1.0


def test_f1_by_length_is_of_lengths_that_eleven_notes_have() -> None:
    lengths = {it.subject: it.value for it in of_patients_alone(READ, 20) if it.family == "length"}
    assert lengths == {TOKEN_LENGTHS[0]: 0.5}
    assert [it for it in of_patients_alone(READ[:10], 20) if it.family == "length"] == []
    assert len(TOKEN_LENGTHS) == len(EDGES)


def test_names_are_counted_by_the_sex_of_the_patient() -> None:
    recalls = {it.subject: (it.value, it.n) for it in of_names(READ, {str(n): "FM"[n % 2] for n in range(12)}, "", 20)}
    assert recalls["names"] == (2 / 3, 36)  # "Ann" of "Ann-Lee", and "Pell"
    assert recalls["names sex F"] == recalls["names sex M"] == (0.5, 12)


def test_every_word_is_one_of_the_warehouse() -> None:
    figures = [*of_tokens(READ, 20), *of_patients_alone(READ, 20), *of_names(READ, {"0": "F"}, "en_US", 20)]
    assert {it.family for it in figures} <= set(FAMILIES)
    assert {it.measure for it in figures} <= set(MEASURES)
    assert {it.subject for it in figures} <= set(SUBJECTS)
    emitted = {it.measure for it in figures if it.family == "tokens"}
    words = {it for it in MEASURES if it.endswith(("_patient_only", "_two_sided", "_conservative"))}
    assert words == {it for it in emitted if it not in ("accuracy", "recall", "precision", "f1")}

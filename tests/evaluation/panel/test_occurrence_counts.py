"""Counts by occurrence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from deid_platform.evaluation.panel.occurrence_counts import count_note
from deid_platform.evaluation.panel.panel import Counts
from deid_platform.labels import Label
from deid_platform.notes import Span


def counts_of(released: str, texts: Sequence[str], label: Label = Label.PATIENT) -> dict[str, Counts]:
    """The counts of a note that holds these identifiers one after the other."""
    original, spans = "", []
    for text in texts:
        spans.append(Span(len(original), len(original) + len(text), label))
        original += f"{text} "
    return count_note(original, spans, released)


def test_the_papers_example() -> None:
    """Miranda 2025, 4.3: two gold names, one of them left: FN 1, TP 2 - 1 = 1; three placeholders: FP 3 - 2 = 1."""
    released = "[NOME] e [NOME] vedono Anna, poi [NOME]."
    for gold in (["Anna", "Bruno"], ["Anna", "Anna"]):  # "which could even be the same one repeated twice"
        assert counts_of(released, gold) == {"name": Counts(tp=1, fp=1, fn=1)}


@pytest.mark.parametrize(
    "released, gold, counts",
    [
        ("Anna e Anna", ["Anna"], Counts(tp=0, fn=1)),  # at most as often as gold has it
        ("Banana", ["Ana", "ana"], Counts(tp=2)),  # whole words alone
        ("[NOME] Rossi", ["Anna Rossi"], Counts(tp=1)),  # half removed counts as removed
        ("Anna Rossi", ["Anna Rossi", "Rossi"], Counts(tp=1, fn=1)),  # found once, as the longer one
        ("Anna\n  Rossi", ["Anna Rossi"], Counts(fn=1)),  # a model may break lines elsewhere
        ("(58 anni)", ["58 anni"], Counts(fn=1)),
    ],
)
def test_counts(released: str, gold: list[str], counts: Counts) -> None:
    assert counts_of(released, gold)["name"] == counts


@pytest.mark.parametrize(
    ("tag", "category"),
    [
        ("[NOME]", "name"),
        ("[DOCTOR]", "name"),
        ("***patient_Name***", "name"),
        ("<PERSON>", "name"),
        ("[ETÀ]", "age"),
        ("[AGE 90+]", "age"),
        ("[LUOGO/INDIRIZZO]", "place"),
        ("[CITY]", "place"),
        ("[**Location**]", "place"),
        ("[DATA]", "date"),
        ("[DATE 2024]", "date"),
        ("[PHONE]", "PHONE"),  # none of the paper's: a category of its own
        ("[MEDICALRECORD]", "MEDICALRECORD"),
    ],
)
def test_placeholders_of_the_paper_and_any_other(tag: str, category: str) -> None:
    assert counts_of(f"{tag} {tag}", []) == {category: Counts(fp=2)}


def test_what_is_no_placeholder() -> None:
    assert counts_of("[Normal] sinus rhythm, [ABNORMAL], [1] *** stat ***", []) == {}
    original = "The form has a field [NAME] that nobody filled."
    assert count_note(original, (), original) == {}, "a tag of the original is no placeholder"

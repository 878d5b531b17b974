"""Counts by occurrence."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.occurrence_counts import count_note
from deid_platform.evaluation.panel import Counts
from deid_platform.labels import Label


def test_the_papers_example() -> None:
    """Miranda 2025, 4.3: two gold names, one of them left: FN 1, TP 2 - 1 = 1; three placeholders: FP 3 - 2 = 1."""
    released = "[NOME] e [NOME] vedono Anna, poi [NOME]."
    for gold in (["Anna", "Bruno"], ["Anna", "Anna"]):  # "which could even be the same one repeated twice"
        found = count_note(released, {Label.PATIENT: gold})
        assert found[Label.PATIENT] == Counts(tp=1, fp=1, fn=1)
        assert found[Label.DATE] == Counts()


@pytest.mark.parametrize(
    "released, gold, counts",
    [
        ("Anna e Anna", ["Anna"], Counts(tp=0, fn=1)),  # at most as often as gold has it
        ("Banana", ["Ana", "ana"], Counts(tp=2)),  # whole words alone
        ("[NOME] Rossi", ["Anna Rossi"], Counts(tp=1)),  # half removed counts as removed
        ("Anna Rossi", ["Anna Rossi", "Rossi"], Counts(tp=1, fn=1)),  # found once, as the longer one
        ("[NOME]", [], Counts(fp=1)),
        ("(58 anni)", ["58 anni"], Counts(fn=1)),
    ],
)
def test_counts(released: str, gold: list[str], counts: Counts) -> None:
    assert count_note(released, {Label.PATIENT: gold})[Label.PATIENT] == counts


def test_a_category_without_a_placeholder_is_refused() -> None:
    with pytest.raises(KeyError, match="PHONE"):
        count_note("", {Label.PHONE: ["1"]})

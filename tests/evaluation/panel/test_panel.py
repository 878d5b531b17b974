"""A panel of judges on identifiers."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.panel.panel import Answer, Counts, Outcome, Unit, vote
from deid_platform.labels import Label

TP, FP, FN = Outcome.TP, Outcome.FP, Outcome.FN
JUDGES = ("gemma3:27b", "mistral-small:24b", "deepseek-r1:32b")
GOLD = {("n1", Label.DATE): ("1 Agosto",)}


def panel(*outcomes: Outcome, text: str = "1 Agosto") -> list[Answer]:
    return [Answer(j, "n1", Label.DATE, ((text, o),)) for j, o in zip(JUDGES, outcomes, strict=True)]


def test_the_papers_example() -> None:
    """Miranda 2025, 4.2.2: two of three judges say FN, so it is one; three that differ agree on nothing."""
    found = vote(panel(FN, FN, TP), GOLD, panel=3)
    assert found.all == Counts(fn=1) and not found.discarded
    found = vote(panel(FN, FP, TP), GOLD, panel=3)
    assert found.all == Counts() and found.discarded == {Label.DATE: 1}


def test_half_of_the_panel_is_no_majority() -> None:
    answers = panel(TP, TP, FN)[:2]
    assert vote([*answers], GOLD, panel=4).discarded == {Label.DATE: 1}
    assert vote(answers, GOLD, panel=3).all == Counts(tp=1)


def test_a_refusal_is_a_failure_and_no_vote() -> None:
    answers = [
        *panel(TP, TP, TP)[:1],
        Answer(JUDGES[1], "n1", Label.DATE, None),
        Answer(JUDGES[2], "n1", Label.DATE, ()),
    ]
    found = vote(answers, GOLD, panel=3)
    assert found.failures == {JUDGES[1]: 1, JUDGES[2]: 1}  # a refusal, and fewer entries than gold
    assert found.answers == dict.fromkeys(JUDGES, 1)
    assert found.discarded == {Label.DATE: 1} and found.all == Counts()


def test_asked_for_an_entity_at_a_time_a_refusal_costs_that_entity_alone() -> None:
    gold = {("n1", Label.PATIENT): ("Anna", "Rossi")}
    entities: dict[str, tuple[tuple[str, Outcome], ...] | None] = {"Anna": (("Anna", TP),), "Rossi": None}
    answers = [Answer(j, "n1", Label.PATIENT, said, text) for j in JUDGES for text, said in entities.items()]
    found = vote(answers, gold, panel=3)
    assert found.all == Counts(tp=1) and found.discarded == {Label.PATIENT: 1}
    assert found.failures == dict.fromkeys(JUDGES, 1) and found.answers == dict.fromkeys(JUDGES, 2)
    whole = [Answer(j, "n1", Label.PATIENT, (("Anna", TP),)) for j in JUDGES]
    assert vote(whole, gold, panel=3).all == Counts()  # asked for the document, the same answer is a failure


def test_what_no_judge_speaks_of_is_discarded() -> None:
    found = vote(panel(FP, FP, FP, text="ieri"), GOLD, panel=3)
    assert found.all == Counts(fp=1) and found.discarded == {Label.DATE: 1}


def test_an_entity_is_its_note_text_and_type() -> None:
    gold = {("n1", Label.DATE): ("2010",), ("n2", Label.DATE): ("2010",), ("n1", Label.AGE): ("2010",)}
    answers = [Answer(j, n, label, (("2010", TP if n == "n1" else FN),)) for j in JUDGES for n, label in gold]
    found = vote(answers, gold, panel=3)
    assert found.labels == {Label.DATE: Counts(tp=1, fn=1), Label.AGE: Counts(tp=1)}
    assert (found.all.precision, found.all.recall) == (1, pytest.approx(2 / 3))


def test_a_repeated_entity_counts_once_or_as_often_as_the_document_has_it() -> None:
    gold = {("n1", Label.PATIENT): ("Anna", "Anna", "Rossi")}
    entries = (("Anna", TP), ("Anna", TP), ("Rossi", FN))
    answers = [Answer(j, "n1", Label.PATIENT, entries) for j in JUDGES]
    assert vote(answers, gold, panel=3).all == Counts(tp=1, fn=1)
    assert vote(answers, gold, panel=3, unit=Unit.DOCUMENT).all == Counts(tp=2, fn=1)


def test_a_judge_that_contradicts_itself_does_not_vote() -> None:
    answers = [Answer(JUDGES[0], "n1", Label.DATE, (("1 Agosto", TP), ("1 Agosto", FN))), *panel(TP, TP, FN)[1:]]
    assert vote(answers, GOLD, panel=3).discarded == {Label.DATE: 1}


def test_shares_of_nothing_are_none() -> None:
    assert (Counts().precision, Counts().recall, Counts().f1) == (None, None, None)
    assert Counts(tp=2, fp=1, fn=1).f1 == pytest.approx(2 / 3)


@pytest.mark.parametrize("wrong", [{"panel": 2}, {"panel": 3, "threshold": 0.4}])
def test_a_panel_that_cannot_be(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        vote(panel(TP, TP, TP), GOLD, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        vote([*panel(TP, TP, TP), *panel(TP, TP, TP)], GOLD, panel=3)

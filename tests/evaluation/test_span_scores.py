"""Exact spans, by hand."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.span_scores import score_spans
from deid_platform.labels import Label
from deid_platform.notes import Span

GOLD = (Span(0, 4, Label.PATIENT), Span(10, 20, Label.DATE), Span(30, 35, Label.CITY))
# The first as it is, the second one code point short, the third under another label, and one that is nothing.
FOUND = (Span(0, 4, Label.PATIENT), Span(10, 19, Label.DATE), Span(30, 35, Label.STATE), Span(40, 41, Label.AGE))


@pytest.mark.parametrize(("labels", "exact"), [(False, 2), (True, 1)])
def test_a_span_counts_if_both_ends_agree_and_the_label_where_it_is_asked_for(labels: bool, exact: int) -> None:
    scores = score_spans([(GOLD, FOUND), ((), ())], labels=labels)
    assert (scores.gold, scores.found, scores.exact) == (3, 4, exact)
    assert scores.recall == pytest.approx(exact / 3)
    assert scores.precision == pytest.approx(exact / 4)
    assert scores.f1 == pytest.approx(2 * exact / 7)


def test_without_notes_nothing_is_found() -> None:
    scores = score_spans([], labels=True)
    assert (scores.recall, scores.precision, scores.f1) == (0, 0, 0)

"""Exact and overlapping spans, by hand."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.scores.span_scores import score_spans, span_f1
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


@pytest.mark.parametrize(("labels", "met", "meeting"), [(False, 3, 3), (True, 2, 2)])
def test_a_span_counts_leniently_if_any_part_of_it_is_found(labels: bool, met: int, meeting: int) -> None:
    scores = score_spans([(GOLD, FOUND), ((), ())], labels=labels)
    assert (scores.met, scores.meeting) == (met, meeting)
    assert scores.overlapping_recall == pytest.approx(met / 3)
    assert scores.overlapping_precision == pytest.approx(meeting / 4)
    assert scores.overlapping_f1 == pytest.approx(2 * met / 7)


def test_one_span_over_two_meets_both_and_is_one() -> None:
    scores = score_spans([(GOLD[:2], [Span(2, 12, Label.PATIENT)])], labels=False)
    assert (scores.met, scores.meeting, scores.exact) == (2, 1, 0)
    assert (scores.overlapping_recall, scores.overlapping_precision, scores.overlapping_f1) == (1.0, 1.0, 1.0)


def test_spans_that_only_touch_do_not_overlap() -> None:
    assert score_spans([(GOLD[:1], [Span(4, 6, Label.PATIENT)])], labels=False).met == 0


def test_f1_has_an_interval_over_patients() -> None:
    notes = [(GOLD, FOUND), (GOLD, ()), ((), ())]
    strict = span_f1(notes, ["a", "b", "b"], labels=True, overlapping=False)
    assert strict.value == pytest.approx(2 * 1 / (6 + 4))
    assert strict.low == 0.0 and strict.high == pytest.approx(2 / 7)
    lenient = span_f1(notes, ["a", "b", "b"], labels=False, overlapping=True)
    assert lenient.value == pytest.approx(2 * (3 / 6) * (3 / 4) / (3 / 6 + 3 / 4))
    assert lenient.high == pytest.approx(6 / 7)
    assert span_f1([((), ())], [None], labels=True, overlapping=True).value is None

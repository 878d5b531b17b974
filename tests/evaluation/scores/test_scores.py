"""Scores: the formulas of Murugadoss 2024, stricter measures beside them, and intervals."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.scores import NoteCounts, count_note, summarise, suppress
from deid_platform.labels import Label
from deid_platform.notes import Span

TEXT = "Orrin Vask-Hale saw Bruce on 3/4/2019 in Fernbridge"
NAME, DATE, CITY = Span(0, 15, Label.PATIENT), Span(29, 37, Label.DATE), Span(41, 51, Label.CITY)
BRUCE = (20, 25)


def test_perfect_detection_scores_one_everywhere():
    scores = summarise([count_note(TEXT, [NAME, DATE, CITY], [NAME, DATE, CITY], clinical=[BRUCE])] * 3)
    for estimate in (scores.precision, scores.recall, scores.f1, scores.entity_recall, scores.clinical_retention):
        assert (estimate.value, estimate.low, estimate.high) == (1.0, 1.0, 1.0)
    assert scores.leak_rate.value == 0.0


def test_words_are_counted_as_in_paper_001():
    # Gold holds 3 + 3 + 1 words. Detected: 2 of the name, Bruce wrongly, the date.
    predicted = [Span(0, 10, Label.DOCTOR), Span(20, 25, Label.PATIENT), DATE]
    counts = count_note(TEXT, [NAME, DATE, CITY], predicted, clinical=[BRUCE])
    assert (counts.true_positives, counts.false_positives, counts.false_negatives) == (5, 1, 2)
    scores = summarise([counts])
    assert scores.precision.value == pytest.approx(5 / 6)
    assert scores.recall.value == pytest.approx(5 / 7)
    assert scores.f1.value == pytest.approx(2 * (5 / 6) * (5 / 7) / (5 / 6 + 5 / 7))
    assert scores.entity_recall.value == pytest.approx(1 / 3)
    assert scores.leak_rate.value == 1.0
    assert scores.clinical_retention.value == 0.0
    # Of "saw", "Bruce", "on" and "in", which identify nobody, three are left.
    assert (scores.words_kept.value, scores.words_kept.total) == (0.75, 4)


def test_of_a_gold_that_lists_no_clinical_terms_no_share_of_them_is_said():
    rows = {row["measure"] for row in summarise([count_note(TEXT, [NAME], [NAME])]).to_rows()}
    assert "words_kept" in rows and "clinical_retention" not in rows


def test_labels_are_blind_to_the_other_side():
    predicted = [Span(0, 10, Label.DOCTOR), Span(20, 25, Label.PATIENT), DATE]
    labels = summarise([count_note(TEXT, [NAME, DATE, CITY], predicted)]).labels
    assert labels[Label.PATIENT].recall.value == pytest.approx(2 / 3)
    assert labels[Label.PATIENT].precision.value == 0.0  # Bruce
    assert labels[Label.DOCTOR].precision.value == 1.0
    assert labels[Label.DOCTOR].recall.value is None
    assert labels[Label.CITY].recall.value == 0.0
    assert labels[Label.CITY].precision.value is None
    assert Label.PHONE not in labels


@pytest.mark.parametrize(
    ("predicted", "covered"),
    [
        ([NAME], True),
        ([Span(0, 5, Label.PATIENT), Span(6, 15, Label.DOCTOR)], True),  # only a space between
        ([Span(0, 5, Label.PATIENT), Span(6, 10, Label.PATIENT), Span(11, 15, Label.PATIENT)], True),
        ([Span(0, 30, Label.PATIENT)], True),
        ([Span(0, 14, Label.PATIENT)], False),  # the last letter is left: a hit by words, a miss here
        ([Span(1, 15, Label.PATIENT)], False),
        ([Span(0, 10, Label.PATIENT)], False),
        ([], False),
    ],
)
def test_an_entity_is_found_only_when_every_letter_of_it_is(predicted: list[Span], covered: bool):
    assert count_note(TEXT, [NAME], predicted).covered_entities == covered


@pytest.mark.parametrize(
    ("predicted", "touched", "whole"),
    [
        ([NAME], 3, 3),
        ([Span(0, 30, Label.PATIENT)], 3, 3),
        ([Span(0, 5, Label.PATIENT), Span(6, 10, Label.DOCTOR), Span(11, 15, Label.DATE)], 3, 3),
        ([Span(0, 14, Label.PATIENT)], 3, 2),  # the last letter of "Hale" is left
        ([Span(1, 15, Label.PATIENT)], 3, 2),
        ([Span(2, 4, Label.PATIENT)], 1, 0),
        ([Span(0, 10, Label.PATIENT)], 2, 2),
        ([], 0, 0),
    ],
)
def test_conservatively_a_word_is_found_only_when_all_of_it_is_hidden(predicted, touched: int, whole: int):
    scores = summarise([count_note(TEXT, [NAME], predicted)])
    assert (scores.recall.hits, scores.recall_conservative.hits) == (touched, whole)
    assert scores.recall_conservative.total == scores.recall.total == 3


def test_of_a_word_only_what_is_gold_need_be_hidden_and_of_that_only_letters_and_digits():
    half = [Span(3, 9, Label.PATIENT)]  # of "preOrrin's", "Orrin'"
    assert count_note("preOrrin's", half, [Span(3, 8, Label.PATIENT)]).whole == 1
    assert count_note("preOrrin's", half, [Span(0, 7, Label.PATIENT)]).whole == 0


def test_where_whole_words_were_not_counted_there_is_no_conservative_recall():
    scores = summarise([count_note(TEXT, [NAME], [NAME]), NoteCounts(9, 3, 0, 0, 1, 1)])
    assert scores.recall.value == 1.0
    assert scores.recall_conservative.value is None


def test_conservative_recall_is_never_above_recall():
    counts = [count_note(TEXT, [NAME, DATE], [Span(0, 15 - i % 3, Label.PATIENT), DATE][: i % 4]) for i in range(40)]
    scores = summarise(counts)
    assert scores.recall_conservative.value < scores.recall.value
    assert scores.recall_conservative.low <= scores.recall.low


def test_a_note_leaks_when_one_entity_of_it_does_and_notes_without_gold_do_not_count():
    whole = count_note(TEXT, [NAME, CITY], [NAME, CITY])
    half = count_note(TEXT, [NAME, CITY], [NAME])
    none = count_note("no gold here", [], [])
    scores = summarise([whole, half, none])
    assert (scores.leak_rate.hits, scores.leak_rate.total) == (1, 2)


@pytest.mark.parametrize(
    ("start", "end", "kept"), [(20, 25, False), (19, 20, True), (25, 26, True), (24, 25, False), (16, 30, False)]
)
def test_a_clinical_term_is_kept_when_no_span_touches_it(start: int, end: int, kept: bool):
    assert count_note(TEXT, [], [Span(start, end, Label.DOCTOR)], clinical=[BRUCE]).kept_clinical == kept


def test_a_share_of_nothing_is_none():
    for scores in (summarise([]), summarise([count_note("", [], [])])):
        for row in scores.to_rows():
            assert (row["value"], row["low"], row["high"]) == (None, None, None)


def test_one_note_gives_no_interval():
    recall = summarise([count_note(TEXT, [NAME], [NAME])]).recall
    assert (recall.value, recall.low, recall.high) == (1.0, None, None)


def test_spans_outside_the_text_are_refused():
    for gold, predicted, clinical in (
        ([Span(0, 99, Label.DATE)], [], []),
        ([], [Span(0, 99, Label.DATE)], []),
        ([], [], [(0, 99)]),
    ):
        with pytest.raises(DeidError) as caught:
            count_note(TEXT, gold, predicted, clinical=clinical)
        assert caught.value.code is Code.SPAN_BOUNDS


def mixed(notes: int, *, cluster_size: int = 1) -> list[NoteCounts]:
    """Every third cluster of notes misses its city."""
    return [
        count_note(
            TEXT,
            [NAME, CITY],
            [NAME] if (i // cluster_size) % 3 == 0 else [NAME, CITY],
            cluster=None if cluster_size == 1 else f"p{i // cluster_size}",
        )
        for i in range(notes)
    ]


def test_intervals_hold_the_value_and_narrow_with_more_notes():
    few, many = summarise(mixed(30)).recall, summarise(mixed(3000)).recall
    for recall in (few, many):
        assert recall.low <= recall.value <= recall.high
    assert many.high - many.low < (few.high - few.low) / 3


def test_intervals_are_the_same_from_run_to_run_and_another_seed_differs():
    assert summarise(mixed(200)) == summarise(mixed(200))
    assert summarise(mixed(200), seed=1) != summarise(mixed(200))


def test_notes_of_one_patient_are_drawn_together_and_so_tell_less():
    apart, together = summarise(mixed(300)).recall, summarise(mixed(300, cluster_size=10)).recall
    assert together.value == pytest.approx(apart.value, abs=0.05)
    assert together.high - together.low > 1.5 * (apart.high - apart.low)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    truth, covered, runs = 0.9, 0, 200
    draw = random.Random(7)
    hit = count_note("Vask", [Span(0, 4, Label.PATIENT)], [Span(0, 4, Label.PATIENT)])
    miss = count_note("Vask", [Span(0, 4, Label.PATIENT)], [])
    for seed in range(runs):
        recall = summarise([hit if draw.random() < truth else miss for _ in range(150)], seed=seed).recall
        covered += recall.low <= truth <= recall.high
    assert 0.85 <= covered / runs <= 0.99


def test_rows_hold_every_measure_once():
    rows = summarise(mixed(20)).to_rows()
    keys = [(row["label"], row["measure"]) for row in rows]
    assert len(keys) == len(set(keys))
    assert ("ALL", "leak_rate") in keys
    assert ("CITY", "recall") in keys
    assert set(rows[0]) == {"label", "measure", "value", "low", "high", "hits", "n"}


def test_counts_show_no_patient():
    assert "p77" not in repr(count_note(TEXT, [NAME], [], cluster="p77"))


@pytest.mark.parametrize(("count", "shown"), [(0, "0"), (1, "<11"), (10, "<11"), (11, "11"), (12345, "12,345")])
def test_small_counts_are_suppressed(count: int, shown: str):
    assert suppress(count) == shown


SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 11), st.sampled_from(list(Label)[:4])).map(
        lambda t: Span(t[0], t[0] + t[1], t[2])
    ),
    max_size=5,
)


@given(SPANS, SPANS)
def test_counts_are_consistent(gold: list[Span], predicted: list[Span]):
    counts = count_note(TEXT, gold, predicted)
    mirrored = count_note(TEXT, predicted, gold)
    assert counts.false_positives == mirrored.false_negatives
    assert counts.true_positives == mirrored.true_positives
    assert counts.true_positives + counts.false_positives + counts.false_negatives <= counts.words
    assert counts.covered_entities <= counts.entities <= len(gold)
    assert counts.whole is not None and 0 <= counts.whole <= counts.true_positives
    for label, tally in counts.labels.items():
        assert 0 <= tally.found_words <= tally.gold_words
        assert tally.right_words == mirrored.labels[label].found_words

"""Detectors side by side, on an example that was worked by hand and on any spans."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.evaluation.comparison.comparison import Compared, ComparedNote, Hidden, compare
from deid_platform.evaluation.scores.tokens import word_offsets
from deid_platform.labels import Label
from deid_platform.notes import Span

TEXT = "Ann Roe saw Dr Lee on 3/4/2019 in Leeds"  # 11 words, three of them in the date


def at(surface: str, label: Label) -> Hidden:
    start = TEXT.index(surface)
    return Hidden(start, start + len(surface), label, frozenset((label,)))


DATE = at("3/4/2019", Label.DATE)
A = [at("Ann Roe", Label.PATIENT), DATE]
B = [DATE, at("Roe saw", Label.PATIENT), at("Leeds", Label.CITY)]
C = [at("Lee", Label.DOCTOR), DATE]
GOLD = [Span(it.start, it.end, it.label) for it in (A[0], C[0], DATE, B[2])]
DETECTORS = [Compared("a"), Compared("b"), Compared("c", labels=frozenset((Label.DATE, Label.DOCTOR)))]
NOTE = ComparedNote(TEXT, [A, B, C], cluster="p1")


def test_an_example_by_hand() -> None:
    found = compare(DETECTORS, [NOTE])
    assert (found.notes, found.words, found.identifiers) == (1, 11, None)
    assert [(row.words, row.shared.hits, row.shared.total, row.alone) for row in found.rows] == [
        (5, 3, 5, 1),  # Ann
        (6, 3, 6, 2),  # saw, Leeds
        (4, 3, 4, 1),  # Lee
    ]
    assert [row.alone_by_label for row in found.rows] == [
        {Label.PATIENT: 1},
        {Label.PATIENT: 1, Label.CITY: 1},
        {Label.DOCTOR: 1},
    ]
    first = found.pairs[0]
    assert (first.one, first.other) == (0, 1)
    kappa = first.kappa
    assert (kappa.both, kappa.only_one, kappa.only_other, kappa.neither) == (4, 1, 2, 4)
    # Observed 8/11, by chance (5 * 6 + 6 * 5) / 121.
    assert kappa.value == pytest.approx((8 / 11 - 60 / 121) / (1 - 60 / 121))
    assert kappa.low is None  # one patient has no spread
    assert [(pair.one, pair.other) for pair in found.pairs] == [(0, 1), (0, 2), (1, 2)]


def shown(found, notes) -> list[tuple[str, list[str]]]:
    names = "abc"
    return [
        (
            "".join(name for name, hides in zip(names, group.hides, strict=False) if hides) + "*" * bool(group.gold),
            [notes[place.note].text[place.start : place.end] for place in group.places],
        )
        for group in found.groups
    ]


def test_where_they_differ_by_who_hides_it() -> None:
    found = compare(DETECTORS, [NOTE, replace(NOTE, hidden=[A, A, []])])
    assert shown(found, [NOTE, NOTE]) == [
        ("ab", ["Roe", "Ann Roe", "3/4/2019"]),
        ("b", ["saw", "Leeds"]),
        ("a", ["Ann"]),
        ("c", ["Lee"]),
    ]
    roe, whole, date = found.groups[0].places
    assert (roe.words, whole.words, date.words, found.groups[0].words) == (1, 2, 3, 6)
    assert whole.note == 1
    assert whole.labels == (Label.PATIENT, Label.PATIENT, None)


def test_with_gold_each_is_scored_beside_the_first() -> None:
    notes = [replace(NOTE, gold=GOLD), replace(NOTE, gold=GOLD, cluster="p2")]
    found = compare(DETECTORS, notes)
    a, b, c = (row.scored for row in found.rows)
    assert a and b and c
    assert found.identifiers == 8
    assert [(it.scores.recall.value, it.scores.precision.value) for it in (a, b, c)] == [
        (5 / 7, 1),
        (5 / 7, 5 / 6),
        (4 / 7, 1),
    ]
    assert a.recall is None
    assert b.recall and b.precision and c.recall
    assert (b.recall.value, b.precision.value, c.recall.value) == pytest.approx((0, -1 / 6, -1 / 7))
    assert (c.recall.low, c.recall.p) == (pytest.approx(-1 / 7), 0)  # it is the same in either note
    assert shown(compare(DETECTORS, notes[:1]), notes) == [
        ("ab*", ["Roe"]),
        ("a*", ["Ann"]),
        ("b*", ["Leeds"]),
        ("c*", ["Lee"]),
        ("b", ["saw"]),
    ]


def test_notes_on_which_a_detector_failed_count_as_missed_and_are_left_out_beside() -> None:
    failed = Compared("b", failed_on=frozenset((1,)))
    notes = [replace(NOTE, gold=GOLD), replace(NOTE, hidden=[A, [], C], gold=GOLD)]
    a, b, _ = (row.scored for row in compare([DETECTORS[0], failed, DETECTORS[2]], notes).rows)
    assert a and b and b.without_failed and a.without_failed is None
    assert (b.scores.recall.value, b.without_failed.scores.recall.value) == (5 / 14, 5 / 7)
    assert (b.without_failed.notes, b.without_failed.first.recall.value) == (1, 5 / 7)

    nowhere = replace(failed, failed_on=frozenset((0, 1)))
    none = [replace(note, hidden=[A, [], C]) for note in notes]
    scored = compare([DETECTORS[0], nowhere, DETECTORS[2]], none).rows[1].scored
    assert scored and scored.without_failed
    assert (scored.scores.recall.value, scored.without_failed.notes) == (0, 0)
    assert scored.without_failed.scores.recall.value is None


def test_a_detector_that_looks_for_few_labels_is_also_compared_on_these() -> None:
    found = compare(DETECTORS, [replace(NOTE, gold=GOLD)])
    assert [row.scored and row.scored.shared is not None for row in found.rows] == [False, False, True]
    scored = found.rows[2].scored
    assert scored and scored.shared
    # Of "Lee" and the date it finds all, and the first detector the date.
    shared = scored.shared
    assert (shared.labels, shared.scores.recall.value, shared.first.recall.value) == (2, 1, 3 / 4)
    assert (shared.scores.precision.value, shared.first.precision.value) == (1, 1)
    assert shared.recall.value == pytest.approx(1 / 4)


def test_what_a_detector_hides_under_no_label_of_ours_is_not_wrong_on_shared_labels() -> None:
    unclaimed = at("saw", Label.IDNUM)._replace(may_be=frozenset())
    hidden = [A, B, [*C, unclaimed, at("in", Label.DATE)]]
    scored = compare(DETECTORS, [replace(NOTE, hidden=hidden, gold=GOLD)]).rows[2].scored
    assert scored and scored.shared
    assert (scored.scores.precision.value, scored.shared.scores.precision.value) == (4 / 6, 4 / 5)


def test_of_spans_that_share_a_word_the_first_has_it() -> None:
    both = [at("Roe saw", Label.DOCTOR), at("Ann Roe", Label.PATIENT)]
    found = compare(DETECTORS[:2], [ComparedNote(TEXT, [both, []])])
    assert found.rows[0].alone_by_label == {Label.PATIENT: 2, Label.DOCTOR: 1}
    assert shown(found, [NOTE]) == [("a", ["Ann Roe", "saw"])]


def test_what_gold_marks_and_nobody_hides_is_a_difference_and_what_all_hide_rightly_is_none() -> None:
    notes = [ComparedNote(TEXT, [[DATE], [DATE]], gold=GOLD)]
    assert shown(compare(DETECTORS[:2], notes), notes) == [("*", ["Ann Roe", "Lee", "Leeds"])]
    notes = [ComparedNote(TEXT, [[DATE], [DATE]], gold=GOLD[:1])]
    assert ("ab", ["3/4/2019"]) in shown(compare(DETECTORS[:2], notes), notes)


def test_two_that_hide_the_same_differ_nowhere() -> None:
    found = compare(DETECTORS[:2], [ComparedNote(TEXT, [A, A[::-1]])])
    assert found.groups == ()
    assert found.pairs[0].kappa.value == 1
    assert [row.shared.value for row in found.rows] == [1, 1]


def test_nothing_hidden_has_no_shares() -> None:
    found = compare(DETECTORS[:2], [ComparedNote(TEXT, [[], []]), ComparedNote("", [[], []])])
    assert [row.shared.value for row in found.rows] == [None, None]
    assert found.pairs[0].kappa.value is None


def test_notes_of_a_patient_are_drawn_together() -> None:
    alike, apart = [A, A], [A, [DATE]]
    notes = [ComparedNote(TEXT, alike, cluster="p1")] * 6 + [ComparedNote(TEXT, apart, cluster="p2")] * 6
    together = compare(DETECTORS[:2], notes).pairs[0].kappa
    each = compare(DETECTORS[:2], [replace(note, cluster=None) for note in notes]).pairs[0].kappa
    assert together.value == each.value
    assert together.high and together.low and each.high and each.low
    assert together.high - together.low > each.high - each.low


WORDS = "Ann O'Brien-Smith, 3/4/19; 王小明 x"
places = st.lists(
    st.builds(
        lambda start, length, label: Hidden(start, min(len(WORDS), start + length), label, frozenset((label,))),
        st.integers(0, len(WORDS) - 1),
        st.integers(1, 12),
        st.sampled_from((Label.PATIENT, Label.DATE)),
    ),
    max_size=5,
)


@given(places, places, places, st.booleans())
def test_words_add_up(one, two, three, with_gold) -> None:
    gold = [Span(it.start, it.end, it.label) for it in three] if with_gold else None
    found = compare(DETECTORS, [ComparedNote(WORDS, [one, two, three], gold=gold)], resamples=2)
    starts = [place.start for group in found.groups for place in group.places]
    assert len(starts) == len(set(starts))
    assert all(group.words == sum(place.words for place in group.places) for group in found.groups)
    agreed = sum(group.words for group in found.groups)
    everybody = found.rows[0].shared.hits if not with_gold else None
    for at_, row in enumerate(found.rows):
        assert sum(row.alone_by_label.values()) == row.alone
        hides = sum(group.words for group in found.groups if group.hides[at_])
        if everybody is not None:
            assert row.words == hides + everybody
            assert row.alone == sum(g.words for g in found.groups if g.hides[at_] and sum(g.hides) == 1)
    for pair in found.pairs:
        assert pair.kappa.words + pair.kappa.neither == found.words == len(word_offsets(WORDS))
    assert agreed <= found.words
    if with_gold:
        scored = found.rows[0].scored
        assert scored
        missed = scored.scores.recall.total - scored.scores.recall.hits
        assert missed == sum(g.words for g in found.groups if g.gold and not g.hides[0])

"""Murugadoss 2024, supplementary table 1, by hand and for any spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marked_text import MARK, plain

from deid_platform.evaluation.scores.missed_by_risk import Category, ReadNote, category_of, missed_by_risk
from deid_platform.evaluation.scores.scores import count_note, summarise
from deid_platform.labels import Label, Risk
from deid_platform.notes import Span


def read(marked: str, *, missed: str = "", cluster: str | None = None) -> ReadNote:
    """A note of which everything is found but the surfaces named in `missed`."""
    spans, removed = [], 0
    for mark in MARK.finditer(marked):
        start = mark.start() - removed
        removed += len(mark[0]) - len(mark[1])
        spans.append(Span(start, start + len(mark[1]), Label(mark[2])))
    text = plain(marked)
    found = [span for span in spans if text[span.start : span.end] not in missed.split("|")]
    return ReadNote(text, spans, found, cluster)


NOTE = (
    "[[CK|PATIENT]] feels better. Dad: [[jay smith|PATIENT]], seen by [[SUSAN LIGHT|DOCTOR]] at "
    "[[Duke Primary Care|HOSPITAL]] and [[Westside Obstetrics|HOSPITAL]], 3/4. Uses [[RITE AID-302|ORGANIZATION]]; "
    "works at [[Google|ORGANIZATION]], lives at [[1749 Memorial Drive|STREET]], [[Mebane|CITY]]. "
    "Tape [[N-132-93|IDNUM]]"
)


def test_the_table_by_hand() -> None:
    note = read(NOTE, missed="CK|jay smith|Duke Primary Care|RITE AID-302|1749 Memorial Drive|N-132-93")
    table = missed_by_risk([note])
    gold = 1 + 2 + 2 + 3 + 2 + 3 + 1 + 3 + 1 + 3  # words of all gold, found or not
    assert [(row.category, row.risk, row.share.hits, row.share.total) for row in table.rows] == [
        (Category.LOCATION, Risk.HIGH, 3, gold),
        (Category.RELATIVE_NAME, Risk.HIGH, 2, gold),
        (Category.PATIENT_NAME, Risk.HIGH, 1, gold),
        (Category.CLINIC, Risk.MODERATE, 3, gold),
        (Category.OTHER_NUMBER, Risk.MODERATE, 3, gold),
        (Category.PHARMACY, Risk.MODERATE, 3, gold),
    ]
    assert [(row.risk, row.share.hits) for row in table.by_risk] == [
        (Risk.HIGH, 6), (Risk.MODERATE, 9), (Risk.LOW, 0),
    ]  # fmt: skip
    assert table.rows[0].share.value == pytest.approx(3 / 21)


def test_a_category_of_two_risks_is_one_of_their_sum() -> None:
    table = missed_by_risk([read(NOTE, missed="1749 Memorial Drive|Mebane|CK")])
    found = [(row.category, row.risk, row.share.hits) for row in table.rows]
    assert found == [
        (Category.LOCATION, Risk.HIGH, 3),
        (Category.PATIENT_NAME, Risk.HIGH, 1),
        (Category.LOCATION, Risk.MODERATE, 1),
    ]
    assert [(row.category, row.risk, row.share.hits) for row in table.by_category] == [
        (Category.LOCATION, Risk.HIGH, 4),
        (Category.PATIENT_NAME, Risk.HIGH, 1),
    ]


def test_the_papers_own_shares_are_of_all_gold_words() -> None:
    """Its 921 missed words are 0.4% of gold: 6 patients' names of them 0.0026%, 272 clinicians' names 0.1181%."""
    counts = (6, 10, 272, 57, 18, 14, 226, 56, 5, 234, 23)
    gold = sum(counts) / 0.004
    assert round(100 * 6 / gold, 4) == 0.0026
    assert round(100 * 272 / gold, 4) == 0.1181


@pytest.mark.parametrize(
    ("marked", "category"),
    [
        ("her brother [[scott|PATIENT]]", Category.RELATIVE_NAME),
        ("la madre, [[Ada Po|PATIENT]]", Category.RELATIVE_NAME),
        ("Her mother is well. [[Ada|PATIENT]] came", Category.PATIENT_NAME),
        ("grand rounds with [[Ada|DOCTOR]]", Category.PROVIDER_NAME),
        ("at [[Farmacia Po|HOSPITAL]]", Category.PHARMACY),
        ("[[Room 12|LOCATION-OTHER]]", Category.LOCATION),
        ("[[4417|MEDICALRECORD]]", Category.PATIENT_NUMBER),
        ("[[a@b.org|EMAIL]]", Category.NET),
        ("[[V 1|VEHICLE]]", Category.OTHER_NUMBER),
        ("[[Italy|COUNTRY]]", Category.REGION),
    ],
)
def test_a_span_has_one_category(marked: str, category: Category) -> None:
    note = read(marked)
    assert category_of(note.text, note.gold[0]) is category


def test_every_label_has_a_category() -> None:
    assert {category_of("x", Span(0, 1, label)) for label in Label} <= set(Category)


def test_intervals_are_over_patients() -> None:
    notes = [read(NOTE, missed="CK", cluster="a"), read(NOTE, cluster="b")]
    (row,) = missed_by_risk(notes).rows
    assert (row.share.low, row.share.high) == (0.0, pytest.approx(1 / 21))


TEXT = "Mother Ann O'Brien-Smith, 3/4/19; CVS clinic x"
spans = st.lists(
    st.builds(
        lambda start, length, label: Span(start, min(len(TEXT), start + length), label),
        st.integers(0, len(TEXT) - 1),
        st.integers(1, 15),
        st.sampled_from((Label.PATIENT, Label.HOSPITAL, Label.STREET, Label.COUNTRY)),
    ),
    max_size=5,
)


@given(st.lists(st.tuples(spans, spans), max_size=3))
def test_shares_add_up_to_one_less_recall(notes: list[tuple[list[Span], list[Span]]]) -> None:
    table = missed_by_risk([ReadNote(TEXT, gold, predicted) for gold, predicted in notes], resamples=2)
    recall = summarise([count_note(TEXT, gold, predicted) for gold, predicted in notes], resamples=2).recall.value
    if recall is None:
        assert not table.rows
    else:
        for rows in (table.rows, table.by_risk):
            assert sum(row.share.value or 0 for row in rows) == pytest.approx(1 - recall)
